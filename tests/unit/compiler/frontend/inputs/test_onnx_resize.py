"""Whatever is said to repeat elements does so by onnx's own evaluator; what does not is refused by name."""

from itertools import product
from typing import Any, cast

import numpy as np
import pytest
from onnx import NodeProto, helper
from onnx.reference import ReferenceEvaluator
from onnx_models import model

from compiler.errors import UnsupportedError
from compiler.frontend.inputs.onnx_resize import repeats

LINES = 5
PLACES = ("asymmetric", "half_pixel", "pytorch_half_pixel", "align_corners", "half_pixel_symmetric")
ROUNDED = ("floor", "ceil", "round_prefer_floor", "round_prefer_ceil")


def resize(**attributes: Any) -> NodeProto:
    return helper.make_node("Resize", ["x", "", "by"], ["y"], name="up", **attributes)


def asked(node: NodeProto, made: int, *scale: float) -> tuple[int, ...]:
    attributes = {a.name: helper.get_attribute_value(a) for a in node.attribute}
    return repeats(node, attributes, (1, 1, LINES), (1, 1, made), [1.0, 1.0, *scale] if scale else None)


def test_what_repeats_is_what_onnx_makes() -> None:
    taken = 0
    for place, rounded, scale in product(PLACES, ROUNDED, (2, 3, 4, 5)):
        node = resize(coordinate_transformation_mode=place, nearest_mode=rounded)
        try:
            assert asked(node, LINES * scale, float(scale)) == (1, 1, scale)
        except UnsupportedError:
            continue
        by = np.array([1, 1, scale], np.float32)
        net = model([node], {"x": (1, 1, LINES)}, {"y": (1, 1, LINES * scale)}, {"by": by})
        x = np.arange(LINES, dtype=np.float32)
        (made,) = cast(list[Any], ReferenceEvaluator(net).run(None, {"x": x[None, None]}))
        assert made[0, 0].tolist() == x.repeat(scale).tolist(), (place, rounded, scale)
        taken += 1
    assert taken == 4 + 1 + 2 * 2 * 4  # the floor at each scale, halves of a scale of two, and what halves lie between


@pytest.mark.parametrize(
    ("attributes", "made", "scale", "why"),
    [
        ({"mode": "cubic"}, 10, (2.0,), "it interpolates \\('cubic'\\)"),
        ({}, 7, (1.5,), "whose scale is not whole"),
        ({}, 10, (2.1,), "whose scale is not whole"),
        ({}, 8, (), "it makes \\[1, 1, 8\\] of \\[1, 1, 5\\], whose scale is not whole"),
        ({"keep_aspect_ratio_policy": "not_larger"}, 10, (), "keeps an aspect ratio"),
        ({"coordinate_transformation_mode": "align_corners"}, 10, (2.0,), "its nearest element is another one by"),
        ({"coordinate_transformation_mode": "asymmetric", "nearest_mode": "ceil"}, 10, (2.0,), "is another one by"),
    ],
)
def test_what_does_not_repeat_is_named(
    attributes: dict[str, Any], made: int, scale: tuple[float, ...], why: str
) -> None:
    with pytest.raises(UnsupportedError, match=f"Resize at up is not supported: .*{why}"):
        asked(resize(**attributes), made, *scale)


def test_what_was_before_resize() -> None:
    """Upsample, and Resize without regions, find the line at or in front of them."""
    for kind in ("Upsample", "Resize"):
        node = helper.make_node(kind, ["x", "by"], ["y"], mode="nearest")
        assert asked(node, LINES * 3, 3.0) == (1, 1, 3)
