"""Objects of sources that were compiled before, found by the content of all that went into them.

Designs of one network share most of their code, a design that is proven again shares all of it, and of one that was
changed in one place the testbench is what it was: compiling is most of a simulation.
"""

import hashlib
import os
import shutil
import tempfile
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

MOST_BYTES = 256 << 20
"""Of all that is kept; what was used longest ago goes first."""


class Objects:
    """Those of one `compiler` with one set of flags and headers, which `setting` names, kept in `folder`; none without
    a folder.
    """

    def __init__(self, folder: Path | None, compiler: str, setting: str) -> None:
        self._folder = folder
        found = Path(compiler).stat()  # another release of it is another file
        self._setting = f"{Path(compiler).resolve()} {found.st_size} {found.st_mtime_ns} {setting}"

    def name(self, source: Path, headers: Sequence[Path]) -> str:
        """Of the object of `source`, which includes no other headers than these and those of the setting. Where it lies
        makes no difference: our code does not ask (`__FILE__`).
        """
        digest = hashlib.sha256(self._setting.encode())
        for file in (source, *headers):
            content = file.read_bytes()
            digest.update(f"\n{file.name} {len(content)}\n".encode())
            digest.update(content)
        return f"{digest.hexdigest()}.o"

    def give(self, name: str, target: Path) -> bool:
        """Whether there is one, which then is `target`; else there is no `target`."""
        target.unlink(missing_ok=True)  # it may be one that is kept, into which nobody is to write
        if self._folder is None:
            return False
        try:
            os.utime(self._folder / name)
            _put(self._folder / name, target)
        except FileNotFoundError:
            return False
        return True

    def keep(self, name: str, made: Path) -> None:
        """`made` from now on; where the disk is full, nothing is."""
        if self._folder is None:
            return
        with suppress(OSError):
            self._folder.mkdir(mode=0o700, exist_ok=True)
            with tempfile.TemporaryDirectory(dir=self._folder) as scratch:
                _put(made, Path(scratch) / name)
                (Path(scratch) / name).replace(self._folder / name)
            self._forget()

    def _forget(self) -> None:
        assert self._folder is not None
        kept = {file: file.stat() for file in self._folder.glob("*.o")}
        most = MOST_BYTES
        for file, found in sorted(kept.items(), key=lambda item: item[1].st_mtime_ns, reverse=True):
            most -= found.st_size
            if most < 0:
                file.unlink(missing_ok=True)


def _put(made: Path, target: Path) -> None:
    """The file under another name: it is never written again."""
    try:
        target.hardlink_to(made)
    except FileNotFoundError:
        raise
    except OSError:  # another file system, or one without links
        shutil.copyfile(made, target)
