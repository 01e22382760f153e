"""Logs of Vitis HLS: how the run ended, its commands' times, the clock it expects, how each FIFO is built, and which
pipelines run free.

A line `ERROR: [HLS 200-642] ... is not supported` does not end a run: Tcl goes on after it. What ends one is a Tcl
trace ("while executing") or a stage that says that it failed.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass

from compiler.metrics import Fidelity, Metric
from compiler.toolchain.logs.durations import NUMBER, gigabytes
from compiler.toolchain.logs.failure_rules import causes, crashes
from compiler.toolchain.logs.messages import Message, messages
from compiler.toolchain.logs.pipeline_styles import PipelineSaid, pipelines_said
from compiler.toolchain.logs.vpp_log import Outcome, Step
from compiler.toolchain.metric_table import metric_table
from compiler.toolchain.report import Failure
from compiler.toolchain.source import Source

_BANNER = re.compile(r"(?:Vitis|Vivado\(TM\)|Vivado) HLS - High-Level Synthesis.* v(\d{4}\.\d+)")
_TRACE = "    while executing"
_STAGE_FAILED = re.compile(r"200-70$|200-1715|200-627|SIM 211-100|COSIM|17-345|HLS-72|IMPL 213-|207-")
_COMMAND = re.compile(rf"Finished Command (\S+) .*Elapsed time: ({NUMBER}) seconds")
_TOTAL = re.compile(rf"Total elapsed time: ({NUMBER}) seconds; peak allocated memory: ({NUMBER}) ([KMGT]B)")
_FMAX = re.compile(rf"Estimated Fmax: ({NUMBER}) MHz")
_FIFO = re.compile(r"Implementing FIFO '(\S+?)(?:_U)?\((\S+)\)' using (.+?)\.$")
_SHAPE = re.compile(r"_fifo_w(\d{1,9})_d(\d{1,9})_")


@dataclass(frozen=True, slots=True)
class FifoBuilt:
    """How HLS builds a FIFO: `memory` is "Shift Registers", "Vivado Default RAMs" ...

    `width` in bits and `depth` in tokens come from the module's name, None where it does not tell (start FIFOs).
    """

    name: str
    module: str
    width: int | None
    depth: int | None
    memory: str


@dataclass(frozen=True, slots=True)
class HlsLog:
    """`commands` are csim_design, csynth_design ... with their times. `ignored` are error lines the run got over."""

    outcome: Outcome
    tool_version: str
    seconds: float | None
    peak_memory_gb: float | None
    commands: tuple[Step, ...]
    fmax_mhz: float | None
    fifos: tuple[FifoBuilt, ...]
    ignored: tuple[str, ...]
    pipelines: tuple[PipelineSaid, ...] = ()
    failures: tuple[Failure, ...] = ()

    def metrics(self) -> tuple[Metric, ...]:
        """Of a passed run only: HLS's estimate of the clock, which routing does not keep."""
        if self.outcome != "passed":
            return ()
        return metric_table({"fmax": (self.fmax_mhz, "MHz")}, Fidelity.CSYNTH, "vitis_hls", self.tool_version)


def is_hls_log(source: Source) -> bool:
    return bool(_BANNER.search(source.text[:4000]))


def parse_hls_log(source: Source) -> HlsLog:
    """A failed or cut run is a result with failures. Raises ReportError for another file."""
    banner = _BANNER.search(source.text[:4000])
    if not banner:
        raise source.foreign("a log of Vitis HLS", "the vitis_hls.log of a run")
    found = list(messages(source))
    errors = [message for message in found if message.bad]
    outcome, failures = _outcome(source, found, errors)
    total, fmax = _TOTAL.search(source.text), _FMAX.search(source.text)
    return HlsLog(
        outcome,
        banner[1],
        float(total[1]) if total else None,
        gigabytes(total[2], total[3]) if total else None,
        tuple(Step(match[1], float(match[2])) for m in found if (match := _COMMAND.match(m.text))),
        float(fmax[1]) if fmax else None,
        tuple(_fifos(found)),
        tuple(f"[{m.code}] {m.text}" for m in errors) if outcome == "passed" else (),
        tuple(pipelines_said(found)),
        failures,
    )


def _outcome(source: Source, found: list[Message], errors: list[Message]) -> tuple[Outcome, tuple[Failure, ...]]:
    crashed = tuple(crashes(source))
    aborted = _TRACE in source.lines
    if crashed or aborted or any(_STAGE_FAILED.search(error.code) for error in errors):
        return "failed", crashed + (causes(errors, found) if errors else (() if crashed else (_traced(source),)))
    if _TOTAL.search(source.text):
        return "passed", ()
    last = next((line.strip() for line in reversed(source.lines) if line.strip()), "")
    lever = "wait for it; if it was stopped, start it again"
    return "unfinished", (Failure("unfinished", f"the log ends before HLS does: {last[:200]}", "", lever),)


def _traced(source: Source) -> Failure:
    """A Tcl error without a message: the line before the trace is all there is."""
    at = source.lines.index(_TRACE)
    reason = source.lines[at - 1].strip() if at else ""
    return Failure("tool_crash", f"a Tcl script ended with {reason[:200]!r}", f"line {at + 1}", "see the Tcl script")


def _fifos(found: list[Message]) -> Iterator[FifoBuilt]:
    for message in found:
        match = _FIFO.match(message.text) if message.code == "RTMG 210-285" else None
        if match:
            shape = _SHAPE.search(match[2])
            width, depth = (int(shape[1]), int(shape[2])) if shape else (None, None)
            yield FifoBuilt(match[1], match[2], width, depth, match[3])
