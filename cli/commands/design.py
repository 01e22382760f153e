"""`millrace design`: one design of an exploration, and its files."""

from time import sleep
from typing import TYPE_CHECKING, Annotated

import typer
from rich.markup import escape

from cli import options
from cli.build_view import ladder_table
from cli.fidelity_view import fidelity_table, provenance
from cli.output import console, emit_json, errors, number, table
from cli.service import connect, look
from compiler.errors import ToolError
from millrace.states import ENDED

if TYPE_CHECKING:
    from millrace.client import Client
    from millrace.wire import Design

app = typer.Typer(help="Show and export designs.", no_args_is_help=True)

_POLL_S = 0.2

DesignId = Annotated[str, typer.Argument(help="Its id, from `millrace pareto`.", metavar="DESIGN")]


@app.command("show")
def show(design: DesignId, url: options.Url = None, as_json: options.Json = False) -> None:
    """A design: every metric at all its fidelities, knobs, and how far up the ladder it is.

    Examples:

        millrace design show dsg_0abc
    """
    with look(url) as reader:
        found = reader.design(design)
    if as_json:
        emit_json(found)
    else:
        _print(found)


@app.command("export")
def export(
    design: DesignId,
    out: options.Output,
    url: options.Url = None,
    as_json: options.Json = False,
) -> None:
    """Write the design directory: HLS C++, IR, parameters, host program; compiles it first if need be.

    Examples:

        millrace design export dsg_0abc --out d && millrace csim d
    """
    from millrace.archive import check_free, write_directory

    check_free(out)
    with connect(url) as connection:
        _compile(connection.client, design)
        write_directory(connection.client.archive(design), out)
    if as_json:
        emit_json({"directory": str(out), "design": design})
    else:
        console.print(f"written to {out}; next: millrace csim {out}")


def _compile(client: "Client", design: str) -> None:
    """Have the service compile the design, and check it against the reference, if it has not done so."""
    from millrace.wire import NewBuild

    if client.design(design).archive_available:
        return
    build = client.start_build(design, NewBuild(stage="csim")).id
    with errors.status("compiling"):
        while (state := client.build(build)).state not in ENDED:
            sleep(_POLL_S)
    if not client.design(design).archive_available:
        raise ToolError(f"design {design} could not be compiled: {state.error}")


def _print(design: "Design") -> None:
    place = "on the front" if design.on_front else "feasible" if design.feasible else "infeasible"
    console.print(f"[bold]{design.id}[/]  number {design.number} of {design.exploration_id}, {place}")
    if design.metrics:
        console.print(fidelity_table(design.metrics, design.differences))
        console.print(provenance(design.metrics))
    for flag in design.flags:
        console.print(f"[red]this can not be:[/] {escape(flag.text)} [dim]({flag.fidelity})[/]")
    for violation in design.violations:
        over = f"{violation.resource} {number(violation.demand)} of {number(violation.bound)}"
        console.print(f"[yellow]exceeds the platform:[/] {over}")
    knobs = [(name, str(value)) for name, value in design.knobs.items()]
    console.print(table("", ("knob", "value"), knobs))
    console.print(ladder_table(design.ladder))
