"""The picture of the first page: a network, the search for its designs, the fastest one on the dies, the C++ of a task.

python -m bench.site.first_page    # two minutes, after bench.site.gallery; writes docs/pictures/first-page.svg

It plays for 20 seconds. The search is that of GPT-2, decode, in the gallery, done anew; its fastest design is compiled.
"""

import json
import re
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from bench.site.front_picture import FAR, scale
from bench.site.kept import draw, kept
from bench.site.networks import BLOCK, board
from bench.site.svg import Drawing, Point
from bench.site.timeline import Timeline
from bench.workload import NoSink, bundle_cache
from compiler.frontend.bundle import import_model
from compiler.options import Knobs
from compiler.pipeline import compile_design
from dse.explore import EvaluatedDesign, SearchOptions, search
from millrace.numbers import number

ENTRY, TASK = "gpt2-decode", "h0_attn_softmax_exp"
TOP, ROW, LINES, LETTERS = 46, 12.5, 34, 66
NETWORK, BOX, DIES, CODE, WIDTH = 16, 138, 326, 702, 1156
PLOT, PLOT_TOP, PLOT_WIDTH, PLOT_HEIGHT = 56, 322, 240, 168
CELL, GAP, COLUMNS = 14, 5, 18
BATCHES = 25  # in which the designs of the search appear
KINDS = {"compute": "f0", "load": "f2", "store": "f2", "converter": "f1", "fork": "f3"}
_PRAGMA = re.compile(r"^\s*#pragma.*$")


@dataclass(frozen=True)
class Story:
    """What is shown: names of operations; latency (us) and energy (uJ) of designs as the search found them, None where
    one can not be built; `dataflow.json` of the fastest design, the lines of one of its tasks, what is kept of it.
    """

    operations: tuple[str, ...]
    found: tuple[Point | None, ...]
    front: tuple[Point, ...]
    dataflow: dict[str, Any]
    code: tuple[str, ...]
    kept: dict[str, Any]


def entry() -> dict[str, Any]:
    [found] = [found for found in kept("gallery")["entries"] if found["name"] == ENTRY]
    return found


def fastest() -> Knobs:
    return Knobs.from_json(entry()["designs"][0]["knobs"])


def story() -> Story:
    """Searched and compiled anew. The front is that of the gallery, or its numbers must be made again first."""
    bundle = import_model(BLOCK.model, BLOCK, bundle_cache())
    how, best = entry()["search"], entry()["designs"][0]
    result = search(bundle.graph, board(), SearchOptions(how["budget"], how["seed"], jobs=1), NoSink())
    assert result.front[0].knobs == fastest(), "the gallery is of another search: run bench.site.gallery"
    with tempfile.TemporaryDirectory() as scratch:
        out = Path(scratch) / "d"
        compile_design(bundle, fastest(), board(), out)
        dataflow = json.loads((out / "dataflow.json").read_text())
        sources = "\n".join(path.read_text() for path in sorted((out / "hls").glob("*.cpp")))
    return Story(
        tuple(op.name.removeprefix("h0.") for op in bundle.graph.in_order.ops),
        tuple(_point(d) if d.evaluation.feasible else None for d in result.designs),
        tuple(_point(d) for d in result.front),
        dataflow,
        tuple(function(sources, TASK)),
        best,
    )


def picture(story: Story) -> str:
    """SVG of the four steps, one after the other; all of them at the end."""
    drawing = Drawing("A GPT-2 block: its operations, a search, the tasks of a design on three dies, C++ of one task")
    timeline = Timeline(drawing)
    _network(drawing, timeline, story.operations)
    _search(drawing, timeline, story)
    _dies(drawing, timeline, story.dataflow)
    _code(drawing, timeline, story)
    return drawing.svg(WIDTH, TOP + ROW * 37 + 20, timeline.style())


def function(sources: str, name: str) -> list[str]:
    """The lines of a function of the emitted C++."""
    found = re.search(rf"^(?:static )?void {name}\(.*?^}}", sources, re.MULTILINE | re.DOTALL)
    assert found is not None, f"no task {name} was emitted"
    return found[0].splitlines()


def _point(design: EvaluatedDesign) -> Point:
    latency, energy = design.evaluation.objectives()
    return latency, energy


