"""Why a run of a tool is no pass: its limits, the signal that ended it, or what its log says."""

import signal
from pathlib import Path

from compiler.errors import ReportError
from compiler.toolchain.hls.deadlock import is_deadlock_text, parse_deadlock
from compiler.toolchain.logs.failure_rules import causes, crashes
from compiler.toolchain.logs.hls_log import is_hls_log, parse_hls_log
from compiler.toolchain.logs.messages import messages
from compiler.toolchain.logs.vpp_log import is_vpp_log, parse_vpp_log
from compiler.toolchain.report import Failure
from compiler.toolchain.source import Source, read_source
from compiler.toolchain.vitis.limits import Limits
from compiler.toolchain.vitis.process import Run

_MEMORY_LEVER = "give the stage more memory, or run it on a machine with more; fewer Vivado jobs take less"
_DISK_LEVER = "give the stage more disk; a link fills 10 to 50 GB"
_CRASHES = {signal.SIGSEGV, signal.SIGABRT, signal.SIGBUS, signal.SIGILL, signal.SIGFPE}
_SHELL = 128  # a wrapper script reports the signal of its program on top of this


def why_failed(tool: str, run: Run, limits: Limits, log: Path) -> tuple[Failure, ...]:
    """Empty for a run that ended by itself with exit code 0."""
    if run.failure is not None:
        return (run.failure,)
    if run.ended_by is not None:
        return (_over_limit(tool, run, limits),)
    if run.exit_code == 0:
        return ()
    return log_failures(log) or (_by_exit_code(tool, run, log),)


def log_failures(log: Path) -> tuple[Failure, ...]:
    """What a log of a run that is no pass says is wrong, a deadlock first. Empty where it says nothing."""
    try:
        source = read_source(log)
    except ReportError:
        return ()
    said = _causes_only(tuple(failure for failure in _said(source) if failure.kind != "unfinished"))
    if not is_deadlock_text(source):
        return said
    # That the results differ follows from the deadlock.
    return parse_deadlock(source).failures + tuple(f for f in said if f.kind not in {"cosim", "deadlock"})


def _causes_only(failures: tuple[Failure, ...]) -> tuple[Failure, ...]:
    """Without what only follows: "the link failed", where it is said why; "the stage failed" of a tool that crashed."""
    follows = {"link", "c_error", "cosim"} if any(f.kind == "tool_crash" for f in failures) else {"link"}
    return tuple(f for f in failures if f.kind not in follows) or failures


def _said(source: Source) -> tuple[Failure, ...]:
    if is_hls_log(source):
        return parse_hls_log(source).failures
    if is_vpp_log(source):
        return parse_vpp_log(source).failures
    found = list(messages(source))
    errors = [message for message in found if message.bad]
    return tuple(crashes(source)) + (causes(errors, found) if errors else ())


def _over_limit(tool: str, run: Run, limits: Limits) -> Failure:
    if run.ended_by == "timeout":
        text = f"{tool} was ended after {limits.seconds:.0f} s, the time it was given"
        return Failure("timeout", text, "", "give the stage more time, or take a smaller design")
    if run.ended_by == "memory":
        text = f"{tool} was ended at {run.peak_memory_gb:.1f} GB of memory; it was given {limits.memory_gb:g} GB"
        return Failure("resources", text, "", _MEMORY_LEVER)
    text = f"{tool} was ended when its files took {run.peak_disk_bytes / 2**30:.1f} GB; it was given {limits.disk_gb:g}"
    return Failure("resources", text, "", _DISK_LEVER)


def _by_exit_code(tool: str, run: Run, log: Path) -> Failure:
    number = -run.exit_code if run.exit_code < 0 else run.exit_code - _SHELL
    if number == signal.SIGKILL:
        text = f"the system killed {tool}: it ran out of memory, or someone ended it"
        return Failure("resources", text, "signal 9", _MEMORY_LEVER)
    how = f"signal {number}" if number in _CRASHES or run.exit_code < 0 else f"exit code {run.exit_code}"
    text = f"{tool} ended with {how} and no error message; its last line: {_last(log)}"
    return Failure("tool_crash", text, how, "run it again")


def _last(log: Path) -> str:
    try:
        lines = read_source(log).lines
    except ReportError:
        return "nothing"
    return next((line.strip()[:200] for line in reversed(lines) if line.strip()), "nothing")
