"""Stand-ins for the stages that need Vitis or a board: no process, no time, the results of a well-behaved tool.

FAIL='{"csynth": "licence", "link": "placement@2"}' has a stage fail in that way (a kind of compiler.toolchain.report,
"crash", or "wrong" for measure), with @N in its first N calls only, which CALLS counts; STAGE_SECONDS is how long each
call takes. They stand in the environment, or, where tests share a service, in the file TOLD of the state directory, in
JSON, from the next call on. Like the real stages, these load what they need when they are called: each executor of a
test imports this.
"""

import json
import os
import time
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, cast, get_args

from compiler.metrics import Fidelity, Metric
from compiler.platforms.platform import Platform
from worker.stages.functions import Progress, Simulated, Stages, ToolRun

if TYPE_CHECKING:
    from compiler.calibration.calibrate import Calibration
    from compiler.measurement.measurement import Measurement
    from compiler.measurement.request import MeasureRequest
    from compiler.toolchain.vitis.commands import LinkOptions
    from compiler.toolchain.vitis.result import ToolResult

LATENCY_US, DSP = 1000.0, 512.0
RETIMED_US = 1200.0
TOLD = "told.json"


def told(name: str) -> str | None:
    """What the test says of that now."""
    path = Path(os.environ.get("MILLRACE_HOME", "."), TOLD)
    return (json.loads(path.read_text()) if path.exists() else {}).get(name, os.environ.get(name))


def call(stage: str) -> str | None:
    """Count a call of the stage, let it take its time, and say how it is to fail."""
    log("CALLS", stage)
    time.sleep(float(told("STAGE_SECONDS") or 0))
    kind, _, first = json.loads(told("FAIL") or "{}").get(stage, "").partition("@")
    if not kind or (first and calls().count(stage) > int(first)):
        return None
    if kind == "crash":
        os._exit(42)
    return kind


def calls() -> list[str]:
    """The stages that were called, in order: the first word of each line of CALLS."""
    path = told("CALLS")
    return [line.split()[0] for line in Path(path).read_text().splitlines()] if path and Path(path).exists() else []


def log(variable: str, line: str) -> None:
    path = told(variable)
    if path:
        with Path(path).open("a") as file:
            file.write(line + "\n")


class ToolStages(Stages):
    """All but Vitis and boards is real."""

    def csynth(self, design: Path, run: ToolRun) -> "ToolResult":
        numbers = {"lut": (1e5, "LUT"), "ff": (2e5, "FF"), "dsp": (DSP, "DSP"), "bram36": (100.0, "BRAM36")}
        numbers |= {"latency": (LATENCY_US, "us"), "cycles": (LATENCY_US * 250, "cycles")}
        return _tool("csynth", design, run, numbers, Fidelity.CSYNTH, ("k0/csynth.xml", "k0/csynth.log", "k0.xo"))

    def cosim(self, design: Path, run: ToolRun) -> "ToolResult":
        numbers = {"latency": (1.3 * LATENCY_US, "us")}
        return _tool("cosim", design, run, numbers, Fidelity.COSIM, ("k0/cosim.rpt", "k0/cosim.log"))

    def link(self, design: Path, xos: Sequence[Path], options: "LinkOptions", run: ToolRun) -> "ToolResult":
        assert [xo.name for xo in xos] == ["k0.xo"]
        numbers = {"clock": (240.0, "MHz"), "lut": (1.1e5, "LUT")}
        return _tool("link", design, run, numbers, Fidelity.LINK, ("d.xclbin", "link.log"))

    def resimulate(self, design: Path, reports: Sequence[Path]) -> Simulated | str:
        assert [report.name for report in reports] == ["csynth.xml"]
        cycles = Metric("cycles", RETIMED_US * 250, "cycles", Fidelity.SIMULATE)
        metrics = (Metric("latency", RETIMED_US, "us", Fidelity.SIMULATE), cycles)
        return Simulated(int(RETIMED_US * 250), RETIMED_US, None, metrics, {})

    def measure(self, design: Path, xclbin: Path | None, request: "MeasureRequest", say: Progress) -> "Measurement":
        from compiler.measurement.errors import MeasurementError
        from compiler.measurement.measurement import Measurement, simulated_metrics

        assert (xclbin is None) == request.simulated
        kind = call("measure")
        if kind in ("device", "timeout"):
            raise MeasurementError(kind, f"the board says: {kind}")
        passed = kind is None
        found = simulated_metrics(1.25 * LATENCY_US, None) if passed else ()
        message = "all outputs agree" if passed else "output y differs"
        return Measurement(
            "d", request.board, "", passed, message, (), None, None, found, (), (), {"stand-in": "1"}, 0.0
        )  # fmt: skip

    def calibrate(self, platform: Platform, folder: Path) -> "Calibration":
        from compiler.calibration.calibrate import Calibration
        from compiler.calibration.samples import coefficients_of
        from compiler.platforms.area import Logic

        call("calibrate")
        before = coefficients_of(platform.area)
        after = {name: Logic(logic.lut * 1.5, logic.ff) for name, logic in before.items()}
        designs = len(list(folder.iterdir()))
        return replace(Calibration(platform.name, (), (), designs, (), before, after, {}, 0))


def _tool(
    stage: str,
    design: Path,
    run: ToolRun,
    numbers: dict[str, tuple[float, str]],
    fidelity: Fidelity,
    files: Sequence[str],
) -> "ToolResult":
    from compiler.toolchain.report import Failure, FailureKind
    from compiler.toolchain.vitis.result import ToolResult

    assert (design / "hls" / "top.cpp").is_file()
    kind = call(stage)
    failures: tuple[Failure, ...] = ()
    if kind is not None:
        assert kind in get_args(FailureKind), kind
        failures = (Failure(cast(FailureKind, kind), f"{stage} failed: {kind}", "here", "change something"),)
    run.say(f"running {stage} of Vitis {run.version}")
    for name in files:
        (run.out / name).parent.mkdir(parents=True, exist_ok=True)
        (run.out / name).write_text(f"{name} of {stage}\n")
    metrics = tuple(Metric(n, v, unit, fidelity, "vitis", run.version) for n, (v, unit) in numbers.items())
    verdict = {"kernels": {"k0": {n: v for n, (v, _) in numbers.items()}}}
    versions = {"vitis": run.version}
    passed = not failures
    return ToolResult(passed, metrics if passed else (), failures, tuple(map(Path, files)), versions, 0.0, verdict)
