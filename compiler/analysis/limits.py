"""Values that can not be: beyond what the part, the card or physics allows. They are flagged, never averaged in.

A design over its budget is a `Violation` and may still be true; what is flagged here is a number that nobody should
believe, whatever tool it came from (design section 4).
"""

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from compiler.graph.task_graph import TaskGraph
from compiler.metrics import Fidelity, Metric
from compiler.platforms.platform import Platform

MICROSECONDS = {"s": 1e6, "ms": 1e3, "us": 1.0, "ns": 1e-3}
# Powers of these are of the whole card; a tool's power report is of the chip, without the card around it.
OF_THE_CARD = frozenset({Fidelity.ESTIMATE, Fidelity.SIMULATE, Fidelity.BOARD})


@dataclass(frozen=True, slots=True)
class Work:
    """What one run does whoever measures it: bytes that cross HBM, products of contractions. 0 where not known."""

    hbm_bytes: float = 0.0
    products: float = 0.0


@dataclass(frozen=True, slots=True)
class Flag:
    """A value that can not be. `bound` is what it contradicts, in the metric's unit; `text` says so in words."""

    metric: str
    fidelity: Fidelity
    value: float
    bound: float
    unit: str
    text: str

    def to_json(self) -> dict[str, Any]:
        """A value that JSON has no number for is text."""
        value = self.value if math.isfinite(self.value) else str(self.value)
        return {**asdict(self), "value": value}


def work_of(tasks: TaskGraph, hbm_bytes: float) -> Work:
    """The products that the design computes in one run, without padding."""
    contractions = [op for task in tasks.tasks for op, _ in task.operations if op.is_contraction]
    return Work(hbm_bytes, float(sum(op.iterations - op.padded_iterations for op in contractions)))


def impossible(metrics: Sequence[Metric], platform: Platform, work: Work | None = None) -> tuple[Flag, ...]:
    """Every metric that can not be, of any fidelity, with the reason. `work` gives latencies a lower bound; without it
    the traffic among the metrics does.
    """
    if work is None:
        work = Work(max((m.value for m in metrics if m.name == "hbm_traffic" and math.isfinite(m.value)), default=0.0))
    return tuple(flag for metric in metrics for flag in _flags(metric, platform, work))


def _flags(metric: Metric, platform: Platform, work: Work) -> Iterator[Flag]:
    if not math.isfinite(metric.value):
        yield _flag(metric, 0.0, "it is not a number" if math.isnan(metric.value) else "it is infinite")
        return
    if metric.value < 0:
        if "slack" not in metric.name:
            yield _flag(metric, 0.0, "it is negative")
        return
    if metric.name in platform.limits.part:
        yield from _above(metric, platform.limits.part[metric.name], "the part has")
        return
    check = _CHECKS.get(metric.name)
    if check is not None:
        yield from check(metric, platform, work)


def _flag(metric: Metric, bound: float, text: str) -> Flag:
    said = f"{metric.name} of {metric.value:,.6g} {metric.unit} ({metric.fidelity}) can not be: {text}"
    return Flag(metric.name, metric.fidelity, metric.value, bound, metric.unit, said)


def _above(metric: Metric, bound: float, who: str) -> Iterator[Flag]:
    if metric.value > bound:
        yield _flag(metric, bound, f"{who} {bound:,.6g} {metric.unit}")


def _latency(metric: Metric, platform: Platform, work: Work) -> Iterator[Flag]:
    limits, unit = platform.limits, MICROSECONDS.get(metric.unit)
    if unit is None:
        return
    traffic = work.hbm_bytes / (limits.hbm_gb_s * 1e3)
    rate = limits.dsp_products * limits.part["dsp"] + limits.part["lut"] / limits.product_luts
    arithmetic = work.products / (rate * limits.clock_mhz)
    if metric.value * unit < traffic:
        yield _flag(metric, traffic / unit, f"HBM takes {traffic:,.6g} us for {work.hbm_bytes:,.6g} bytes at its peak")
    if metric.value * unit < arithmetic:
        reason = f"the whole part takes {arithmetic:,.6g} us for {work.products:,.6g} products"
        yield _flag(metric, arithmetic / unit, reason)


def _power(metric: Metric, platform: Platform, _work: Work) -> Iterator[Flag]:
    limits = platform.limits
    if metric.fidelity in OF_THE_CARD and metric.value < limits.idle_w:
        yield _flag(metric, limits.idle_w, f"the card at rest draws at least {limits.idle_w:g} W")
    yield from _above(metric, limits.card_w, "the card can draw")


def _clock(metric: Metric, platform: Platform, _work: Work) -> Iterator[Flag]:
    limit = platform.limits.clock_mhz
    if metric.unit == "ns":
        if metric.value < 1e3 / limit:
            yield _flag(metric, 1e3 / limit, f"the part's clocks reach {limit:g} MHz")
    elif metric.unit == "MHz":
        yield from _above(metric, limit, "the part's clocks reach")


def _bandwidth(metric: Metric, platform: Platform, _work: Work) -> Iterator[Flag]:
    yield from _above(metric, platform.limits.hbm_gb_s, "HBM's peak is")


def _ports(metric: Metric, platform: Platform, _work: Work) -> Iterator[Flag]:
    yield from _above(metric, max(platform.hbm.channels, platform.budget.hbm_ports), "HBM has")


_CHECKS: dict[str, Callable[[Metric, Platform, Work], Iterator[Flag]]] = {
    "latency": _latency,
    "power": _power,
    "clock": _clock,
    "clock_estimated": _clock,
    "hbm_bandwidth": _bandwidth,
    "hbm_ports": _ports,
}
