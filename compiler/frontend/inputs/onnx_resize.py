"""Which Resize and Upsample of ONNX repeat elements: nearest neighbours at whole scales, by whatever rule, where that
finds element o // scale of each line; and what lies evenly between two elements, which is a mean of such neighbours
(`taps`). All others are refused by name.
"""

from collections.abc import Callable, Mapping, Sequence
from fractions import Fraction
from math import ceil, floor
from typing import Any

import numpy as np
from numpy.typing import NDArray
from onnx import NodeProto

from compiler.errors import UnsupportedError

LINEAR = "linear"
_HALVES = ("half_pixel", "pytorch_half_pixel")
_HALF = Fraction(1, 2)
# Where element o of what is made lies among those that are there, by the operator's definition.
_PLACES: dict[str, Callable[[int, int], Fraction]] = {
    "asymmetric": Fraction,
    "half_pixel": lambda o, scale: (o + _HALF) / scale - _HALF,
    "pytorch_half_pixel": lambda o, scale: (o + _HALF) / scale - _HALF,
}
_ROUNDED: dict[str, Callable[[Fraction], int]] = {
    "floor": floor,
    "ceil": ceil,
    "round_prefer_floor": lambda place: ceil(place - _HALF),
    "round_prefer_ceil": lambda place: floor(place + _HALF),
}


def repeats(
    node: NodeProto,
    attributes: Mapping[str, Any],
    read: Sequence[int],
    made: Sequence[int],
    scales: Sequence[float] | None,
) -> tuple[int, ...]:
    """How often elements repeat along each dimension, from a tensor of shape `read` to one of shape `made`; `scales`
    are of all dimensions, None where sizes are given instead. Raises UnsupportedError.
    """
    mode = attributes.get("mode", b"nearest").decode()
    if mode not in ("nearest", LINEAR):
        raise _refused(node, f"it interpolates ({mode!r})")
    factors = [Fraction(to, of) for of, to in zip(read, made, strict=True)]
    if scales is not None:
        factors = [Fraction(scale) for scale in scales]
    elif attributes.get("keep_aspect_ratio_policy", b"stretch") != b"stretch":
        raise _refused(node, "it keeps an aspect ratio")
    if any(factor.denominator > 1 for factor in factors):
        raise _refused(node, f"it makes {list(made)} of {list(read)}, whose scale is not whole")
    times = tuple(int(factor) for factor in factors)
    place, rounded = "asymmetric", "floor"  # as Upsample is defined, and Resize was before it had regions
    if node.op_type == "Resize" and len(node.input) > 2:
        place = str(attributes.get("coordinate_transformation_mode", b"half_pixel").decode())
        rounded = str(attributes.get("nearest_mode", b"round_prefer_floor").decode())
    if mode == LINEAR:
        if place not in _HALVES or times[:2] != (1, 1):
            raise _refused(node, f"it interpolates by {place!r}, or between channels")
        return times
    if not all(n == 1 or _finds_its_line(place, rounded, n) for n in times):
        raise _refused(node, f"its nearest element is another one by {place!r} and {rounded!r}")
    return times


def taps(scale: int) -> NDArray[np.float64]:
    """What elements that repeat `scale` times are weighted with, an odd number of them around each: of two, the closer
    one counts more, by as much as it is closer (`half_pixel`). Outside of all lines there is nothing, so that what
    reaches there is divided by the sum of the others.
    """
    whole = np.ones(scale + 1 - scale % 2)
    if scale % 2 == 0:
        whole[[0, -1]] = 0.5
    return whole / scale


def _finds_its_line(transformation: str, rounding: str, scale: int) -> bool:
    """Whether the elements of a line are of it; what is outside of all lines is of the first one, or the last."""
    place, rounded = _PLACES.get(transformation), _ROUNDED.get(rounding)
    return place is not None and rounded is not None and all(rounded(place(o, scale)) == 0 for o in range(scale))


def _refused(node: NodeProto, why: str) -> UnsupportedError:
    return UnsupportedError(
        f"{node.op_type} at {node.name} is not supported: {why}. At whole scales nearest neighbours are, 'asymmetric' "
        "and 'floor' as PyTorch exports them, and 'linear' with 'half_pixel' (align_corners=False)"
    )
