"""A board of this machine: lock it, load the design, run it, read its power, and leave it usable."""

import os
import time
from contextlib import closing
from pathlib import Path

from compiler.errors import InvalidInputError
from compiler.measurement.board_process import BoardAt, BoardProcess, BoardProcessError
from compiler.measurement.boards import Board, Host, find_host
from compiler.measurement.energy import LoopResult, measure_power
from compiler.measurement.errors import MeasurementError
from compiler.measurement.failures import after_hang, failure
from compiler.measurement.lock import BoardLock, lock_board
from compiler.measurement.measurement import XRT, Measurement, board_metrics, run_times
from compiler.measurement.power import find_power
from compiler.measurement.progress import Progress
from compiler.measurement.replying import measure_replies
from compiler.measurement.request import MeasureRequest
from compiler.measurement.runs import check, timed_runs
from compiler.measurement.subject import Subject
from compiler.toolchain.metric_table import UNKNOWN_VERSION


def measure_hardware(subject: Subject, xclbin: Path | None, request: MeasureRequest, progress: Progress) -> Measurement:
    """Raises MeasurementError where the board or the design on it fails, InvalidInputError without an xclbin."""
    if xclbin is None or not xclbin.is_file():
        lacks = "a board needs an xclbin" if xclbin is None else f"{xclbin} is no file"
        raise InvalidInputError(f"{lacks}: link the design with v++ -l, and name the .xclbin that it writes")
    host = find_host()
    boards = {board.bdf: board for board in choose(host, request.board)}
    with lock_board(tuple(boards), request.lock_s, progress.on_line, request.lock_folder) as lock:
        board = boards[lock.bdf]
        try:
            return _measure(subject, xclbin, request, progress, host, board, lock)
        except BoardProcessError as error:
            found = failure(error, subject, request.run_limit_s)
            raise after_hang(found, board, host, request.allow_reset) from error


def choose(host: Host, wanted: str) -> tuple[Board, ...]:
    """The boards that a request may use. Raises MeasurementError that says what there is instead."""
    if host.missing:
        raise MeasurementError("device", f"this machine can not measure on a board: {host.missing}")
    fitting = [board for board in host.boards if board.fits(wanted)]
    if ready := tuple(board for board in fitting if board.ready):
        return ready
    if fitting:
        raise MeasurementError("device", fitting[0].why_not)
    there = ", ".join(f"{board.bdf} ({board.shell})" for board in host.boards)
    raise MeasurementError("device", f"no board here is {wanted}, or has that shell; there is {there}")


def _measure(
    subject: Subject,
    xclbin: Path,
    request: MeasureRequest,
    progress: Progress,
    host: Host,
    board: Board,
    lock: BoardLock,
) -> Measurement:
    assert host.python is not None, "`choose` refuses a machine without"
    begun, limit_s = time.monotonic(), request.run_limit_s
    with BoardProcess(BoardAt(board.bdf, "pyxrt", host.python, (lock.descriptor,))) as process:
        lock.name_holder(os.getpid(), process.pid)
        progress.on_line(f"load {xclbin.name} on {board.bdf} ({board.shell})")
        process.open(subject.directory, xclbin)
        times = run_times(timed_runs(process, request.warm_up, request.repeats, limit_s, progress))
        verdict, loop = check(process, subject.expected), LoopResult()
        if verdict.passed and request.min_seconds:
            loop = _power(process, board, host, request, progress)
            verdict = check(process, subject.expected)  # a board that got warm may err
        version = host.xrt_version or UNKNOWN_VERSION
        replies = measure_replies(process, subject, limit_s, progress, version) if verdict.passed else ()
    return subject.measurement(
        verdict,
        time.monotonic() - begun,
        board=board.bdf,
        shell=board.shell,
        tools={XRT: version},
        times=times,
        power=loop.power,
        metrics=(*board_metrics(times, loop.power, loop.runs_per_s, version), *replies),
        notes=(loop.note,) if loop.note else (),
    )


def _power(process: BoardProcess, board: Board, host: Host, request: MeasureRequest, progress: Progress) -> LoopResult:
    try:
        source = find_power(board.bdf, host)
    except MeasurementError as error:
        return LoopResult(note=str(error))
    with closing(source):
        return measure_power(process, source, board.bdf, request, progress)
