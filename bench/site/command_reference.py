"""The command line as a page: what `--help` says, made from the same declarations."""

from collections.abc import Iterator
from typing import Any

import typer

from cli.main import app

_HEAD = """# Command line

Every command, as `./millrace COMMAND --help` says it. [Using it](using.md) has the commands in the order in which one
needs them, [Errors](errors.md#exit-codes) the exit codes. This page is made by `python -m bench.site.reference`.
"""


def command_reference() -> str:
    """Markdown: a section a command, those of a group in it."""
    root: Any = typer.main.get_command(app)
    parts = [_HEAD]
    for name, command in root.commands.items():
        parts += _section(f"millrace {name}", command)
    return "\n".join(parts).rstrip() + "\n"


def _section(name: str, command: Any) -> Iterator[str]:
    if command.hidden:
        return
    if hasattr(command, "commands"):
        yield f"## `{name}`\n\n{_text(command.help)}\n"
        for inner, each in command.commands.items():
            yield from _section(f"{name} {inner}", each)
        return
    yield f"{'##' if name.count(' ') == 1 else '###'} `{name}`\n\n{_text(command.help)}\n"
    arguments = [p for p in command.params if p.param_type_name == "argument"]
    options = [p for p in command.params if p.param_type_name == "option" and not p.hidden and p.name != "help"]
    rows = [*map(_argument, arguments), *map(_option, options)]
    if rows:
        yield "\n".join(["| argument or option | means |", "|---|---|", *rows]) + "\n"


def _text(help_: str | None) -> str:
    """Paragraphs; what is indented or after a backspace mark stays as it stands, as code."""
    paragraphs: list[str] = []
    for paragraph in (help_ or "").replace("\f", "\n\n").split("\n\n"):
        if paragraph.startswith(("\b", "    ")):
            lines = [line.removeprefix("    ") for line in paragraph.removeprefix("\b\n").splitlines()]
            paragraphs.append(
                "```sh\n" + "\n".join(f"./{x}" if x.startswith("millrace ") else x for x in lines) + "\n```"
            )
        else:
            paragraphs.append(_plain(paragraph.strip()))
    return "\n\n".join(filter(None, paragraphs)).replace("\n```\n\n```sh\n", "\n")


def _plain(text: str) -> str:
    """Without what Rich reads as markup, and whole in one cell."""
    return text.replace("[bold]", "").replace("[/bold]", "").replace("\\[", "[").replace("|", "\\|").replace("\n", " ")


def _argument(parameter: Any) -> str:
    name = (parameter.metavar or parameter.name.upper()).strip("[]")
    return f"| `{name}`{'' if parameter.required else ' (may be left out)'} | {_plain(parameter.help or '')} |"


def _option(parameter: Any) -> str:
    names = ", ".join(f"`{name}`" for name in (*parameter.opts, *parameter.secondary_opts))
    default = parameter.show_default if isinstance(parameter.show_default, str) else parameter.default
    shown = default not in (None, False, (), []) and not callable(default)
    said = _plain(parameter.help or "")
    many = " May be repeated." if parameter.multiple and "repeated" not in said else ""
    return f"| {names} | {said}{many}{f' Default: {default}.' if shown else ''} |"
