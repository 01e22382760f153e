"""`millrace compile`: one design from a model, without a server."""

import json
import shutil
from pathlib import Path
from typing import Annotated, Any

import typer

from cli import options
from cli.errors import DONE, NO
from cli.output import console, emit_json, table
from cli.stages import Stages
from compiler.errors import InvalidInputError
from compiler.options import Knobs

KnobsFile = Annotated[
    Path | None, typer.Option("--knobs", help="JSON file with the knobs, e.g. of a design.", dir_okay=False, exists=True)
]
Settings = Annotated[list[str] | None, typer.Option("--set", help="One knob; may be repeated.", metavar="KNOB=VALUE")]


def compile_(
    model: options.Model,
    out: options.Output,
    phase: options.Phase = options.PhaseName.DECODE,
    seq: options.Seq = None,
    context: options.Context = None,
    precision: options.Precision = options.PrecisionName.W4A8,
    platform: options.Platform = "u55c",
    layers: options.Layers = 1,
    knobs_file: KnobsFile = None,
    settings: Settings = None,
    force: Annotated[bool, typer.Option("--force", help="Replace the design that DIR holds.")] = False,
    as_json: options.Json = False,
) -> None:
    """Compile MODEL to a design directory: IR, HLS C++, packed parameters, host program, metrics.

    Exit code 1: the design was written, but exceeds the platform's budget.

    Examples:

        millrace compile gpt2 --phase prefill --seq 32 --precision f32 --out d

        millrace compile gpt2 --context 64 --set overall_unroll=512 --set stream_width=1024 --out d
    """
    from compiler.frontend.bundle import import_model
    from compiler.pipeline import compile_design
    from compiler.platforms.platform import load_platform

    workload = options.workload(model, phase, seq, context, precision, layers)
    knobs = read_knobs(knobs_file, settings or [])
    board = load_platform(platform)
    _clear(out, force)
    with Stages(quiet=as_json) as stages:
        bundle = import_model(model, workload, state_dir() / "bundles", stages.start)
        compile_design(bundle, knobs, board, out, stages.start)
    design = json.loads((out / "design.json").read_text())
    if as_json:
        emit_json({"directory": str(out), **design})
    else:
        _show(design, out)
    raise typer.Exit(NO if design["violations"] else DONE)


def read_knobs(file: Path | None, settings: list[str]) -> Knobs:
    """Knobs from a JSON file with single ones replaced by `name=value`. Raises InvalidInputError."""
    data: dict[str, Any] = {}
    if file is not None:
        try:
            data = json.loads(file.read_text())
        except ValueError as error:
            raise InvalidInputError(f"{file} is not JSON: {error}") from error
    for setting in settings:
        name, equals, value = setting.partition("=")
        if not equals:
            raise InvalidInputError(f"--set {setting}: write KNOB=VALUE, for example --set overall_unroll=512")
        data[name] = _value(value)
    try:
        return Knobs.from_json(data)
    except (TypeError, KeyError, AttributeError) as error:
        raise InvalidInputError(f"the knobs {data} have a value of a wrong type: {error}") from error


def _value(text: str) -> Any:
    try:
        return json.loads(text)
    except ValueError:
        return text


def _clear(out: Path, force: bool) -> None:
    """Make way for a new design; only what is a design may be replaced."""
    if not out.exists() or (out.is_dir() and not any(out.iterdir())):
        return
    if not (out / "design.json").is_file():
        raise InvalidInputError(f"{out} exists and is not a design directory; name another one with --out")
    if not force:
        raise InvalidInputError(f"{out} holds a design; replace it with --force or name another directory")
    shutil.rmtree(out)
