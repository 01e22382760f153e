"""The network that a benchmark runs on, from its command line, and what its searches write to."""

import argparse
import json
import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import NamedTuple, get_args

from compiler.errors import InvalidInputError
from compiler.frontend.bundle import import_model, load_bundle
from compiler.graph.linalg_graph import LinalgGraph
from compiler.options import Knobs, Precision, Workload
from dse.explore import EvaluatedDesign


class NoSink:
    """What a measured search writes to: stores nothing, never stops."""

    def write(self, designs: Sequence[EvaluatedDesign]) -> None:
        pass

    def should_stop(self) -> bool:
        return False


class NamedKnobs(NamedTuple):
    """What `--knobs` of a command line asks for."""

    name: str
    knobs: Knobs

    @classmethod
    def given(cls, name: str, known: Mapping[str, Knobs]) -> "NamedKnobs":
        """Those `known` by this name, or of the JSON in the file. Raises argparse.ArgumentTypeError."""
        if name in known:
            return cls(name, known[name])
        try:
            return cls(name, Knobs.from_json(json.loads(Path(name).read_text())))
        except (OSError, ValueError, InvalidInputError) as error:
            names = ", ".join((*known, "a file of knobs as JSON"))
            raise argparse.ArgumentTypeError(f"{name} is none of {names}: {error}") from error


def knobs_in(file: str) -> Knobs:
    """Raises argparse.ArgumentTypeError."""
    return NamedKnobs.given(file, {}).knobs


def bundle_cache() -> Path:
    """Where imported models are kept: beside those of the service."""
    home = os.environ.get("MILLRACE_HOME")
    return (Path(home) if home else Path.home() / ".local/share/millrace") / "bundles"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("model", help="a bundle directory, a built-in model (gpt2), or a path to a config.json")
    parser.add_argument("--phase", choices=("prefill", "decode", "step", "head"), default="decode")
    parser.add_argument("--seq", type=int, default=32, help="sequence length of a prefill (default: %(default)s)")
    parser.add_argument("--context", type=int, default=64, help="context length of a decode (default: %(default)s)")
    parser.add_argument("--precision", choices=get_args(Precision), default="w4a8")
    parser.add_argument("--platform", default="u55c")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--json", action="store_true", help="print JSON instead of a table")


def load_graph(args: argparse.Namespace) -> LinalgGraph:
    """The graph of the bundle, imported first where the model is not a bundle yet. Raises MillraceError."""
    directory = Path(args.model)
    if (directory / "graph.json").is_file():
        return load_bundle(directory).graph
    length = {"prefill": args.seq, "decode": args.context, "step": args.context, "head": 1}[args.phase]
    workload = Workload(args.model, args.phase, length, args.precision)
    return import_model(args.model, workload, bundle_cache()).graph
