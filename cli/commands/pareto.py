"""`millrace pareto`: the front of an exploration."""

from typing import Annotated

import typer

from cli import options
from cli.commands.explore import print_result
from cli.output import console, emit_json, table
from cli.service import look


def pareto(
    exploration: Annotated[
        str | None, typer.Argument(help="Its id; without one, all explorations are listed.", metavar="[EXPLORATION]")
    ] = None,
    url: options.Url = None,
    as_json: options.Json = False,
) -> None:
    """Show the Pareto front of an exploration: table and plot.

    Exit code 1: no feasible design, or a verified one differs from PyTorch. Examples:

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
            e["id"],
            e["model"]["name"],
            f"{e['workload']['phase']} {e['workload']['length']} {e['workload']['precision']}",
            e["platform"],
            e["state"],
            f"{e['evaluated']}/{e['budget']}",
            str(e["front_size"]),
        )
        for e in explorations
    ]
    console.print(table("", ("exploration", "model", "workload", "platform", "state", ">designs", ">front"), rows))
