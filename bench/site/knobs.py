"""What every knob does to two designs: each choice of the search, all other knobs as they are. Fidelity `estimate`.

python -m bench.site.knobs    # 5 minutes; writes docs/data/knobs.json
python -m bench.site          # draws it

The designs are those that a search also begins with. Of the knobs of single operations, those of the heaviest one are
moved.
"""

from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

from bench.site.curves import Curve, curves
from bench.site.kept import PLATFORM, keep, kept
from bench.workload import bundle_cache
from compiler.frontend.bundle import import_model
from compiler.graph.linalg_graph import LinalgGraph
from compiler.options import Knobs, Workload
from compiler.platforms.platform import Platform, load_platform
from dse.evaluate import Evaluation, evaluate
from dse.space import Choice, DesignSpace
from millrace.numbers import number

WORKLOADS = (Workload("gpt2-medium", "decode", 64, "w4a8"), Workload("qwen2.5-0.5b", "prefill", 16, "w4a8"))
BASE = Knobs(overall_unroll=1024, hbm_channels=2, stream_width=1024)
METRICS = {"latency": "latency, us", "energy": "energy, uJ", "lut": "LUT", "bram36": "block RAM"}
WITH = {"slices": {"engines": "shared"}, "loads": {"engines": "shared"}}  # without which a knob changes nothing
HEAVIEST = "heaviest"  # stands for the operation's name, which is another one in each network


def of_design(workload: Workload, graph: LinalgGraph, platform: Platform) -> dict[str, Any]:
    """The base design, and a list of choices for each parameter of the search."""
    space = DesignSpace(graph, platform, heaviest=1)
    moved = {
        parameter.name: [
            {"choice": choice, **measured(evaluate(graph, _moved(space, parameter.name, choice), platform))}
            for choice in parameter.choices
        ]
        for parameter in space.parameters
    }
    [op] = {name.rpartition(".")[0] for name in moved if "." in name}
    return {
        "workload": asdict(workload),
        "heaviest": op,
        "base": measured(evaluate(graph, BASE, platform)),
        "knobs": {name.replace(f"{op}.", f"{HEAVIEST}."): choices for name, choices in moved.items()},
    }


def _moved(space: DesignSpace, name: str, choice: Choice) -> Knobs:
    """The base with another choice of one parameter, and with what that needs."""
    params = space.params_of(BASE)
    assert params is not None, "the base is a design of the space"
    return space.knobs_of(params | WITH.get(name, {}) | {name: choice})


def measured(found: Evaluation) -> dict[str, Any]:
    """The metrics that are drawn, None where the design can not be built; why it is not feasible, if it is not."""
    values = {metric.name: metric.value for metric in found.metrics}
    why = found.reason or ", ".join(violation.resource for violation in found.violations)
    return {name: _rounded(values.get(name)) for name in METRICS} | ({"infeasible": why} if why else {})


def _rounded(value: float | None) -> float | None:
    return None if value is None else float(f"{value:.5g}")


def picture(name: str, designs: Sequence[dict[str, Any]]) -> str:
    """How each metric changes with a knob, relative to the base."""
    panels = [(title, [_curve(metric, name, design) for design in designs]) for metric, title in METRICS.items()]
    names = [f"{d['workload']['model']}, {d['workload']['phase']} {d['workload']['length']}" for d in designs]
    return curves(f"What the knob {name} does", panels, names)


def _curve(metric: str, name: str, design: dict[str, Any]) -> Curve:
    base = design["base"][metric]
    choices = design["knobs"][name]
    return Curve(
        tuple(str(c["choice"]) if c["choice"] is not None else "none" for c in choices),
        tuple(c[metric] / base if c[metric] is not None else None for c in choices),
        tuple("infeasible" not in c for c in choices),
    )


def base_table() -> str:
    """The base and what it comes to, as Markdown."""
    data = kept("knobs")
    base = Knobs.from_json(data["base"])
    changed = [f"`{name} = {value}`" for name, value in asdict(base).items() if value != getattr(Knobs(), name)]
    lines = [f"The base: {', '.join(changed)}, the rest as by default. Commit {data['commit']}.", ""]
    lines += [
        "| base of | " + " | ".join(METRICS.values()) + " | heaviest operation |",
        "|---|---:|---:|---:|---:|---|",
    ]
    for design in data["designs"]:
        w = design["workload"]
        numbers = " | ".join(number(design["base"][metric]) for metric in METRICS)
        lines.append(f"| {w['model']}, {w['phase']} {w['length']} | {numbers} | `{design['heaviest']}` |")
    return "\n".join(lines) + "\n"


def pictures() -> dict[str, str]:
    """The curves of each knob, as SVG by the name of its picture."""
    designs = kept("knobs")["designs"]
    return {f"knob-{name.replace('.', '-')}": picture(name, designs) for name in designs[0]["knobs"]}


def main() -> None:
    platform = load_platform(PLATFORM)
    graphs = [import_model(w.model, w, bundle_cache()).graph for w in WORKLOADS]
    designs = [of_design(w, graph, platform) for w, graph in zip(WORKLOADS, graphs, strict=True)]
    keep("knobs", {"fidelity": "estimate", "platform": PLATFORM, "base": BASE.to_json(), "designs": designs})


if __name__ == "__main__":
    main()
