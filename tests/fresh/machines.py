"""The machines of machines.toml."""

import os
import shutil
import subprocess
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

FILE = Path(__file__).with_name("machines.toml")


@dataclass(frozen=True, slots=True)
class Machine:
    """A Debian `suite`, and the Python that Millrace is to find on it (`3.12`).

    `script` is what debootstrap makes the suite with where it does not know it. `of_this_machine`: the Python is
    this machine's, for the suite has another; it needs the suite's `packages`.
    """

    name: str
    suite: str
    python: str
    script: str = ""
    of_this_machine: bool = False
    stands_in_for: str = ""
    packages: tuple[str, ...] = ()

    @property
    def tag(self) -> str:
        """As in the names of wheels: `cp312`."""
        return "cp" + self.python.replace(".", "")


def load_machines() -> Mapping[str, Machine]:
    """All of them by name."""
    tables = tomllib.loads(FILE.read_text())
    return {name: _read(name, table) for name, table in tables.items()}


def _read(name: str, table: Mapping[str, Any]) -> Machine:
    return Machine(name, **{**table, "packages": tuple(table.get("packages", ()))})


def find_python_here(version: str) -> Path | None:
    """The folder that this machine's Python of that version is installed in, /usr not being one to mount."""
    known = Path(os.environ.get("PYENV_ROOT", "~/.pyenv")).expanduser() / "versions"
    found = [str(path) for path in sorted(known.glob(f"{version}*/bin/python{version}"))]
    for python in [*found, shutil.which(f"python{version}")]:
        if python is None:
            continue
        prefix = Path(subprocess.check_output([python, "-c", "import sys; print(sys.base_prefix)"], text=True).strip())
        if prefix != Path("/usr"):
            return prefix
    return None
