"""What a message of Vitis HLS, v++ or Vivado means: a table of patterns, the most specific first.

The forms are those of real logs: the fixtures', AMD's answer records and public bug reports.
"""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from compiler.errors import Violation
from compiler.toolchain.logs.messages import Message, is_message
from compiler.toolchain.report import Failure, FailureKind
from compiler.toolchain.source import Source

_SMALLER = "take a smaller design: fewer copies, smaller tiles, weights in HBM, shallower FIFOs"
_MEMORY = "give the tool a machine with more memory, or let fewer tools run at once on it"
_DISK = "free disk space where the tool writes, and run it again"
_LICENCE = "check XILINXD_LICENSE_FILE and the licence server; the part may need another edition of Vivado"
_CLOCK = "ask v++ for a lower clock (--kernel_frequency), or for a design with shorter paths"
_ROUTE = "use less of each die: fewer or narrower streams between kernels, other SLRs, smaller tiles"
_PART = "add the part to this machine's installation of Vitis, or take the node's capability away"
_OPTION = "this version of Vitis does not take what it was given: report it, or build with another version"
_SOURCES = "see the line that the message names; the emitted C++ is at fault, or its sources are not all given"


@dataclass(frozen=True, slots=True)
class Rule:
    """`code` and `text` must both be found, in the message's code and in all of its text."""

    kind: FailureKind
    code: str
    text: str
    lever: str

    def matches(self, message: Message) -> bool:
        return bool(re.search(self.code, message.code) and re.search(self.text, message.whole, re.IGNORECASE))


RULES: tuple[Rule, ...] = (
    Rule("licence", r"17-34[58]|17-301|HLS-72", "", _LICENCE),
    Rule(
        "licence", "", r"licen[cs]e.{0,60}(not (be )?found|fail|expired|denied|unavailable|no valid|invalid)", _LICENCE
    ),
    Rule("licence", "", r"(fail\w*|unable|could not|cannot|no valid).{0,60}licen[cs]e|FLEXnet|FlexLM", _LICENCE),
    Rule("resources", "", r"no space left on device|disk quota exceeded|disk (is )?full", _DISK),
    Rule("resources", "", r"out of memory|bad_alloc|cannot allocate memory|insufficient memory|oom-kill", _MEMORY),
    Rule("placement", r"UTLZ-1", "over-utilized", _SMALLER),
    Rule("placement", r"Place 30-640|VPL 30-640", "requires more", _SMALLER),
    Rule("placement", r"(Place|VPL) 30-", "", _SMALLER),
    Rule("routing", "", r"not routable|congestion level", _ROUTE),
    Rule("routing", r"(Route|VPL) (35|18)-", r"rout", _ROUTE),
    Rule("timing", "", r"(did not|failed to) meet timing|timing (constraints )?(are|is) not met", _CLOCK),
    Rule("deadlock", "", r"deadlock", "make the FIFO that the message names deeper"),
    Rule("tool_crash", "", r"part '[^']*' is not installed", _PART),
    Rule("tool_crash", "", r"unknown option", _OPTION),
    Rule("tool_crash", r"XSIM 43-3316", r"signal sig", "run it again"),
    Rule("c_error", r"COSIM", r"C (TB )?simulation failed", _SOURCES),
    Rule("cosim", r"COSIM", "", "compare the RTL's results with those of C simulation"),
    Rule("c_error", r"200-627", "", "give the test bench's files to the tool (add_files -tb, or tb.file=)"),
    Rule("c_error", r"(HLS|SIM|v\+\+|vitis-run) (2\d\d-|211-)", "", _SOURCES),
    Rule(
        "tool_crash", "", r"abnormal program termination|segmentation|unexpected error|internal error", "run it again"
    ),
)

