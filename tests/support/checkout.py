"""A checkout as a clone would hold it, uncommitted changes included; and an environment for it without a set-up."""

import hashlib
import os
import shutil
import subprocess
import venv
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]


def copy_checkout(folder: Path, leave_out: tuple[str, ...] = ()) -> None:
    """Copy what git tracks or would track here, but for paths that begin with one of `leave_out`."""
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
    """Make in `folder` the `.venv` that set-up would leave in `checkout`, of the packages that this checkout's has.

    Millrace itself is the one in `checkout`. The packages are linked, not named in a path: an import of a network may
    read nothing outside its environment.
    """
    venv.create(folder, symlinks=True)
    [site] = folder.glob("lib/python*/site-packages")
    ours = shutil.ignore_patterns("_millrace.pth")
    shutil.copytree(
        ROOT / ".venv" / site.relative_to(folder), site, ignore=ours, copy_function=_link, dirs_exist_ok=True
    )
    (site / "_millrace.pth").write_text(f"{checkout}\n")
    command = folder / "bin" / "millrace"
    command.write_text(f"#!{checkout}/.venv/bin/python\nfrom cli.main import run\nrun()\n")
    command.chmod(0o755)
    [sign] = (sign for sign in (ROOT / ".venv").glob(".*ready*") if sign.read_text() == _digest(ROOT, ROOT))
    (folder / sign.name).write_text(_digest(ROOT, checkout))


def _link(source: str, target: str) -> None:
    try:
        os.link(source, target)
    except OSError:  # another file system
        shutil.copy2(source, target)


def _digest(sources: Path, checkout: Path) -> str:
    """What the start script takes as the sign of a finished set-up."""
    content = b"".join((sources / name).read_bytes() for name in ("requirements.lock", "pyproject.toml"))
    return hashlib.sha256(content + f"{checkout}\n".encode()).hexdigest() + "  -"
