"""The checked options of rotary position embeddings.

They are read from `rope_theta` and `rope_scaling`, or from `rope_parameters` that newer files have instead, which
may hold one set for each kind of layer.
"""

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any, cast

from compiler.errors import InvalidInputError
from compiler.frontend.models.fields import Choice, Float, Int, refuse_options, require, show

_THETA = Float(1.0, 1e9)
_KINDS = Choice(("default", "linear", "llama3"))
_SCALING = {
    "factor": Float(1.0, 1024.0),
    "low_freq_factor": Float(1e-3, 1e3),
    "high_freq_factor": Float(1e-3, 1e3),
    "original_max_position_embeddings": Int(1, 1 << 20),
}


@dataclass(frozen=True, slots=True)
class RopeScaling:
    """How frequencies are stretched for longer contexts: all of them (`linear`), or the slow ones (`llama3`)."""

    rope_type: str
    factor: float
    low_freq_factor: float | None = None
    high_freq_factor: float | None = None
    original_max_position_embeddings: int | None = None

    def to_json(self) -> dict[str, Any]:
        return {name: value for name, value in asdict(self).items() if value is not None}


@dataclass(frozen=True, slots=True)
class Rope:
    """`theta` is the base of the wavelengths."""

    theta: float
    scaling: RopeScaling | None = None


def read_rope(family: str, fields: Mapping[str, object], theta: float, by_kind: bool) -> Rope:
    """The rotary embedding of the layers that see everything. Raises InvalidInputError for one not known.

    `theta` is the family's default; `by_kind` says whether its sliding layers have an embedding of their own.
    """
    options = _parameters(fields, "full_attention" if by_kind else None)
    return _rope(family, options, "rope_theta", fields, theta, _object("rope_scaling", fields.get("rope_scaling")))


def read_sliding_rope(family: str, fields: Mapping[str, object], theta: float) -> Rope:
    """The rotary embedding of the sliding layers of a family that has one of their own."""
    options = _parameters(fields, "sliding_attention")
    return _rope(family, options, "rope_local_base_freq", fields, theta, {})


def _parameters(fields: Mapping[str, object], kind: str | None) -> dict[str, object]:
    """`rope_parameters`, or its part for one kind of layer."""
    options = _object("rope_parameters", fields.get("rope_parameters"))
    if kind is None or not options:
        return options
    if kind not in options:
        raise InvalidInputError(f"rope_parameters lacks {kind}; this family has one set for each kind of layer")
    return _object(f"rope_parameters.{kind}", options[kind])


def _rope(
    family: str,
    options: dict[str, object],
    base: str,
    fields: Mapping[str, object],
    theta: float,
    scaling: dict[str, object],
) -> Rope:
    refuse_options(family, {**scaling, **options})
    if nested := [name for name, value in options.items() if isinstance(value, dict)]:
        raise InvalidInputError(f"rope_parameters.{nested[0]} is an object; {family} has one set for all layers")
    name, value = ("rope_theta", options["rope_theta"]) if "rope_theta" in options else (base, fields.get(base))
    return Rope(theta if value is None else _THETA.check(name, value), _scaling(options) or _scaling(scaling))


def _scaling(options: dict[str, object]) -> RopeScaling | None:
    if not options:
        return None
    kind = _KINDS.check("rope_type", options.get("rope_type", options.get("type", "default")))
    if kind == "default":
        return None
    names = ("factor",) if kind == "linear" else tuple(_SCALING)
    require(f"{kind} rope_scaling", options, names)
    values: dict[str, Any] = {name: _SCALING[name].check(name, options[name]) for name in names}
    made = RopeScaling(kind, **values)
    if kind == "llama3" and not (made.low_freq_factor or 0) < (made.high_freq_factor or 0):
        raise InvalidInputError(
            f"high_freq_factor is {made.high_freq_factor}; it must be above low_freq_factor {made.low_freq_factor}"
        )
    return made


def _object(name: str, value: object) -> dict[str, object]:
    if value is None:
        return {}
    if not isinstance(value, dict):
        raise InvalidInputError(f"{name} is {show(value)}; it must be an object")
    return cast(dict[str, object], value)
