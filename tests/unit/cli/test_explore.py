import json
from typing import cast

import pytest
from wire_replies import reply

from cli.commands.explore import print_result
from cli.commands.pareto import workload_text
from cli.replies import Reader
from millrace.wire import Build, CsimSummary, Design, DesignSummary, Exploration, ModelRef, WorkloadShape


def exploration(state: str) -> Exploration:
    return reply(Exploration, id="exp_1", state=state, evaluated=4, budget=8)


class _Reader:
    """Answers with one design whose C simulation ended as `state` and `passed` say; with none where `state` is None."""

    def __init__(self, state: str | None, passed: bool | None = None) -> None:
        self._front: list[DesignSummary] = []
        if state is not None:
            csim = reply(CsimSummary, state=state, passed=passed)
            self._front += [reply(DesignSummary, id="dsg_1", latency_us=1, energy_uj=1, csim=csim)]

    def front(self, _exploration: str) -> list[DesignSummary]:
        return self._front

    def design(self, _design: str) -> Design:
        return reply(Design, builds=[reply(Build, stage="csim", error="g++ was not found")])


def _result(reader: _Reader, state: str = "done", as_json: bool = True) -> int:
    return print_result(cast(Reader, reader), exploration(state), as_json)


@pytest.mark.parametrize(("state", "passed", "code"), [("done", True, 0), ("done", False, 1), ("failed", None, 3)])
def test_exit_code_follows_the_verdict(state: str, passed: bool | None, code: int):
    assert _result(_Reader(state, passed)) == code


def test_a_simulation_that_could_not_run_says_why(capsys: pytest.CaptureFixture[str]):
    _result(_Reader("failed"))
    assert "the C simulation of dsg_1 could not run: g++ was not found" in capsys.readouterr().err


@pytest.mark.parametrize("state", ["queued", "lowering", "searching", "simulating", "verifying"])
def test_an_exploration_that_still_runs_says_so(capsys: pytest.CaptureFixture[str], state: str):
    assert _result(_Reader(None), state, as_json=False) == 0
    printed = capsys.readouterr()
    assert f"the front is empty so far: {state}, 4 of 8 designs evaluated" in printed.out
    assert f"exp_1 still runs ({state})" in printed.err


def test_the_front_so_far_is_printed_as_json(capsys: pytest.CaptureFixture[str]):
    assert _result(_Reader("done", passed=False), "verifying") == 0
    assert [d["id"] for d in json.loads(capsys.readouterr().out)["front"]] == ["dsg_1"]


def test_a_network_from_a_file_has_no_phase():
    shape = reply(WorkloadShape, phase="prefill", length=1, precision="f32")
    for kind, text in (("onnx", "whole network f32"), ("builtin", "prefill 1 f32")):
        assert workload_text(reply(Exploration, workload=shape, model=reply(ModelRef, kind=kind))) == text
