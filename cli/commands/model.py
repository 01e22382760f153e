"""`millrace model`: the networks that the service knows."""

from pathlib import Path
from typing import Annotated

import typer

from cli import options
from cli.output import console, emit_json, emit_list, table
from cli.service import connect, look
from compiler.errors import InvalidInputError
from compiler.frontend.inputs.source import format_of, model_name

app = typer.Typer(help="Add, list and show networks.", no_args_is_help=True)


@app.command("add")
def add(
    file: Annotated[
        Path, typer.Argument(help="A Hugging Face config.json, or a network: .onnx, .mlir, .pt2.", metavar="FILE")
    ],
    name: Annotated[
        str | None, typer.Option(help="Name to use it by.", show_default="the file's; a config.json: its directory's")
    ] = None,
    url: options.Url = None,
    as_json: options.Json = False,
) -> None:
    """Store a network, to be explored by its name.

    Examples:

        millrace model add ./my-gpt2/config.json --name my-gpt2

        millrace model add ./vit_block.onnx
    """
    with connect(url) as connection:
        model = connection.client.add_model(require_model(file), name or default_name(file))
    if as_json:
        emit_json(model)
    else:
        console.print(f"stored [bold]{model.name}[/] as {model.id}; next: millrace explore {model.name}")


@app.command("list")
def list_models(url: options.Url = None, as_json: options.Json = False, as_csv: options.Csv = False) -> None:
    """The built-in and the stored networks.

    Examples:

        millrace model list
    """
    with look(url) as reader:
        models = reader.models()
    if emit_list(models, as_json, as_csv):
        return
    rows = [(m.name, m.id, m.kind, f"{m.created_at:%Y-%m-%d %H:%M}") for m in models]
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
    console.print(f"[bold]{found.name}[/]  {found.id}  {found.kind}")
    console.print(table("", ("field", "value"), [(key, str(value)) for key, value in found.config.items()]))


def require_model(path: Path) -> Path:
    """`path`, if it can be a model. Raises InvalidInputError."""
    if not path.is_file():
        raise InvalidInputError(f"{path} is not a file; name a Hugging Face model's config.json, an .onnx or an .mlir")
    return path


def default_name(path: Path) -> str:
    """The name of the network at `path`: its own without the suffix, or that of the directory of a config.json."""
    return path.resolve().parent.name if format_of(path.name) is None else model_name(path)
