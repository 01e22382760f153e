"""`millrace simulate`: the cycles that a design takes, what limits it, and why it hangs if it does."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.markup import escape

from cli import options
from cli.errors import DONE, NO
from cli.output import console, emit_json, table
from cli.stages import Stages
from cli.stalling import stalling_text
from cli.timeline import show_timeline
from millrace.numbers import number

if TYPE_CHECKING:
    from compiler.simulator.timing.simulation import Simulation

SHOWN_FIFOS = 5
BUSY = 0.9  # from this share on a task is what the others wait for


def simulate(
    directory: Annotated[Path, typer.Argument(help="Design directory of `millrace compile`.", metavar="DIR")],
    csynth: Annotated[
        list[Path] | None,
        typer.Option("--csynth", metavar="REPORT", help="csynth.xml of a kernel: its timing instead of the planned."),
    ] = None,
    timeout: Annotated[float, typer.Option(min=1, help="Seconds after which the run is given up.")] = 60,
    allow_edited: Annotated[
        bool, typer.Option("--allow-edited", help="Simulate a design although files of it were edited since.")
    ] = False,
    every_task: Annotated[bool, typer.Option("--all", help="The timeline of every task, not of the busiest.")] = False,
    as_json: options.Json = False,
) -> None:
    """Simulate the timing of the design in DIR, cycle by cycle: bounded FIFOs, pipelines, HBM.

    Writes DIR/simulation.json, which the dashboard shows. DIR may hold nothing but a dataflow.json.

    Exit code 1: the design deadlocks, or a load may ask for what a store has not written yet.

    Examples:

        millrace simulate d

        millrace simulate d --csynth d/hls/build_d_k0/hls/syn/report/csynth.xml

        millrace simulate d --json | jq .latency_us
    """
    from compiler.design_dir import refuse_edited, reported_timing
    from compiler.simulator.timing.simulate import simulate_directory, write_simulation

    with Stages(quiet=as_json) as stages:
        stages.start("simulate")
        described = (directory / "design.json").exists()
        edited = refuse_edited(directory, allow_edited) if described else ()
        timing = reported_timing(directory, csynth) if csynth else {}
        found = simulate_directory(directory, timing=timing, seconds=timeout)
        write_simulation(found, directory)
    if as_json:
        emit_json(found.to_json())
    else:
        show_simulation(found, every_task)
        if edited:
            console.print(f"not the design as it was compiled, edited since: {', '.join(edited)}", markup=False)
    raise typer.Exit(DONE if found.deadlock is None and not found.hazards else NO)


def show_simulation(found: "Simulation", every_task: bool = False) -> None:
    """Print how long it takes or why it hangs, what limits it, and when each task works."""
    if found.deadlock is not None:
        console.print(f"[red]DEADLOCK[/] in kernel {len(found.kernels) - 1}")
        console.print(found.deadlock.text, markup=False)
    else:
        console.print(_latency(found))
        if (stalling := found.stalling) is not None:
            console.print(stalling_text(stalling.ends, stalling.cycles, stalling.fifo), markup=False)
        _show_limits(found)
    for hazard in found.hazards:
        console.print("[red]HAZARD[/]", end=" ")
        console.print(str(hazard), markup=False)
    show_timeline(found, every_task)


def _latency(found: "Simulation") -> str:
    text = f"simulated {number(found.latency_us)} us ({found.cycles:,} cycles at {found.clock_mhz:.4g} MHz)"
    if len(found.kernels) > 1:
        text += f" in {len(found.kernels)} kernels"
    error = found.estimate_error
    if error is not None:
        text += f"; the estimate is {found.estimate_cycles:,.0f} cycles, {100 * error:+.1f} %"
    return text


def _show_limits(found: "Simulation") -> None:
    task = found.bottleneck
    if task is None:
        return
    share, memory = found.busy_share(task), next((h for h in found.hbm if h.task == task.name), None)
    at = f" at {memory.gb_s:.3g} of at most {memory.bound_gb_s:.3g} GB/s" if memory is not None else ""
    told = "everything else waits for it" if share >= BUSY else "the rest of the time it waits, as all others do"
    console.print(f"busiest: {task.name}, {100 * share:.0f} % of its kernel's time{at}; {told}", markup=False)
    rows = [
        (escape(f.name), escape(f"{f.source} -> {f.target}"), str(f.depth), f"{f.peak}", f"{f.full:,}", f"{f.empty:,}")
        for f in found.blocking[:SHOWN_FIFOS]
    ]
    if rows:
        columns = ("FIFO", "from -> to", ">depth", ">peak", ">cycles full", ">cycles empty")
        console.print(table("FIFOs that keep their writer waiting longest", columns, rows))
