"""The application on SQLite, without broker and worker; tickets are recorded."""

from collections.abc import Generator
from pathlib import Path
from typing import Any

import pytest
from fastapi.testclient import TestClient
from migrated import migrated

from api.app import create_app
from worker.farm import Farm
from worker.settings import Settings


@pytest.fixture
def settings(tmp_path: Path) -> Settings:
    dist = tmp_path / "dist"
    (dist / "assets").mkdir(parents=True)
    (dist / "index.html").write_text("<title>dashboard</title>")
    (dist / "assets" / "index-abc.js").write_text("1")
    made = Settings(home=tmp_path / "home", web_dist=dist, max_upload_bytes=4 << 20)
    migrated(made.database)
    return made


@pytest.fixture
def sent() -> list[str]:
    return []


@pytest.fixture
def client(settings: Settings, sent: list[str]) -> Generator[TestClient]:
    app = create_app(settings, sent.append)
    with TestClient(app, base_url="http://127.0.0.1:8642", raise_server_exceptions=False) as made:
        yield made


@pytest.fixture
def farm(client: TestClient) -> Farm:
    return client.app.state.farm  # pyright: ignore[reportAttributeAccessIssue]


@pytest.fixture
def exploration(client: TestClient) -> dict[str, Any]:
    return client.post("/v1/explorations", json={"model": "gpt2"}).json()


@pytest.fixture
def design_ids(farm: Farm, exploration: dict[str, Any]) -> list[str]:
    """Five designs; number 3 can not be built, 1 and 4 are the front."""
    from db.repositories import designs
    from db.repositories.designs import NewDesign, NewMetric

    metric = NewMetric("dsp", 12.0, "", "estimate", "millrace", "0.1")
    new = [
        NewDesign(
            n, f"k{n}", {"default_tile_size": n}, True, 9.0 - n, 1.0 + n, [9.0 - n, 1.0 + n], [], None, 0.1, (metric,)
        )
        if n != 3
        else NewDesign(n, "k3", {}, False, None, None, [], [], "the tile does not fit", 0.1, ())
        for n in range(5)
    ]
    with farm.database.write() as session:
        ids = designs.add(session, exploration["id"], new)
        designs.set_front(session, exploration["id"], {"k1", "k4"})
    return ids
