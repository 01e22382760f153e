"""Whom a person means by a name, a number or `latest`: the same from a service and from the database, everywhere."""

import json
from collections.abc import Generator
from pathlib import Path
from time import sleep
from typing import Any

import httpx
import pytest
from fastapi.testclient import TestClient
from migrated import migrated
from queued_builds import add_designs
from typer.testing import CliRunner

from api.app import create_app
from cli import service
from cli.errors import exit_code
from cli.main import app
from cli.stored import Stored
from db.models import Exploration
from db.repositories import catalog, explorations
from millrace.client import Client
from worker.farm import Farm, open_farm
from worker.settings import Settings

run = CliRunner().invoke


@pytest.fixture
def farm(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Generator[Farm]:
    monkeypatch.setenv("MILLRACE_HOME", str(tmp_path / "home"))
    for name in ("MILLRACE_SERVER", "MILLRACE_API_KEY", "MILLRACE_DATABASE_URL"):
        monkeypatch.delenv(name, raising=False)
    settings = Settings()
    migrated(settings.database)
    made = open_farm(settings, lambda _: None)
    yield made
    made.close()


@pytest.fixture
def designs_of(farm: Farm) -> dict[str, list[str]]:
    """Three designs of the exploration `old`, two of the newest one, by its name."""
    options = {"seed": 0, "sampler": "tpe", "verify": 0}
    with farm.database.write() as session:
        model = catalog.put_model(session, "mlp", "config", {}, "m" * 64)
        workload = catalog.put_workload(session, model, "decode", 64, 1, "w4a8", 1, "w" * 64)
        made: list[Exploration] = []
        for name in ("old", None):
            label = explorations.Label(name)
            made.append(explorations.add(session, workload, "u55c", ["latency", "energy"], options, 9, label=label))
            sleep(0.002)  # ids are by the millisecond
        for row in made:
            row.state = "done"
        return {row.name: add_designs(session, row, 3 - i) for i, row in enumerate(made)}


@pytest.fixture(params=["database", "service"])
def reader(
    request: pytest.FixtureRequest, farm: Farm, designs_of: object, monkeypatch: pytest.MonkeyPatch
) -> Generator[Any]:
    """What commands read from; they are made to use it."""
    if request.param == "database":
        stored = Stored(farm.settings)
        yield stored
        stored.close()
        return
    with TestClient(create_app(farm.settings, lambda _: None), base_url="http://127.0.0.1:8642") as http:

        def forward(asked: httpx.Request) -> httpx.Response:
            answer = http.request(asked.method, str(asked.url), content=asked.read(), headers=dict(asked.headers))
            return httpx.Response(answer.status_code, content=answer.content, headers={"Content-Type": "text/plain"})

        def client(url: str) -> Client:
            return Client(url, transport=httpx.MockTransport(forward))

        monkeypatch.setattr("millrace.client.Client", client)
        monkeypatch.setattr("worker.holder.find_running", lambda _settings: service)
        monkeypatch.setattr(service, "address", "http://127.0.0.1:8642", raising=False)
        yield client("http://127.0.0.1:8642")


def shown(*arguments: str) -> Any:
    result = run(app, [*arguments, "--json"])
    if result.exception is not None and not isinstance(result.exception, SystemExit):
        raise result.exception
    return json.loads(result.stdout)


def test_a_front_by_every_key(reader: Any, designs_of: dict[str, list[str]]) -> None:
    newest = list(designs_of)[1]
    assert newest == "mlp-decode-64-w4a8"
    assert shown("pareto", "latest")["exploration"]["name"] == newest
    assert shown("pareto", newest)["exploration"]["name"] == newest
    old = shown("pareto", "old")["exploration"]
    assert old["name"] == "old"
    assert shown("pareto", old["id"][:-1])["exploration"] == old
    assert [e["name"] for e in shown("pareto")] == [newest, "old"]


def test_a_design_by_its_number(reader: Any, designs_of: dict[str, list[str]]) -> None:
    newest = designs_of["mlp-decode-64-w4a8"]
    for key, wanted in (("1", newest[1]), ("latest#0", newest[0]), ("old#2", designs_of["old"][2])):
        assert shown("design", "show", key)["id"] == wanted
    assert shown("build", "list", "--exploration", "old", "--design", "old#2") == []


@pytest.mark.parametrize(
    ("arguments", "text"),
    [
        (["pareto", "nobody"], "there is no exploration 'nobody'; say its id or its beginning, its name, or latest"),
        (["pareto", "exp_0"], "more than one exploration has an id that begins with 'exp_0'"),
        (["design", "show", "9"], "mlp-decode-64-w4a8 has none of number 9"),
        (["design", "show", "old#x"], "behind the # stands its number"),
        (["build", "show", "bld_x"], "there is no build 'bld_x'"),
    ],
)
def test_what_is_not_there(reader: Any, designs_of: dict[str, list[str]], arguments: list[str], text: str) -> None:
    result = run(app, arguments)
    assert result.exception is not None
    assert text in str(result.exception)
    assert exit_code(result.exception) == 2


def test_written_on_an_exploration_and_deleted(farm: Farm, designs_of: dict[str, list[str]]) -> None:
    """On the database of this machine: no service is there."""
    edited = shown("exploration", "edit", "old", "--name", "kept", "--tag", "a", "--tag", "b", "--notes", "why")
    assert (edited["name"], edited["tags"], edited["notes"]) == ("kept", ["a", "b"], "why")
    assert shown("exploration", "edit", "kept", "--tag", "")["tags"] == []
    assert shown("design", "edit", "kept#1", "--tag", "best", "--notes", "n")["tags"] == ["best"]
    for arguments in (["edit", "kept"], ["edit", "kept", "--name", "latest"], ["edit", "kept", "--name", "a b"]):
        result = run(app, ["exploration", *arguments])
        assert result.exception is not None
        assert exit_code(result.exception) == 2
    refused = run(app, ["exploration", "delete", "latest"], input="n\n")
    assert refused.exit_code == 1
    assert "Delete mlp-decode-64-w4a8" in refused.output
    assert exit_code(run(app, ["exploration", "delete", "latest", "--json"]).exception or KeyboardInterrupt()) == 2
    assert shown("exploration", "delete", "latest", "--yes")["name"] == "mlp-decode-64-w4a8"
    assert [e["name"] for e in shown("pareto")] == ["kept"]
    audit = shown("farm", "audit")
    assert [e["action"] for e in audit[:2]] == ["millrace exploration delete", "millrace design edit"]
