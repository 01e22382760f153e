"""An exploration as one HTML file: front, tables, the graph of a design, provenance. It needs no server, no script and
nothing from elsewhere; its policy forbids both.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from html import escape
from typing import TYPE_CHECKING, Any, cast

from cli.front_files import metric_columns, metric_of
from compiler.metrics import VERSION
from dse import at_most
from dse.archive import KNEE
from dse.objectives import LATENCY, in_words
from millrace.drawing import Mark, scatter_svg
from millrace.numbers import number

if TYPE_CHECKING:
    from millrace.graph import Graph
    from millrace.wire import Design, Exploration, Model, Objective, Pick, Scatter

_HOW_TO_READ = (
    "<p><small>Both axes by estimate, for every design has one. Point at a design of the front, or go to it with Tab, "
    "for its knobs and what better fidelities say.</small></p>"
)
_RULE = (
    "<p><small>Ranked by simulated latency as soon as a design of the front is simulated. "
    f"The knee is the design {KNEE}.</small></p>"
)
_STYLE = """
:root { color-scheme: light dark; --ink: #1b1f24; --soft: #5b6470; --paper: #fff; --line: #d8dde3; --mark: #b3541e;
  --dot: #9aa7b5; --box: #eef2f6; }
@media (prefers-color-scheme: dark) { :root { --ink: #e7ebef; --soft: #a2acb8; --paper: #14181d; --line: #333b45;
  --mark: #f0965a; --dot: #5d6b7a; --box: #222932; } }
body { font: 15px/1.5 system-ui, sans-serif; color: var(--ink); background: var(--paper); max-width: 72rem;
  margin: 2rem auto; padding: 0 1rem; }
h1 { margin-bottom: 0; } h2 { margin-top: 2.2rem; } p.sub, caption, small { color: var(--soft); }
.scroll { overflow: auto; max-height: 44rem; border: 1px solid var(--line); border-radius: 6px; }
table { border-collapse: collapse; font-variant-numeric: tabular-nums; font-size: 13px; }
th, td { padding: .25rem .6rem; text-align: right; white-space: nowrap; border-bottom: 1px solid var(--line); }
th:first-child, td:first-child, td.text, th.text { text-align: left; }
thead th { position: sticky; top: 0; background: var(--paper); }
svg { max-width: 100%; height: auto; } svg.graph { max-width: none; }
.grid { stroke: var(--line); } .axes { fill: var(--soft); font-size: 12px; }
.cloud { fill: var(--dot); } .line { stroke: var(--mark); stroke-width: 1.2; }
.point circle { fill: var(--mark); stroke: var(--paper); stroke-width: 1.5; }
.point:hover circle, .point:focus circle { stroke: var(--ink); stroke-width: 3; } .point:focus { outline: none; }
.point text { fill: var(--ink); font-size: 12px; }
.streams { stroke: var(--dot); } .streams path:hover { stroke: var(--mark); }
.task rect { fill: var(--box); stroke: var(--soft); } .task text { fill: var(--ink); font-size: 11px; }
.task.compute rect { stroke: var(--mark); stroke-width: 1.8; }
.task.load rect, .task.store rect { stroke-dasharray: 4 2; }
"""


@dataclass(frozen=True, slots=True)
class Report:
    """What is reported: the designs of the front, fastest first; `graph` is that of `chosen`, None where it is not
    stored.
    """

    exploration: "Exploration"
    model: "Model"
    front: Sequence["Design"]
    scatter: "Scatter"
    chosen: "Design"
    graph: "Graph | None"


def html(report: Report) -> str:
    """The whole file."""
    exploration = report.exploration
    sections = (
        f"<h1>{escape(exploration.name)}</h1>",
        f'<p class="sub">{escape(_headline(exploration))}</p>',
        f"<p>{escape(exploration.notes)}</p>" if exploration.notes else "",
        "<h2>Front</h2>",
        _HOW_TO_READ,
        _plot(report),
        _picks(exploration),
        "<h2>Metrics</h2>",
        _metrics(report.front),
        "<h2>Knobs</h2>",
        _knobs(report.front),
        f"<h2>Dataflow of design {report.chosen.number}</h2>",
        _graph(report),
        "<h2>Provenance</h2>",
        _provenance(report),
    )
    policy = "default-src 'none'; style-src 'unsafe-inline'"
    return (
        '<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        f'<meta http-equiv="Content-Security-Policy" content="{policy}">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f"<title>{escape(exploration.name)}: Pareto front</title>\n<style>{_STYLE}</style>\n</head>\n<body>\n"
        + "\n".join(sections)
        + "\n</body>\n</html>\n"
    )


def _headline(e: "Exploration") -> str:
    counts = (
        f"{e.evaluated} designs evaluated, {e.feasible} feasible, {e.front_size} on the front, {e.simulated} simulated"
    )
    shape = e.workload
    return f"{e.model.name}, {shape.phase} {shape.length}, {shape.precision}, {e.platform}: {counts}; {e.state}"


def _plot(report: Report) -> str:
    kinds: dict[str, list[str]] = {}
    for pick in report.exploration.picks:
        kinds.setdefault(pick.design_id, []).append(pick.kind.replace("_", " "))
    points = report.scatter
    objectives = report.exploration.objectives
    names = [objective.name for objective in objectives]
    xs, ys, *_ = points.objectives
    cloud = [
        (x, y)
        for x, y, feasible, on_front in zip(xs, ys, points.feasible, points.on_front, strict=True)
        if feasible and not on_front and x is not None and y is not None
    ]
    front = [
        Mark(d.objectives[0], d.objectives[1], _tip(d, names), ", ".join(kinds.get(d.id, []))) for d in report.front
    ]
    x, y, *_ = (f"{o.name.replace('_', ' ')}, {o.unit} (estimate)" for o in objectives)
    return scatter_svg(cloud, front, x, y)


def _tip(design: "Design", objectives: Sequence[str]) -> str:
    known = [f"{m.name} {number(m.value)} {m.unit} ({m.fidelity})" for m in design.metrics if m.name in objectives]
    knobs = [f"{name} {value}" for name, value in design.knobs.items() if name != "overrides"]
    overrides = [f"override {o['op']}" for o in design.knobs.get("overrides", [])]
    return "\n".join((f"design {design.number}", *known, *knobs, *overrides))


def _picks(exploration: "Exploration") -> str:
    heads = (f"{o.name.replace('_', ' ')}, {o.unit}" for o in exploration.objectives)
    rows = [(p.kind.replace("_", " "), str(p.number), *_ranked(p, exploration.objectives)) for p in exploration.picks]
    return _table(("choose", "design", *heads), rows) + _RULE


def _ranked(pick: "Pick", objectives: Sequence["Objective"]) -> Iterator[str]:
    """Each objective with its fidelity; where that is no estimate, with the estimate too."""
    for objective, value, estimate in zip(objectives, pick.objectives, pick.estimates, strict=True):
        simulated = objective.name == LATENCY and pick.fidelity == "simulate"
        yield f"{value:,.2f} (simulate), {estimate:,.2f} (estimate)" if simulated else f"{value:,.2f} (estimate)"


def _metrics(front: Sequence["Design"]) -> str:
    columns = metric_columns(front)
    heads = (
        "design",
        *(f"{name}, {unit} ({fidelity})" if unit else f"{name} ({fidelity})" for name, fidelity, unit in columns),
    )
    rows = [
        (str(d.number), *("" if (v := metric_of(d, n, f)) is None else number(v) for n, f, _ in columns)) for d in front
    ]
    return f'<div class="scroll">{_table(heads, rows)}</div>'


def _knobs(front: Sequence["Design"]) -> str:
    names = list(dict.fromkeys(name for design in front for name in design.knobs))
    rows = [(str(d.number), *(_knob(d.knobs.get(name)) for name in names)) for d in front]
    return f'<div class="scroll">{_table(("design", *names), rows)}</div>'


def _knob(value: Any) -> str:
    if not isinstance(value, list | tuple):
        return str(value)
    entries = cast("Sequence[Mapping[str, Any]]", value)
    return "; ".join(", ".join(f"{k} {v}" for k, v in entry.items() if v is not None) for entry in entries)


def _graph(report: Report) -> str:
    if report.graph is None:
        named = escape(f"{report.exploration.name}#{report.chosen.number}")
        return (
            "<p>Its graph is not stored: it is once the design was simulated or compiled "
            f"(<code>millrace design export {named} --out d</code>).</p>"
        )
    note = "<p><small>Tasks and streams; wider streams are thicker. Point at one for its facts.</small></p>"
    return f'{note}<div class="scroll">{report.graph.svg()}</div>'


def _islands(exploration: "Exploration") -> str:
    return f"{exploration.islands} islands, " if exploration.islands > 1 else ""


def _provenance(report: Report) -> str:
    e, shape = report.exploration, report.exploration.workload
    tools = {(m.fidelity, f"{m.tool} {m.tool_version}") for design in report.front for m in design.metrics}
    facts = [
        ("exploration", f"{e.name} ({e.id})"),
        ("model", f"{report.model.name}, {report.model.kind}, SHA-256 {report.model.digest}"),
        (
            "workload",
            f"{shape.phase}, length {shape.length}, batch {shape.batch}, {shape.precision}, {shape.layers} layers",
        ),
        ("platform", e.platform),
        ("search", f"{e.sampler}, {_islands(e)}seed {e.seed}, budget {e.budget}, {e.evaluated} evaluated"),
        ("at most", at_most.text(e.at_most)),
        (
            "different designs",
            ""
            if e.distinct is None
            else f"at least {e.distinct}: by estimated {in_words([o.name for o in e.objectives])}",
        ),
        ("area model", e.area_model or "of this release"),
        *((f"fidelity {fidelity}", tool) for fidelity, tool in sorted(tools)),
        ("estimates", _errors(e)),
        ("started", f"{e.created_at:%Y-%m-%d %H:%M} UTC"),
        ("written by", f"millrace {VERSION}"),
    ]
    return _table(("", ""), [(name, value) for name, value in facts if value], text=True)


def _errors(exploration: "Exploration") -> str:
    found = exploration.estimate_errors
    if found is None:
        return "no design was simulated: how far off they are is not known"
    return (
        f"of latency off by {found.median:.1%} in the median and {found.worst:.1%} at worst, "
        f"against fidelity {found.fidelity} of {found.n} designs"
    )


def _table(heads: Sequence[str], rows: Iterable[Sequence[str]], *, text: bool = False) -> str:
    of_text = ' class="text"' if text else ""
    head = "".join(f"<th>{escape(h)}</th>" for h in heads)
    body = "\n".join("<tr>" + "".join(f"<td{of_text}>{escape(c)}</td>" for c in row) + "</tr>" for row in rows)
    return f"<table>{f'<thead><tr>{head}</tr></thead>' if any(heads) else ''}<tbody>{body}</tbody></table>"
