"""`millrace pareto`: the front of an exploration."""

from typing import TYPE_CHECKING, Annotated

import typer
from rich.markup import escape

from cli import complete, marks, options
from cli.commands.explore import print_result
from cli.output import console, emit_list, table
from cli.service import look
from compiler.frontend.inputs.source import is_format
from worker.program import program

if TYPE_CHECKING:
    from millrace.wire import Exploration


def pareto(
    exploration: Annotated[
        str | None,
        typer.Argument(
            help="Its id or the beginning of it, its name, or latest; without one, all explorations are listed.",
            metavar="[EXPLORATION]",
            autocompletion=complete.explorations,
        ),
    ] = None,
    archived: marks.Archived = False,
    every: Annotated[
        bool, typer.Option("--all", help="Also designs that are within the error of the estimate of one that is shown.")
    ] = False,
    url: options.Url = None,
    as_json: options.Json = False,
    as_csv: options.Csv = False,
) -> None:
    """Show the Pareto front of an exploration: table and plot. What the estimate can not tell apart is one row.

    Of one that still runs it is the front so far. Exit code 1: it has ended with no feasible design, or a verified one
    differs from the reference. Examples:

        millrace pareto

        millrace pareto latest --all

        millrace pareto latest --csv > front.csv

        millrace pareto exp_0abc --json
    """
    with look(url) as reader:
        if exploration is not None:
            found = reader.exploration(exploration)
            if as_csv and emit_list(reader.front(found.id), as_json, as_csv):
                return
            raise typer.Exit(print_result(reader, found, as_json, every))
        explorations = reader.explorations(archived)
    if emit_list(explorations, as_json, as_csv):
        return
    if not explorations:
        console.print(f"there are no explorations yet; start one: {program()} explore gpt2")
        return
    rows = [
        (
            e.name,
            e.id,
            e.model.name,
            workload_text(e),
            e.platform,
            e.state,
            f"{e.evaluated}/{e.budget}",
            str(e.front_size),
            " ".join(map(escape, e.tags)),
        )
        for e in explorations
    ]
    console.print(
        table("", ("name", "id", "model", "workload", "platform", "state", ">designs", ">front", "tags"), rows)
    )


def workload_text(exploration: "Exploration") -> str:
    """What of the model is run; a network from a file has no phase or length."""
    shape = exploration.workload
    if is_format(exploration.model.kind):
        return f"whole network {shape.precision}"
    return f"{shape.phase} {shape.length} {shape.precision}"
