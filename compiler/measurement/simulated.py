"""The simulated board: results of the emitted C++, time of the timing simulator, power of the power model."""

import sys
import time
from pathlib import Path

from compiler.measurement.board_process import BoardAt, BoardProcess, BoardProcessError
from compiler.measurement.errors import MeasurementError
from compiler.measurement.failures import failure
from compiler.measurement.measurement import Measurement, RunPower, run_times, simulated_metrics
from compiler.measurement.progress import Progress
from compiler.measurement.request import SIMULATED, MeasureRequest
from compiler.measurement.runs import check, timed_runs
from compiler.measurement.subject import Subject
from compiler.metrics import TOOL, VERSION
from compiler.replies import stored_reply
from compiler.simulator.board.build import build_board
from compiler.simulator.timing.simulate import simulate_directory

_MODULE = "compiler.simulator.board.pyxrt"
RUNS = 2  # one shows nothing that a run leaves behind for the next; how long they take says nothing of a board


def measure_simulated(subject: Subject, request: MeasureRequest, progress: Progress) -> Measurement:
    """Raises ToolError where the C++ does not build, MeasurementError where the design hangs."""
    begun, limit_s = time.monotonic(), request.run_limit_s
    progress.on_line("build with g++")
    build_board(subject.directory)
    try:
        with BoardProcess(BoardAt(SIMULATED, _MODULE, Path(sys.executable))) as board:
            progress.on_line("load")
            board.open(subject.directory, subject.directory)
            taken = timed_runs(board, 0, min(RUNS, request.repeats), limit_s, progress)
            verdict = check(board, subject.expected)
    except BoardProcessError as error:
        raise failure(error, subject, limit_s) from error
    progress.on_line("simulate")
    simulation = simulate_directory(subject.directory)
    if simulation.deadlock is not None:
        raise MeasurementError("deadlock", f"{subject.name} hangs in the simulator: {simulation.deadlock.text}")
    power, reply = modelled_power(subject, simulation.latency_us), stored_reply(subject.directory)
    return subject.measurement(
        verdict,
        time.monotonic() - begun,
        board=SIMULATED,
        shell=SIMULATED,
        tools={TOOL: VERSION},
        times=run_times(taken),
        power=power,
        metrics=(*simulated_metrics(simulation.latency_us, power), *(() if reply is None else reply.timed)),
        notes=() if power is not None else ("power is not known: design.json has no estimate of it",),
    )


def modelled_power(subject: Subject, latency_us: float) -> RunPower | None:
    """The estimator's power over the simulated time; None where design.json has no estimate."""
    watts, idle = subject.estimates.get("power"), subject.platform.power.static_w
    return RunPower(idle, watts, latency_us * 1e-6) if watts is not None else None
