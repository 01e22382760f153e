import json
from contextlib import nullcontext
from types import SimpleNamespace
from typing import Any, cast

import pytest
from typer.testing import CliRunner
from wire_replies import reply

from cli.commands.explore import _bounds, follow_to_end, print_result
from cli.commands.pareto import workload_text
from cli.errors import InterruptedExplorationError
from cli.main import app
from cli.replies import Reader
from cli.service import Connection
from compiler.errors import InvalidInputError
from millrace.wire import (
    AtMost,
    Build,
    CsimSummary,
    Design,
    DesignSummary,
    Exploration,
    Groups,
    Metric,
    ModelRef,
    Pick,
    Scatter,
    WorkloadShape,
)


def exploration(state: str) -> Exploration:
    return reply(Exploration, id="exp_1", name="mine", state=state, evaluated=4, budget=8)


class _Reader:
    """Answers with one design whose C simulation ended as `state` and `passed` say; with none where `state` is None."""

    def __init__(self, state: str | None, passed: bool | None = None) -> None:
        self._front: list[DesignSummary] = []
        if state is not None:
            csim = reply(CsimSummary, state=state, passed=passed)
            self._front += [reply(DesignSummary, id="dsg_1", number=7, objectives=[1, 1], csim=csim)]

    def front(self, _exploration: str) -> list[DesignSummary]:
        return self._front

    def groups(self, _exploration: str) -> Groups:
        return reply(Groups)

    def design(self, _design: str) -> Design:
        return reply(Design, builds=[reply(Build, stage="csim", error="g++ was not found")])


def _result(reader: _Reader, state: str = "done", as_json: bool = True) -> int:
    return print_result(cast(Reader, reader), exploration(state), as_json)


@pytest.mark.parametrize(("state", "passed", "code"), [("done", True, 0), ("done", False, 1), ("failed", None, 3)])
def test_exit_code_follows_the_verdict(state: str, passed: bool | None, code: int):
    assert _result(_Reader(state, passed)) == code


def test_replies_of_a_design_that_makes_tokens_are_told(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr("cli.commands.explore.print_front", lambda *_: None)

    class _Replying(_Reader):
        def scatter(self, _exploration: str) -> Scatter:
            return reply(Scatter)

        def design(self, _design: str) -> Design:
            metric = reply(Metric, name="tokens_per_second", value=744.0, fidelity="simulate")
            return reply(Design, number=7, metrics=[metric], assumed="a start")

    picks = [reply(Pick, kind="fastest", design_id="dsg_1")]
    for phase in ("token", "decode"):
        workload = reply(WorkloadShape, phase=phase)
        found = reply(Exploration, state="done", picks=picks, workload=workload)
        print_result(cast(Reader, _Replying("done", True)), found, as_json=False)
        assert ("Whole replies by number 7: 744 tokens/s" in capsys.readouterr().out) == (phase == "token")


def test_a_simulation_that_could_not_run_says_why(capsys: pytest.CaptureFixture[str]):
    _result(_Reader("failed"))
    assert "the C simulation of mine#7 could not run: g++ was not found" in capsys.readouterr().err


@pytest.mark.parametrize("state", ["queued", "lowering", "searching", "simulating", "verifying"])
def test_an_exploration_that_still_runs_says_so(capsys: pytest.CaptureFixture[str], state: str):
    assert _result(_Reader(None), state, as_json=False) == 0
    printed = capsys.readouterr()
    assert f"the front is empty so far: {state}, 4 of 8 designs evaluated" in printed.out
    assert f"mine still runs ({state})" in printed.err


def test_the_front_so_far_is_printed_as_json(capsys: pytest.CaptureFixture[str]):
    assert _result(_Reader("done", passed=False), "verifying") == 0
    assert [d["id"] for d in json.loads(capsys.readouterr().out)["front"]] == ["dsg_1"]


def test_a_network_from_a_file_has_no_phase():
    shape = reply(WorkloadShape, phase="prefill", length=1, precision="f32")
    for kind, text in (("onnx", "whole network f32"), ("builtin", "prefill 1 f32")):
        assert workload_text(reply(Exploration, workload=shape, model=reply(ModelRef, kind=kind))) == text


class _Client:
    """Starts an exploration of which a stage waits, and is interrupted when it is followed."""

    address = "http://lab:8642"

    def start_exploration(self, _request: Any, _key: str) -> Exploration:
        return reply(Exploration, id="exp_1", name="mine", warnings=["link will wait: no node offers link"])

    def exploration(self, _key: str) -> Exploration:
        return exploration("queued")

    def events(self, _key: str) -> Any:
        raise KeyboardInterrupt


def test_what_will_wait_is_said_and_how_to_go_on_by_name(monkeypatch: pytest.MonkeyPatch) -> None:
    connection: Any = SimpleNamespace(client=_Client(), temporary=False)
    monkeypatch.setattr("cli.commands.explore.connect", lambda _url: nullcontext(connection))
    said = CliRunner().invoke(app, ["explore", "gpt2", "--link", "1", "--csynth", "1", "--detach"]).output
    assert "note: link will wait: no node offers link" in said
    assert "mine (exp_1) is queued" in said
    assert "millrace explore --resume mine" in said
    with pytest.raises(InterruptedExplorationError) as caught:
        follow_to_end(cast(Connection, connection), "exp_1", quiet=True)
    assert caught.value.advice == "mine goes on at http://lab:8642; go on with: millrace explore --resume mine"


def test_bounds_of_a_command_line():
    assert _bounds(["lut=40%", "dsp=12.5", "hbm_ports=8"]) == AtMost(lut=40.0, dsp=12.5, hbm_ports=8)
    assert _bounds(["dies=1", "energy=400.5"]) == AtMost(dies=1, energy=400.5)


@pytest.mark.parametrize(
    "text", ["lut", "lut=", "lut=much", "lut=nan", "lut=1e400", "luts=40%", "hbm_ports=8%", "hbm_ports=1.5"]
)
def test_a_bound_that_says_nothing(text: str):
    with pytest.raises(InvalidInputError, match=r"write one of lut, ff, dsp, bram36, uram, hbm_ports"):
        _bounds([text])
