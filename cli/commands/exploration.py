"""`millrace exploration`: what is written on an exploration, its end, its deletion. `millrace pareto` lists them."""

from typing import Annotated

import typer

from cli import deletion, marks, options
from cli.output import console, emit_json
from cli.service import attach, operate

app = typer.Typer(help="Rename, annotate, cancel, archive, pin and delete explorations.", no_args_is_help=True)


@app.command("edit")
def edit(
    exploration: options.ExplorationKey,
    name: Annotated[str | None, typer.Option(help="What it is called from now on.")] = None,
    tag: Annotated[list[str] | None, typer.Option(help="A word to find it by; may be repeated; replaces all.")] = None,
    notes: Annotated[str | None, typer.Option(help="What is written on it.", metavar="TEXT")] = None,
    url: options.Url = None,
    as_json: options.Json = False,
) -> None:
    """Rename an exploration, or write tags or notes on it. Without --server this needs no running service.

    An empty --tag takes all tags away. Examples:

        millrace exploration edit latest --name before-the-fix --tag paper

        millrace exploration edit before-the-fix --notes "with the old FIFO sizing"
    """
    from millrace.wire import ExplorationChange

    changes = options.label_changes({"name": name, "tags": tag, "notes": notes}, "--name, --tag or --notes")
    with operate(url) as operator:
        found = operator.change_exploration(operator.exploration(exploration).id, ExplorationChange(**changes))
    if as_json:
        emit_json(found)
        return
    tags = f", tags {' '.join(found.tags)}" if found.tags else ""
    console.print(f"{found.id} is called {found.name}{tags}", markup=False)


@app.command("cancel")
def cancel(exploration: options.ExplorationKey, url: options.Url = None, as_json: options.Json = False) -> None:
    """Stop an exploration; its designs are kept, and `millrace explore --resume` goes on with it.

    Examples:

        millrace exploration cancel latest
    """
    with attach(url) as client:
        identifier = client.exploration(exploration).id
        client.cancel(identifier)
        found = client.exploration(identifier)
    if as_json:
        emit_json(found)
    else:
        console.print(f"{found.name} ({found.id}) is {found.state}", markup=False)


@app.command("archive")
def archive(
    exploration: options.ExplorationKey,
    undo: marks.Undo = False,
    url: options.Url = None,
    as_json: options.Json = False,
) -> None:
    """Leave an exploration out of lists; nothing of it expires. Without --server this needs no running service.

    Examples:

        millrace exploration archive before-the-fix

        millrace pareto --archived

        millrace exploration archive before-the-fix --undo
    """
    _mark(exploration, "archived", undo, url, as_json)


@app.command("pin")
def pin(
    exploration: options.ExplorationKey,
    undo: marks.Undo = False,
    url: options.Url = None,
    as_json: options.Json = False,
) -> None:
    """Keep an exploration: nobody can delete it, and nothing of it expires.

    Examples:

        millrace exploration pin latest

        millrace exploration pin latest --undo
    """
    _mark(exploration, "pinned", undo, url, as_json)


def _mark(exploration: str, mark: marks.Mark, undo: bool, url: str | None, as_json: bool) -> None:
    from millrace.wire import ExplorationChange

    with operate(url) as operator:
        changes = ExplorationChange(**{mark: not undo})  # pyright: ignore[reportArgumentType]
        found = operator.change_exploration(operator.exploration(exploration).id, changes)
    marks.report(found, f"{found.name} ({found.id})", mark, undo, as_json)


@app.command("delete")
def delete(
    exploration: options.ExplorationKey,
    yes: deletion.Yes = False,
    url: options.Url = None,
    as_json: options.Json = False,
) -> None:
    """Delete an exploration with its designs, builds and events; it can not be brought back.

    Refused while it runs, while it or a design of it is pinned, and while a sweep compares with it. Files that nothing
    else refers to are taken from the store within a day, or by `millrace farm retain`. Without --server this needs no
    running service. Examples:

        millrace exploration delete before-the-fix

        millrace exploration delete exp_0abc --yes --json
    """
    with operate(url) as operator:
        found = operator.exploration_deletion(operator.exploration(exploration).id)
        deletion.carry_out(found, operator.delete_exploration, yes, as_json)
