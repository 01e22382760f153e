"""A checkout as a clone would hold it, uncommitted changes included; and an environment for it without a set-up."""

import hashlib
import os
import re
import shutil
import subprocess
import venv
from importlib.metadata import distributions
from pathlib import Path

from needed import need

ROOT = Path(__file__).resolve().parents[2]
_CUDA = ("cuda-", "nvidia-", "triton")


def copy_checkout(folder: Path, leave_out: tuple[str, ...] = ()) -> None:
    """Copy what git tracks or would track here, but for paths that begin with one of `leave_out`."""
    need("git")
    listed = subprocess.run(
        ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
        cwd=ROOT,
        capture_output=True,
        check=True,
    )
    for name in filter(None, listed.stdout.decode().split("\0")):
        if (ROOT / name).is_file() and not name.startswith(leave_out):
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(ROOT / name, folder / name)


def make_environment(folder: Path, checkout: Path) -> None:
    """Make in `folder` the `.venv` that set-up would leave in `checkout` before the first command but `test`.

    Millrace itself is the one in `checkout`. The packages are those of this checkout's environment, linked and not
    named in a path: an import of a network may read nothing outside its environment.
    """
    venv.create(folder, symlinks=True)
    [site] = folder.glob("lib/python*/site-packages")
    packages = ROOT / ".venv" / site.relative_to(folder)
    for name in _entries_of_the_product(packages):
        if (packages / name).is_dir():
            # Another process may be writing byte code: under a name of its own until it is whole.
            unfinished = shutil.ignore_patterns("*.pyc.*")
            shutil.copytree(packages / name, site / name, ignore=unfinished, copy_function=_link)
        else:
            _link(str(packages / name), str(site / name))
    (site / "_millrace.pth").write_text(f"{checkout}\n{checkout}/client\n")
    command = folder / "bin" / "millrace"
    command.write_text(f"#!{checkout}/.venv/bin/python\nfrom cli.main import run\nrun()\n")
    command.chmod(0o755)
    [sign] = (sign for sign in (ROOT / ".venv").glob(".*ready*") if sign.read_text() == _digest(ROOT, ROOT))
    (folder / sign.name).write_text(_digest(ROOT, checkout))


def _entries_of_the_product(packages: Path) -> set[str]:
    """What the packages of requirements.lock have in the folder of all packages, and the CUDA packages that a build of
    torch may bring along.
    """
    pins = (line.partition("==") for line in (ROOT / "requirements.lock").read_text().splitlines())
    locked = {name for name, equals, _ in pins if equals}
    entries: set[str] = set()
    for found in distributions(path=[str(packages)]):
        name = re.sub(r"[-_.]+", "-", found.metadata["Name"]).lower()
        files = {file.parts[0] for file in found.files or ()} - {".."}
        if name in locked or name.startswith(_CUDA):
            entries |= files
    return entries


def _link(source: str, target: str) -> None:
    try:
        os.link(source, target)
    except OSError:  # another file system
        shutil.copy2(source, target)


def _digest(sources: Path, checkout: Path) -> str:
    """What the start script takes as the sign of a finished set-up."""
    content = b"".join((sources / name).read_bytes() for name in ("requirements.lock", "pyproject.toml"))
    return hashlib.sha256(content + f"{checkout}\n".encode()).hexdigest() + "  -"
