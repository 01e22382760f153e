"""`millrace model`: the networks that the service knows."""

from pathlib import Path
from typing import Annotated

import typer

from cli import options
from cli.output import console, emit_json, table
from cli.service import connect, look
from compiler.errors import InvalidInputError

app = typer.Typer(help="Add, list and show networks.", no_args_is_help=True)


@app.command("add")
def add(
    config: Annotated[Path, typer.Argument(help="A Hugging Face config.json.", metavar="CONFIG")],
    name: Annotated[str | None, typer.Option(help="Name to use it by.", show_default="its directory's name")] = None,
    url: options.Url = None,
    as_json: options.Json = False,
) -> None:
    """Store a network, to be explored by its name.

    Examples:

        millrace model add ./my-gpt2/config.json --name my-gpt2
    """
    with connect(url) as connection:
        model = connection.client.add_model(require_config(config), name or default_name(config))
    if as_json:
        emit_json(model)
    else:
        console.print(f"stored [bold]{model['name']}[/] as {model['id']}; next: millrace explore {model['name']}")


@app.command("list")
def list_models(url: options.Url = None, as_json: options.Json = False) -> None:
    """The built-in and the stored networks.

    Examples:

        millrace model list
    """
    with look(url) as reader:
        models = reader.models()
    if as_json:
        emit_json(models)
        return
    rows = [(m["name"], m["id"], m["kind"], m["created_at"][:16].replace("T", " ")) for m in models]
    console.print(table("", ("name", "id", "kind", "since"), rows))


@app.command("show")
def show(
    model: Annotated[str, typer.Argument(help="Name or id.", metavar="MODEL")],
    url: options.Url = None,
    as_json: options.Json = False,
) -> None:
    """One network with its configuration.

    Examples:

        millrace model show gpt2
    """
    with look(url) as reader:
        found = reader.model(model)
    if as_json:
        emit_json(found)
        return
    console.print(f"[bold]{found['name']}[/]  {found['id']}  {found['kind']}")
    console.print(table("", ("field", "value"), [(key, str(value)) for key, value in found["config"].items()]))


def require_config(path: Path) -> Path:
    """`path`, if it can be a config.json. Raises InvalidInputError."""
    if not path.is_file():
        raise InvalidInputError(f"{path} is not a file; name the config.json of a Hugging Face model")
    return path


def default_name(config: Path) -> str:
    """The name of a network whose config lies at `config`: that of its directory."""
    return config.resolve().parent.name
