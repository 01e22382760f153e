"""Metrics of a report from a table of names."""

from collections.abc import Mapping

from compiler.metrics import Fidelity, Metric

UNKNOWN_VERSION = "unknown"


def metric_table(
    numbers: Mapping[str, tuple[float | None, str]], fidelity: Fidelity, tool: str, version: str
) -> tuple[Metric, ...]:
    """A metric for each name -> (value, unit) whose value is known. `version` "" is "unknown"."""
    return tuple(
        Metric(name, float(value), unit, fidelity, tool, version or UNKNOWN_VERSION)
        for name, (value, unit) in numbers.items()
        if value is not None
    )
