"""Reader of `csynth_design_size.xml` (Vitis HLS 2023.1 and later): instructions per function and phase of compilation.

A design above the warning level makes synthesis slow: the place to look when csynth takes hours.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from xml.etree.ElementTree import Element

from compiler.metrics import Fidelity, Metric
from compiler.toolchain.numbers import integer
from compiler.toolchain.report import Failure
from compiler.toolchain.source import Source
from compiler.toolchain.xml_text import xml_root

GIVE = "<solution>/syn/report/csynth_design_size.xml"


@dataclass(frozen=True, slots=True)
class FunctionSize:
    """Instructions of a function, with those that it calls, after each phase of `DesignSizeReport.phases`."""

    name: str
    location: str
    instructions: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class DesignSizeReport:
    """`functions` begins with the top; `warning` is the number of instructions above which the tool warns."""

    phases: tuple[str, ...]
    functions: tuple[FunctionSize, ...]
    warning: int | None

    @property
    def instructions(self) -> int:
        """Of the whole design, after the last phase."""
        return self.functions[0].instructions[-1]

    @property
    def failures(self) -> tuple[Failure, ...]:
        return ()

    def metrics(self) -> tuple[Metric, ...]:
        value = float(self.instructions)
        return (Metric("instructions", value, "instructions", Fidelity.CSYNTH, "vitis_hls", "unknown"),)


def is_design_size(source: Source) -> bool:
    return "<design_size" in source.text[:2000]


def parse_design_size(source: Source) -> DesignSizeReport:
    """Raises ReportError for another file and for one without its table of functions."""
    if not is_design_size(source):
        raise source.foreign("a design size report", GIVE)
    root = xml_root(source)
    header = root.find("item/hiertable/header")
    columns = integer(source, header.get("size", ""), "the number of columns") if header is not None else None
    if header is None or columns is None or not 3 <= columns <= 100:
        raise source.truncated("the table of functions is missing")
    functions = tuple(_function(source, row, columns) for row in root.findall("item/hiertable/rows//row"))
    if not functions:
        raise source.truncated("the table of functions is empty")
    phases = tuple(header.get(f"col{k}", "") for k in range(2, columns))
    return DesignSizeReport(phases, functions, next(_warnings(source, root), None))


def _function(source: Source, row: Element, columns: int) -> FunctionSize:
    counts = [integer(source, row.get(f"col{k}", ""), f"column {k}") for k in range(2, columns)]
    known = tuple(count for count in counts if count is not None)
    if len(known) != len(counts):
        raise source.truncated(f"a count of instructions of {row.get('col0', 'a function')} is missing")
    return FunctionSize(row.get("col0", ""), row.get("col1", ""), known)


def _warnings(source: Source, root: Element) -> Iterator[int | None]:
    for column in root.findall("item/table/column"):
        if "design_size_maximum_warning" in column.get("name", ""):
            yield integer(source, (column.text or "").partition(",")[0], "the warning level")
