"""`millrace design`: one design of an exploration, and its files."""

from time import sleep
from typing import TYPE_CHECKING, Annotated

import typer
from rich.markup import escape

from cli import deletion, marks, options
from cli.build_view import ladder_table
from cli.fidelity_view import fidelity_table, provenance
from cli.output import console, emit_json, errors, table
from cli.service import connect, look, operate
from cli.stalling import stalling_text
from compiler.errors import ToolError
from millrace.numbers import number
from millrace.states import ENDED
from worker.program import program

if TYPE_CHECKING:
    from millrace.client import Client
    from millrace.wire import Design

app = typer.Typer(help="Show, export, archive, pin and delete designs.", no_args_is_help=True)

_POLL_S = 0.2


@app.command("show")
def show(design: options.DesignKey, url: options.Url = None, as_json: options.Json = False) -> None:
    """A design: every metric at all its fidelities, knobs, and how far up the ladder it is.

    Examples:

        millrace design show dsg_0abc

        millrace design show 915

        millrace design show gpt2-decode-64-w4a8#915
    """
    with look(url) as reader:
        found = reader.design(design)
        exploration = reader.exploration(found.exploration_id).name
    if as_json:
        emit_json(found)
    else:
        _print(found, exploration)


@app.command("export")
def export(
    design: options.DesignKey,
    out: options.Output,
    url: options.Url = None,
    as_json: options.Json = False,
) -> None:
    """Write the design directory: HLS C++, IR, parameters, host program; compiles it first if need be.

    Examples:

        millrace design export dsg_0abc --out d && millrace csim d

        millrace design export latest#915 --out d
    """
    from millrace.archive import check_free, write_directory

    check_free(out)
    with connect(url) as connection:
        found = connection.client.design(design).id
        _compile(connection.client, found)
        write_directory(connection.client.archive(found), out)
    if as_json:
        emit_json({"directory": str(out), "design": found})
    else:
        console.print(f"written to {out}; next: {program()} csim {out}")


@app.command("edit")
def edit(
    design: options.DesignKey,
    tag: Annotated[list[str] | None, typer.Option(help="A word to find it by; may be repeated; replaces all.")] = None,
    notes: Annotated[str | None, typer.Option(help="What is written on it.", metavar="TEXT")] = None,
    url: options.Url = None,
    as_json: options.Json = False,
) -> None:
    """Write tags or notes on a design. Without --server this needs no running service. An empty --tag takes all away.

    Examples:

        millrace design edit latest#915 --tag candidate --notes "for the demo board"
    """
    from millrace.wire import DesignChange

    changes = options.label_changes({"tags": tag, "notes": notes}, "--tag or --notes")
    with operate(url) as operator:
        found = operator.change_design(operator.design(design).id, DesignChange(**changes))
        exploration = operator.exploration(found.exploration_id).name
    if as_json:
        emit_json(found)
    else:
        _print(found, exploration)


@app.command("archive")
def archive(
    design: options.DesignKey, undo: marks.Undo = False, url: options.Url = None, as_json: options.Json = False
) -> None:
    """Leave a design out of lists, fronts and pictures; its files do not expire.

    Examples:

        millrace design archive latest#915
    """
    _mark(design, "archived", undo, url, as_json)


@app.command("pin")
def pin(
    design: options.DesignKey, undo: marks.Undo = False, url: options.Url = None, as_json: options.Json = False
) -> None:
    """Keep a design: nobody can delete it or its exploration, and its files do not expire.

    Examples:

        millrace design pin latest#915

        millrace design pin latest#915 --undo
    """
    _mark(design, "pinned", undo, url, as_json)


def _mark(design: str, mark: marks.Mark, undo: bool, url: str | None, as_json: bool) -> None:
    from millrace.wire import DesignChange

    with operate(url) as operator:
        changes = DesignChange(**{mark: not undo})  # pyright: ignore[reportArgumentType]
        found = operator.change_design(operator.design(design).id, changes)
    marks.report(found, f"design {found.id}", mark, undo, as_json)


@app.command("delete")
def delete(
    design: options.DesignKey, yes: deletion.Yes = False, url: options.Url = None, as_json: options.Json = False
) -> None:
    """Delete a design with its builds and files; the front of its exploration is found anew.

    Refused while a build of it or its exploration runs, while it is pinned, and while a sweep compares with it.
    Examples:

        millrace design delete latest#915
    """
    with operate(url) as operator:
        found = operator.design_deletion(operator.design(design).id)
        deletion.carry_out(found, operator.delete_design, yes, as_json)


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


def _print(design: "Design", exploration: str) -> None:
    """All about a design of the exploration of that name."""
    place = "on the front" if design.on_front else "feasible" if design.feasible else "infeasible"
    console.print(f"[bold]{escape(exploration)}#{design.number}[/]  {design.id}, {place}")
    if design.tags:
        console.print(f"tags: {' '.join(design.tags)}", markup=False)
    if design.notes:
        console.print(design.notes, markup=False)
    if design.metrics:
        console.print(fidelity_table(design.metrics, design.differences))
        console.print(provenance(design.metrics))
    if design.assumed is not None:
        console.print(f"assumed of replies: {design.assumed}", markup=False, style="dim")
    if design.simulation is not None and (refuted := design.simulation.refuted) is not None:
        console.print(f"[red]refuted by its simulation:[/] {escape(refuted)}")
    if design.simulation is not None and (stalling := design.simulation.stalling) is not None:
        console.print(stalling_text(stalling.ends, stalling.cycles, stalling.fifo), markup=False)
    for flag in design.flags:
        console.print(f"[red]this can not be:[/] {escape(flag.text)} [dim]({flag.fidelity})[/]")
    for violation in design.violations:
        over = f"{violation.resource} {number(violation.demand)} of {number(violation.bound)}"
        console.print(f"[yellow]exceeds the platform:[/] {over}")
    knobs = [(name, str(value)) for name, value in design.knobs.items()]
    console.print(table("", ("knob", "value"), knobs))
    console.print(ladder_table(design.ladder))
