"""A csynth report as samples: pipelined processes, dataflow tops, m_axi adapters, FIFOs, memories, the whole design."""

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from statistics import median

from compiler.analysis.area import Shape, counter_bits, fifo_memory, operator_logic, port_memory
from compiler.analysis.memory import buffer_kind, buffer_of, csynth_fifo_kind, fifo_logic_kind
from compiler.calibration.cores import core_area, is_core
from compiler.calibration.samples import TASK, Amount, Sample
from compiler.platforms.memories import Memories
from compiler.platforms.platform import Operator
from compiler.toolchain.hls.csynth import CsynthReport, Module
from compiler.toolchain.hls.csynth_rows import Area, FifoRow, MemoryRow

ADAPTER_WORDS = 16 * 16  # that one direction of an m_axi adapter buffers unless HLS is told otherwise
PIPELINE, DMA, TOP, CONTROL = "pipeline task", "DMA task", "dataflow top", "s_axilite control"
ADAPTER, FIFO, FIFOS, MEMORY, DESIGN = "m_axi adapter", "FIFO", "FIFOs of a report", "memory", "whole design"

# What the parsed report leaves out: the width of each m_axi port, and which loops move bursts of which width.
_PORT_XML = re.compile(r"<name>m_axi_(\w+)_WDATA</name>.{0,400}?<Bits>(\d+)</Bits>", re.DOTALL)
_PORT_RPT = re.compile(r"\|m_axi_(\w+)_WDATA +\| +out\| +(\d+)\|")
_PORT_TABLE = re.compile(r"^\| m_axi_\w+ +\| (?:READ|WRITE)\w* +\| \d+ -> (\d+) +\|", re.MULTILINE)
_CALL = re.compile(r"_\d+$")  # of a function that is called before
_MOVES = re.compile(r"read|load|store")
_BURST = re.compile(r"^\| m_axi_\w+ +\| (?:read|write) +\| [\w ]+ \| (\d+) +\| (\S+) +\|", re.MULTILINE)


