"""Evaluations of designs that nobody priced."""

from typing import Any

from compiler.metrics import Fidelity, Metric
from compiler.options import Knobs
from dse.evaluate import Evaluation
from dse.objectives import OBJECTIVES


def evaluated(knobs: Knobs, latency: float, energy: float, *, area: float = 1.0, **values: Any) -> Evaluation:
    """A design with these objectives; `values` are the other fields."""
    found = {"latency": latency, "energy": energy, "area": area}
    metrics = [Metric(name, value, OBJECTIVES[name].unit, Fidelity.ESTIMATE) for name, value in found.items()]
    return Evaluation(knobs, (*metrics, *values.pop("metrics", ())), **values)
