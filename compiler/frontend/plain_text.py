"""Texts of libraries made fit for a person who may not know this machine: one line, without its folders."""

import re
import sys
from collections.abc import Iterable
from pathlib import Path
from tempfile import gettempdir

import compiler

MAX_CHARACTERS = 800
LOGGED = "importer: "  # in front of a line of the importer's log, among the stages that are progress


def plain(text: str, folders: Iterable[Path] = ()) -> str:
    """The text in one line; of paths below `folders`, the interpreter and this compiler the file's name is left."""
    own = (sys.prefix, sys.base_prefix, Path(compiler.__path__[0]).parent, gettempdir(), *folders)
    for folder in sorted({str(path) for path in own if len(Path(path).parts) > 1}, key=len, reverse=True):
        text = re.sub(rf"{re.escape(folder)}/(?:[^\s'\":;,()/]+/)*", "", text)
    line = " ".join(text.split())
    return line if len(line) <= MAX_CHARACTERS else f"{line[: MAX_CHARACTERS - 4]} ..."
