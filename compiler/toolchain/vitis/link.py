"""The link of a design's kernels with v++: the binary for the card, and what placement and routing made of it."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from compiler.errors import InvalidInputError
from compiler.metrics import Metric
from compiler.toolchain.link.kernel_util import KernelUtil
from compiler.toolchain.link.timing_summary import TimingSummary
from compiler.toolchain.link.xclbin_info import XclbinInfo
from compiler.toolchain.logs.vpp_log import VppLog
from compiler.toolchain.report import Failure, Report
from compiler.toolchain.vitis.combined import figures
from compiler.toolchain.vitis.commands import TEMPORARY, LinkOptions, linking
from compiler.toolchain.vitis.early_stop import LinkWatch
from compiler.toolchain.vitis.installation import Installation
from compiler.toolchain.vitis.limits import Limits
from compiler.toolchain.vitis.process import Sampling
from compiler.toolchain.vitis.result import ToolResult
from compiler.toolchain.vitis.trail import Trail, read_any
from compiler.toolchain.vitis.workspace import Workspace, workspace

_RUNS, _REPORTS = f"{TEMPORARY}/link/vivado/vpl/prj/prj.runs/impl_1", f"{TEMPORARY}/reports/link"
# Of each kind the first that is there is kept, by this name.
_KEPT: Mapping[str, tuple[str, ...]] = {
    "xclbin.info": ("*.xclbin.info",),
    "kernel_util_routed.rpt": (f"{_REPORTS}/imp/*kernel_util_routed.rpt", f"{_RUNS}/*kernel_util_routed.rpt"),
    "kernel_util_routed.json": (f"{_RUNS}/*kernel_util_routed.json",),
    "slr_util_routed.rpt": (f"{_REPORTS}/imp/*slr_util_routed.rpt", f"{_RUNS}/*slr_util_routed.rpt"),
    "timing_summary.rpt": (f"{_RUNS}/dr_timing_summary.rpt", f"{_REPORTS}/imp/*timing_summary_routed.rpt"),
    "power_routed.rpt": (f"{_REPORTS}/imp/*power_routed.rpt", f"{_RUNS}/*power_routed.rpt"),
    "qor_assessment.rpt": (f"{_RUNS}/qor_assessment*.rpt", f"{_REPORTS}/*/*qor_assessment*.rpt"),
    "system_estimate.xtxt": (f"{_REPORTS}/system_estimate*.xtxt",),
}
_LOGS: Mapping[str, tuple[str, ...]] = {
    "vivado.log": (f"{TEMPORARY}/logs/link/vivado.log", f"{TEMPORARY}/link/vivado/vpl/vivado.log"),
    "runme.log": (f"{_RUNS}/runme.log",),
}
LOG = "link.log"
# Reports tell an area each; the first counts.
_SOURCES = ("kernel_util_routed.rpt", "kernel_util_routed.json", "timing_summary.rpt", "power_routed.rpt")


@dataclass(frozen=True, slots=True)
class _Clock:
    """MHz; None where neither the log nor the binary says it."""

    requested: float | None
    achieved: float | None

    @property
    def lowered(self) -> bool:
        return self.requested is not None and self.achieved is not None and self.achieved < self.requested - 0.5


def link(
    design: Path,
    xos: Sequence[Path],
    installation: Installation,
    options: LinkOptions,
    out: Path,
    limits: Limits,
    on_line: Callable[[str], None],
    sampling: Sampling | None = None,
) -> ToolResult:
    """Link `xos`, the kernels of `design` as csynth left them, into `out`/<design>.xclbin.

    A clock that v++ lowered because paths missed it is a pass with a note; `clock` is the one that was reached. A link
    for emulation has no metrics. Raises InvalidInputError where an .xo is missing.
    """
    missing = [xo for xo in xos if not xo.is_file()]
    if missing or not xos:
        raise InvalidInputError(f"there is no {missing[0] if missing else '.xo'} to link: synthesise the design first")
    with workspace(design, out) as place:
        trail = Trail(installation, out, place.root, limits, on_line, sampling or Sampling())
        output = f"{place.kernels[0].name.rpartition('_k')[0] or place.kernels[0].name}.xclbin"
        command = linking(installation, place, tuple(xo.resolve() for xo in xos), options, output)
        watch = None if options.patient or options.target != "hw" else LinkWatch(place.code)
        failures = trail.run(command, LOG, watch)
        _keep(trail, place, _LOGS)
        reports = _read(trail, _keep(trail, place, _KEPT))
        binary = place.code / output
        if not failures and not (binary.is_file() and binary.stat().st_size):
            text = f"v++ ended without an error, but it wrote no {output}"
            failures = (Failure("tool_crash", text, output, "see link.log; run it again"),)
        if not failures:
            failures = _unproven(reports, options)
            trail.keep(binary, output)
        # What emulation runs at, and takes, is nothing that a card showed.
        return _result(trail, failures, reports if options.target == "hw" else {})


def _keep(trail: Trail, place: Workspace, wanted: Mapping[str, tuple[str, ...]]) -> list[Path]:
    found = {name: next(_files(place.code, patterns), None) for name, patterns in wanted.items()}
    return [trail.keep(file, name) for name, file in found.items() if file is not None]


def _files(folder: Path, patterns: tuple[str, ...]) -> Iterator[Path]:
    for pattern in patterns:
        yield from sorted(folder.glob(pattern))


def _read(trail: Trail, files: list[Path]) -> dict[str, Report]:
    """By name; a report that can not be read is a note: the binary is what counts."""
    reports: dict[str, Report] = {}
    for file in [*files, trail.out / LOG]:
        report = read_any(file)
        if isinstance(report, Failure):
            trail.notes.append(report.message)
        else:
            reports[file.name] = report
    return reports


def _unproven(reports: Mapping[str, Report], options: LinkOptions) -> tuple[Failure, ...]:
    """A binary for the card without its clock is none that can be trusted."""
    if options.target != "hw" or _clock(reports).achieved is not None:
        return ()
    text = "v++ ended without an error, but neither its log nor the .xclbin.info tells the clock that was reached"
    return (Failure("tool_crash", text, LOG, "see the notes on the reports that could not be read; run it again"),)


def _clock(reports: Mapping[str, Report]) -> _Clock:
    """The exact clock is in the log where v++ lowered it, and rounded in the binary's description."""
    log, info = reports.get(LOG), reports.get("xclbin.info")
    clock = info.kernel_clock if isinstance(info, XclbinInfo) else None
    said = log.clock_mhz if isinstance(log, VppLog) and log.outcome == "passed" else None
    achieved = said if said is not None else clock.achieved_mhz if clock else None
    scaled = next((s.requested_mhz for s in log.scalings), None) if isinstance(log, VppLog) else None
    return _Clock(clock.requested_mhz if clock else scaled, achieved)


