"""Why a design is cut into kernels where it is: each value that crosses, and what keeping it on chip would take."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from compiler.analysis.fusion import greedy_fusion
from compiler.analysis.fusion_costs import FusionCosts
from compiler.analysis.shortfall import Shortfall
from compiler.graph.design import Design
from compiler.options import Knobs


@dataclass(frozen=True, slots=True)
class Cut:
    """An intermediate value that goes through HBM from kernel `source` to others: `bytes` stored and loaded, and why:
    joined with its first reader and all kernels between, they would exceed a bound. None: nothing but the plan, or an
    override with whose operation one of those kernels `begins`.
    """

    value: str
    source: int
    targets: tuple[int, ...]
    bytes: int
    reason: Shortfall | None
    begins: str | None = None

    @property
    def levers(self) -> tuple[str, ...]:
        """What to change so that the value stays on chip."""
        if self.reason is not None:
            return self.reason.levers
        return ("fusion_plan=traffic",) if self.begins is None else (f"no kernel that begins with {self.begins}",)

    def to_json(self) -> dict[str, Any]:
        return {
            "value": self.value,
            "source": self.source,
            "targets": list(self.targets),
            "bytes": self.bytes,
            "reason": self.reason.to_json() if self.reason is not None else None,
            "levers": list(self.levers),
        }


@dataclass(frozen=True)
class FusionReport:
    """The plan of a design, all bytes that it moves through HBM, and its cuts, the costliest first.

    `greedy_bytes` is what the paper's plan would move under the same budget, `fused_bytes` one kernel for everything.
    """

    plan: str
    kernels: int
    external_bytes: int
    greedy_bytes: int
    fused_bytes: int
    cuts: tuple[Cut, ...]

    def summary(self) -> str:
        """One or two lines for people."""
        moved = f"{self.external_bytes / 1e6:,.1f} MB through HBM"
        if not self.cuts:
            return f"one kernel, {moved}: every intermediate value stays on chip"
        worst = self.cuts[0]
        asked = f"only the {self.plan} plan cuts it" if worst.begins is None else f"a kernel begins with {worst.begins}"
        why = asked if worst.reason is None else str(worst.reason)
        saved = self.greedy_bytes - self.external_bytes
        against = f", {saved / 1e6:,.1f} MB less than the greedy plan" if saved > 0 else ""
        return (
            f"{self.kernels} kernels, {moved}{against}; {len(self.cuts)} values cross\n"
            f"most by {worst.value} ({worst.bytes / 1e6:,.2f} MB): {why}"
        )

    def to_json(self) -> dict[str, Any]:
        return {
            "plan": self.plan,
            "kernels": self.kernels,
            "external_bytes": self.external_bytes,
            "greedy_bytes": self.greedy_bytes,
            "fused_bytes": self.fused_bytes,
            "cuts": [cut.to_json() for cut in self.cuts],
            "summary": self.summary(),
        }


def report_fusion(design: Design, knobs: Knobs) -> FusionReport:
    """Where a design is cut into kernels, and why. O(cuts x operations)."""
    costs = FusionCosts(design.graph, design.reads, design.writes, knobs.converters)
    plan, budget, on_chip = design.kernel_of, knobs.fusion_budget, design.platform.on_chip_bytes
    asked = {plan[op]: op for op in sorted(knobs.begins & plan.keys())}
    cuts = [cut for value in costs.writes if (cut := _cut(value, costs, plan, budget, on_chip, asked)) is not None]
    return FusionReport(
        plan=knobs.fusion_plan,
        kernels=design.kernels,
        external_bytes=costs.external_bytes(plan),
        greedy_bytes=costs.external_bytes(greedy_fusion(costs, budget)),
        fused_bytes=costs.external_bytes(dict.fromkeys(plan, 0)),
        cuts=tuple(sorted(cuts, key=lambda cut: -cut.bytes)),
    )


def _cut(
    value: str, costs: FusionCosts, plan: Mapping[str, int], budget: int, on_chip: int, asked: Mapping[int, str]
) -> Cut | None:
    """`asked`: operations with which kernels begin, by kernel."""
    graph = costs.graph
    source = plan[graph.producer[value][0].name]
    readers: dict[int, list[tuple[str, int]]] = {}
    for op, i in graph.consumers[value]:
        if plan[op.name] != source:
            readers.setdefault(plan[op.name], []).append((op.name, i))
    if not readers:
        return None
    moved = costs.stored(value) + sum(costs.loaded(value, inputs) for inputs in readers.values())
    reason = _reason(source, min(readers), costs, plan, budget, on_chip)
    begins = next((asked[k] for k in range(source + 1, min(readers) + 1) if k in asked), None)
    return Cut(value, source, tuple(sorted(readers)), moved, reason, begins)


def _reason(
    first: int, last: int, costs: FusionCosts, plan: Mapping[str, int], budget: int, on_chip: int
) -> Shortfall | None:
    """The bound that kernels `first` to `last` as one would exceed."""
    joined = {op: first if first < kernel <= last else kernel for op, kernel in plan.items()}
    held, together = costs.kernel_bytes(joined)[first], costs.on_chip_bytes(joined)
    if held > budget:
        return Shortfall(f"a kernel of kernels {first} to {last}", "converter_bytes", held, budget)
    if together > on_chip:
        return Shortfall("the board", "on_chip_bytes", together, on_chip)
    return None
