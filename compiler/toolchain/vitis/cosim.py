"""RTL cosimulation of every kernel of a design: are its results right, how many cycles does the RTL take."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path

from compiler.errors import ReportError
from compiler.metrics import Fidelity, Metric
from compiler.toolchain.hls.cosim import CosimReport
from compiler.toolchain.hls.deadlock import is_deadlock_text, parse_deadlock
from compiler.toolchain.report import Failure
from compiler.toolchain.source import read_source
from compiler.toolchain.vitis.combined import figures, of_design
from compiler.toolchain.vitis.commands import build_folder, cosimulation
from compiler.toolchain.vitis.ended import log_failures
from compiler.toolchain.vitis.installation import Installation
from compiler.toolchain.vitis.limits import Limits
from compiler.toolchain.vitis.process import Sampling
from compiler.toolchain.vitis.result import ToolResult
from compiler.toolchain.vitis.trail import Trail, read
from compiler.toolchain.vitis.workspace import KernelCode, Workspace, chosen, workspace

_REPORTS = ("*/sim/report/{top}_cosim.rpt", "reports/hls_cosim.rpt")
_DEADLOCKS = ("*/sim/report/**/*deadlock*", "*/sim/verilog/*deadlock*")


@dataclass(frozen=True, slots=True)
class CosimOptions:
    """`kernels` names those to simulate, all of the design where it is empty."""

    kernels: tuple[str, ...] = ()


def cosim(
    design: Path,
    installation: Installation,
    options: CosimOptions,
    out: Path,
    limits: Limits,
    on_line: Callable[[str], None],
    sampling: Sampling | None = None,
) -> ToolResult:
    """Synthesise and simulate the kernels of the design directory one by one; stops at the first that fails.

    A pass needs a report that says Pass. The latency is exact for the tasks and optimistic for HBM: the test bench's
    memory answers at once. Raises InvalidInputError where `design` is no design directory.
    """
    with workspace(design, out) as place:
        trail = Trail(installation, out, place.root, limits, on_line, sampling or Sampling())
        kernels: dict[str, tuple[Metric, ...]] = {}
        failures: tuple[Failure, ...] = ()
        for kernel in chosen(place.kernels, options.kernels):
            failures, kernels[kernel.name] = _simulate(trail, place, kernel)
            if failures:
                break
        verdict = {"kernels": {name: figures(metrics) for name, metrics in kernels.items()}}
        return trail.result(failures, of_design(list(kernels.values())), verdict)


def _simulate(trail: Trail, place: Workspace, kernel: KernelCode) -> tuple[tuple[Failure, ...], tuple[Metric, ...]]:
    log = f"{kernel.name}/cosim.log"
    *before, last = cosimulation(trail.installation, place, kernel)
    failures: tuple[Failure, ...] = ()
    for command in before:
        failures = failures or trail.run(command, f"{kernel.name}/csynth.log")
    failures = failures or trail.run(last, log)
    report = _report(trail, place, kernel)
    deadlock = _deadlock(place, kernel)
    if failures:
        return (deadlock or failures), ()
    if isinstance(report, Failure):
        return deadlock or log_failures(trail.out / log) or (report,), ()
    if report.status != "pass":
        return deadlock or log_failures(trail.out / log) or report.failures, ()
    return (), _metrics(report, kernel, trail.installation.version)


def _report(trail: Trail, place: Workspace, kernel: KernelCode) -> CosimReport | Failure:
    build = place.code / build_folder(kernel)
    found = [file for form in _REPORTS for file in sorted(build.glob(form.format(top=kernel.name)))]
    if not found:
        text = f"the tool ended without an error, but it wrote no cosim report of {kernel.name}"
        return Failure("tool_crash", text, kernel.name, "see cosim.log; run it again")
    return read(trail.keep(found[0], f"{kernel.name}/cosim.rpt"), CosimReport)


def _deadlock(place: Workspace, kernel: KernelCode) -> tuple[Failure, ...]:
    """From a file of its own, where the version writes one; the log has it otherwise."""
    build = place.code / build_folder(kernel)
    for file in (f for form in _DEADLOCKS for f in sorted(build.glob(form)) if f.is_file()):
        try:
            source = read_source(file)
        except ReportError:
            continue
        if is_deadlock_text(source):
            return parse_deadlock(source).failures
    return ()


def _metrics(report: CosimReport, kernel: KernelCode, version: str) -> tuple[Metric, ...]:
    """With the tool's version, which the report does not say, and the time at the kernel's clock."""
    found = tuple(replace(metric, tool_version=version) for metric in report.metrics())
    cycles = report.latency.most
    if cycles is None or kernel.clock_mhz is None:
        return found
    return (*found, Metric("latency", cycles / kernel.clock_mhz, "us", Fidelity.COSIM, "vitis_hls", version))
