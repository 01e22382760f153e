import os
import socket
from pathlib import Path

import pytest
from fake_board import FakeBoard
from fake_xbutil import BDF, SHELL

from cli.checks import State, run_checks


def checks(home: Path, port: int = 0):
    return {check.name: check for check in run_checks(home, port)}


def test_this_machine_can_run_millrace(tmp_path: Path):
    found = checks(tmp_path / "state")
    assert {found[name].state for name in ("python", "g++", "redis", "state", "port")} == {State.OK}


def test_missing_compiler_says_what_to_do(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("PATH", str(tmp_path))
    found = checks(tmp_path)
    assert found["g++"].state is State.FAIL
    assert "apt install g++" in found["g++"].advice


def test_a_board_that_can_not_be_used_says_why(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("PATH", os.pathsep.join((str(tmp_path), "/usr/bin", "/bin")))
    found = checks(tmp_path)["board"]
    assert found.state is State.WARN
    assert "no xbutil or xrt-smi in PATH: install XRT" in found.advice


def test_a_board_that_can_be_used_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    FakeBoard(tmp_path, monkeypatch)
    found = checks(tmp_path)["board"]
    assert (found.state, found.found) == (State.OK, f"{BDF} ({SHELL})")


def test_how_builds_are_held_to_their_limits(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("MILLRACE_CGROUPS", "false")
    [limits] = [check for check in run_checks(tmp_path, 0) if check.name == "limits"]
    assert limits.state is State.WARN
    assert "by watchdog; not by cgroup v2: MILLRACE_CGROUPS is off" in limits.found
    assert "docs/limits.md" in limits.advice


def test_state_directory_below_a_file(tmp_path: Path):
    (tmp_path / "file").touch()
    found = checks(tmp_path / "file" / "state")
    assert found["state"].state is State.FAIL
    assert "MILLRACE_HOME" in found["state"].advice


def test_taken_port(tmp_path: Path):
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        assert checks(tmp_path, port)["port"].state is State.WARN
