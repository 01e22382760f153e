"""`millrace farm join` up to the point where the worker takes over."""

import json
import re
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from typer.main import get_command
from typer.testing import CliRunner

from cli import secrets
from cli.commands import join as join_module
from cli.main import app
from compiler.errors import InvalidInputError
from worker.errors import JoinError
from worker.node import membership, nodes
from worker.node.membership import Membership
from worker.node.nodes import NodeInfo
from worker.settings import Settings

FARM = Membership("http://farm", "1", "2", "3", {"MILLRACE_REDIS_URL": "redis://farm"})


class Farm:
    """Records what the node did."""

    def __init__(self) -> None:
        self.asked: list[tuple[str, str, str]] = []
        self.worked: list[Settings] = []
        self.wrong: list[str] = []

    def ask(self, url: str, key: str, node: str) -> Membership:
        self.asked.append((url, key, node))
        return FARM


@pytest.fixture
def farm(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Farm:
    made = Farm()
    names = ("MILLRACE_NODE", "MILLRACE_CAPABILITIES", "MILLRACE_REDIS_URL", "MILLRACE_SERVER", "MILLRACE_API_KEY")
    for name in names:
        monkeypatch.setenv(name, "")
    monkeypatch.setenv("MILLRACE_HOME", str(tmp_path))
    monkeypatch.setattr(membership, "ask", made.ask)
    monkeypatch.setattr(membership, "problems", lambda *_: made.wrong)
    monkeypatch.setattr(nodes, "describe", lambda s: NodeInfo(s.node, {"csim": {}}, {"csynth": "no Vitis"}, 1, 1, "1"))
    monkeypatch.setattr(join_module, "_work", made.worked.append)
    return made


def run(*arguments: str) -> Any:
    return CliRunner().invoke(app, ["farm", "join", *arguments])


def test_join_and_start_again_without_key(farm: Farm, tmp_path: Path) -> None:
    key = tmp_path / "key"
    key.write_text("mlr_k\n")
    capabilities = ("--capability", "csim", "--capability", "csynth")
    done = run("http://farm", "--key-file", str(key), "--name", "lab-7", *capabilities)
    assert done.exit_code == 0, done.output
    assert farm.asked == [("http://farm", "mlr_k", "lab-7")]
    [settings] = farm.worked
    assert (settings.node, settings.capabilities) == ("lab-7", ("csim", "csynth"))
    assert settings.redis == "redis://farm"
    assert "mlr_k" not in (tmp_path / "node.json").read_text()
    assert "lab-7" in done.output
    assert "crossed the network unencrypted" in done.stderr.replace("\n", " ")


def test_a_later_start_knows_all(farm: Farm, monkeypatch: pytest.MonkeyPatch) -> None:
    run("http://farm", "--name", "lab-7", "--capability", "csim")
    for name in ("MILLRACE_NODE", "MILLRACE_CAPABILITIES", "MILLRACE_REDIS_URL"):
        monkeypatch.setenv(name, "")
    assert run().exit_code == 0
    assert len(farm.asked) == 1
    assert (farm.worked[1].node, farm.worked[1].capabilities) == ("lab-7", ("csim",))


def test_once_file_is_used_once(farm: Farm, tmp_path: Path) -> None:
    once = tmp_path / "once"
    once.write_text("# from the administrator\nMILLRACE_SERVER=http://farm\nMILLRACE_API_KEY='mlr_k'\n")
    for _ in range(2):
        assert run("--once-file", str(once)).exit_code == 0
        assert not once.exists()
    assert [(url, key) for url, key, _ in farm.asked] == [("http://farm", "mlr_k")]
    assert len(farm.worked) == 2


def test_what_is_in_the_way_is_said_and_nothing_kept(farm: Farm, tmp_path: Path) -> None:
    once = tmp_path / "once"
    once.write_text("MILLRACE_SERVER=http://farm\n")
    farm.wrong = ["the redis at [farm] can not be used from here"]
    done = run("--once-file", str(once))
    assert done.exit_code == 1
    assert "the redis at [farm] can not" in done.output
    assert farm.worked == []
    assert once.exists()
    assert not (tmp_path / "node.json").exists()


def test_check_says_all_and_does_not_work(farm: Farm) -> None:
    done = run("http://farm", "--check", "--json")
    found = json.loads(done.stdout)
    assert (done.exit_code, found["problems"], found["farm"]) == (0, [], "http://farm")
    assert (found["offers"], found["missing"]) == (["csim"], {"csynth": "no Vitis"})
    assert farm.worked == []


def test_without_a_farm(farm: Farm) -> None:
    done = run()
    assert isinstance(done.exception, JoinError)
    assert "has not joined a farm yet" in str(done.exception)


def test_the_key_comes_from_standard_input_or_the_variable(farm: Farm, monkeypatch: pytest.MonkeyPatch) -> None:
    CliRunner().invoke(app, ["farm", "join", "http://farm", "--key-file", "-"], input="mlr_typed\n")
    monkeypatch.setenv("MILLRACE_API_KEY", "mlr_variable")
    run("http://farm")
    assert [key for _, key, _ in farm.asked] == ["mlr_typed", "mlr_variable"]


def test_a_person_is_asked_for_the_key(farm: Farm, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(secrets.sys, "stdin", SimpleNamespace(isatty=lambda: True))
    monkeypatch.setattr(secrets.typer, "prompt", lambda *_, hide_input, **__: "mlr_prompted" if hide_input else "")
    assert secrets.key(None) == "mlr_prompted"


@pytest.mark.parametrize("content", [None, " \n"])
def test_a_key_file_that_holds_none(farm: Farm, tmp_path: Path, content: str | None) -> None:
    if content is not None:
        (tmp_path / "key").write_text(content)
    done = run("http://farm", "--key-file", str(tmp_path / "key"))
    assert (type(done.exception), farm.asked) == (InvalidInputError, [])


def test_no_option_takes_a_secret() -> None:
    """What is on a command line can be read by all users of the machine."""
    names = {name for command in commands(get_command(app)) for option in command.params for name in option.opts}
    named = {name for name in names if re.search(r"--.*(key|secret|token\b|password)", name)}
    assert named == {"--key-file", "--webhook-secret-file"}


def commands(command: Any) -> Iterator[Any]:
    yield command
    for inner in getattr(command, "commands", {}).values():
        yield from commands(inner)
