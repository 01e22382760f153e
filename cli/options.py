"""Options that several commands share, and the workload they name."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any, Literal

import typer

from cli import complete
from compiler.errors import InvalidInputError
from compiler.frontend.inputs.source import FileSource, whole_network, workload_of
from compiler.frontend.models.config import BUILT_IN
from compiler.options import Ports, Workload


class PhaseName(StrEnum):
    """What one run of the network computes."""

    PREFILL = "prefill"
    DECODE = "decode"
    STEP = "step"
    HEAD = "head"
    TOKEN = "token"


class PrecisionName(StrEnum):
    """Number formats of weights and activations; with `kv8` of keys and values, too."""

    F32 = "f32"
    W8A8 = "w8a8"
    W4A8 = "w4a8"
    W8A8KV8 = "w8a8kv8"
    W4A8KV8 = "w4a8kv8"


Model = Annotated[
    str,
    typer.Argument(
        help=f"Built-in name ({', '.join(BUILT_IN)}), stored model, or path to a config.json, .onnx or .mlir.",
        metavar="MODEL",
        autocompletion=complete.models,
    ),
]
Precision = Annotated[PrecisionName, typer.Option(help="Number formats of weights, activations, keys and values.")]
AllowPt2 = Annotated[
    bool,
    typer.Option(
        "--allow-pt2",
        help="Take a .pt2 archive as MODEL. Loading one runs code that it names: only for files that you trust.",
    ),
]
Platform = Annotated[str, typer.Option(help="The board.")]
PlatformFile = Annotated[str, typer.Option("--platform", help="The board, or a .toml file that describes one.")]
Calibration = Annotated[
    Path | None,
    typer.Option(help="File of `millrace calibrate --write`: area and power fitted to reports.", dir_okay=False),
]
Json = Annotated[bool, typer.Option("--json", help="Print one JSON document instead of text.")]
Csv = Annotated[bool, typer.Option("--csv", help="Print the list as CSV, a line an entry.")]
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
AreaModel = Annotated[
    Literal["shipped", "latest"], typer.Option(help="Area model of this release, or the farm's newest fit.")
]
ExplorationKey = Annotated[
    str,
    typer.Argument(
        help="Its id or the beginning of it, its name, or latest.",
        metavar="EXPLORATION",
        autocompletion=complete.explorations,
    ),
]
DesignKey = Annotated[
    str,
    typer.Argument(
        help="Its id or the beginning of it, its number in the latest exploration, or EXPLORATION#NUMBER.",
        metavar="DESIGN",
        autocompletion=complete.designs,
    ),
]
Priority = Annotated[Literal["low", "normal", "high"], typer.Option(help="Against your other explorations.")]
Samples = Annotated[
    Path | None,
    typer.Option(
        help="An .npz with an array of each input of a network from a file, or many in a row: what w8a8 "
        "and w4a8 calibrate their scales with, instead of seeded samples.",
        metavar="FILE.npz",
        dir_okay=False,
        exists=True,
    ),
]
Output = Annotated[Path, typer.Option("--out", "-o", help="Directory to write.", metavar="DIR")]


_USUAL = {PhaseName.PREFILL: 32, PhaseName.DECODE: 64, PhaseName.STEP: 64, PhaseName.HEAD: 1, PhaseName.TOKEN: 64}
_LENGTH = {
    PhaseName.PREFILL: "its length from --seq",
    PhaseName.DECODE: "its length from --context",
    PhaseName.STEP: "its length from --context",
    PhaseName.HEAD: "one row",
    PhaseName.TOKEN: "its length from --context",
}


@dataclass(frozen=True)
class Network:
    """What to make of MODEL. Nothing is chosen by default: a network from a file has its own shapes and precision."""

    phase: Annotated[
        PhaseName | None,
        typer.Option(
            help="Whole sequence, one token against a KV cache, one at a position that a launch is told (step), what "
            "chooses the token: final norm and head, or both of these behind the embedding (token).",
            show_default="decode",
        ),
    ] = None
    seq: Annotated[int | None, typer.Option(help="Sequence length of a prefill.", show_default="32")] = None
    context: Annotated[
        int | None,
        typer.Option(
            help="Context length of a decode step, the new token included; of a step or token, how many positions "
            "there are.",
            show_default="64",
        ),
    ] = None
    precision: Annotated[
        PrecisionName | None,
        typer.Option(
            help="Number formats of weights and activations.", show_default="w4a8; f32 for a network from a file"
        ),
    ] = None
    layers: Annotated[int, typer.Option(help="Layers that a launch runs, one after the other.")] = 1
    batch: Annotated[
        int, typer.Option(help="Inputs of a network from a file that a launch takes one after the other, at most.")
    ] = 1
    ports: Annotated[
        Ports,
        typer.Option(
            help="What inputs and results of a network from a file are, in w8a8 or w4a8: f32, or integers (i8) in "
            "steps that design.json names."
        ),
    ] = "f32"

    @property
    def is_chosen(self) -> bool:
        """Whether an option names any of it."""
        return self != Network()

    def workload(self, model: str) -> Workload:
        """The workload of a model that has any length. Raises InvalidInputError where options contradict each other."""
        phase, precision = self.phase or PhaseName.DECODE, self.precision or PrecisionName.W4A8
        if phase in (PhaseName.PREFILL, PhaseName.HEAD) and self.context is not None:
            what = f"a {phase.value} has {_LENGTH[phase]}"
            raise InvalidInputError(f"--context belongs to --phase decode, step and token; {what}")
        if phase is not PhaseName.PREFILL and self.seq is not None:
            raise InvalidInputError(f"--seq belongs to --phase prefill; a {phase.value} has {_LENGTH[phase]}")
        given = self.seq if phase is PhaseName.PREFILL else self.context
        length = _USUAL[phase] if given is None else given
        return Workload(model, phase.value, length, precision.value, self.batch, self.layers, self.ports)

    def workload_of_file(self, source: FileSource) -> Workload:
        """The workload of a network from a file. Raises InvalidInputError for an option that does not apply to it."""
        given = {"--phase": self.phase, "--seq": self.seq, "--context": self.context}
        if wrong := [name for name, value in given.items() if value is not None]:
            raise InvalidInputError(f"{wrong[0]} does not apply to {source.path.name}: its shapes are in the file")
        asked = replace(whole_network(source.name), layers=self.layers, batch=self.batch, ports=self.ports)
        return workload_of(source, replace(asked, precision=self.precision.value) if self.precision else asked)

    def request(self) -> dict[str, Any]:
        """What the options choose, for the service, which knows what the model has for the rest."""
        workload = self.workload("")
        fields = {
            "phase": self.phase and workload.phase,
            "length": workload.length if (self.phase is PhaseName.PREFILL or self.context is not None) else None,
            "precision": self.precision and workload.precision,
            "layers": None if self.layers == 1 else self.layers,
            "batch": None if self.batch == 1 else self.batch,
            "ports": None if self.ports == "f32" else self.ports,
        }
        return {name: value for name, value in fields.items() if value is not None}


@dataclass(frozen=True)
class Label:
    """What an exploration is called, and what is written on it."""

    name: Annotated[str | None, typer.Option(help="What it is called.", show_default="from model and workload")] = None
    tag: Annotated[list[str] | None, typer.Option(help="A word to find it by; may be repeated.")] = None
    notes: Annotated[str | None, typer.Option(help="What is written on it.", metavar="TEXT")] = None

    def request(self) -> dict[str, Any]:
        """Those that are given, as the service takes them."""
        given = {"name": self.name, "tags": self.tag, "notes": self.notes}
        return {name: value for name, value in given.items() if value is not None}


def label_changes(given: Mapping[str, Any], how: str) -> dict[str, Any]:
    """What of a label is to change; `[""]` as tags takes all of them away. Raises InvalidInputError for nothing."""
    changes = {name: value for name, value in given.items() if value is not None}
    if not changes:
        raise InvalidInputError(f"say what is to be different: {how}")
    if "tags" in changes:
        changes["tags"] = [tag for tag in changes["tags"] if tag]
    return changes


@dataclass(frozen=True)
class Depth:
    """How many of the designs that a search finds are taken further, and with what."""

    simulate: Annotated[int, typer.Option(min=0, help="Front designs to simulate, at most.")] = 32
    calibration: Annotated[int, typer.Option(min=0, help="Other designs to simulate, for the estimates' error.")] = 4
    verify: Annotated[int, typer.Option(min=0, help="Front designs to compile and compare with the reference.")] = 3
    csynth: Annotated[int, typer.Option(min=0, help="Designs to synthesise with Vitis HLS, at most.")] = 0
    cosim: Annotated[int, typer.Option(min=0, help="Designs to co-simulate as RTL, at most.")] = 0
    link: Annotated[int, typer.Option(min=0, help="Designs to place and route, at most.")] = 0
    measure: Annotated[int, typer.Option(min=0, help="Designs to run on a board, at most.")] = 0
    vitis: Vitis = None
    board: Board = None
    area_model: AreaModel = "shipped"

    def request(self) -> dict[str, Any]:
        """As the service takes them."""
        plain = ("simulate", "calibration", "verify", "vitis", "board", "area_model")
        return {
            **{name: getattr(self, name) for name in plain},
            "builds": {"csynth": self.csynth, "cosim": self.cosim, "link": self.link, "measure": self.measure},
        }
