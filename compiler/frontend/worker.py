"""The importer's process: `python -m compiler.frontend.worker`, JSON lines on stdin and stdout.

The first line that it is sent says of which source and into which folder, each that follows is a job: a workload, or
the export of a whole network, and its directory in that folder.

It limits its own memory, processor time and file sizes, dies with its parent, and gives up the network, other programs
and the right to write anywhere but in its own folders (see `confine`).
It answers {"progress": text}, and at the end of a job {"done": true}: the directory is whole; or, and ends with that,
{"error": kind, "message": text}.
"""

import ctypes
import gc
import json
import os
import resource
import signal
import sys
import traceback
import warnings
from collections.abc import Callable, Mapping
from pathlib import Path
from tempfile import gettempdir
from typing import Any, TextIO

from compiler.collection import collect_rarely
from compiler.errors import ImporterCrashError, InvalidInputError, MillraceError, ToolError, UnsupportedError
from compiler.frontend.confine import confine
from compiler.frontend.files import weight_files
from compiler.frontend.inputs.source import FileSource, Source, source_from_json
from compiler.frontend.models.config import ModelSource
from compiler.frontend.network_request import NetworkRequest
from compiler.frontend.plain_text import plain
from compiler.frontend.scan.scan import scan
from compiler.machine import find_machine
from compiler.options import Workload

# Below what there is, else an upload that grows takes the other processes' memory before its limit ends it; but enough
# for the libraries, which reserve more addresses than they use.
MEMORY_BYTES = min(32 << 30, max(8 << 30, find_machine().memory_bytes))
FILE_BYTES = 16 << 30
ERRORS: dict[str, type[MillraceError]] = {
    e.__name__: e for e in (MillraceError, InvalidInputError, UnsupportedError, ToolError, ImporterCrashError)
}
_PR_SET_PDEATHSIG = 1


def main() -> int:
    """Do the jobs on stdin; the exit status."""
    request = json.loads(sys.stdin.readline())
    reply = os.fdopen(os.dup(1), "w", buffering=1)
    os.dup2(2, 1)  # what libraries print goes to the log, not between our lines
    _limit(request["cpu_seconds"])
    source = source_from_json(request["source"])
    collect_rarely()
    directory = Path(request["folder"])
    try:
        _enter(source, directory)
        for line in sys.stdin:
            job = json.loads(line)
            directory = Path(job["directory"])
            fill(directory, _job(job), source, lambda text: _say(reply, {"progress": text}))
            _say(reply, {"done": True})
            gc.collect()  # what the next one needs may be as large
    except Exception as error:  # noqa: BLE001  # libraries raise anything for an upload
        traceback.print_exc()
        kind, message = _explained(error, source.name)
        folders = (directory, *(file.parent for file in _files_of(source)))
        _say(reply, {"error": kind, "message": plain(message, folders)})
        return 1
    return 0


def _job(described: Mapping[str, Any]) -> Workload | NetworkRequest:
    if "network" in described:
        return NetworkRequest.from_json(described["network"])
    return Workload(**described["workload"])


def _say(reply: TextIO, line: Mapping[str, Any]) -> None:
    print(json.dumps(line), file=reply)


def _explained(error: Exception, name: str) -> tuple[str, str]:
    """Which of ERRORS it is, and what a person can do."""
    if isinstance(error, MillraceError):
        return type(error).__name__ if type(error).__name__ in ERRORS else "MillraceError", str(error)
    if isinstance(error, MemoryError) or "allocate memory" in str(error):
        return "ToolError", "the import ran out of memory; use fewer layers or a shorter length"
    if isinstance(error, RecursionError):
        return "UnsupportedError", f"{name} nests too deep, or is one chain of too many steps; export it flatter"
    if isinstance(error, OSError):
        why = error.strerror or error
        return "ToolError", f"cannot write the bundle: {why}; free space in the cache directory and run it again"
    return "ImporterCrashError", (
        f"the importer has no answer to {name} ({type(error).__name__}: {str(error)[:200]}); it is damaged, or holds "
        "what nobody tried yet: export it again, and report it if that does not help"
    )


def _enter(source: Source, folder: Path) -> None:
    """Give up what an import does not need, and look at the file."""
    warnings.filterwarnings("ignore")  # torch warns of its own deprecations at every export
    walls = confine((folder, Path(gettempdir())), _files_of(source))
    print("confined by", ", ".join(walls), file=sys.stderr)
    if isinstance(source, FileSource) and source.format == "pt2" and "seccomp" not in walls:
        raise UnsupportedError("this machine has no seccomp to hold the code in a .pt2; export the network to ONNX")
    if isinstance(source, FileSource):
        with source.path.open("rb") as file:
            scan(file.fileno(), source.format, f"{source.name}.{source.format}")


def fill(directory: Path, job: Workload | NetworkRequest, source: Source, say: Callable[[str], None]) -> None:
    """Write a workload's bundle, or a network's export."""
    # These import torch: only after the limits.
    if isinstance(job, Workload):
        from compiler.frontend.convert import convert  # noqa: PLC0415

        convert(source, job, directory, say)
    else:
        from compiler.frontend.network_export import export_network  # noqa: PLC0415

        assert isinstance(source, ModelSource), "a file is a block, which replies to nothing"
        export_network(source, job, directory, say)


def _files_of(source: Source) -> tuple[Path, ...]:
    """What is read of a source: its file, or those of its weights."""
    if isinstance(source, FileSource):
        return (source.path,) if source.samples is None else (source.path, source.samples)
    return () if source.weights is None else (source.weights, *weight_files(source.weights))


def _limit(cpu_seconds: int) -> None:
    """Memory, processor time, file size, core dumps; and the end of the parent is the end of this process."""
    for kind, value in (
        (resource.RLIMIT_AS, MEMORY_BYTES),
        (resource.RLIMIT_CPU, cpu_seconds),
        (resource.RLIMIT_FSIZE, FILE_BYTES),
        (resource.RLIMIT_CORE, 0),
    ):
        _soft, hard = resource.getrlimit(kind)
        limit = value if hard == resource.RLIM_INFINITY else min(value, hard)
        resource.setrlimit(kind, (limit, limit))
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)


if __name__ == "__main__":
    sys.exit(main())
