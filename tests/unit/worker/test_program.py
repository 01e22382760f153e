"""Hints name the command as who reads them types it."""

import sys
from pathlib import Path

import pytest

from worker.program import as_typed, program, remember


@pytest.fixture
def called(monkeypatch: pytest.MonkeyPatch) -> pytest.MonkeyPatch:
    monkeypatch.setenv("MILLRACE_PROGRAM", "./millrace")
    return monkeypatch


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("start one with `millrace up`", "start one with `./millrace up`"),
        ("go on with: millrace explore --resume a", "go on with: ./millrace explore --resume a"),
        ("say: ./millrace up", "say: ./millrace up"),
        ("cd /srv/millrace up there", "cd /srv/millrace up there"),
        ("the millrace service is of millrace 0.1.0", "the millrace service is of millrace 0.1.0"),
        ("my-millrace up, millrace upward", "my-millrace up, millrace upward"),
    ],
)
def test_commands_are_told_as_typed_and_nothing_else(called: pytest.MonkeyPatch, text: str, told: str) -> None:
    assert as_typed(text) == told


def test_without_a_word_of_it_the_name_is_the_name(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "argv", ["/usr/lib/pytest/__main__.py"])
    remember()
    assert (program(), as_typed("millrace up")) == ("millrace", "millrace up")


def test_what_path_leads_to_needs_no_folder(called: pytest.MonkeyPatch, tmp_path: Path) -> None:
    command = tmp_path / "a folder" / "millrace"
    command.parent.mkdir()
    command.write_text("#!/bin/sh\n")
    command.chmod(0o755)
    called.setattr(sys, "argv", [str(command)])
    remember()
    assert program() == "./millrace"  # the start script knows better
    called.delenv("MILLRACE_PROGRAM")
    remember()
    assert program() == f"'{command}'"
    called.setenv("PATH", str(command.parent))
    assert program() == "millrace"
