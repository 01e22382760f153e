"""`millrace farm` on the database of this machine: no service, no key."""

import json
from pathlib import Path

import pytest
from farm_states import announce, take
from migrated import migrated
from typer.testing import CliRunner

from api.authentication import Authenticator
from cli.farm_view import abilities, bar
from cli.main import app
from db.repositories import catalog, explorations, nodes
from worker.farm import Farm, open_farm
from worker.ladder import flow
from worker.settings import Settings

run = CliRunner().invoke


@pytest.fixture
def farm(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Farm:
    monkeypatch.setenv("MILLRACE_HOME", str(tmp_path / "home"))
    for name in ("MILLRACE_SERVER", "MILLRACE_API_KEY", "MILLRACE_DATABASE_URL"):
        monkeypatch.delenv(name, raising=False)
    settings = Settings()
    migrated(settings.database)
    return open_farm(settings, lambda _: None)


def words(*arguments: str, code: int = 0) -> str:
    result = run(app, list(arguments))
    assert result.exit_code == code, (result.output, result.exception)
    return " ".join(result.output.split())


def test_status_without_a_service(farm: Farm) -> None:
    assert "no node has joined" in words("farm", "status")
    announce(farm, ["lower", "csynth@2022.1", "csynth@2023.2"])
    with farm.database.write() as session:
        model = catalog.put_model(session, "m", "config", {}, "0" * 64)
        workload = catalog.put_workload(session, model, "decode", 64, 1, "w4a8", 1, "w" * 64)
        made = explorations.add(
            session, workload, "u55c", ["latency", "energy"], {"seed": 0, "sampler": "tpe", "verify": 0}, 10
        )
        flow.step(farm, session, made)
        nodes.announce(
            session, "lab2", {}, {"link": "no v++ [at all]"}, 8.0, 16.0, "1", {"store": 3 << 30, "scratch": 9 << 20}
        )
    take(farm, "lower")
    shown = words("farm", "status", "--missing")
    assert "2 nodes, 1 builds run, 0 wait" in shown
    assert "csynth 2022.1 2023.2, lower" in shown
    assert "link no v++ [at all]" in shown
    assert "lab2 3.0 GB all" in shown
    assert "lab2 9.0 MB scratch what builds write while they run" in shown
    assert json.loads(run(app, ["farm", "status", "--json"]).output)["nodes"][0]["name"] == "here"


def test_operating_a_node(farm: Farm) -> None:
    announce(farm, ["csim"])
    assert words("farm", "drain", "here") == "here is draining; 0 builds run there"
    assert words("farm", "pause", "here") == "here is paused; 0 builds run there"
    assert words("farm", "resume", "here") == "here is active; 0 builds run there"
    assert words("farm", "forget", "here") == "here is forgotten"
    result = run(app, ["farm", "drain", "here"])
    assert "there is no node 'here'" in str(result.exception)


def test_licences(farm: Farm) -> None:
    assert words("farm", "licence", "set", "vitis_hls", "2") == "vitis_hls: 0 of 2 tokens in use"
    assert "vitis_hls 0 2" in words("farm", "licence", "list")


def test_the_first_key_needs_no_service(farm: Farm) -> None:
    result = run(app, ["farm", "key", "add", "alice", "--role", "admin", "--builds", "9"])
    key = result.stdout.strip()
    holder = Authenticator(farm.database).find(key)
    assert holder is not None
    assert (holder.name, holder.role, holder.quotas) == ("alice", "admin", {"open_builds": 9})
    listed = words("farm", "key", "list")
    assert "alice admin" in listed
    assert key not in listed
    words("farm", "key", "revoke", "alice")
    assert Authenticator(farm.database).find(key) is None
    assert "revoked" in words("farm", "key", "list")


def test_a_key_that_can_not_be(farm: Farm) -> None:
    assert run(app, ["farm", "key", "add", "alice", "--role", "king"]).exit_code == 2
    assert "name" in str(run(app, ["farm", "key", "add", "../x"]).exception)
    words("farm", "key", "add", "alice")
    assert "exists" in str(run(app, ["farm", "key", "add", "alice"]).exception)


def test_what_was_done_here_is_in_the_audit(farm: Farm) -> None:
    words("farm", "licence", "set", "vivado", "1")
    words("farm", "key", "add", "alice")
    found = json.loads(run(app, ["farm", "audit", "--json"]).output)
    assert [(e["who"], e["action"], e["target"]) for e in found] == [
        (None, "millrace farm key add", "alice"),
        (None, "millrace farm licence", "vivado 1"),
    ]
    assert "on this machine" in found[0]["address"]


def test_bars() -> None:
    assert bar(0, 4, 4) == "[green][/][dim]░░░░[/]"
    assert bar(3, 4, 4) == "[yellow]███[/][dim]░[/]"
    assert bar(9, 4, 4) == "[red]████[/][dim][/]"
    assert bar(1, 0, 4) == "[green][/][dim]░░░░[/]"


def test_abilities_are_grouped_by_stage() -> None:
    assert abilities(["csynth@2023.2", "csim", "csynth@2022.1"]) == "csim, csynth 2022.1 2023.2"
