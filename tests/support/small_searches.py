"""Searches without a compiler: a record in memory, and an evaluator of nothing but knobs."""

from collections.abc import Container, Sequence
from dataclasses import dataclass, field

from evaluations import evaluated

from compiler.errors import Violation
from compiler.graph.linalg_graph import LinalgGraph
from compiler.options import Knobs
from compiler.platforms.platform import Platform
from dse.evaluate import Evaluation
from dse.explore import EvaluatedDesign


@dataclass
class MemorySink:
    stop_after: int | None = None
    batches: list[list[EvaluatedDesign]] = field(default_factory=list)

    def write(self, designs: Sequence[EvaluatedDesign]) -> None:
        self.batches.append(list(designs))

    def should_stop(self) -> bool:
        return self.stop_after is not None and len(self.batches) >= self.stop_after

    @property
    def designs(self) -> list[EvaluatedDesign]:
        return [design for batch in self.batches for design in batch]


def toy(graph: LinalgGraph, knobs: Knobs, platform: Platform, known: Container[str] = ()) -> Evaluation:
    """Wider is faster, hungrier and soon over budget; wide streams with small tiles can not be built."""
    if knobs.stream_width == 2048 and knobs.default_tile_size < 16:
        return Evaluation(knobs, reason="too wide")
    latency = 1e6 / knobs.overall_unroll + 1e3 / knobs.hbm_channels + sum(o.tile or 0 for o in knobs.overrides)
    energy = knobs.overall_unroll * 0.5 + knobs.hbm_channels * 20 + knobs.stream_width / 64
    over = (Violation("dsp", knobs.overall_unroll, 4096),) if knobs.overall_unroll > 4096 else ()
    return evaluated(knobs, latency, energy, area=knobs.default_tile_size + knobs.prefetch_kib, violations=over)
