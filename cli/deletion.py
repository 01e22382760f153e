"""Asking before something is deleted, deleting it, and saying what went with it."""

from collections.abc import Callable
from typing import TYPE_CHECKING, Annotated

import typer
from rich.markup import escape

from cli.output import console, emit_json
from compiler.errors import InvalidInputError
from db.errors import ConflictError

if TYPE_CHECKING:
    from millrace.wire import Deletion

Yes = Annotated[bool, typer.Option("--yes", "-y", help="Delete without asking.")]


def carry_out(found: "Deletion", delete: Callable[[str], None], yes: bool, as_json: bool) -> None:
    """Have `delete` do away with what was found, by its id, where a person wants that, and say what was deleted.

    Raises ConflictError where it is needed, InvalidInputError where nobody can be asked, typer.Abort.
    """
    _confirm(found, yes, as_json)
    delete(found.id)
    _report(found, as_json)


def _confirm(found: "Deletion", yes: bool, as_json: bool) -> None:
    if found.needed:
        raise ConflictError(f"{found.name} ({found.id}) can not be deleted: {'; '.join(found.needed)}")
    if yes:
        return
    if as_json:
        raise InvalidInputError(f"--json can not ask; delete {found.name} ({found.id}) with --yes")
    typer.confirm(f"Delete {found.name} ({found.id}) {_what(found)} for good?", abort=True, err=True)


def _report(found: "Deletion", as_json: bool) -> None:
    if as_json:
        counts = {name: getattr(found, name) for name in ("designs", "builds", "events", "files", "bytes")}
        emit_json({"deleted": found.id, "name": found.name, **counts})
    else:
        console.print(f"deleted [bold]{escape(found.name)}[/] ({found.id}) {_what(found)}")


def _what(found: "Deletion") -> str:
    size = f"{found.files} files of {found.bytes / 1e6:,.1f} MB"
    return f"with {found.designs} designs, {found.builds} builds, {found.events} events, {size}"
