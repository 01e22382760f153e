"""Secrets that commands need: from a file, a variable or a prompt, never from the command line, which all can read."""

import os
import sys
from pathlib import Path
from typing import Annotated

import typer

from compiler.errors import InvalidInputError

KEY_VARIABLE = "MILLRACE_API_KEY"
WEBHOOK_VARIABLE = "MILLRACE_WEBHOOK_SECRET"

KeyFile = Annotated[
    Path | None,
    typer.Option(
        help=f"File that holds the API key of a node; - is standard input. Without it {KEY_VARIABLE}, else it is asked "
        "for.",
        show_default=False,
        metavar="FILE",
    ),
]
WebhookSecretFile = Annotated[
    Path | None,
    typer.Option(
        help=f"File that holds what signs these calls (HMAC-SHA256); - is standard input. Without it "
        f"{WEBHOOK_VARIABLE}, else they are not signed.",
        show_default=False,
        metavar="FILE",
    ),
]


def key(file: Path | None) -> str:
    """The API key: of the file, of the variable, else what a person types; empty for none. Raises InvalidInputError."""
    given = _given(file, KEY_VARIABLE)
    if given is not None or not sys.stdin.isatty():
        return given or ""
    return str(typer.prompt("API key of the node (empty for none)", default="", hide_input=True, show_default=False))


def webhook_secret(file: Path | None) -> str | None:
    """What signs the calls of a webhook, None for nothing. Raises InvalidInputError."""
    return _given(file, WEBHOOK_VARIABLE)


def _given(file: Path | None, variable: str) -> str | None:
    if file is None:
        return os.environ.get(variable) or None
    try:
        text = sys.stdin.read() if str(file) == "-" else file.read_text()
    except (OSError, UnicodeDecodeError) as error:
        raise InvalidInputError(f"{file} can not be read: {error}") from error
    if not text.strip():
        raise InvalidInputError(f"{file} is empty; it is to hold one secret")
    return text.strip()
