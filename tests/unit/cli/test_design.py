"""What `millrace design show` prints."""

import pytest
from wire_replies import reply

from cli.commands import design as command
from compiler.options import Knobs
from millrace.wire import Design, Difference, Exploration, Flag, Metric, Rung, SimulationSummary, StallingRun

STALLING = StallingRun(ends=False, cycles=16504, fifo="row", deadlock="a waits", fidelity="simulate")
DESIGN = reply(
    Design,
    id="dsg_1",
    number=915,
    metrics=[
        reply(Metric, name="latency", value=value, unit="us", fidelity=fidelity, tool="millrace", tool_version="0")
        for value, fidelity in ((95.0, "estimate"), (100.0, "simulate"))
    ],
    differences=[reply(Difference, metric="latency", fidelity="simulate", error=-0.05)],
    flags=[reply(Flag, fidelity="estimate", value=1.0, text="power of 1 W can not be: [the card] draws more")],
    simulation=reply(
        SimulationSummary, state="failed", refuted="with certified FIFOs: lut [of] 9 of 8", stalling=STALLING
    ),
    knobs=Knobs().to_json(),
    ladder=[
        Rung(stage="simulate", build_id="bld_0", state="failed", error="task a waits for b\nand so on"),
        Rung(stage="csim", build_id="bld_2", state="done", passed=False),
        Rung(stage="csynth", build_id="bld_3", state="blocked", waiting="waits for csim bld_2, which is done"),
        Rung(stage="cosim", build_id="bld_4", state="done", passed=True),
        Rung(stage="link", build_id="bld_5", state="done"),
        Rung(stage="measure"),
    ],
)


class _Reader:
    def design(self, _design: str) -> Design:
        return DESIGN

    def exploration(self, _exploration: str) -> Exploration:
        return reply(Exploration, name="mine")

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
    assert shown[0] == ["mine#915", "dsg_1,", "infeasible"]
    assert ["metric", "unit", "estimate", "simulate"] in shown
    assert ["latency", "us", "95", "100", "(-5.0", "%)"] in shown
    assert ["simulate", "millrace", "0"] in shown


def test_whether_it_ends_with_stalling_pipelines(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    shown = " ".join(word for words in lines(monkeypatch, capsys) for word in words)
    assert "with stalling pipelines (stp) it would deadlock: simulated up to cycle 16,504, row is full" in shown


def test_why_it_is_refuted(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    shown = [" ".join(words) for words in lines(monkeypatch, capsys)]
    assert "refuted by its simulation: with certified FIFOs: lut [of] 9 of 8" in shown


def test_values_that_can_not_be(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    shown = [" ".join(words) for words in lines(monkeypatch, capsys)]
    assert "this can not be: power of 1 W can not be: [the card] draws more (estimate)" in shown


def test_the_ladder(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    shown = [" ".join(words) for words in lines(monkeypatch, capsys)]
    assert "simulate failed bld_0 task a waits for b" in shown
    assert "csim done: FAILED bld_2" in shown
    assert "csynth blocked bld_3 waits for csim bld_2, which is done" in shown
    assert "cosim done: passed bld_4" in shown
    assert "link done bld_5" in shown
    assert "measure not run" in shown
