"""`millrace model`: the networks that the service knows."""

from pathlib import Path
from typing import Annotated

import typer

from cli import complete, deletion, marks, options
from cli.output import console, emit_json, emit_list, table
from cli.service import connect, look, operate
from compiler.errors import InvalidInputError
from compiler.frontend.inputs.source import format_of, model_name
from worker.program import program

app = typer.Typer(help="Add, list, show, archive and delete networks.", no_args_is_help=True)

ModelKey = Annotated[str, typer.Argument(help="Name or id.", metavar="MODEL", autocompletion=complete.models)]


@app.command("add")
def add(
    file: Annotated[
        Path, typer.Argument(help="A Hugging Face config.json, or a network: .onnx, .mlir, .pt2.", metavar="FILE")
    ],
    name: Annotated[
        str | None, typer.Option(help="Name to use it by.", show_default="the file's; a config.json: its directory's")
    ] = None,
    samples: options.Samples = None,
    url: options.Url = None,
    as_json: options.Json = False,
) -> None:
    """Store a network, to be explored by its name.

    Examples:

        millrace model add ./my-gpt2/config.json --name my-gpt2

        millrace model add ./vit_block.onnx

        millrace model add ./net.onnx --samples inputs.npz
    """
    with connect(url) as connection:
        model = connection.client.add_model(require_model(file), name or default_name(file), samples)
    if as_json:
        emit_json(model)
    else:
        console.print(f"stored [bold]{model.name}[/] as {model.id}; next: {program()} explore {model.name}")


@app.command("list")
def list_models(
    archived: marks.Archived = False,
    url: options.Url = None,
    as_json: options.Json = False,
    as_csv: options.Csv = False,
) -> None:
    """The built-in and the stored networks.

    Examples:

        millrace model list
    """
    with look(url) as reader:
        models = reader.models(archived)
    if emit_list(models, as_json, as_csv):
        return
    rows = [(m.name, m.id, m.kind, f"{m.created_at:%Y-%m-%d %H:%M}") for m in models]
    console.print(table("", ("name", "id", "kind", "since"), rows))


@app.command("archive")
def archive(model: ModelKey, undo: marks.Undo = False, url: options.Url = None, as_json: options.Json = False) -> None:
    """Leave a model out of lists; it can still be explored. Without --server this needs no running service.

    Examples:

        millrace model archive my-gpt2

        millrace model archive my-gpt2 --undo
    """
    from millrace.wire import ModelChange

    with operate(url) as operator:
        found = operator.change_model(model, ModelChange(archived=not undo))
    marks.report(found, f"{found.name} ({found.id})", "archived", undo, as_json)


@app.command("delete")
def delete(model: ModelKey, yes: deletion.Yes = False, url: options.Url = None, as_json: options.Json = False) -> None:
    """Delete a model that no exploration and no sweep uses, with its file. Without --server this needs no running
    service.

    Examples:

        millrace model delete my-gpt2
    """
    with operate(url) as operator:
        found = operator.model_deletion(model)
        deletion.carry_out(found, operator.delete_model, yes, as_json)


@app.command("show")
def show(
    model: ModelKey,
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
