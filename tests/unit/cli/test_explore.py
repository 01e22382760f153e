from typing import Any, cast

import pytest

from cli.commands.explore import print_result
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


def test_an_exploration_that_goes_on_says_so(capsys: pytest.CaptureFixture[str]):
    exploration: Any = {**EXPLORATION, "state": "searching"}
    print_result(cast(Reader, _Reader(None)), exploration, as_json=False)
    assert "the front is empty so far: searching, 4 of 8 designs evaluated" in capsys.readouterr().out
