"""What is deleted, and when nothing is."""

import json

import pytest
import typer
from wire_replies import reply

from cli.deletion import carry_out
from compiler.errors import InvalidInputError
from db.errors import ConflictError
from millrace.wire import Deletion

FOUND = reply(Deletion, id="exp_1", name="mine", designs=3, builds=2, events=9, files=4, bytes=5_600_000)
WHAT = "with 3 designs, 2 builds, 9 events, 4 files of 5.6 MB"


def test_it_is_deleted_and_said(capsys: pytest.CaptureFixture[str]) -> None:
    deleted: list[str] = []
    carry_out(FOUND, deleted.append, yes=True, as_json=False)
    assert deleted == ["exp_1"]
    assert capsys.readouterr().out == f"deleted mine (exp_1) {WHAT}\n"


def test_a_person_is_asked_before(monkeypatch: pytest.MonkeyPatch) -> None:
    deleted: list[str] = []
    asked: list[str] = []

    def confirm(text: str, **_options: bool) -> None:
        assert not deleted
        asked.append(text)
        if len(asked) == 1:
            raise typer.Abort

    monkeypatch.setattr(typer, "confirm", confirm)
    with pytest.raises(typer.Abort):
        carry_out(FOUND, deleted.append, yes=False, as_json=False)
    assert deleted == []
    carry_out(FOUND, deleted.append, yes=False, as_json=False)
    assert deleted == ["exp_1"]
    assert asked == [f"Delete mine (exp_1) {WHAT} for good?"] * 2


def test_what_is_needed_stays() -> None:
    needed = reply(Deletion, id="exp_1", name="mine", needed=["it runs", "it is pinned"])
    with pytest.raises(ConflictError, match=r"mine \(exp_1\) can not be deleted: it runs; it is pinned"):
        carry_out(needed, pytest.fail, yes=True, as_json=False)


def test_a_program_says_yes_and_reads_what_went(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(InvalidInputError, match="with --yes"):
        carry_out(FOUND, pytest.fail, yes=False, as_json=True)
    carry_out(FOUND, lambda _: None, yes=True, as_json=True)
    counts = {"designs": 3, "builds": 2, "events": 9, "files": 4, "bytes": 5_600_000}
    assert json.loads(capsys.readouterr().out) == {"deleted": "exp_1", "name": "mine", **counts}
