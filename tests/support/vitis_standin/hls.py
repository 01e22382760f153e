"""Vitis HLS as both front ends call it: a component with sources and a clock, and its steps."""

import re
import zipfile
from dataclasses import dataclass, field
from pathlib import Path

from vitis_standin import texts
from vitis_standin.call import Call, ToolExit
from vitis_standin.csynth_report import design_report, find_dataflow
from vitis_standin.faults import NO_REPORT, cosim_failed, fail, fault
from vitis_standin.sources import Function, find_function, missing_header, write_xo
from vitis_standin.styles import Pipeline, find_pipelines, say_styles

_CYCLES = "cycles.txt"
_PASS_ROW = re.compile(r"^\|\s*Verilog\|\s*Pass\|.*$", re.MULTILINE)


@dataclass
class Component:
    """`build` is its folder, `solution` the part of it that holds the reports; `files` and `tb` are sources.

    `half_xo`: its .xo will be cut.
    """

    build: Path
    solution: Path
    top: str = ""
    files: list[Path] = field(default_factory=list[Path])
    tb: list[Path] = field(default_factory=list[Path])
    part: str = ""
    period: float = 0.0
    flow: str = "vivado"
    argv: str = ""
    half_xo: bool = False


def csim(call: Call, component: Component) -> None:
    call.info("SIM 211-2", "*************** CSIM start ***************")
    _need_tb(call, component)
    call.info("SIM 211-1", "CSim done with 0 errors.")