# Messages that only say that something before them failed.
_FOLLOWS = re.compile(
    r"60-(773|704|1328|806|661|626|703|399|599|592|602|300|1442)$|17-(39|69|70)$"
    r"|SIM 211-100|200-70$|200-1715|101-3|4-23$"
)
_NO_LICENCE = re.compile(r"17-34[58]$")
_DEMAND = re.compile(r"This design requires (\d{1,12}) of such cell types but only (\d{1,12}) compatible sites")
_OVER = re.compile(
    r"Resource utilization: (.+?) over-utilized in (.+?) \(|requires more (.+?) cells than are available"
)
_LEVEL = re.compile(r"congestion level (?:is )?(\d{1,3})")
_KILLED = re.compile(r"line \d+: +\d+ (Killed|Segmentation fault|Aborted)|^Killed$|^make.*Error 137")
_RAW_DISK = re.compile(r"no space left on device|disk quota exceeded", re.IGNORECASE)
_RAW_MEMORY = re.compile(r"std::bad_alloc|cannot allocate memory|out of memory", re.IGNORECASE)
_RAW_CRASH = re.compile(r"^Abnormal program termination|^An unexpected error has occurred")
_LONGEST = 400


def causes(errors: list[Message], found: Iterable[Message]) -> tuple[Failure, ...]:
    """Why a run failed, each cause once: its own errors; else a licence that a warning misses; else what follows."""
    own = [error for error in errors if not _FOLLOWS.search(error.code)]
    own = own or [m for m in found if m.severity != "INFO" and _NO_LICENCE.search(m.code)] or errors[:1]
    return tuple(dict.fromkeys(failure_of(error) for error in own))


def failure_of(error: Message) -> Failure:
    """The failure that an error message tells; one that no rule knows is the link's."""
    rule = next((rule for rule in RULES if rule.matches(error)), None)
    kind, lever = (rule.kind, rule.lever) if rule else ("link", "see the log file that the message names")
    text = error.whole if kind == "timing" else error.text
    needs = "; ".join(
        f"{v.resource}: {v.demand:.0f} needed, {v.bound:.0f} available" for v in over_utilisation([error])
    )
    return Failure(kind, needs or text[:_LONGEST], f"[{error.code}]", lever)


def crashes(source: Source) -> Iterator[Failure]:
    """Ends that the tool could not report itself: the system stopped it, or its disk or memory ran out."""
    for at, line in enumerate(source.lines):
        where = f"line {at + 1}"
        if is_message(line):
            continue
        if match := _KILLED.search(line):
            kind: FailureKind = "tool_crash" if match[1] and match[1] != "Killed" else "resources"
            yield Failure(kind, f"the system ended the tool: {line.strip()[:_LONGEST]}", where, _MEMORY)
        elif _RAW_DISK.search(line):
            yield Failure("resources", f"the disk is full: {line.strip()[:_LONGEST]}", where, _DISK)
        elif _RAW_MEMORY.search(line):
            yield Failure("resources", f"the memory ran out: {line.strip()[:_LONGEST]}", where, _MEMORY)
        elif _RAW_CRASH.search(line):
            yield Failure("tool_crash", line.strip()[:_LONGEST], where, "run it again; see the tool's crash file")


def over_utilisation(errors: Iterable[Message]) -> tuple[Violation, ...]:
    """Demanded and available cells of each resource of which the design needs more than there are.

    "RAMB36/FIFO in Pblock pblock_dynamic_region" is what the shell leaves; "in Top Level Design" is the whole part.
    """
    found: list[Violation] = []
    for error in errors:
        over, demand = _OVER.search(error.text), _DEMAND.search(error.text)
        if over and demand:
            name = f"{over[1]} in {over[2]}" if over[1] else over[3]
            found.append(Violation(name, float(demand[1]), float(demand[2])))
    return tuple(found)


def congestion_level(errors: Iterable[Message]) -> int | None:
    """The global congestion level that the router gave up at (5 and more does not route), None without one."""
    levels = [int(match[1]) for error in errors if (match := _LEVEL.search(error.text))]
    return max(levels, default=None)
