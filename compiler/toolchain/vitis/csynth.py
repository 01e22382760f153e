"""C synthesis of every kernel of a design: estimates of latency, area and clock, and the .xo for the link."""

import re
import zipfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path

from compiler.metrics import Fidelity, Metric
from compiler.toolchain.hls.csynth import TOOL, CsynthReport
from compiler.toolchain.report import Failure
from compiler.toolchain.vitis.combined import figures, of_design
from compiler.toolchain.vitis.commands import build_folder, hls_of, packaging, synthesis
from compiler.toolchain.vitis.ended import log_failures
from compiler.toolchain.vitis.installation import Installation
from compiler.toolchain.vitis.limits import Limits
from compiler.toolchain.vitis.process import Sampling
from compiler.toolchain.vitis.result import ToolResult
from compiler.toolchain.vitis.styles import TaskStyle, achieved_styles, named_styles, unknown
from compiler.toolchain.vitis.trail import Trail, read
from compiler.toolchain.vitis.workspace import KernelCode, Workspace, chosen, workspace

_FMAX = re.compile(r"Estimated Fmax: (\d+(?:\.\d+)?) MHz")
# Projects keep a solution, components a folder hls; the unified flow adds reports/.
_REPORTS = ("*/syn/report/csynth.xml", "*/syn/report/{top}_csynth.xml", "reports/hls_compile.rpt")
_EXTRA = ("*/syn/report/csynth.rpt", "*/syn/report/csynth_design_size.xml", "reports/hls_compile.rpt")


@dataclass(frozen=True, slots=True)
class CsynthOptions:
    """`kernels` names those to synthesise, all of the design where it is empty."""

    kernels: tuple[str, ...] = ()


def csynth(
    design: Path,
    installation: Installation,
    options: CsynthOptions,
    out: Path,
    limits: Limits,
    on_line: Callable[[str], None],
    sampling: Sampling | None = None,
) -> ToolResult:
    """Synthesise the kernels of the design directory `design` one by one; stops at the first that fails, also for a
    pipeline of another style than its pragma names.

    Kept below `out`: `<kernel>/csynth.xml`, `<kernel>.xo`, logs. A timing violation is a note, not a failure: HLS's
    estimate does not predict the routed clock. Raises InvalidInputError where `design` is no design directory.
    """
    with workspace(design, out) as place:
        trail = Trail(installation, out, place.root, limits, on_line, sampling or Sampling())
        named = named_styles(place.code)
        kernels: dict[str, tuple[Metric, ...]] = {}
        styles: list[TaskStyle] = []
        failures: tuple[Failure, ...] = ()
        for kernel in chosen(place.kernels, options.kernels):
            failures, kernels[kernel.name] = _synthesise(trail, place, kernel)
            if not failures:
                found, failures = achieved_styles(named, trail.out / _log(kernel), _reports(trail, kernel))
                styles += found
            if failures:
                break
        if note := unknown(styles):
            trail.notes.append(note)
        verdict = {
            "kernels": {name: figures(metrics) for name, metrics in kernels.items()},
            "pipelines": [style.to_json() for style in styles],
        }
        return trail.result(failures, of_design(list(kernels.values())), verdict)


def _synthesise(trail: Trail, place: Workspace, kernel: KernelCode) -> tuple[tuple[Failure, ...], tuple[Metric, ...]]:
    log = _log(kernel)
    failures = trail.run(synthesis(trail.installation, place, kernel), log)
    if not failures and _xo(place, kernel) is None and hls_of(trail.installation).front_end == "config":
        failures = trail.run(packaging(trail.installation, place, kernel), f"{kernel.name}/package.log")
    for source in _extra(place, kernel):
        trail.keep(source, f"{kernel.name}/{source.name}")
    report = read_csynth(trail, place, kernel)
    if failures:
        return failures, ()
    if isinstance(report, Failure):
        return log_failures(trail.out / log) or (report,), ()
    xo = _xo(place, kernel)
    if xo is None:
        return log_failures(trail.out / log) or (_absent("no whole .xo", kernel),), ()
    trail.keep(xo, f"{kernel.name}.xo")
    trail.notes += [f"{kernel.name}: {failure.message}" for failure in report.failures]
    return (), (*report.metrics(), *_fmax(report, trail.out / log))


def _log(kernel: KernelCode) -> str:
    return f"{kernel.name}/csynth.log"


def _reports(trail: Trail, kernel: KernelCode) -> Iterator[CsynthReport]:
    """Those that were kept: the .rpt says styles that the .xml may not."""
    for path in trail.files:
        if path.parent.name == kernel.name and path.suffix in (".xml", ".rpt"):
            report = read(trail.out / path, CsynthReport)
            if isinstance(report, CsynthReport):
                yield report


def read_csynth(trail: Trail, place: Workspace, kernel: KernelCode) -> CsynthReport | Failure:
    """The report of the kernel, which is kept; a failure where it is missing, damaged or of another function."""
    build = place.code / build_folder(kernel)
    found = [file for form in _REPORTS for file in sorted(build.glob(form.format(top=kernel.name)))]
    if not found:
        return _absent("no csynth.xml", kernel)
    name = "csynth.xml" if found[0].suffix == ".xml" else "csynth.rpt"
    report = read(trail.keep(found[0], f"{kernel.name}/{name}"), CsynthReport)
    if isinstance(report, CsynthReport) and report.top != kernel.name:
        text = f"{found[0].name} is about {report.top}, not about {kernel.name}"
        return Failure("tool_crash", text, kernel.name, "run it again in an empty folder")
    return report


def _absent(what: str, kernel: KernelCode) -> Failure:
    text = f"the tool ended without an error, but it wrote {what} of {kernel.name}"
    return Failure("tool_crash", text, kernel.name, "see csynth.log; run it again")


def _xo(place: Workspace, kernel: KernelCode) -> Path | None:
    """Of the configuration and of the script in hls/, of some versions in the component's folder; a whole one only."""
    places = (place.code, place.code / build_folder(kernel), place.code / build_folder(kernel) / "hls" / "impl")
    return next((file for p in places if zipfile.is_zipfile(file := p / f"{kernel.name}.xo")), None)


def _extra(place: Workspace, kernel: KernelCode) -> Iterator[Path]:
    build = place.code / build_folder(kernel)
    for form in _EXTRA:
        yield from sorted(build.glob(form))


def _fmax(report: CsynthReport, log: Path) -> tuple[Metric, ...]:
    """From the log, else from the estimated period."""
    said = _FMAX.findall(log.read_text(errors="replace"))
    period = report.clock.estimated
    value = float(said[-1]) if said else 1e3 / period if period else None
    if value is None:
        return ()
    return (replace(Metric("fmax", value, "MHz", Fidelity.CSYNTH, TOOL), tool_version=report.version),)
