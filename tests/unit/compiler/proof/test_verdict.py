"""What the checks together say of a design."""

import json

import numpy as np
import pytest

from compiler.errors import MillraceError
from compiler.proof.checks import Difference, Finding
from compiler.proof.verdict import OutputCheck, compare, verdict_of

RIGHT = Finding("load_x", "load", "", "x", "local", 64, 0, 0.0)
WRONG = Finding("exp", "elementwise", "h0.exp", "e", "local", 64, 3, 0.5, 0, Difference((1, 2), 1.5, 1.25, 1e-7))
LATER = Finding("sum", "reduction", "h0.sum", "s", "local", 4, 1, 0.5, 0, Difference((0,), 2.0, 3.0, 0.0))
TASKS = ["load_x", "exp", "sum", "store_y"]


def test_a_verdict_names_what_the_results_were_compared_with() -> None:
    output = OutputCheck("y", 0.5, 0.25, 0.1, 1e-4, passed=False)
    verdict = verdict_of((output,), (), "", "onnx.reference.ReferenceEvaluator", 1.0)
    assert verdict.message == "y is off by 0.25 from onnx.reference.ReferenceEvaluator, 0.0001 is allowed"
    assert verdict.to_json()["reference"] == "onnx.reference.ReferenceEvaluator"


def test_the_first_task_that_differs_is_named_with_its_node_and_both_values() -> None:
    verdict = verdict_of((), (RIGHT, WRONG, LATER), "", "PyTorch", 1.0, TASKS)
    assert not verdict.passed
    assert verdict.message == (
        "task exp (node h0.exp) differs from its operation in 3 of 64: element [1, 2] is 1.5 instead of 1.25, "
        "1e-07 off is allowed"
    )
    assert [found["task"] for found in verdict.wrong] == ["exp", "sum"]
    assert json.loads(json.dumps(verdict.to_json(), allow_nan=False))["wrong"][0]["first"]["index"] == [1, 2]


def test_tasks_that_were_not_checked_are_named() -> None:
    verdict = verdict_of((), (RIGHT,), "", "PyTorch", 1.0, TASKS)
    assert (verdict.passed, verdict.tasks, verdict.tasks_checked) == (True, 4, 1)
    assert verdict.unchecked == ("exp", "sum", "store_y")


def test_a_testbench_that_alone_objects_is_believed() -> None:
    verdict = verdict_of((), (RIGHT,), "y differs", "PyTorch", 1.0, TASKS)
    assert (verdict.passed, verdict.message) == (False, "the testbench disagrees: y differs")


@pytest.mark.parametrize("got", [np.nan, np.inf])
def test_what_is_no_number_is_infinitely_off(got: float) -> None:
    check = compare("y", np.asarray([1.0, got], np.float32), np.ones(2, np.float32), 1e-4)
    assert (check.passed, check.max_abs_error) == (False, np.inf)


def test_a_token_that_is_one_off_is_another_token() -> None:
    token = np.array([[40000]], np.int32)
    assert compare("token", token, token, 5e-3).passed
    check = compare("token", token + 1, token, 5e-3)
    assert (check.passed, check.tolerance) == (False, 0.0)


def test_a_result_of_another_shape_is_an_error() -> None:
    with pytest.raises(MillraceError, match=r"y has shape \[2\] where the reference gives \[3\]"):
        compare("y", np.ones(2, np.float32), np.ones(3, np.float32), 1e-4)
