"""Knobs from JSON: what is written is read again, anything else is refused by name."""

from typing import Any

import pytest

from compiler.errors import InvalidInputError
from compiler.options import Knobs, TaskOverride, Workload


def test_knobs_survive_json():
    knobs = Knobs(overrides=(TaskOverride("a", tile=8, order=(1, 0)), TaskOverride("b", unroll=4)), converters="paper")
    assert Knobs.from_json(knobs.to_json()) == knobs


@pytest.mark.parametrize(
    ("overrides", "message"),
    [
        (3, "must be a list"),
        (None, "must be a list"),
        ([3], "must be an object"),
        ([{}], "must name its op"),
        ([{"op": 1}], "must name its op"),
        ([{"op": "a", "bogus": 1}], "must name its op"),
        ([{"op": "a", "tile": "b"}], "tile of a is b"),
        ([{"op": "a", "tile": 0}], "tile of a is 0"),
        ([{"op": "a", "unroll": 1 << 40}], "unroll of a is 1099511627776"),
        ([{"op": "a", "order": 4}], "must be a list of loop groups"),
        ([{"op": "a", "order": ["b"]}], "loop group in the order of a is b"),
    ],
)
def test_overrides_of_a_wrong_form_are_refused(overrides: Any, message: str):
    with pytest.raises(InvalidInputError, match=message):
        Knobs.from_json({"overrides": overrides})


@pytest.mark.parametrize(
    ("knob", "value"),
    [("fusion_plan", "fastest"), ("prefetch_kib", -1), ("prefetch_kib", (1 << 16) + 1), ("converters", "smallest")],
)
def test_knobs_of_fusion_and_memories_are_checked(knob: str, value: object) -> None:
    with pytest.raises(InvalidInputError, match=knob):
        Knobs.from_json({knob: value})


def test_a_head_has_one_row_and_no_layers() -> None:
    assert Workload("gpt2", "head", 1).rows == 1
    for length, layers in ((64, 1), (1, 2)):
        with pytest.raises(InvalidInputError, match=f"length is {length}, layers are {layers}; a head has one row"):
            Workload("gpt2", "head", length, layers=layers)


@pytest.mark.parametrize("data", [[], 7, "overall_unroll", None])
def test_knobs_that_are_no_object_are_refused(data: object) -> None:
    with pytest.raises(InvalidInputError, match="they must be an object"):
        Knobs.from_json(data)
