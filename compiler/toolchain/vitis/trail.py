"""What a stage gathers on its way: runs of tools within its limits, files to keep, notes."""

import shutil
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeVar

from compiler.errors import ReportError
from compiler.metrics import Metric
from compiler.toolchain.report import Failure, Report
from compiler.toolchain.reports import parse_report
from compiler.toolchain.vitis.ended import why_failed
from compiler.toolchain.vitis.installation import Installation
from compiler.toolchain.vitis.limits import GB, Limits
from compiler.toolchain.vitis.process import Command, Run, Sampling, Watcher, run_tool
from compiler.toolchain.vitis.result import ToolResult

R = TypeVar("R", bound=Report)

_LARGEST_KEPT = 1 << 30  # bytes; an xclbin of the U55C has about 60 MB


@dataclass
class Trail:
    """`out` is where the kept files go; `folder` is what the tools fill."""

    installation: Installation
    out: Path
    folder: Path
    limits: Limits
    on_line: Callable[[str], None]
    sampling: Sampling = field(default_factory=Sampling)
    files: list[Path] = field(default_factory=list[Path])
    notes: list[str] = field(default_factory=list[str])
    runs: list[Run] = field(default_factory=list[Run])
    started: float = field(default_factory=time.monotonic)

    def run(self, command: Command, log: str, watcher: Watcher | None = None) -> tuple[Failure, ...]:
        """Run a tool in what is left of the stage's time; its output is kept as `log`. Its failures, if any."""
        file = self.out / log
        self._list(file)
        left = Limits(max(0.0, self.limits.seconds - self._seconds), self.limits.memory_gb, self.limits.disk_gb)
        run = run_tool(command, self.folder, left, file, self.on_line, watcher, self.sampling)
        self.runs.append(run)
        if run.left:
            self.notes.append("a process of the tool could not be killed: look at the machine's devices and mounts")
        return why_failed(Path(command.argv[0]).name, run, self.limits, file)

    def keep(self, source: Path, name: str) -> Path:
        """Copy a file to `out`/`name` and list it."""
        target = self.out / name
        if source.stat().st_size > _LARGEST_KEPT:
            self.notes.append(f"{source.name} was not kept: it is larger than {_LARGEST_KEPT >> 30} GiB")
            return source
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(source, target)
        self._list(target)
        return target

    def result(self, failures: Iterable[Failure], metrics: Iterable[Metric], verdict: dict[str, Any]) -> ToolResult:
        """A pass is one without failures; the metrics of a failed run are not given."""
        failed = tuple(dict.fromkeys(failures))
        used = {
            "seconds": round(self._seconds, 1),
            "peak_memory_gb": round(max((run.peak_memory_bytes for run in self.runs), default=0) / GB, 2),
            "peak_disk_gb": round(max((run.peak_disk_bytes for run in self.runs), default=0) / GB, 2),
        }
        return ToolResult(
            not failed,
            () if failed else tuple(metrics),
            failed,
            tuple(self.files),
            self.installation.tools,
            self._seconds,
            {**verdict, **used},
            tuple(dict.fromkeys(self.notes)),
        )

    @property
    def _seconds(self) -> float:
        return time.monotonic() - self.started

    def _list(self, file: Path) -> None:
        path = file.relative_to(self.out)
        if path not in self.files:
            self.files.append(path)


def read_any(file: Path) -> Report | Failure:
    """The report in `file`, or the failure that it can not be read."""
    try:
        return parse_report(file)
    except ReportError as error:
        lever = "run it again; the tool was ended, or its disk was full, while it wrote"
        return Failure("tool_crash", f"{file.name} could not be read: {error}", file.name, lever)


def read(file: Path, kind: type[R]) -> R | Failure:
    """Like `read_any`; a report of another kind is a failure too."""
    report = read_any(file)
    if isinstance(report, kind | Failure):
        return report
    return Failure("tool_crash", f"{file.name} could not be read: it is another kind of report", file.name, "")
