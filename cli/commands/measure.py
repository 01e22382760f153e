"""`millrace measure`: a design on a board, or on the simulated one: results, latency, power, energy."""

from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Annotated

import typer
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TaskID, TextColumn, TimeElapsedColumn

from cli import options
from cli.errors import DONE, NO
from cli.output import console, emit_json, errors, table, verdict_word
from millrace.numbers import number

if TYPE_CHECKING:
    from compiler.measurement.measurement import Measurement
    from compiler.measurement.progress import Step

Board = Annotated[str, typer.Option(help="simulated, the PCIe address of a board (0000:3b:00.1), or a shell.")]
Xclbin = Annotated[Path | None, typer.Option(help="What v++ -l wrote; the simulated board needs none.", metavar="FILE")]
AllowReset = Annotated[
    bool, typer.Option("--allow-reset", help="Reset the board if a kernel hangs: xbutil reset --device BDF --force.")
]


def measure(
    directory: Annotated[Path, typer.Argument(help="Design directory of `millrace compile`.", metavar="DIR")],
    board: Board = "simulated",
    xclbin: Xclbin = None,
    repeats: Annotated[int, typer.Option(min=1, help="Runs that are timed one by one.")] = 100,
    warm_up: Annotated[int, typer.Option(min=0, help="Runs before them.")] = 3,
    seconds: Annotated[float, typer.Option(min=0, help="Back to back, while power is read; 0: no power.")] = 10,
    timeout: Annotated[
        float | None, typer.Option(min=0.001, help="Seconds after which a run hangs.", show_default="60; simulated 600")
    ] = None,
    wait: Annotated[float, typer.Option(min=0, help="Seconds to wait for a board that is in use.")] = 60,
    allow_reset: AllowReset = False,
    allow_edited: Annotated[
        bool, typer.Option("--allow-edited", help="Measure a design although files of it were edited since.")
    ] = False,
    as_json: options.Json = False,
) -> None:
    """Run the design in DIR on a board, compare its results with the reference, and measure time, power and energy.

    The simulated board runs the emitted C++; its latency is the simulator's, its power the power model's. On a real one
    energy is without what the card takes at rest, energy_with_idle with it.

    Exit code 1: a result differs by more than its tolerance. 3: no such board, it failed, or a kernel hangs.

    Examples:

        millrace measure d

        millrace measure d --board xilinx_u55c_gen3x16_xdma_base_3 --xclbin d/mlp.xclbin

        millrace measure d --board 0000:3b:00.1 --xclbin d/mlp.xclbin --json | jq .metrics
    """
    from compiler.measurement.measure import measure as run
    from compiler.measurement.request import MeasureRequest

    request = MeasureRequest(
        board=board,
        repeats=repeats,
        warm_up=warm_up,
        min_seconds=seconds,
        timeout_s=timeout,
        lock_s=wait,
        allow_reset=allow_reset,
        allow_edited=allow_edited,
    )
    with _Bars(quiet=as_json) as bars:
        found = run(directory, xclbin, request, bars.on_line, bars.on_step)
    if as_json:
        emit_json(found.to_json())
    else:
        show_measurement(found)
    raise typer.Exit(DONE if found.passed else NO)


class _Bars:
    """A line for what begins, and a bar for what takes long; to stderr, and bars to a terminal only."""

    def __init__(self, quiet: bool) -> None:
        self._quiet = quiet
        columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
        self._progress = Progress(*columns, console=errors, transient=True, disable=quiet or not errors.is_terminal)
        self._tasks: dict[str, TaskID] = {}

    def __enter__(self) -> "_Bars":
        self._progress.start()
        return self

    def __exit__(
        self, _kind: type[BaseException] | None, _error: BaseException | None, _trace: TracebackType | None
    ) -> None:
        self._progress.stop()

    def on_line(self, text: str) -> None:
        if not self._quiet:
            errors.print(text, markup=False)

    def on_step(self, step: "Step") -> None:
        if step.name not in self._tasks:
            self._tasks[step.name] = self._progress.add_task(step.name, total=round(step.total))
        self._progress.update(self._tasks[step.name], completed=int(step.done))


def show_measurement(found: "Measurement") -> None:
    """Print the verdict, then each metric with where it came from, then what to doubt."""
    where = found.board if found.board == found.shell else f"{found.board} ({found.shell})"
    console.print(f"{verdict_word(found.passed)} {found.design} on {where} in {found.seconds:.1f} s")
    if not found.passed:
        console.print(found.message, markup=False)
    rows = [(m.name, number(m.value), m.unit, str(m.fidelity), f"{m.tool} {m.tool_version}") for m in found.metrics()]
    if rows:
        console.print(table("", ("metric", ">value", "unit", "fidelity", "tool"), rows))
    for flag in found.flags:
        console.print(f"[red]not to be believed:[/] {flag.text}")
    for note in found.notes:
        console.print(note, markup=False)
    if found.edited:
        console.print(f"not the design as it was compiled, edited since: {', '.join(found.edited)}", markup=False)
