"""Tcl scripts whose commands are Python functions: `tclsh`, asked and answered over two pipes.

Not `tkinter`: Debian keeps it apart from Python, for its own Python alone.
"""

import os
import subprocess
from collections.abc import Callable, Mapping
from pathlib import Path

_LOOP = Path(__file__).with_name("tcl.tcl")


class TclError(Exception):
    """The script ended with this error."""


def source(
    script: Path, commands: Mapping[str, Callable[..., str]], environment: Mapping[str, str] | None = None
) -> None:
    """Run the script. An exception of a command unwinds it as an error of Tcl does, and is raised again.

    Raises TclError.
    """
    questions, their_questions = os.pipe()
    their_answers, answers = os.pipe()
    pipes = (their_questions, their_answers)
    call = ["tclsh", str(_LOOP), str(script), *(f"/dev/fd/{pipe}" for pipe in pipes), *commands]
    with subprocess.Popen(call, pass_fds=pipes, env=environment):
        for pipe in pipes:
            os.close(pipe)
        with open(questions) as asked, open(answers, "w") as answered:  # noqa: PTH123  (descriptors)
            raised: Exception | None = None
            for line in asked:
                name, *arguments = (bytes.fromhex(word[1:]).decode() for word in line.split())
                if not name:
                    raise raised or TclError(*arguments)
                try:
                    failed, result = 0, commands[name](*arguments)
                except Exception as error:  # noqa: BLE001  (it is raised again at the end)
                    failed, result, raised = 1, str(error), error
                print(failed, f"x{result.encode().hex()}", file=answered, flush=True)
