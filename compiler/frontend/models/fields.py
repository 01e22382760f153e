"""Kinds of configuration fields: what a value may be, and the message where it is something else."""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Protocol

from compiler.errors import InvalidInputError


class Kind(Protocol):
    """Checks one field; the value to keep. Raises InvalidInputError naming the field, its value and what it may be."""

    def check(self, name: str, value: object) -> Any: ...


@dataclass(frozen=True, slots=True)
class Int:
    low: int
    high: int

    def check(self, name: str, value: object) -> int:
        if isinstance(value, bool) or not isinstance(value, int) or not self.low <= value <= self.high:
            raise InvalidInputError(
                f"{name} is {show(value)}; it must be a whole number between {self.low} and {self.high}"
            )
        return value


@dataclass(frozen=True, slots=True)
class Float:
    low: float
    high: float

    def check(self, name: str, value: object) -> float:
        number = value if isinstance(value, (int, float)) and not isinstance(value, bool) else math.nan
        if not self.low <= number <= self.high:
            raise InvalidInputError(f"{name} is {show(value)}; it must be a number between {self.low} and {self.high}")
        return float(number)


@dataclass(frozen=True, slots=True)
class Choice:
    choices: tuple[str, ...]

    def check(self, name: str, value: object) -> str:
        if not isinstance(value, str) or value not in self.choices:
            raise InvalidInputError(f"{name} is {show(value)}; it must be one of {', '.join(self.choices)}")
        return value


@dataclass(frozen=True, slots=True)
class Bool:
    def check(self, name: str, value: object) -> bool:
        if not isinstance(value, bool):
            raise InvalidInputError(f"{name} is {show(value)}; it must be true or false")
        return value


@dataclass(frozen=True, slots=True)
class Maybe:
    """Null, or what `kind` accepts."""

    kind: Int | Float | Choice | Bool

    def check(self, name: str, value: object) -> Any:
        return None if value is None else self.kind.check(name, value)


# Options that would change the mathematics of a block, and the values with which they do not.
FIXED: dict[str, tuple[object, ...]] = {
    "add_cross_attention": (False,),
    "attention_chunk_size": (),
    "attention_multiplier": (),
    "clip_qkv": (),
    "embedding_multiplier": (1.0,),
    "is_encoder_decoder": (False,),
    "logit_scale": (1.0,),
    "logits_scaling": (1.0,),
    "moe_intermediate_size": (0,),
    "n_routed_experts": (0,),
    "no_rope_layers": (),
    "num_experts": (0,),
    "num_local_experts": (0,),
    "partial_rotary_factor": (1.0,),
    "pruned_heads": ({},),
    "quantization_config": (),
    "residual_multiplier": (1.0,),
    "rope_interleaved": (False,),
    "use_bidirectional_attention": (False,),
    "use_mrope": (False,),
    "use_parallel_residual": (False,),
    "use_qk_norm": (False,),
}


def refuse_options(family: str, fields: Mapping[str, object], fixed: Mapping[str, tuple[object, ...]] = FIXED) -> None:
    """Raise InvalidInputError for an option that the family's network does not have and that is not neutral."""
    for name, neutral in fixed.items():
        if fields.get(name) is not None and fields[name] not in neutral:
            allowed = " or ".join(["absent", *(show(value) for value in neutral)])
            raise InvalidInputError(
                f"{name} is {show(fields[name])}, which Millrace does not build for {family}; it must be {allowed}"
            )


def require(family: str, fields: Mapping[str, object], names: tuple[str, ...]) -> None:
    """Raise InvalidInputError naming every field of `names` that is missing."""
    if missing := [name for name in names if name not in fields]:
        raise InvalidInputError(f"the configuration lacks {', '.join(missing)}; a config.json of {family} has them")


def show(value: object) -> str:
    """A value for a message, cut to a readable length."""
    shown = repr(value)
    return shown if len(shown) <= 60 else shown[:57] + "..."
