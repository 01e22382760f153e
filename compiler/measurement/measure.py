"""Measure a design: on a board through pyxrt, or on the simulated one by the same steps."""

from pathlib import Path

from compiler.measurement.hardware import measure_hardware
from compiler.measurement.measurement import Measurement
from compiler.measurement.progress import OnLine, OnStep, Progress, nobody
from compiler.measurement.request import MeasureRequest
from compiler.measurement.simulated import measure_simulated
from compiler.measurement.subject import read_subject


def measure(
    design: Path, xclbin: Path | None, request: MeasureRequest, on_line: OnLine = nobody, on_step: OnStep = nobody
) -> Measurement:
    """Run the design in the directory `design` and compare its results with the reference.

    `xclbin` is for a board; the simulated one builds the design's C++. Raises MeasurementError,
    ToolError where the C++ does not build, InvalidInputError where design or xclbin are not there.
    """
    subject, progress = read_subject(design, request.allow_edited), Progress(on_line, on_step)
    if request.simulated:
        return measure_simulated(subject, request, progress)
    return measure_hardware(subject, xclbin, request, progress)
