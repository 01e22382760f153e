"""Runs the programs that a design carries, as a machine with a board would: with a pyxrt, but without Millrace."""

import os
import subprocess
import sys
from pathlib import Path

REPOSITORY = Path(__file__).parents[2]


def run_program(program: Path, *arguments: object, fake: str | None = None) -> "subprocess.CompletedProcess[str]":
    """The emitted `program`; `fake` is the source of the pyxrt that it finds, None where there is none."""
    module = program.parent / "pyxrt.py"
    module.unlink(missing_ok=True)
    path = ""
    if fake is not None:
        module.write_text(fake)
        path = os.pathsep.join([str(REPOSITORY), str(REPOSITORY / "tests" / "support")])
    command = [sys.executable, str(program), *map(str, arguments)]
    environment = {"PATH": os.environ["PATH"], "PYTHONPATH": path}
    return subprocess.run(command, capture_output=True, text=True, check=False, env=environment)
