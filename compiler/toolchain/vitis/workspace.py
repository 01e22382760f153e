"""The folder that a tool works in: a copy of the design's code, with its data beside it, as the design has it.

The tools write where they run, and a design may be read-only or shared; the copy is deleted with all that they wrote.
"""

import re
import shutil
from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from compiler.errors import InvalidInputError

CODE = "hls"
_OPTION = re.compile(r"^\s*(syn\.top|clock)\s*=\s*(\S+)\s*$", re.MULTILINE)
_MHZ = re.compile(r"(\d+(?:\.\d+)?)MHz")


@dataclass(frozen=True, slots=True)
class KernelCode:
    """A kernel: its top function, its configuration (a file in hls/), and the clock that it asks for in MHz."""

    name: str
    config: str
    clock_mhz: float | None


@dataclass(frozen=True, slots=True)
class Workspace:
    """`code` is the folder that the tools run in, with the sources; `root` holds it and is what they fill."""

    root: Path
    code: Path
    kernels: tuple[KernelCode, ...]


@contextmanager
def workspace(design: Path, out: Path) -> Generator[Workspace]:
    """A workspace in `out`/work for the `with` block. Raises InvalidInputError where `design` has no kernels."""
    kernels = kernels_of(design)
    root = out / "work"
    shutil.rmtree(root, ignore_errors=True)
    copy = root / "design"
    copy.mkdir(parents=True)
    try:
        shutil.copytree(design / CODE, copy / CODE)
        for entry in design.iterdir():
            if entry.name != CODE and entry.resolve() != out.resolve():
                (copy / entry.name).symlink_to(entry.resolve())
        _own_folder(copy / "out")
        (root / "tmp").mkdir()
        yield Workspace(root, copy / CODE, kernels)
    finally:
        shutil.rmtree(root, ignore_errors=True)


def _own_folder(folder: Path) -> None:
    """The test bench writes its results there."""
    folder.unlink(missing_ok=True)
    folder.mkdir()


def kernels_of(design: Path) -> tuple[KernelCode, ...]:
    """From hls/hls*.cfg, in the order of the kernels. Raises InvalidInputError where there are none."""
    files = sorted((design / CODE).glob("hls*.cfg"), key=lambda file: (len(file.name), file.name))
    kernels = tuple(_kernel(file) for file in files)
    if not kernels:
        raise InvalidInputError(f"{design / CODE} has no hls.cfg: it is not the code of a design; compile it again")
    return kernels


def _kernel(file: Path) -> KernelCode:
    options = dict(_OPTION.findall(file.read_text(errors="replace")))
    if "syn.top" not in options:
        raise InvalidInputError(f"{file} names no syn.top; compile the design again")
    clock = _MHZ.fullmatch(options.get("clock", ""))
    return KernelCode(options["syn.top"], file.name, float(clock[1]) if clock else None)


def chosen(kernels: tuple[KernelCode, ...], names: tuple[str, ...]) -> tuple[KernelCode, ...]:
    """Those that `names` names, all where it is empty. Raises InvalidInputError for an unknown one."""
    known = {kernel.name: kernel for kernel in kernels}
    unknown = [name for name in names if name not in known]
    if unknown:
        raise InvalidInputError(f"the design has no kernel {unknown[0]!r}; it has {', '.join(known)}")
    return tuple(known[name] for name in names) or kernels
