"""openapi-python-client makes a working client of the OpenAPI document of this release."""

import importlib
import subprocess
import sys
import tomllib
import venv
from collections.abc import Generator
from pathlib import Path
from typing import Any

import pytest
from fastapi.testclient import TestClient
from migrated import migrated

from api import wire
from api.app import create_app
from worker.settings import Settings

pytestmark = [pytest.mark.e2e, pytest.mark.slow]

ROOT = Path(wire.__file__).resolve().parents[1]
PACKAGE = "generated_millrace"
# What the generator says of answers that are files: it has no functions for their media types.
FILES = {"GET /v1/designs/{design}/artifacts/{path}", "GET /v1/designs/{design}/archive"}


@pytest.fixture(scope="module")
def generated(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder with the generated package. The generator has an environment of its own: its typer is not ours."""
    folder = tmp_path_factory.mktemp("generated")
    venv.create(folder / "venv", symlinks=True)
    python = str(folder / "venv" / "bin" / "python")
    [pin] = tomllib.loads((ROOT / "pyproject.toml").read_text())["dependency-groups"]["generated-client"]
    pip = [sys.executable, "-m", "pip", "--python", python, "--quiet", "--disable-pip-version-check"]
    install = [*pip, "install", "--no-compile", pin]  # of most modules it imports none
    done = subprocess.run(install, capture_output=True, text=True, check=False)
    if done.returncode:
        pytest.skip("no package index can be reached")
    out = ["--output-path", str(folder / PACKAGE), "--meta", "none"]
    command = [python, "-m", "openapi_python_client", "generate", "--path", str(wire.DOCUMENT), *out]
    done = subprocess.run(command, capture_output=True, text=True, check=False, cwd=folder)
    assert done.returncode == 0, done.stdout + done.stderr
    warned = {line.removeprefix("WARNING parsing ").partition(" within")[0] for line in done.stdout.splitlines()}
    assert {line for line in warned if " /v1/" in line} <= FILES, done.stdout
    assert "Unable to process schema" not in done.stdout, done.stdout
    return folder


@pytest.fixture
def service(tmp_path: Path) -> Generator[TestClient]:
    settings = Settings(home=tmp_path)
    migrated(settings.database)
    with TestClient(create_app(settings, lambda _: None), base_url="http://127.0.0.1:8642") as client:
        yield client


def test_it_starts_an_exploration_and_lists_it(
    generated: Path, service: TestClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.syspath_prepend(str(generated))

    def of(module: str) -> Any:
        return importlib.import_module(f"{PACKAGE}.{module}" if module else PACKAGE)

    client = of("").Client(base_url="http://127.0.0.1:8642")
    client.set_httpx_client(service)
    body = of("models").NewExploration(model="gpt2", budget=20)
    started = of("api.explorations.start_exploration").sync(client=client, body=body)
    assert (started.budget, started.state) == (20, "lowering")
    page = of("api.explorations.list_explorations").sync(client=client)
    assert [one.id for one in page.items] == [started.id]
    table = of("api.explorations.get_table").sync(client=client, exploration=started.id)
    assert table.rows == 0
    missing = of("api.designs.get_design").sync(client=client, design="dsg_none")
    assert missing.type_ == "urn:millrace:problem:not-found"
    assert sys.modules[PACKAGE].__file__ is not None
