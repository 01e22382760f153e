"""Options that several commands share, and the workload they name."""

from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from compiler.errors import InvalidInputError
from compiler.options import Workload


class PhaseName(StrEnum):
    """What one run of the network computes."""

    PREFILL = "prefill"
    DECODE = "decode"


class PrecisionName(StrEnum):
    """Number formats of weights and activations."""

    F32 = "f32"
    W8A8 = "w8a8"
    W4A8 = "w4a8"


Model = Annotated[
    str,
    typer.Argument(help="Built-in name (gpt2, gpt2-medium), stored model, or path to a config.json.", metavar="MODEL"),
]
Phase = Annotated[PhaseName, typer.Option(help="Whole sequence, or one token against a KV cache.")]
Seq = Annotated[int | None, typer.Option(help="Sequence length of a prefill.", show_default="32")]
Context = Annotated[
    int | None, typer.Option(help="Context length of a decode step, the new token included.", show_default="64")
]
Precision = Annotated[PrecisionName, typer.Option(help="Number formats of weights and activations.")]
Layers = Annotated[int, typer.Option(help="Transformer blocks in one design.")]
Platform = Annotated[str, typer.Option(help="The board.")]
Json = Annotated[bool, typer.Option("--json", help="Print one JSON document instead of text.")]
Url = Annotated[
    str | None, typer.Option(help="Address of a Millrace service; without it the one started by `millrace up`.")
]
Output = Annotated[Path, typer.Option("--out", "-o", help="Directory to write.", metavar="DIR")]


def workload(
    model: str, phase: PhaseName, seq: int | None, context: int | None, precision: PrecisionName, layers: int
) -> Workload:
    """The workload that the options name. Raises InvalidInputError where they contradict each other."""
    if phase is PhaseName.PREFILL and context is not None:
        raise InvalidInputError("--context belongs to --phase decode; give a prefill its length with --seq")
    if phase is PhaseName.DECODE and seq is not None:
        raise InvalidInputError("--seq belongs to --phase prefill; give a decode step its length with --context")
    length = (seq if seq is not None else 32) if phase is PhaseName.PREFILL else (64 if context is None else context)
    return Workload(model, phase.value, length, precision.value, layers=layers)