def _network(drawing: Drawing, timeline: Timeline, operations: Sequence[str]) -> None:
    with timeline.at(0.2):
        drawing.text(NETWORK, 22, f"1. A GPT-2 block: {len(operations)} operations", kind="title")
    rows = (len(operations) + 1) // 2
    for place, name in timeline.one_by_one(list(enumerate(operations)), 0.4, 3.4):
        x, y = NETWORK + (BOX + 4) * (place // rows), TOP + ROW * (place % rows)
        drawing.rect(x, y - 9, BOX, ROW - 2, "p0", 2)
        drawing.text(x + 4, y, name, kind="small")


def _search(drawing: Drawing, timeline: Timeline, story: Story) -> None:
    far = [FAR * max(point[axis] for point in story.front) for axis in (0, 1)]
    near = [p for p in story.found if p is not None and p[0] <= far[0] and p[1] <= far[1]]
    x = scale([p[0] for p in near], PLOT, PLOT + PLOT_WIDTH)
    y = scale([p[1] for p in near], PLOT_TOP + PLOT_HEIGHT - 16, PLOT_TOP)
    with timeline.at(3.8):
        drawing.text(NETWORK, PLOT_TOP - 22, f"2. A search: {len(story.found)} designs", kind="title")
        drawing.rect(PLOT, PLOT_TOP, PLOT_WIDTH, PLOT_HEIGHT, "axis")
        drawing.text(PLOT + PLOT_WIDTH, PLOT_TOP + PLOT_HEIGHT + 14, "latency", "end", "small")
        drawing.text(PLOT - 4, PLOT_TOP + 9, "energy", "end", "small")
    size = -(-len(story.found) // BATCHES)
    batches = [story.found[start : start + size] for start in range(0, len(story.found), size)]
    for batch in timeline.one_by_one(batches, 4.2, 8.2):
        for point in batch:
            if point in near and point is not None:
                drawing.dot(x(point[0]), y(point[1]), 1.6, "axis")
    with timeline.at(8.4):
        steps = [(x(a), y(b)) for a, b in story.front]
        drawing.line(steps, "s0")
        for step in steps:
            drawing.dot(*step, 3, "f0")
    with timeline.at(9.0):
        drawing.dot(*steps[0], 6, "s1 hollow")
        text = f"fastest: {number(story.kept['estimate']['latency'])} us"
        drawing.text(steps[0][0], steps[0][1] + 24, text, kind="small")
        drawing.arrow((PLOT + PLOT_WIDTH + 6, PLOT_TOP + 40), (DIES - 6, PLOT_TOP + 40))


def _dies(drawing: Drawing, timeline: Timeline, dataflow: dict[str, Any]) -> None:
    tasks, streams, slr = dataflow["tasks"], dataflow["streams"], dataflow["placement"]["slr"]
    dies = sorted(set(slr.values()), reverse=True)
    places = _places(tasks, slr, dies)
    height = (ROW * 36 - 16 * (len(dies) - 1)) / len(dies)
    with timeline.at(9.6):
        title = f"3. The fastest: {len(tasks)} tasks, {len(streams)} streams, {len(dies)} dies"
        drawing.text(DIES, 22, title, kind="title")
        for place, die in enumerate(dies):
            top = TOP - 9 + place * (height + 16)
            drawing.rect(DIES, top, COLUMNS * (CELL + GAP) + 10, height, "axis", 4)
            drawing.text(DIES + 6, top + 14, die, kind="small")
        _legend(drawing)
    half = CELL / 2
    ends = [(places[stream["source"]], places[stream["target"]]) for stream in streams]
    for (a, b), (u, v) in timeline.one_by_one(ends, 11.6, 13.6):
        drawing.line([(a + half, b + half), (u + half, v + half)], "grid")
    for task in timeline.one_by_one(tasks, 10.0, 12.6):
        drawing.rect(*places[task["name"]], CELL, CELL, KINDS.get(task["kind"], "f0"), 2)


def _places(tasks: Sequence[dict[str, Any]], slr: dict[str, str], dies: Sequence[str]) -> dict[str, Point]:
    """The corner of each task's cell, row by row in its die."""
    height = (ROW * 36 - 16 * (len(dies) - 1)) / len(dies)
    places: dict[str, Point] = {}
    for die in dies:
        top = TOP - 9 + dies.index(die) * (height + 16)
        for place, name in enumerate(task["name"] for task in tasks if slr[task["name"]] == die):
            column, row = place % COLUMNS, place // COLUMNS
            places[name] = (DIES + 10 + column * (CELL + GAP), top + 24 + row * (CELL + 2 * GAP))
    return places


def _legend(drawing: Drawing) -> None:
    y = TOP + ROW * 36 + 8
    for place, (name, kind) in enumerate(
        (("compute", "f0"), ("converter", "f1"), ("load, store", "f2"), ("fork", "f3"))
    ):
        drawing.rect(DIES + 84 * place, y, 10, 10, kind, 2)
        drawing.text(DIES + 84 * place + 14, y + 9, name, kind="small")


def _code(drawing: Drawing, timeline: Timeline, story: Story) -> None:
    with timeline.at(14.0):
        drawing.arrow((DIES + COLUMNS * (CELL + GAP) + 14, TOP + ROW * 18), (CODE - 6, TOP + ROW * 18))
        drawing.text(CODE, 22, "4. C++ of one task", kind="title")
    shown = story.code if len(story.code) <= LINES else (*story.code[: LINES - 1], "    ...")
    for place, line in timeline.one_by_one(list(enumerate(shown)), 14.2, 17.0):
        kind = "code f1" if _PRAGMA.match(line) else "code"
        text = line if len(line) <= LETTERS else line[: LETTERS - 2] + " \u2026"
        drawing.text(CODE, TOP + ROW * 1.06 * place, text.replace(" ", "\u00a0"), kind=kind)
    with timeline.at(17.2):
        run = story.kept["simulate"]
        said = f"Simulated: {run['cycles']:,} cycles, {number(run['latency'])} us a layer and token"
        drawing.text(CODE, TOP + ROW * 1.06 * (len(shown) + 2), said, kind="title")


def main() -> None:
    draw("first-page", picture(story()))


if __name__ == "__main__":
    main()
