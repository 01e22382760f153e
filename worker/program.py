"""How the command is called by who runs it, for hints that say what to type next.

Texts of all packages call it `millrace`; where they leave the program for a person, `as_typed` puts in what is typed
here. From a checkout that is `./millrace`, as its start script says in MILLRACE_PROGRAM to all that it starts.
"""

import os
import re
import shlex
import shutil
import sys
from pathlib import Path

_VARIABLE = "MILLRACE_PROGRAM"
_NAME = "millrace"
COMMANDS = (
    "build", "calibrate", "compile", "csim", "demo", "design", "doctor", "exploration", "explore", "farm", "generate",
    "measure", "model", "pareto", "report", "simulate", "sweep", "test", "up",
)  # fmt: skip
"""All that the command line has; a test compares them."""
_COMMAND = re.compile(rf"(?<![\w./-]){_NAME}(?= (?:{'|'.join(COMMANDS)})\b)")
"""The name before one of its commands: not the project's, nor that of a folder."""


def remember() -> None:
    """Have this process, and those that it starts, know how it was called."""
    if Path(sys.argv[0]).name == _NAME:
        os.environ.setdefault(_VARIABLE, sys.argv[0])


def program() -> str:
    """What is typed to run a command: its name alone where PATH leads to it, else the path that was typed."""
    typed = os.environ.get(_VARIABLE) or _NAME
    name = Path(typed).name
    return name if shutil.which(name) == typed else shlex.quote(typed)


def as_typed(text: str) -> str:
    """The text with its commands as they are typed here: `./millrace up` for `millrace up` from a checkout."""
    return _COMMAND.sub(lambda _: program(), text)
