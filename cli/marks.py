"""Marks on models, explorations and designs: what is archived is left out of lists, what is pinned is kept."""

from typing import Annotated, Any, Literal

import typer

from cli.output import console, emit_json

Undo = Annotated[bool, typer.Option("--undo", help="Take it back.")]
Archived = Annotated[bool, typer.Option("--archived", help="Show what is archived too.")]
Mark = Literal["archived", "pinned"]

_UNDONE: dict[Mark, str] = {"archived": "listed again", "pinned": "not pinned any more"}


def report(found: Any, name: str, mark: Mark, undo: bool, as_json: bool) -> None:
    """Say what was marked, or is not any more: `found` as the service replied, called `name`."""
    if as_json:
        emit_json(found)
    else:
        console.print(f"{name} is {_UNDONE[mark] if undo else mark}", markup=False)
