"""`millrace exploration`: what is written on an exploration, its end, its deletion. `millrace pareto` lists them."""

from typing import Annotated

import typer
from rich.markup import escape

from cli import options
from cli.output import console, emit_json
from cli.service import attach, operate
from compiler.errors import InvalidInputError

app = typer.Typer(help="Rename, annotate, cancel and delete explorations.", no_args_is_help=True)

Yes = Annotated[bool, typer.Option("--yes", "-y", help="Delete without asking.")]


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
    changes = options.label_changes({"name": name, "tags": tag, "notes": notes}, "--name, --tag or --notes")
    with operate(url) as operator:
        found = operator.change_exploration(operator.exploration(exploration).id, changes)
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


@app.command("delete")
def delete(
    exploration: options.ExplorationKey, yes: Yes = False, url: options.Url = None, as_json: options.Json = False
) -> None:
    """Delete an exploration with its designs, builds and events; it can not be brought back.

    Refused while it runs, and while a sweep compares with it. Files that nothing else refers to are taken from the
    store by `millrace farm collect --delete`. Without --server this needs no running service. Examples:

        millrace exploration delete before-the-fix

        millrace exploration delete exp_0abc --yes --json
    """
    with operate(url) as operator:
        found = operator.exploration(exploration)
        if not yes:
            if as_json:
                raise InvalidInputError(f"--json can not ask; delete {found.name} ({found.id}) with --yes")
            what = f"{found.name} ({found.id}) with its {found.evaluated} designs"
            typer.confirm(f"Delete {what} for good?", abort=True, err=True)
        operator.delete_exploration(found.id)
    if as_json:
        emit_json({"deleted": found.id, "name": found.name})
        return
    console.print(f"deleted [bold]{escape(found.name)}[/] ({found.id}) with its {found.evaluated} designs")
