"""Worked designs: a search each, and of its front the fastest, the knee and the most frugal one, simulated.

python -m bench.site.gallery            # some minutes; writes docs/data/gallery.json
python -m bench.site.gallery mlp        # only that one; the others stay as they are
python -m bench.site                    # draws it
"""

import argparse
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from bench.site.front_picture import front_picture
from bench.site.kept import DATA, PLATFORM, commit, keep, kept
from bench.site.mlp import FILE
from bench.workload import NoSink, bundle_cache
from compiler.frontend.bundle import import_model
from compiler.graph.linalg_graph import LinalgGraph
from compiler.options import Knobs, Workload
from compiler.passes.design_passes import planned_tasks
from compiler.platforms.platform import Platform, load_platform
from compiler.simulator.timing.simulate import simulate
from compiler.sizing.certify import size
from compiler.sizing.relayed import size_placed
from dse.explore import EvaluatedDesign, SearchOptions, SearchResult, search
from millrace.numbers import number

SEED = 0
METRICS = ("latency", "energy", "lut", "ff", "dsp", "bram36", "uram", "hbm_traffic", "kernels", "tasks")


@dataclass(frozen=True)
class Entry:
    """A network and how many designs of it are looked at."""

    name: str
    title: str
    workload: Workload
    budget: int
    file: Path | None = None


ENTRIES = (
    Entry("mlp", "An ONNX MLP", Workload("mlp.onnx", "prefill", 16, "f32"), 300, FILE),
    Entry("gpt2-decode", "GPT-2 (124M), decode", Workload("gpt2", "decode", 64, "w4a8"), 500),
    Entry("gpt2-medium-decode", "GPT-2 medium, decode", Workload("gpt2-medium", "decode", 128, "w4a8"), 500),
    Entry("gpt2-medium-prefill", "GPT-2 medium, prefill", Workload("gpt2-medium", "prefill", 64, "w4a8"), 100),
    Entry("qwen2.5-prefill", "Qwen2.5 0.5B, prefill", Workload("qwen2.5-0.5b", "prefill", 16, "w4a8"), 100),
)


def of_entry(entry: Entry, platform: Platform) -> dict[str, Any]:
    """The front of one search, and what is known of three designs of it."""
    bundle = import_model(entry.file or entry.workload.model, entry.workload, bundle_cache())
    found = search(bundle.graph, platform, SearchOptions(entry.budget, SEED, jobs=1), NoSink())
    return {
        "name": entry.name,
        "commit": commit(),
        "title": entry.title,
        "workload": asdict(bundle.workload) | {"model": entry.workload.model},
        "search": {"budget": entry.budget, "seed": SEED, "sampler": SearchOptions().sampler},
        "feasible": sum(design.evaluation.feasible for design in found.designs),
        "others": sorted({_point(design) for design in found.designs if design.evaluation.feasible}),
        "front": [_point(design) for design in found.front],
        "designs": [of_design(name, d, bundle.graph, platform) for name, d in picked(found).items()],
    }


def picked(found: SearchResult) -> dict[str, EvaluatedDesign]:
    """By name; where the front is short, one design may have several names and keeps the first."""
    assert found.knee is not None, "a front of a network that fits has a knee"
    named = {"fastest": found.front[0], "knee": found.knee, "most frugal": found.front[-1]}
    names = {design.key: name for name, design in reversed(named.items())}
    return {name: design for name, design in named.items() if names[design.key] == name}


def _point(design: EvaluatedDesign) -> tuple[float, float]:
    latency, energy = design.evaluation.objectives()
    return float(f"{latency:.5g}"), float(f"{energy:.5g}")


def of_design(name: str, design: EvaluatedDesign, graph: LinalgGraph, platform: Platform) -> dict[str, Any]:
    """Its knobs where they are not the default, its estimate, and its latency simulated with certified FIFOs, at its
    clock.
    """
    values = {metric.name: metric.value for metric in design.evaluation.metrics}
    sizing = size(planned_tasks(graph, design.knobs, platform), design.knobs.fifo, platform)
    sized = size_placed(sizing, platform)[0].tasks
    run = simulate(sized, platform, clock_mhz=values["clock"], buckets=0)
    assert run.deadlock is None, f"{name} deadlocks: {run.deadlock}"
    standard = asdict(Knobs())
    return {
        "name": name,
        "knobs": {knob: value for knob, value in design.knobs.to_json().items() if value != standard[knob]},
        "estimate": {metric: float(f"{values[metric]:.5g}") for metric in METRICS},
        "simulate": {"cycles": run.cycles, "latency": float(f"{run.latency_us:.5g}")},
    }


def tables(name: str) -> str:
    """One entry of the page, as Markdown: how it was found, its numbers, its knobs."""
    entry = next(e for e in kept("gallery")["entries"] if e["name"] == name)
    w, how = entry["workload"], entry["search"]
    shape = "" if w["model"].endswith(".onnx") else f"{w['phase']} {w['length']}, "  # a file has its own
    said = f"{w['model']}, {shape}{w['precision']}; {how['budget']} designs, seed {how['seed']}: "
    counts = f"{entry['feasible']} feasible, {len(entry['front'])} on the front."
    designs = entry["designs"]
    return "\n".join([said + counts, "", *_numbers(designs), "", *_knobs(designs)]) + "\n"


def _numbers(designs: Sequence[dict[str, Any]]) -> Iterator[str]:
    """A row a design."""
    yield "| design | latency us, estimate | simulate | energy uJ, estimate | LUT | DSP | BRAM36 | URAM |"
    yield "|---|---:|---:|---:|---:|---:|---:|---:|"
    for design in designs:
        found = design["estimate"]
        numbers = [found["latency"], design["simulate"]["latency"], found["energy"]]
        numbers += [found[resource] for resource in ("lut", "dsp", "bram36", "uram")]
        yield f"| {design['name']} | {' | '.join(map(number, numbers))} |"


def _knobs(designs: Sequence[dict[str, Any]]) -> Iterator[str]:
    """A row a knob that is not at its default in some design, a column a design."""
    standard = asdict(Knobs())
    yield f"| knob | {' | '.join(design['name'] for design in designs)} |"
    yield "|---|" + "---:|" * len(designs)
    for knob in [name for name in standard if any(name in design["knobs"] for design in designs)]:
        values = [design["knobs"].get(knob, standard[knob]) for design in designs]
        said = [str(len(value) if knob == "overrides" else value) for value in values]
        what = ", operations" if knob == "overrides" else ""
        yield f"| [`{knob}`](knobs.md#{knob}){what} | {' | '.join(said)} |"


def measure(names: Sequence[str]) -> None:
    """Measure these entries, and keep each as soon as it is there."""
    platform = load_platform(PLATFORM)
    for entry in ENTRIES:
        if entry.name not in names:
            continue
        known = {e["name"]: e for e in kept("gallery")["entries"]} if (DATA / "gallery.json").exists() else {}
        known[entry.name] = of_entry(entry, platform)
        entries = [known[e.name] for e in ENTRIES if e.name in known]
        keep("gallery", {"platform": PLATFORM, "entries": entries})


def pictures() -> dict[str, str]:
    """The front of each entry, as SVG by the name of its picture."""
    return {f"front-{entry['name']}": front_picture(entry) for entry in kept("gallery")["entries"]}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*", help=f"{', '.join(entry.name for entry in ENTRIES)} (all)")
    measure(parser.parse_args().names or [entry.name for entry in ENTRIES])


if __name__ == "__main__":
    main()
