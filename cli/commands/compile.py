"""`millrace compile`: one design from a model, without a server."""

import json
import os
import shutil
from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, cast

import typer

from cli import options
from cli.errors import DONE, NO
from cli.grouped import grouped
from cli.output import console, emit_json, table
from cli.service import announce_all
from cli.sources import any_source_of
from cli.stages import Stages
from cli.stalling import stalling_text
from compiler.errors import InvalidInputError
from compiler.options import FifoEffort, Knobs, Workload
from millrace.numbers import number
from worker.program import program

if TYPE_CHECKING:
    from compiler.analysis.estimate import Estimate
    from compiler.frontend.bundle import Bundle
    from compiler.platforms.platform import Platform as PlatformModel

KnobsFile = Annotated[
    Path | None,
    typer.Option("--knobs", help="JSON file with the knobs, e.g. of a design.", dir_okay=False, exists=True),
]
Assignments = Annotated[
    list[str] | None, typer.Option("--set", help="One knob; may be repeated.", metavar="KNOB=VALUE")
]
Start = Annotated[
    Path | None,
    typer.Option(
        "--from",
        help="Go on from this text of a design's ir/, also one that was edited: its workload and knobs hold.",
        metavar="DIR/ir/NN-pass.mlir",
        dir_okay=False,
        exists=True,
    ),
]


@grouped
def compile_(
    *,
    model: options.Model,
    out: options.Output,
    network: options.Network,
    platform: options.PlatformFile = "u55c",
    calibration: options.Calibration = None,
    knobs_file: KnobsFile = None,
    assignments: Assignments = None,
    fifo_effort: Annotated[
        FifoEffort, typer.Option(help="How long to try smaller FIFOs; all are certified either way.")
    ] = "quick",
    samples: options.Samples = None,
    start: Start = None,
    every_pass: Annotated[
        bool, typer.Option("--every-pass", help="Write the IR after each pass to DIR/ir, to read and to go on from.")
    ] = False,
    allow_pt2: options.AllowPt2 = False,
    force: Annotated[bool, typer.Option("--force", help="Replace the design that DIR holds.")] = False,
    as_json: options.Json = False,
) -> None:
    """Compile MODEL to a design directory: IR, HLS C++, packed parameters, host program, metrics.

    A knob that --set gives a value that no search tries is compiled, and said to be so with what it costs; one that can
    not be, or would do nothing, is refused with its range. Exit code 1: the design was written, but exceeds the
    platform's budget.

    Examples:

        millrace compile gpt2 --phase prefill --seq 32 --precision f32 --out d

        millrace compile gpt2 --context 64 --set overall_unroll=512 --set stream_width=1024 --out d

        millrace compile net.onnx --out d

        millrace compile net.onnx --precision w8a8 --samples inputs.npz --ports i8 --out d

        millrace compile gpt2 --every-pass --out d

        millrace compile gpt2 --from d/ir/03-tile-tasks.mlir --out e
    """
    from compiler.design_dir import read_design
    from compiler.frontend.bundle import import_model
    from compiler.frontend.inputs.source import FileSource
    from compiler.pipeline import compile_design
    from compiler.platforms.platform import named_platform
    from worker.settings import Settings

    around = _around(start)
    knobs = read_knobs(knobs_file, assignments or [], around.get("knobs"))
    board = named_platform(platform, calibration)
    settings = Settings()
    asked = network.precision.value if network.precision else "f32"
    precision = around["workload"]["precision"] if around and not network.is_chosen else asked
    with (
        _making_way(out, force),
        any_source_of(model, settings, allow_pt2) as source,
        Stages(quiet=as_json) as stages,
    ):
        if samples is not None:
            if not isinstance(source, FileSource):
                raise InvalidInputError(
                    f"--samples is for a network from a file; {model} is calibrated with its inputs"
                )
            source = replace(source, samples=samples)
        elif isinstance(source, FileSource):
            source = source.in_precision(precision)
        if around and not network.is_chosen:
            workload = Workload(**around["workload"])
        elif isinstance(source, FileSource):
            workload = network.workload_of_file(source)
        else:
            workload = network.workload(model)
        bundle = import_model(source, workload, settings.bundle_dir, stages.start)
        announce_all(advice_on(bundle, knobs, assignments or [], board))
        estimate = compile_design(bundle, knobs, board, out, stages.start, fifo_effort, start, every_pass=every_pass)
    if as_json:
        emit_json({"directory": str(out), **read_design(out)})
    else:
        _show(estimate, read_design(out), out)
    raise typer.Exit(DONE if estimate.feasible else NO)


