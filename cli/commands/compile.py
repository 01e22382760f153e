"""`millrace compile`: one design from a model, without a server."""

import json
import os
import shutil
from collections.abc import Generator
from contextlib import closing, contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Annotated, Any

import typer

from cli import options
from cli.errors import DONE, NO
from cli.output import console, emit_json, number, table
from cli.stages import Stages
from compiler.errors import InvalidInputError
from compiler.options import Knobs

if TYPE_CHECKING:
    from compiler.analysis.estimate import Estimate
    from worker.settings import Settings

KnobsFile = Annotated[
    Path | None,
    typer.Option("--knobs", help="JSON file with the knobs, e.g. of a design.", dir_okay=False, exists=True),
]
Assignments = Annotated[
    list[str] | None, typer.Option("--set", help="One knob; may be repeated.", metavar="KNOB=VALUE")
]


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
    assignments: Assignments = None,
    force: Annotated[bool, typer.Option("--force", help="Replace the design that DIR holds.")] = False,
    as_json: options.Json = False,
) -> None:
    """Compile MODEL to a design directory: IR, HLS C++, packed parameters, host program, metrics.

    Exit code 1: the design was written, but exceeds the platform's budget.

    Examples:

        millrace compile gpt2 --phase prefill --seq 32 --precision f32 --out d

        millrace compile gpt2 --context 64 --set overall_unroll=512 --set stream_width=1024 --out d
    """
    from compiler.design_dir import read_design
    from compiler.frontend.bundle import import_model
    from compiler.pipeline import compile_design
    from compiler.platforms.platform import load_platform
    from worker.settings import Settings

    workload = options.workload(model, phase, seq, context, precision, layers)
    knobs = read_knobs(knobs_file, assignments or [])
    board = load_platform(platform)
    settings = Settings()
    with _making_way(out, force), source_of(model, settings) as source, Stages(quiet=as_json) as stages:
        bundle = import_model(source, workload, settings.bundle_dir, stages.start)
        estimate = compile_design(bundle, knobs, board, out, stages.start)
    if as_json:
        emit_json({"directory": str(out), **read_design(out)})
    else:
        _show(estimate, out)
    raise typer.Exit(DONE if estimate.feasible else NO)


def read_knobs(file: Path | None, assignments: list[str]) -> Knobs:
    """Knobs from a JSON file with single ones replaced by `name=value`. Raises InvalidInputError."""
    data: dict[str, Any] = {}
    if file is not None:
        try:
            data = json.loads(file.read_text())
        except ValueError as error:
            raise InvalidInputError(f"{file} is not JSON: {error}") from error
    for setting in assignments:
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


@contextmanager
def source_of(model: str, settings: "Settings") -> Generator[str | Path]:
    """What the front end imports for MODEL: a path, a built-in name, or the config of a stored model in a file."""
    from compiler.frontend.models.config import BUILT_IN

    path = Path(model)
    if path.exists() or path.suffix:
        yield path
        return
    if model in BUILT_IN:
        yield model
        return
    from cli.stored import Stored

    with closing(Stored(settings)) as stored, TemporaryDirectory() as folder:
        found = stored.model(model)
        config = Path(folder, found["name"], "config.json")
        config.parent.mkdir()
        config.write_text(json.dumps(found["config"]))
        yield config


@contextmanager
def _making_way(out: Path, force: bool) -> Generator[None]:
    """Put the design that `out` holds aside, and back if the new one fails. Only a design may be replaced."""
    if not out.exists() or (out.is_dir() and not any(out.iterdir())):
        yield
        return
    if not (out / "design.json").is_file():
        raise InvalidInputError(f"{out} exists and is not a design directory; name another one with --out")
    if not force:
        raise InvalidInputError(f"{out} holds a design; replace it with --force or name another directory")
    aside = out.rename(out.with_name(f".{out.name}-replaced-{os.getpid()}"))
    try:
        yield
    except BaseException:
        aside.rename(out)
        raise
    shutil.rmtree(aside)


def _show(estimate: "Estimate", out: Path) -> None:
    rows = [(m.name, number(m.value), m.unit, f"[dim]{m.fidelity}[/]") for m in estimate.metrics]
    console.print(table("", ("metric", ">value", "unit", "fidelity"), rows))
    for violation in estimate.violations:
        over = f"{violation.resource} {number(violation.demand)} of {number(violation.bound)}"
        console.print(f"[yellow]exceeds the platform:[/] {over}")
    console.print(f"written to {out}; next: millrace csim {out}")
