"""What `millrace design show` prints."""

from typing import Any, cast

import pytest

from cli.commands import design as command
from cli.replies import Design
from compiler.options import Knobs

DESIGN: dict[str, Any] = {
    "id": "dsg_1",
    "number": 3,
    "exploration_id": "exp_1",
    "on_front": True,
    "feasible": True,
    "metrics": [
        {"name": "latency", "value": value, "unit": "us", "fidelity": fidelity, "tool": "millrace", "tool_version": "0"}
        for value, fidelity in ((95.0, "estimate"), (100.0, "simulate"))
    ],
    "differences": [
        {"metric": "latency", "unit": "us", "fidelity": "simulate", "value": 100.0, "estimate": 95.0, "error": -0.05}
    ],
    "flags": [{"metric": "power", "fidelity": "estimate", "text": "power of 1 W can not be: [the card] draws more"}],
    "violations": [],
    "knobs": Knobs().to_json(),
    "builds": [
        {"id": "bld_2", "stage": "csim", "state": "done", "verdict": {"passed": False}, "error": None},
        {"id": "bld_1", "stage": "simulate", "state": "done", "verdict": {"passed": True}, "error": None},
        {"id": "bld_0", "stage": "simulate", "state": "failed", "verdict": None, "error": "task a waits for b"},
    ],
}


class _Reader:
    def design(self, _design: str) -> Design:
        return cast(Design, DESIGN)

    def __enter__(self) -> "_Reader":
        return self

    def __exit__(self, *_: object) -> None:
        return None


def lines(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> list[list[str]]:
    monkeypatch.setattr(command, "look", lambda _url: _Reader())
    command.show("dsg_1", url=None, as_json=False)
    return [line.split() for line in capsys.readouterr().out.splitlines()]


def test_every_number_has_its_fidelity_and_both_are_compared(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    shown = lines(monkeypatch, capsys)
    assert ["latency", "95", "us", "estimate", "millrace", "0"] in shown
    assert ["latency", "100", "us", "simulate", "millrace", "0"] in shown
    assert ["latency", "95", "100", "us", "simulate", "-5.0", "%"] in shown


def test_values_that_can_not_be_and_builds(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    shown = [" ".join(words) for words in lines(monkeypatch, capsys)]
    assert "this can not be: power of 1 W can not be: [the card] draws more (estimate)" in shown
    assert "csim bld_2: FAILED" in shown
    assert "simulate bld_1: done" in shown
    assert "simulate bld_0: failed task a waits for b" in shown