def csynth(call: Call, component: Component, stage: str = "csynth") -> None:
    """Checks the sources and writes the report; ends the tool where either fails."""
    function = _checked(call, component)
    kind = fault(call, stage) if stage == "csynth" else None
    if kind:
        fail(call, stage, kind)
    component.half_xo = kind == "half_xo"
    call.work("csynth")
    report = component.solution / "syn" / "report"
    report.mkdir(parents=True, exist_ok=True)
    pipelines = find_pipelines(component.top, component.files, kind)
    say_styles(call, pipelines)
    text, cycles = _report(call, component, pipelines)
    (component.solution / _CYCLES).write_text(str(cycles))
    if kind not in NO_REPORT:
        (report / "csynth.xml").write_text(text[: len(text) // 2] if kind == "truncated" else text)
    for name, (_, pointer) in zip(function.bundles, function.arguments, strict=False):
        call.info(
            "RTGEN 206-500", f"Setting interface mode on port '{component.top}/{name}' to 'm_axi'."
        ) if pointer else None
    call.info("HLS 200-789", f"**** Estimated Fmax: {1e3 / (0.7 * component.period):.2f} MHz")
    _finished(call, "csynth_design")


def cosim(call: Call, component: Component) -> None:
    """Needs the component synthesised, a test bench that finds its data, and a depth for every memory port."""
    if not (component.solution / "syn").is_dir():
        call.die(
            "COSIM 212-40", "C/RTL co-simulation cannot be started, possible causes: 1) Synthesis was not successful"
        )
    function = _checked(call, component)
    _need_tb(call, component)
    _need_depths(call, function)
    _need_data(call, component)
    kind = fault(call, "cosim")
    if kind and kind not in {"deadlock", "cosim_mismatch"}:
        fail(call, "cosim", kind)
    call.work("cosim")
    report = component.solution / "sim" / "report"
    report.mkdir(parents=True, exist_ok=True)
    failed = kind in {"deadlock", "cosim_mismatch"}
    text = texts.text_of(texts.COSIM_FAIL if failed else texts.COSIM_PASS) or ""
    cycles = int((component.solution / _CYCLES).read_text())
    if not failed:
        row = "|" + "|".join(
            ("   Verilog", "      Pass", *[f"{cycles:>15}"] * 3, *["             NA"] * 3, f"{cycles:>22}")
        )
        text = _PASS_ROW.sub(row + "|", text)
    if kind not in NO_REPORT:
        text = text[: len(text) // 3] if kind == "truncated" else text
        (report / f"{component.top}_cosim.rpt").write_text(text)
    if failed:
        assert kind is not None
        cosim_failed(call, kind)
        raise ToolExit(1)
    call.info("COSIM 212-1000", "*** C/RTL co-simulation finished: PASS ***")
    _finished(call, "cosim_design")


def export(call: Call, component: Component, output: Path) -> None:
    if not (component.solution / "syn").is_dir():
        call.die("HLS 200-1552", "export_design: the design is not synthesised")
    if component.flow != "vitis":
        call.die("HLS 200-1552", "export_design: format xo needs flow_target vitis")
    function = _checked(call, component)
    try:
        write_xo(output, function)
        if component.half_xo:
            output.write_bytes(output.read_bytes()[: output.stat().st_size // 2])
    except (OSError, zipfile.LargeZipFile) as error:
        call.die("HLS 200-1552", f"export_design: {output}: {error}")
    call.info("HLS 200-802", f"Generated output file {output}")


def _checked(call: Call, component: Component) -> Function:
    """The top function; the tool ends where a source, a header, the top, the part or the clock is missing."""
    for file in component.files:
        if not file.is_file():
            call.error("HLS 207-812", f"'{file}' file not found")
        elif header := missing_header(file):
            call.error("HLS 207-812", f"'{header}' file not found ({file.name}:1:10)")
        else:
            continue
        call.die("HLS 200-1715", "Encountered problem during source synthesis")
    if not component.top:
        call.die("HLS 200-70", "No top function is set")
    if not component.part or not component.period:
        call.die("HLS 200-1023", f"Part '{component.part}' is not installed, or no clock is set")
    if not component.part.startswith("xcu"):
        call.die("HLS 200-1023", f"Part '{component.part}' is not installed.")
    function = find_function(component.top, component.files)
    if function is None:
        call.die("HLS 214-157", f"Top function not found: there is no function named '{component.top}'")
    return function


def _need_tb(call: Call, component: Component) -> None:
    if not any(file.is_file() and " main(" in file.read_text() for file in component.tb):
        call.error("HLS 200-627", "Cannot find C test bench. Please specify test bench files using 'add_files -tb'.")
        call.die("SIM 211-100", "CSim failed with errors.")
    for file in component.tb:
        if not file.is_file():
            call.die("HLS 207-812", f"'{file}' file not found")


def _need_depths(call: Call, function: Function) -> None:
    for name in function.bundles:
        if name not in function.depths:
            call.say(f"ERROR: A depth specification is required for interface port '{name}' for cosimulation.")
            call.die("COSIM 212-359", "Aborting co-simulation: C simulation failed, depth of an interface is missing.")


def _need_data(call: Call, component: Component) -> None:
    """The test bench looks for the design's data in its argument, else above its folder."""
    places = [Path(component.argv)] if component.argv else [component.build, *component.build.resolve().parents]
    if not any((place / "params" / "manifest.json").is_file() for place in places):
        call.say("no folder above tb.cpp holds params/manifest.json; give the design directory as first argument")
        call.die("COSIM 212-360", "Aborting co-simulation: C TB simulation failed.")


def _report(call: Call, component: Component, pipelines: list[Pipeline]) -> tuple[str, int]:
    tasks = find_dataflow(component.top, component.build.resolve())
    if tasks is not None and call.setting("REPORTS") != "real":
        words = {pipeline.module: pipeline.word(call.number) for pipeline in pipelines}
        return design_report(component.top, tasks, call.version, component.part, component.period, words)
    text = texts.text_of(texts.CSYNTH) or ""
    match = re.search(r"<TopModelName>(\w+)</TopModelName>", text)
    assert match is not None
    return re.sub(rf"\b{match[1]}\b", component.top, text), 1000


def _finished(call: Call, command: str) -> None:
    call.info(
        "HLS 200-111",
        f"Finished Command {command} CPU user time: 1.41 seconds. CPU system time: 0.06 seconds. "
        "Elapsed time: 1.53 seconds; current allocated memory: 2.099 GB.",
    )
