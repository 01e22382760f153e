"""Rows of the tables in reports of C synthesis: FIFOs, memories, operators, and where a module's area goes."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Area:
    """Counts of a part's resources; `bram18` counts half blocks of 18 Kib."""

    bram18: int | None = None
    dsp: int | None = None
    ff: int | None = None
    lut: int | None = None
    uram: int | None = None


@dataclass(frozen=True, slots=True)
class FifoRow:
    """A FIFO: `width` in bits, `depth` in words. `kind` in the tool's words ("stream", "task level", "scalar prop")."""

    name: str
    module: str
    depth: int | None
    width: int | None = None
    area: Area = Area()
    implementation: str = ""
    kind: str = ""


@dataclass(frozen=True, slots=True)
class MemoryRow:
    """An array: `banks` times `words` of `width` bits."""

    name: str
    module: str
    kind: str
    width: int | None
    words: int | None
    banks: int | None
    area: Area = Area()
    implementation: str = ""


@dataclass(frozen=True, slots=True)
class OperatorRow:
    """A scalar operator bound to hardware, with the latency that it was given."""

    name: str
    module: str
    operation: str
    implementation: str
    latency: int | None
    dsp: int | None


@dataclass(frozen=True, slots=True)
class InstanceRow:
    name: str
    module: str
    area: Area


@dataclass(frozen=True, slots=True)
class ExpressionRow:
    name: str
    operation: str
    area: Area


@dataclass(frozen=True, slots=True)
class MultiplexerRow:
    name: str
    lut: int | None
    inputs: int | None
    bits: int | None


@dataclass(frozen=True, slots=True)
class RegisterRow:
    name: str
    ff: int | None
    bits: int | None


@dataclass(frozen=True, slots=True)
class Breakdown:
    """Where the area of one module goes, as the report of that module tells."""

    by_kind: tuple[tuple[str, Area], ...] = ()
    instances: tuple[InstanceRow, ...] = ()
    dsps: tuple[InstanceRow, ...] = ()
    expressions: tuple[ExpressionRow, ...] = ()
    multiplexers: tuple[MultiplexerRow, ...] = ()
    registers: tuple[RegisterRow, ...] = ()
