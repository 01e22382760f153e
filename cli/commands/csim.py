"""`millrace csim`: build a design's C++ with g++, run it, compare with the reference."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from cli import options
from cli.errors import DONE, NO
from cli.output import console, emit_json, table, verdict_word
from cli.stages import Stages

if TYPE_CHECKING:
    from rich.table import Table

    from compiler.proof.verdict import Verdict


def csim(
    directory: Annotated[Path, typer.Argument(help="Design directory of `millrace compile`.", metavar="DIR")],
    timeout: Annotated[float, typer.Option(min=1, help="Seconds after which the run is stopped.")] = 600,
    allow_edited: Annotated[
        bool, typer.Option("--allow-edited", help="Simulate a design although files of it were edited since.")
    ] = False,
    whole: Annotated[
        bool, typer.Option("--whole", help="More runs: other inputs, other lengths of the cache, more drawn tokens.")
    ] = False,
    as_json: options.Json = False,
) -> None:
    """C-simulate the design in DIR, compare every output with the reference and every task with its operation.

    The reference is PyTorch, or what defines the format of the file that the network came from. Each task is compared
    on what it read, once from the network and twice on tokens that meet its corners: ties, clamps, small variances.

    Exit code 1: an output or a task differs by more than rounding allows, or the design deadlocks.

    Examples:

        millrace csim d

        millrace csim d --whole

        millrace csim d --json | jq .outputs
    """
    from compiler.proof.csim import csim as simulate

    with Stages(quiet=as_json) as stages:
        verdict = simulate(directory, stages.start, timeout, allow_edited=allow_edited, whole=whole)
    if as_json:
        emit_json(verdict.to_json())
    else:
        show_verdict(verdict)
    raise typer.Exit(DONE if verdict.passed else NO)


def show_verdict(verdict: "Verdict") -> None:
    """Print the outputs with their errors, then the verdict."""
    rows = [
        (
            o.name,
            f"{o.max_abs_error:.2g}",
            f"{o.max_rel_error:.2g}",
            f"{o.rms_rel_error:.2g}",
            f"{o.tolerance:.2g}",
            verdict_word(o.passed),
        )
        for o in verdict.outputs
    ]
    columns = ("output", ">max abs error", ">max rel error", ">rms rel error", ">tolerance of max rel", "verdict")
    console.print(table("", columns, rows))
    console.print(f"{verdict_word(verdict.passed)} against {verdict.reference} in {verdict.seconds:.1f} s")
    proven = "proven" if verdict.passed else "checked"
    console.print(f"{proven}, {verdict.tasks_checked} of {verdict.tasks} tasks")
    if verdict.unchecked:
        console.print(f"not checked: {', '.join(verdict.unchecked)}", markup=False)
    if verdict.edited:
        console.print(f"not the design as it was compiled, edited since: {', '.join(verdict.edited)}", markup=False)
    console.print(_tasks(verdict))
    if not verdict.passed:
        console.print(verdict.message, markup=False)


def _tasks(verdict: "Verdict") -> "Table":
    """How close each kind of task came to what its operation gives, and to the network."""
    columns = ("tasks", "compared with", ">how many", ">elements", ">wrong", ">largest difference of what is allowed")
    against = {"local": "its operation", "global": "the network"}
    rows = [
        (
            check["kind"],
            against[check["scope"]],
            f"{check['tasks']}",
            f"{check['elements']:,}",
            f"{check['wrong']}",
            f"{100 * check['used']:.0f} %" if check["used"] else "none",
        )
        for check in verdict.checks
    ]
    return table("", columns, rows)
