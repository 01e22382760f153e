import json
from typing import Any, cast

import pytest

from cli.commands.explore import print_result
from cli.commands.pareto import workload_text
from cli.replies import Reader

EXPLORATION: Any = {"id": "exp_1", "state": "done", "evaluated": 4, "budget": 8, "error": None}


class _Reader:
    """Answers with one design whose C simulation ended as `state` and `passed` say; with none where `state` is None."""

    def __init__(self, state: str | None, passed: bool | None = None) -> None:
        self._csim = {"state": state, "passed": passed, "max_rel_error": None}
        self._front = [] if state is None else [{"id": "dsg_1", "csim": self._csim}]

    def front(self, _exploration: str) -> Any:
        return self._front

    def design(self, _design: str) -> Any:
        return {"builds": [{"stage": "csim", "error": "g++ was not found"}]}


def _result(reader: _Reader) -> int:
    return print_result(cast(Reader, reader), EXPLORATION, as_json=True)


@pytest.mark.parametrize(("state", "passed", "code"), [("done", True, 0), ("done", False, 1), ("failed", None, 3)])
def test_exit_code_follows_the_verdict(state: str, passed: bool | None, code: int):
    assert _result(_Reader(state, passed)) == code


def test_a_simulation_that_could_not_run_says_why(capsys: pytest.CaptureFixture[str]):
    _result(_Reader("failed"))
    assert "the C simulation of dsg_1 could not run: g++ was not found" in capsys.readouterr().err


@pytest.mark.parametrize("state", ["queued", "lowering", "searching", "simulating", "verifying"])
def test_an_exploration_that_still_runs_says_so(capsys: pytest.CaptureFixture[str], state: str):
    exploration: Any = {**EXPLORATION, "state": state}
    assert print_result(cast(Reader, _Reader(None)), exploration, as_json=False) == 0
    printed = capsys.readouterr()
    assert f"the front is empty so far: {state}, 4 of 8 designs evaluated" in printed.out
    assert f"exp_1 still runs ({state})" in printed.err


def test_the_front_so_far_is_printed_as_json(capsys: pytest.CaptureFixture[str]):
    exploration: Any = {**EXPLORATION, "state": "verifying"}
    assert print_result(cast(Reader, _Reader("done", passed=False)), exploration, as_json=True) == 0
    assert [d["id"] for d in json.loads(capsys.readouterr().out)["front"]] == ["dsg_1"]


def test_a_network_from_a_file_has_no_phase():
    shape = {"phase": "prefill", "length": 1, "precision": "f32"}
    listed: Any = {"workload": shape, "model": {"kind": "onnx"}}
    assert workload_text(listed) == "whole network f32"
    listed["model"]["kind"] = "builtin"
    assert workload_text(listed) == "prefill 1 f32"
