"""Options that several commands share, and the workload they name."""

from dataclasses import replace
from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any, Literal

import typer

from compiler.errors import InvalidInputError
from compiler.frontend.inputs.source import FileSource, whole_network, workload_of
from compiler.frontend.models.config import BUILT_IN
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
    typer.Argument(
        help=f"Built-in name ({', '.join(BUILT_IN)}), stored model, or path to a config.json, .onnx or .mlir.",
        metavar="MODEL",
    ),
]
Phase = Annotated[PhaseName, typer.Option(help="Whole sequence, or one token against a KV cache.")]
Seq = Annotated[int | None, typer.Option(help="Sequence length of a prefill.", show_default="32")]
Context = Annotated[
    int | None, typer.Option(help="Context length of a decode step, the new token included.", show_default="64")
]
Precision = Annotated[PrecisionName, typer.Option(help="Number formats of weights and activations.")]
# Where a network from a file may be named, whose shapes and precision are its own: nothing is chosen by default.
MaybePhase = Annotated[
    PhaseName | None, typer.Option(help="Whole sequence, or one token against a KV cache.", show_default="decode")
]
MaybePrecision = Annotated[
    PrecisionName | None,
    typer.Option(help="Number formats of weights and activations.", show_default="w4a8; f32 for a network from a file"),
]
AllowPt2 = Annotated[
    bool,
    typer.Option(
        "--allow-pt2",
        help="Take a .pt2 archive as MODEL. Loading one runs code that it names: only for files that you trust.",
    ),
]
Layers = Annotated[int, typer.Option(help="Transformer blocks in one design.")]
Platform = Annotated[str, typer.Option(help="The board.")]
PlatformFile = Annotated[str, typer.Option("--platform", help="The board, or a .toml file that describes one.")]
Calibration = Annotated[
    Path | None,
    typer.Option(help="File of `millrace calibrate --write`: area and power fitted to reports.", dir_okay=False),
]
Json = Annotated[bool, typer.Option("--json", help="Print one JSON document instead of text.")]
Url = Annotated[
    str | None,
    typer.Option(
        "--server",
        envvar="MILLRACE_SERVER",
        metavar="URL",
        help="Address of a Millrace service, its key in MILLRACE_API_KEY; without it the one that `millrace up` has "
        "started on this machine.",
    ),
]
Vitis = Annotated[
    str | None,
    typer.Option(
        help="Version of Vitis to build with, like 2023.2.", show_default="newest of the farm", metavar="VERSION"
    ),
]
Board = Annotated[
    str | None,
    typer.Option(help="Board to measure on: its shell, or simulated.", show_default="simulated", metavar="SHELL"),
]
Output = Annotated[Path, typer.Option("--out", "-o", help="Directory to write.", metavar="DIR")]


def workload(
    model: str,
    phase: PhaseName | None,
    seq: int | None,
    context: int | None,
    precision: PrecisionName | None,
    layers: int,
) -> Workload:
    """The workload that the options name. Raises InvalidInputError where they contradict each other."""
    phase, precision = phase or PhaseName.DECODE, precision or PrecisionName.W4A8
    if phase is PhaseName.PREFILL and context is not None:
        raise InvalidInputError("--context belongs to --phase decode; give a prefill its length with --seq")
    if phase is PhaseName.DECODE and seq is not None:
        raise InvalidInputError("--seq belongs to --phase prefill; give a decode step its length with --context")
    length = (seq if seq is not None else 32) if phase is PhaseName.PREFILL else (64 if context is None else context)
    return Workload(model, phase.value, length, precision.value, layers=layers)


def file_workload(
    source: FileSource,
    phase: PhaseName | None,
    seq: int | None,
    context: int | None,
    precision: PrecisionName | None,
    layers: int,
) -> Workload:
    """The workload of a network from a file. Raises InvalidInputError for an option that does not apply to it."""
    given = {"--phase": phase, "--seq": seq, "--context": context}
    if wrong := [name for name, value in given.items() if value is not None]:
        raise InvalidInputError(f"{wrong[0]} does not apply to {source.path.name}: its shapes are in the file")
    asked = replace(whole_network(source.name), layers=layers)
    return workload_of(source, replace(asked, precision=precision.value) if precision else asked)


def chosen(
    phase: PhaseName | None, seq: int | None, context: int | None, precision: PrecisionName | None, layers: int
) -> dict[str, Any]:
    """Fields of a workload that the options choose; the service knows what the model has for the others."""
    workload("", phase, seq, context, precision, layers)
    fields = {
        "phase": phase and phase.value,
        "length": context if seq is None else seq,
        "precision": precision and precision.value,
        "layers": None if layers == 1 else layers,
    }
    if phase is PhaseName.PREFILL and seq is None:
        fields["length"] = 32
    return {name: value for name, value in fields.items() if value is not None}


Simulate = Annotated[int, typer.Option(min=0, help="Front designs to simulate, at most.")]
Verify = Annotated[int, typer.Option(min=0, help="Front designs to compile and compare with the reference.")]
Csynth = Annotated[int, typer.Option(min=0, help="Designs to synthesise with Vitis HLS, at most.")]
Cosim = Annotated[int, typer.Option(min=0, help="Designs to co-simulate as RTL, at most.")]
Link = Annotated[int, typer.Option(min=0, help="Designs to place and route, at most.")]
Measure = Annotated[int, typer.Option(min=0, help="Designs to run on a board, at most.")]
AreaModel = Annotated[
    Literal["shipped", "latest"], typer.Option(help="Area model of this release, or the farm's newest fit.")
]
Priority = Annotated[Literal["low", "normal", "high"], typer.Option(help="Against your other explorations.")]
