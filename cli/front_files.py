"""A front as files for other programs: CSV, and a table for LaTeX (booktabs)."""

import csv
import io
import json
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from cli.columns import FIDELITIES
from millrace.numbers import number

if TYPE_CHECKING:
    from millrace.wire import Design

_KNOBS = ("default_tile_size", "overall_unroll", "stream_width", "hbm_channels", "multiplier")
_SPECIAL = {c: f"\\{c}" for c in "&%$#_{}"} | {"~": r"\textasciitilde{}", "^": r"\textasciicircum{}"}
_LATEX = str.maketrans(_SPECIAL | {"\\": r"\textbackslash{}", "<": r"\textless{}", ">": r"\textgreater{}"})


def metric_columns(designs: Sequence["Design"]) -> list[tuple[str, str, str]]:
    """Name, fidelity and unit of every metric that a design has, weaker fidelities of a metric first."""
    found = {(m.name, m.fidelity): m.unit for design in designs for m in design.metrics}
    names = dict.fromkeys(name for name, _ in found)
    return [(n, f, found[n, f]) for n in names for f in FIDELITIES if (n, f) in found]


def metric_of(design: "Design", name: str, fidelity: str) -> float | None:
    return next((m.value for m in design.metrics if (m.name, m.fidelity) == (name, fidelity)), None)


def front_csv(designs: Sequence["Design"]) -> str:
    """A line a design: its number and id, every knob, every metric at every fidelity (`latency:simulate:us`)."""
    metrics = metric_columns(designs)
    knobs = list(dict.fromkeys(name for design in designs for name in design.knobs))
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(["number", "id", *knobs, *(":".join(filter(None, column)) for column in metrics)])
    for design in designs:
        values = [metric_of(design, name, fidelity) for name, fidelity, _ in metrics]
        writer.writerow([design.number, design.id, *(_plain(design.knobs.get(k)) for k in knobs), *values])
    return text.getvalue()


def _plain(value: Any) -> Any:
    return json.dumps(value) if isinstance(value, list | tuple | dict) else value


def front_latex(designs: Sequence["Design"], objectives: Sequence[str], caption: str) -> str:
    """A table of the front: its objectives at each fidelity that is known, and the knobs that matter most."""
    columns = [c for c in metric_columns(designs) if c[0] in objectives]
    heads = [f"{name} ({unit}), {fidelity}" for name, fidelity, unit in columns]
    head = " & ".join(_tex(h) for h in ("design", *heads, *(k.replace("_", " ") for k in _KNOBS)))
    lines = [
        r"\begin{table}",
        rf"  \caption{{{_tex(caption)}}}",
        rf"  \begin{{tabular}}{{r{'r' * len(columns)}{'l' * len(_KNOBS)}}}",
        r"    \toprule",
        rf"    {head} \\",
        r"    \midrule",
    ]
    for design in designs:
        values = [metric_of(design, name, fidelity) for name, fidelity, _ in columns]
        cells = [str(design.number), *("--" if v is None else number(v) for v in values)]
        cells += [str(design.knobs.get(knob, "--")) for knob in _KNOBS]
        lines.append(rf"    {' & '.join(map(_tex, cells))} \\")
    return "\n".join([*lines, r"    \bottomrule", r"  \end{tabular}", r"\end{table}"]) + "\n"


def _tex(text: str) -> str:
    return text.translate(_LATEX)