def advice_on(bundle: "Bundle", knobs: Knobs, assignments: list[str], board: "PlatformModel") -> list[str]:
    """What becomes of knobs that `--set` gives values that no search tries. Raises InvalidInputError for what does
    nothing.
    """
    if not assignments:
        return []
    from dse.advice import advise

    return advise(bundle.graph, knobs, set_names(assignments), board)


def _around(start: Path | None) -> dict[str, Any]:
    """The description of the design that a text of its ir/ lies in; empty where there is none."""
    from compiler.design_dir import read_design

    folder = start.resolve().parent.parent if start is not None else None
    return read_design(folder) if folder is not None and (folder / "design.json").is_file() else {}


def read_knobs(file: Path | None, assignments: list[str], given: dict[str, Any] | None = None) -> Knobs:
    """Knobs from a JSON file, else `given`, with single ones replaced by `name=value`. Raises InvalidInputError."""
    data = dict(given or {}) if file is None else _knobs_of(file)
    for setting in assignments:
        name, equals, value = setting.partition("=")
        if not equals:
            raise InvalidInputError(f"--set {setting}: write KNOB=VALUE, for example --set overall_unroll=512")
        data[name] = _value(value)
    try:
        return Knobs.from_json(data)
    except (TypeError, KeyError, AttributeError) as error:
        raise InvalidInputError(f"the knobs {data} have a value of a wrong type: {error}") from error


def set_names(assignments: list[str]) -> list[str]:
    """The knobs that `--set` names."""
    return [setting.partition("=")[0] for setting in assignments]


def _knobs_of(file: Path) -> dict[str, Any]:
    try:
        data: Any = json.loads(file.read_text())
    except (ValueError, RecursionError) as error:
        raise InvalidInputError(f"{file} is not JSON: {error}") from error
    if not isinstance(data, dict):
        found = type(cast("object", data)).__name__
        raise InvalidInputError(f'{file} holds a {found}; knobs are an object, for example {{"overall_unroll": 512}}')
    return cast("dict[str, Any]", data)


def _value(text: str) -> Any:
    try:
        return json.loads(text)
    except ValueError:
        return text


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


def _show(estimate: "Estimate", design: dict[str, Any], out: Path) -> None:
    rows = [(m.name, number(m.value), m.unit, f"[dim]{m.fidelity}[/]") for m in estimate.metrics]
    console.print(table("", ("metric", ">value", "unit", "fidelity"), rows))
    console.print(f"area and power: {design['calibration']}", markup=False)
    console.print(design["fusion"]["summary"])
    for kernel in design["fifo_sizing"]:
        console.print(_sizing_words(kernel))
    stalling = design["stalling"]
    console.print(stalling_text(stalling["ends"], stalling["cycles"], stalling["fifo"]), markup=False)
    for flag in design["flags"]:
        console.print(f"[red]impossible:[/] {flag['text']}")
    for violation in estimate.violations:
        over = f"{violation.resource} {number(violation.demand)} of {number(violation.bound)}"
        console.print(f"[yellow]exceeds the platform:[/] {over}")
    console.print(f"written to {out}; next: {program()} csim {out}")


def _sizing_words(kernel: dict[str, Any]) -> str:
    """What is known of the FIFOs of one kernel."""
    loss = kernel["cycles"] / kernel["unbounded"] - 1
    held = "certified" if kernel["proven"] else "certified, not all tried smaller"
    than = f"{100 * abs(loss):.1f} % {'more' if loss >= 0 else 'less'} than with FIFOs of any depth"
    return f"FIFOs {held}: {kernel['bits'] / 1e6:.1f} Mbit, no deadlock; {kernel['cycles']:,} simulated cycles, {than}"