@dataclass(frozen=True)
class Reading:
    """One report of a part with `memories`, with its text and the groups that it is held out with. `tokens`: for
    designs of ours, the bits that each task moves in an iteration.
    """

    report: CsynthReport
    text: str
    source: str
    design: str
    memories: Memories
    tokens: Mapping[str, int] = field(default_factory=dict[str, int])

    def samples(self) -> Iterator[Sample]:
        """Every sample that the report has; what the model has no notion of is left out."""
        yield from (s for s in map(self._task, self.report.modules) if s is not None)
        yield from self._instances()
        yield from self._fifos()
        yield from (s for s in map(self._memory, self.report.memories) if s is not None)
        yield from self._whole_design()

    @cached_property
    def _bursts(self) -> dict[str, int]:
        """Widest burst of each loop."""
        found: dict[str, int] = {}
        for width, loop in _BURST.findall(self.text):
            found[loop] = max(found.get(loop, 0), int(width))
        return found

    @cached_property
    def _widths(self) -> dict[str, int]:
        """Bits of each m_axi port."""
        return {name: int(bits) for name, bits in (*_PORT_XML.findall(self.text), *_PORT_RPT.findall(self.text))}

    def _port_bits(self, module: Module) -> int:
        """Bits of the m_axi port that the module's loop moves data through, 0 where it does not.

        Before 2025.1 the table of bursts does not name loops: then those without operators that are called so count.
        """
        if self._bursts:
            return max((bits for loop, bits in self._bursts.items() if loop in module.name), default=0)
        moves = _MOVES.search(module.loops[0].name) and not self._cores(module.name) and not self.report.fifos
        return max((int(bits) for bits in _PORT_TABLE.findall(self.text)), default=0) if moves else 0

    def _token_bits(self, module: str) -> int:
        """What the module moves in an iteration: known of a task of ours (HLS gives its loop a module of its own), else
        one token, as wide as the design's FIFOs are in the middle.
        """
        function = module.split("_Pipeline_", maxsplit=1)[0]
        for name in (function, _CALL.sub("", function)):
            if name in self.tokens:
                return self.tokens[name]
        widths = [f.width for f in self.report.fifos if f.width is not None and f.width > 1]
        return int(median(widths)) if widths else 0

    def _sample(self, kind: str, name: str, part: str, features: dict[str, float], **amounts: Amount) -> Sample:
        known = {"lut": Amount(None), "ff": Amount(None), **amounts}
        return Sample(kind, self.source, self.design, name, part, features, **known)

    def _task(self, module: Module) -> Sample | None:
        """A module that is one pipelined loop; None for any other, and where a core is not known."""
        shape, cores = self._shape(module), self._cores(module.name)
        if shape is None or cores is None:
            return None
        used = [(core, distinct) for core, distinct, _ in cores]
        lut, ff, dsp, _ = operator_logic(used, 1)
        mine = [m for m in self.report.memories if m.module == module.name]
        logic = sum(map(self._memory_lut, mine))
        features = dict(zip((f"task.{name}" for name in TASK), (1.0, *map(float, shape)), strict=True))
        area = module.area
        return self._sample(
            DMA if self._port_bits(module) else PIPELINE, module.name, "task", features,
            lut=Amount(area.lut, lut + logic), ff=Amount(area.ff, ff), dsp=Amount(area.dsp, dsp),
            bram36=Amount(_half(area.bram18), sum(map(self._memory_bram36, mine))),
        )  # fmt: skip

    def _shape(self, module: Module) -> Shape | None:
        if module.calls or len(module.loops) != 1 or module.pipeline in {"yes", "dataflow"}:
            return None
        loop, cores = module.loops[0], self._cores(module.name)
        trips, stages = loop.trips.exact, loop.iteration.exact
        if cores is None or not loop.pipelined or loop.loops or loop.calls or None in {trips, stages, loop.ii}:
            return None
        assert trips is not None
        assert stages is not None
        result_bits = sum(core.bits * count for core, _, count in cores)
        shared = sum(core.bits * count for core, distinct, count in cores if count > distinct)
        bits = max(result_bits, self._token_bits(module.name), self._port_bits(module))
        memories = [m for m in self.report.memories if m.module == module.name]
        if not bits or any(m.kind.startswith("rom") for m in memories):
            return None  # what it moves is not in the report; tables of constants are nothing that we emit
        return Shape(counter_bits((trips,)), stages, bits, len(memories), shared)

    def _cores(self, module: str) -> list[tuple[Operator, int, int]] | None:
        """Cores of a module: area, how many there are, how many operations they do. None where one is not known."""
        operations = Counter(o.name for o in self.report.operators if o.module == module)
        by_core: dict[Operator, list[int]] = {}
        for name, count in operations.items():
            if not is_core(name):
                continue
            area = core_area(name)
            if area is None:
                return None
            tally = by_core.setdefault(area, [0, 0])
            tally[0], tally[1] = tally[0] + 1, tally[1] + count
        return [(area, distinct, count) for area, (distinct, count) in by_core.items()]

    def _instances(self) -> Iterator[Sample]:
        """From a module's own report: what its dataflow top adds, its m_axi adapters and control registers."""
        breakdown = self.report.breakdown
        if breakdown is None:
            return
        processes = 0
        for row in breakdown.instances:
            bits = self._widths.get(row.module.removesuffix("_m_axi"))
            lut, ff = Amount(row.area.lut), Amount(row.area.ff)
            if row.module.endswith("_s_axi"):
                yield self._sample(CONTROL, row.name, "kernel", {"kernel.base": 1.0}, lut=lut, ff=ff)
            elif bits is not None:
                memory = port_memory(bits, ADAPTER_WORDS, self.memories)
                bram36 = Amount(_half(row.area.bram18), 2 * memory.bram36)
                features = {"port.base": 2.0, "port.bit": 2.0 * bits}
                yield self._sample(ADAPTER, row.name, "port", features, lut=lut, ff=ff, bram36=bram36)
            else:
                processes += 1
        if self.report.design.pipeline == "dataflow" and processes:
            yield self._top(dict(breakdown.by_kind), processes)

    def _top(self, area: dict[str, Area], processes: int) -> Sample:
        """Handshakes of a dataflow top."""
        lut = sum(area[kind].lut or 0 for kind in ("Expression", "Multiplexer") if kind in area)
        ff = area["Register"].ff or 0 if "Register" in area else 0
        features = {"process.base": float(processes)}
        return self._sample(TOP, self.report.top, "process", features, lut=Amount(lut), ff=Amount(ff))

    def _fifos(self) -> Iterator[Sample]:
        """FF of each FIFO; LUTs of all together, which is all that a report tells."""
        rows = [f for f in self.report.fifos if f.width and f.depth and f.area.ff is not None]
        for row in rows:
            yield self._sample(FIFO, row.name, "fifo", fifo_features([row]), ff=Amount(row.area.ff))
        breakdown = self.report.breakdown
        total = dict(breakdown.by_kind).get("FIFO") if breakdown is not None else None
        if rows and total is not None and total.lut is not None and len(rows) == len(self.report.fifos):
            lut = Amount(total.lut, sum(map(self._fifo_lut, rows)))
            yield self._sample(FIFOS, self.report.top, "fifo", fifo_features(rows), lut=lut)

    def _memory(self, row: MemoryRow) -> Sample | None:
        if not row.width or not row.words or row.area.bram18 is None:
            return None
        bram36 = Amount(row.area.bram18 / 2, self._memory_bram36(row))
        return self._sample(MEMORY, row.name, "", {}, bram36=bram36)

    def _whole_design(self) -> Iterator[Sample]:
        """A dataflow top all of whose processes are pipelined loops that the model knows."""
        top = self.report.design
        tasks = [self._task(m) for m in self.report.modules if m.name != top.name]
        fifos = [f for f in self.report.fifos if f.width and f.depth]
        if top.pipeline != "dataflow" or not tasks or None in tasks or len(fifos) != len(self.report.fifos):
            return
        known = [t for t in tasks if t is not None]
        mine = [m for m in self.report.memories if m.module == top.name]
        features = _sum([*(t.features for t in known), fifo_features(fifos), {"process.base": float(len(known))}])
        lut = sum(t.lut.fixed for t in known) + sum(map(self._fifo_lut, fifos)) + sum(map(self._memory_lut, mine))
        bram36 = sum(t.bram36.fixed for t in known) + sum(map(self._memory_bram36, mine))
        area = top.area
        yield self._sample(
            DESIGN, top.name, "", features,
            lut=Amount(area.lut, lut), ff=Amount(area.ff, sum(t.ff.fixed for t in known)),
            dsp=Amount(area.dsp, sum(t.dsp.fixed for t in known)),
            # csynth counts no depth of FIFOs: a block RAM column for each 36 bits, whatever lies below.
            bram36=Amount(_half(area.bram18), bram36 + sum(f.area.bram18 or 0 for f in fifos) / 2),
        )  # fmt: skip

    def _fifo_lut(self, row: FifoRow) -> float:
        assert row.width is not None
        assert row.depth is not None
        kind = csynth_fifo_kind(row.width, row.depth)
        return fifo_memory(kind, row.width, row.depth, self.memories).lut

    def _memory_lut(self, row: MemoryRow) -> float:
        if not row.width or not row.words or row.area.bram18:
            return 0.0
        if buffer_kind(row.width, row.words, self.memories) != "lutram":
            return 0.0
        return buffer_of("lutram", row.width, row.words, row.banks or 1, self.memories).lut

    def _memory_bram36(self, row: MemoryRow) -> float:
        if not row.width or not row.words:
            return 0.0
        if buffer_kind(row.width, row.words, self.memories) in {"lutram", "registers"}:
            return 0.0
        return buffer_of("bram", row.width, row.words, row.banks or 1, self.memories).bram36


def _half(bram18: int | None) -> float | None:
    return None if bram18 is None else bram18 / 2


def _sum(parts: Iterable[Mapping[str, float]]) -> dict[str, float]:
    result: dict[str, float] = {}
    for part in parts:
        for name, count in part.items():
            result[name] = result.get(name, 0.0) + count
    return result


def fifo_features(rows: Iterable[FifoRow]) -> dict[str, float]:
    """How often each coefficient counts: csynth rounds the width up to a power of two."""
    parts: list[dict[str, float]] = []
    for row in rows:
        assert row.width is not None
        assert row.depth is not None
        kind = fifo_logic_kind(csynth_fifo_kind(row.width, row.depth), row.depth)
        wide = 1 << (row.width - 1).bit_length()
        parts.append({f"fifo.{kind}.base": 1.0, f"fifo.{kind}.bit": float(wide)})
    return _sum(parts)
