"""Figures of a design from those of its kernels, which the host runs one after another."""

from collections.abc import Callable, Mapping, Sequence

from compiler.metrics import Metric

_Combine = Callable[[Sequence[float]], float]
_RULES: Mapping[str, _Combine] = {
    **dict.fromkeys(("cycles", "latency", "total_cycles", "lut", "ff", "dsp", "bram36", "uram"), sum),
    **dict.fromkeys(("clock_estimated", "slowest_ii"), max),
    **dict.fromkeys(("slack", "fmax"), min),
}


def of_design(kernels: Sequence[Sequence[Metric]]) -> tuple[Metric, ...]:
    """A metric for each that all kernels have; one without a rule is given for a single kernel only."""
    if len(kernels) == 1:
        return tuple(kernels[0])
    named = [{metric.name: metric for metric in metrics} for metrics in kernels]
    return tuple(
        Metric(m.name, _RULES[m.name](values), m.unit, m.fidelity, m.tool, m.tool_version)
        for m in (named[0].values() if named else ())
        if m.name in _RULES and len(values := [n[m.name].value for n in named if m.name in n]) == len(named)
    )


def figures(metrics: Sequence[Metric]) -> dict[str, float]:
    """Name -> value, for a verdict."""
    return {metric.name: metric.value for metric in metrics}
