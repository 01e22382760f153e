"""`millrace pareto`: the front of an exploration."""

from typing import TYPE_CHECKING, Annotated

import typer

from cli import options
from cli.commands.explore import print_result
from cli.output import console, emit_json, table
from cli.service import look
from compiler.frontend.inputs.source import is_format

if TYPE_CHECKING:
    from millrace.wire import Exploration


def pareto(
    exploration: Annotated[
        str | None, typer.Argument(help="Its id; without one, all explorations are listed.", metavar="[EXPLORATION]")
    ] = None,
    url: options.Url = None,
    as_json: options.Json = False,
) -> None:
    """Show the Pareto front of an exploration: table and plot.

    Of one that still runs it is the front so far. Exit code 1: it has ended with no feasible design, or a verified one
    differs from the reference. Examples:

        millrace pareto

        millrace pareto exp_0abc --json
    """
    with look(url) as reader:
        if exploration is not None:
            found = reader.exploration(exploration)
            raise typer.Exit(print_result(reader, found, as_json))
        explorations = reader.explorations()
    if as_json:
        emit_json(explorations)
        return
    if not explorations:
        console.print("there are no explorations yet; start one: millrace explore gpt2")
        return
    rows = [
        (
            e.id,
            e.model.name,
            workload_text(e),
            e.platform,
            e.state,
            f"{e.evaluated}/{e.budget}",
            str(e.front_size),
        )
        for e in explorations
    ]
    console.print(table("", ("exploration", "model", "workload", "platform", "state", ">designs", ">front"), rows))


def workload_text(exploration: "Exploration") -> str:
    """What of the model is run; a network from a file has no phase or length."""
    shape = exploration.workload
    if is_format(exploration.model.kind):
        return f"whole network {shape.precision}"
    return f"{shape.phase} {shape.length} {shape.precision}"
