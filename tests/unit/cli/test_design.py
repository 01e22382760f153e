"""What `millrace design show` prints."""

from typing import Any, cast

import pytest

from cli.commands import design as command
from cli.replies import Design
from compiler.options import Knobs


def rung(stage: str, build: str | None = None, state: str | None = None, **more: Any) -> dict[str, Any]:
    empty = dict.fromkeys(("passed", "failure", "error", "waiting", "started_at", "finished_at"))
    return {**empty, "stage": stage, "build_id": build, "state": state, **more}


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
        {
            "metric": "latency",
            "unit": "us",
            "predicted_by": "estimate",
            "predicted": 95.0,
            "fidelity": "simulate",
            "value": 100.0,
            "error": -0.05,
        }
    ],
    "flags": [{"metric": "power", "fidelity": "estimate", "text": "power of 1 W can not be: [the card] draws more"}],
    "violations": [],
    "knobs": Knobs().to_json(),
    "ladder": [
        rung("simulate", "bld_0", "failed", error="task a waits for b\nand so on"),
        rung("csim", "bld_2", "done", passed=False),
        rung("csynth", "bld_3", "blocked", waiting="waits for csim bld_2, which is done"),
        rung("cosim"),
    ],
    "builds": [],
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


def test_all_fidelities_are_side_by_side_with_their_difference(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    shown = lines(monkeypatch, capsys)
    assert ["metric", "unit", "estimate", "simulate"] in shown
    assert ["latency", "us", "95", "100", "(-5.0", "%)"] in shown
    assert ["simulate", "millrace", "0"] in shown


def test_values_that_can_not_be(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    shown = [" ".join(words) for words in lines(monkeypatch, capsys)]
    assert "this can not be: power of 1 W can not be: [the card] draws more (estimate)" in shown


def test_the_ladder(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    shown = [" ".join(words) for words in lines(monkeypatch, capsys)]
    assert "simulate failed bld_0 task a waits for b" in shown
    assert "csim done: FAILED bld_2" in shown
    assert "csynth blocked bld_3 waits for csim bld_2, which is done" in shown
    assert "cosim not run" in shown
