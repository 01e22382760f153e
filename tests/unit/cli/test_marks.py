import json

import pytest
from wire_replies import reply

from cli.marks import Mark, report
from millrace.wire import Model


@pytest.mark.parametrize(
    ("mark", "undo", "said"),
    [
        ("archived", False, "mine [1] is archived"),
        ("archived", True, "mine [1] is listed again"),
        ("pinned", False, "mine [1] is pinned"),
        ("pinned", True, "mine [1] is not pinned any more"),
    ],
)
def test_a_mark_is_said(mark: Mark, undo: bool, said: str, capsys: pytest.CaptureFixture[str]) -> None:
    report(reply(Model, name="mine"), "mine [1]", mark, undo, as_json=False)
    assert capsys.readouterr().out == f"{said}\n"


def test_a_program_reads_the_reply(capsys: pytest.CaptureFixture[str]) -> None:
    report(reply(Model, name="mine"), "mine", "archived", undo=False, as_json=True)
    assert json.loads(capsys.readouterr().out)["name"] == "mine"