def _result(trail: Trail, failures: tuple[Failure, ...], reports: Mapping[str, Report]) -> ToolResult:
    clock = _clock(reports)
    if not failures and clock.lowered:
        trail.notes.append(f"v++ lowered the clock from {clock.requested:g} to {clock.achieved:g} MHz: paths missed it")
    timing = reports.get("timing_summary.rpt")
    if not failures and isinstance(timing, TimingSummary):
        trail.notes += [failure.message for failure in timing.failures]
    metrics = _metrics(reports)
    verdict: dict[str, Any] = {
        "clock_mhz": clock.achieved,
        "clock_requested_mhz": clock.requested,
        "figures": figures(metrics),
        "kernels": _kernels(reports),
    }
    return trail.result(failures, metrics, verdict)


def _metrics(reports: Mapping[str, Report]) -> tuple[Metric, ...]:
    """Of each name the first: the log's exact clock before the rounded one, the table with the tool's version."""
    order = (LOG, "xclbin.info", *_SOURCES, "qor_assessment.rpt")
    found = [metric for name in order if name in reports for metric in reports[name].metrics()]
    return tuple({metric.name: metric for metric in reversed(found)}.values())[::-1]


def _kernels(reports: Mapping[str, Report]) -> dict[str, dict[str, float]]:
    """Routed area by kernel."""
    util = next((r for name in _SOURCES if isinstance(r := reports.get(name), KernelUtil)), None)
    if util is None:
        return {}
    return {
        k.name: {"lut": k.used.lut, "ff": k.used.ff, "dsp": k.used.dsp, "bram36": k.used.bram36, "uram": k.used.uram}
        for k in util.kernels
    }
