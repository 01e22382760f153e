"""The metrics of a design at every fidelity that it has, side by side."""

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from rich.markup import escape
from rich.table import Table

from cli.columns import FIDELITIES
from cli.output import share, table
from millrace.numbers import number

if TYPE_CHECKING:
    from millrace.wire import Difference, Metric


def fidelity_table(metrics: Sequence["Metric"], differences: Iterable["Difference"]) -> Table:
    """One line a metric, one column a fidelity, weakest first; behind a better value by how much the next weaker one
    was off.
    """
    shown = [fidelity for fidelity in FIDELITIES if any(m.fidelity == fidelity for m in metrics)]
    values = {(m.name, m.fidelity): m.value for m in metrics}
    errors = {(d.metric, d.fidelity): d.error for d in differences}
    rows = [
        (
            escape(name),
            escape(unit),
            *(_cell(values.get((name, fidelity)), errors.get((name, fidelity))) for fidelity in shown),
        )
        for name, unit in {m.name: m.unit for m in metrics}.items()
    ]
    title = "[dim](in brackets: error of the next weaker fidelity)[/]" if len(shown) > 1 else ""
    return table(title, ("metric", "unit", *(f">{fidelity}" for fidelity in shown)), rows)


def _cell(value: float | None, error: float | None) -> str:
    if value is None:
        return "[dim]-[/]"
    return number(value) + ("" if error is None else f" [dim]({share(error, signed=True)})[/]")


def provenance(metrics: Iterable["Metric"]) -> Table:
    """Which tools the fidelities come from."""
    tools: dict[str, list[str]] = {}
    for metric in metrics:
        known = tools.setdefault(metric.fidelity, [])
        tool = f"{metric.tool} {metric.tool_version}"
        if tool not in known:
            known.append(tool)
    rows = [(fidelity, escape(", ".join(tools[fidelity]))) for fidelity in FIDELITIES if fidelity in tools]
    return table("", ("fidelity", "from"), rows)
