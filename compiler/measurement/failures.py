"""What a failed command to a board means, and what a person does about it."""

import re
from collections.abc import Mapping

from compiler.measurement.board_process import BoardProcessError
from compiler.measurement.boards import Board, Host
from compiler.measurement.errors import MeasurementError, MeasurementFailure
from compiler.measurement.subject import Subject

# How the emitted C++ ends on the simulated board. All but the last are the design's fault, and so they are each time.
_ENDS: Mapping[str, tuple[MeasurementFailure, str]] = {
    "DeadlockError": ("deadlock", "hangs"),
    "LeftoverError": ("c_error", "leaves tokens unread"),
    "TaskFaultError": ("c_error", "breaks a rule"),
    "SimulationTimeoutError": ("timeout", "hangs"),
}
_ADVICE = (
    (r"resource busy|EBUSY", "another process has the board loaded: end it (xbutil examine --report dynamic-regions)"),
    (r"allocate|bad_alloc|ENOMEM", "the design's buffers do not fit the memory that it was linked to: check link.cfg"),
    (r"pyxrt is missing", "check it with: python3 -c 'import pyxrt'"),
    (r"uuid|interface|shell|platform", "the xclbin is linked for another shell: link it for the one of this board"),
    (r"No kernel|no kernel|no such (kernel|compute)", "the xclbin is of another design: link this one"),
    (r"ended by signal|ended with code", "look at dmesg, and check the board with xbutil validate"),
    (r"memory group", "the xclbin connects its kernels to other memory than the design: link it with its link.cfg"),
)


def failure(error: BoardProcessError, subject: Subject, limit_s: float) -> MeasurementError:
    """The error for who asked for the measurement."""
    kernel = subject.kernels[error.kernel] if error.kernel is not None else " or ".join(subject.kernels)
    if error.raised in _ENDS:
        kind, what = _ENDS[error.raised]
        return MeasurementError(kind, f"kernel {kernel} of {subject.name} {what}: {error}")
    if error.hangs and error.kernel is None:
        return MeasurementError("timeout", f"the board does not answer: {error}")
    if error.hangs:
        return MeasurementError("timeout", f"kernel {kernel} of {subject.name} did not end within {limit_s:g} s")
    advice = next((text for pattern, text in _ADVICE if re.search(pattern, str(error))), None)
    return MeasurementError("device", f"{error}{f'; {advice}' if advice else ''}")


def after_hang(found: MeasurementError, board: Board, host: Host, allow_reset: bool) -> MeasurementError:
    """Reset the board that hangs where the operator allows it, else say how; other failures as they are."""
    if found.kind != "timeout" or host.tool is None:
        return found
    command = " ".join(host.tool.reset_command(board.bdf))
    if not allow_reset:
        return MeasurementError("timeout", f"{found}; the board may still hang, nobody allowed its reset: {command}")
    said = host.tool.reset(board.bdf)
    outcome = f"the board was not reset, {command} said: {said}" if said else f"the board was reset: {command}"
    return MeasurementError("timeout", f"{found}; {outcome}")
