"""`system_estimate_*.xtxt` of v++: HLS's clock, latency and area of every module, by compute unit.

Area and latency are those of synthesis, not of the link; the shell and the interconnect are not in them.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass

from compiler.metrics import Fidelity, Metric
from compiler.toolchain.metric_table import metric_table
from compiler.toolchain.numbers import damaged, integer, known, number
from compiler.toolchain.report import Failure
from compiler.toolchain.source import Source

_FIELD = re.compile(r"([A-Z][A-Za-z ]+): +(\S.*)")
_VERSION = re.compile(r"v(\d{4}\.\d+)")
_TIMING, _LATENCY, _AREA = "Timing Information (MHz)", "Latency Information", "Area Information"
_COLUMNS = {_TIMING: 5, _LATENCY: 10, _AREA: 8}  # FF, LUT, DSP, BRAM, URAM follow unit, kernel, module


@dataclass(frozen=True, slots=True)
class Module:
    """A function of a kernel. Clocks in MHz; cycles None where they depend on data; BRAM counts BRAM18."""

    unit: str
    kernel: str
    name: str
    target_mhz: float
    estimated_mhz: float
    interval: int | None
    best_cycles: int | None
    worst_cycles: int | None
    ff: int
    lut: int
    dsp: int
    bram18: int
    uram: int

    @property
    def top(self) -> bool:
        """Whether this is the kernel itself."""
        return self.name == self.kernel


@dataclass(frozen=True, slots=True)
class SystemEstimate:
    """`clock_mhz` is the target of the design. RTL kernels have no modules."""

    tool_version: str
    design: str
    platform: str
    clock_mhz: float
    kernels: int
    modules: tuple[Module, ...]
    failures: tuple[Failure, ...] = ()

    @property
    def tops(self) -> tuple[Module, ...]:
        """One module for each compute unit: the whole kernel."""
        return tuple(module for module in self.modules if module.top)

    def metrics(self) -> tuple[Metric, ...]:
        """Area of the HLS kernels together, and the clock that HLS expects of the slowest."""
        tops = self.tops
        if not tops:
            return ()
        numbers: dict[str, tuple[float | None, str]] = {
            "lut": (sum(t.lut for t in tops), "LUT"),
            "ff": (sum(t.ff for t in tops), "FF"),
            "dsp": (sum(t.dsp for t in tops), "DSP"),
            "bram36": (sum(t.bram18 for t in tops) / 2, "BRAM36"),
            "uram": (sum(t.uram for t in tops), "URAM"),
            "fmax": (min(t.estimated_mhz for t in tops), "MHz"),
        }
        return metric_table(numbers, Fidelity.CSYNTH, "v++", self.tool_version)


def is_system_estimate(source: Source) -> bool:
    return "Total number of kernels:" in source.text[:4000] and "Version:" in source.text[:400]


def parse_system_estimate(source: Source) -> SystemEstimate:
    """Raises ReportError for another file and for one that is cut before its last rule."""
    if not is_system_estimate(source):
        raise source.foreign("a system estimate of v++", "system_estimate_*.xtxt of the v++ run")
    fields = {m[1]: m[2] for line in source.lines[:40] if (m := _FIELD.match(line))}
    binary = source.text.find("OpenCL Binary:")  # its tables follow, then a rule; other rules stand before it
    if binary < 0 or not source.text[binary:].rstrip().endswith("-" * 79) or "Target Clock" not in fields:
        raise source.truncated("it does not end with the rule below the area")
    version = _VERSION.search(fields.get("Version", ""))
    clock = number(source, fields["Target Clock"].removesuffix("MHz"), "the target clock")
    kernels = integer(source, fields.get("Total number of kernels", ""), "the number of kernels")
    if clock is None or kernels is None:
        raise damaged(source, fields["Target Clock"], "the target clock or the number of kernels", "a number")
    return SystemEstimate(
        version[1] if version else "",
        fields.get("Design Name", ""),
        fields.get("Target Device", ""),
        clock,
        kernels,
        tuple(_modules(source)),
    )


def _modules(source: Source) -> Iterator[Module]:
    """Modules stand in the same order in the three tables of each binary."""
    timing, latency, area = (list(_rows(source, title)) for title in (_TIMING, _LATENCY, _AREA))
    if not len(timing) == len(latency) == len(area):
        raise source.truncated("its tables of timing, latency and area do not list the same modules")
    for clocks, cycles, amounts in zip(timing, latency, area, strict=True):
        if not clocks[:3] == cycles[:3] == amounts[:3]:
            raise source.truncated("its tables of timing, latency and area do not list the same modules")
        unit, kernel, name, *mhz = clocks
        target, estimated = (known(source, word, "a clock or an area") for word in mhz)
        ff, lut, dsp, bram, uram = (int(known(source, word, "a clock or an area")) for word in amounts[3:])
        interval, best, _, worst = (integer(source, word, "a number of cycles") for word in cycles[3:7])
        yield Module(unit, kernel, name, target, estimated, interval, best, worst, ff, lut, dsp, bram, uram)


def _rows(source: Source, title: str) -> Iterator[list[str]]:
    """Cells of the rows of every table called `title`: each run of dashes under the heads is the width of a column."""
    for at, line in enumerate(source.lines):
        if line.strip() != title:
            continue
        edges = [m.start() for m in re.finditer(r"-+", "".join(source.lines[at + 2 : at + 3]))]
        if len(edges) != _COLUMNS[title]:
            raise source.truncated(f"the table {title!r} has {len(edges)} columns, not {_COLUMNS[title]}")
        for row in source.lines[at + 3 :]:
            if not row.strip() or row.startswith("-----"):
                break
            yield [row[a:b].strip() for a, b in zip(edges, [*edges[1:], None], strict=True)]
