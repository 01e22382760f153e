"""`millrace design`: one design of an exploration, and its files."""

import io
import tarfile
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory
from time import sleep
from typing import TYPE_CHECKING, Annotated, cast

import typer
from rich.markup import escape

from cli import options
from cli.build_view import ladder_table
from cli.fidelity_view import fidelity_table, provenance
from cli.output import console, emit_json, errors, number, table
from cli.replies import ENDED
from cli.service import connect, look, operate
from cli.unpack import unpack
from compiler.errors import InvalidInputError, ToolError

if TYPE_CHECKING:
    from api.schemas.designs import Design
    from cli.client import Client

app = typer.Typer(help="Show and export designs.", no_args_is_help=True)

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
    if as_json:
        emit_json(found)
    else:
        _print(found)


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
    if out.exists() and (not out.is_dir() or any(out.iterdir())):
        raise InvalidInputError(f"{out} exists and is not empty; name another directory")
    with connect(url) as connection:
        found = connection.client.design(design).id
        _compile(connection.client, found)
        _unpack(connection.client, found, out)
    if as_json:
        emit_json({"directory": str(out), "design": found})
    else:
        console.print(f"written to {out}; next: millrace csim {out}")


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
    changes = options.label_changes({"tags": tag, "notes": notes}, "--tag or --notes")
    with operate(url) as operator:
        found = operator.change_design(operator.design(design).id, changes)
    if as_json:
        emit_json(found)
    else:
        _print(found)


def _compile(client: "Client", design: str) -> None:
    """Have the service compile the design, and check it against the reference, if it has not done so."""
    if client.design(design).archive_available:
        return
    build = client.start_build(design, "csim")
    with errors.status("compiling"):
        while (state := client.build(build)).state not in ENDED:
            sleep(_POLL_S)
    if not client.design(design).archive_available:
        raise ToolError(f"design {design} could not be compiled: {state.error}")


def _unpack(client: "Client", design: str, out: Path) -> None:
    """The archive holds one folder, named after the design; it becomes `out`."""
    stream = cast(io.BufferedIOBase, _Stream(client.archive(design)))
    out.parent.mkdir(parents=True, exist_ok=True)
    with TemporaryDirectory(prefix=f".{out.name}-", dir=out.parent) as folder:
        with tarfile.open(fileobj=stream, mode="r|gz") as archive:
            unpack(archive, Path(folder))
        Path(folder, design).replace(out)


class _Stream(io.RawIOBase):
    """Chunks of bytes as a file to read."""

    def __init__(self, chunks: Iterator[bytes]) -> None:
        self._chunks = chunks
        self._rest = b""

    def readable(self) -> bool:
        return True

    def read(self, size: int = -1) -> bytes:
        while size < 0 or len(self._rest) < size:
            chunk = next(self._chunks, b"")
            if not chunk:
                break
            self._rest += chunk
        taken = self._rest if size < 0 else self._rest[:size]
        self._rest = self._rest[len(taken) :]
        return taken


def _print(design: "Design") -> None:
    place = "on the front" if design.on_front else "feasible" if design.feasible else "infeasible"
    console.print(f"[bold]{design.id}[/]  number {design.number} of {design.exploration_id}, {place}")
    if design.tags:
        console.print(f"tags: {' '.join(design.tags)}", markup=False)
    if design.notes:
        console.print(design.notes, markup=False)
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
