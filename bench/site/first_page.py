"""The picture of the first page: a network, its tasks on the dies of the board, and the C++ of one task.

python -m bench.site.first_page    # a minute, after bench.site.gallery; writes docs/pictures/first-page.svg

The design is the fastest of GPT-2, decode, in the gallery, compiled anew.
"""

import json
import re
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from bench.site.kept import draw, kept
from bench.site.networks import DEMO, board
from bench.site.svg import Drawing
from bench.workload import bundle_cache
from compiler.frontend.bundle import import_model
from compiler.options import Knobs
from compiler.pipeline import compile_design

ENTRY, TASK = "gpt2-decode", "h0_attn_softmax_exp"
TOP, ROW, LINES = 46, 12.5, 34
NETWORK, DIES, CODE, WIDTH = 16, 250, 640, 1150
CELL, GAP, COLUMNS = 14, 5, 18
KINDS = {"compute": "f0", "load": "f2", "store": "f2", "converter": "f1", "fork": "f3"}
_KEYWORDS = re.compile(r"^\s*#pragma.*$")


def picture() -> str:
    """SVG of the design's three faces."""
    bundle = import_model(DEMO.model, DEMO, bundle_cache())
    with tempfile.TemporaryDirectory() as scratch:
        out = Path(scratch) / "d"
        compile_design(bundle, fastest(), board(), out)
        dataflow = json.loads((out / "dataflow.json").read_text())
        sources = "\n".join(path.read_text() for path in sorted((out / "hls").glob("*.cpp")))
    drawing = Drawing("A GPT-2 block: its operations, its tasks on three dies, and the C++ of one task")
    _network(drawing, [op.name for op in bundle.graph.in_order.ops])
    _dies(drawing, dataflow)
    _code(drawing, function(sources, TASK))
    return drawing.svg(WIDTH, TOP + ROW * 37 + 20)


def fastest() -> Knobs:
    [entry] = [entry for entry in kept("gallery")["entries"] if entry["name"] == ENTRY]
    return Knobs.from_json(entry["designs"][0]["knobs"])


def function(sources: str, name: str) -> list[str]:
    """The lines of a function of the emitted C++."""
    found = re.search(rf"^(?:static )?void {name}\(.*?^}}", sources, re.MULTILINE | re.DOTALL)
    assert found is not None, f"no task {name} was emitted"
    return found[0].splitlines()


def _network(drawing: Drawing, operations: Sequence[str]) -> None:
    drawing.text(NETWORK, 22, f"One GPT-2 block: {len(operations)} operations", kind="title")
    for number, name in enumerate(operations):
        y = TOP + ROW * number
        drawing.rect(NETWORK, y - 9, 190, ROW - 2, "p0", 2)
        drawing.text(NETWORK + 6, y, name, kind="small")
    middle = TOP + ROW * len(operations) / 2
    drawing.arrow((NETWORK + 196, middle), (DIES - 12, middle))


def _dies(drawing: Drawing, dataflow: dict[str, Any]) -> None:
    tasks, streams, slr = dataflow["tasks"], dataflow["streams"], dataflow["placement"]["slr"]
    dies = sorted(set(slr.values()), reverse=True)
    drawing.text(DIES, 22, f"{len(tasks)} tasks and {len(streams)} streams on {len(dies)} dies", kind="title")
    height = (ROW * 36 - 16 * (len(dies) - 1)) / len(dies)
    places: dict[str, tuple[float, float]] = {}
    for number, die in enumerate(dies):
        top = TOP - 9 + number * (height + 16)
        drawing.rect(DIES, top, COLUMNS * (CELL + GAP) + 10, height, "axis", 4)
        drawing.text(DIES + 6, top + 14, die, kind="small")
        own = [task["name"] for task in tasks if slr[task["name"]] == die]
        for place, name in enumerate(own):
            column, row = place % COLUMNS, place // COLUMNS
            places[name] = (DIES + 10 + column * (CELL + GAP), top + 24 + row * (CELL + 2 * GAP))
    half = CELL / 2
    for stream in streams:
        (x, y), (u, v) = places[stream["source"]], places[stream["target"]]
        drawing.line([(x + half, y + half), (u + half, v + half)], "grid")
    for task in tasks:
        drawing.rect(*places[task["name"]], CELL, CELL, KINDS.get(task["kind"], "f0"), 2)
    _legend(drawing)
    drawing.arrow((DIES + COLUMNS * (CELL + GAP) + 14, TOP + ROW * 18), (CODE - 10, TOP + ROW * 18))


def _legend(drawing: Drawing) -> None:
    y = TOP + ROW * 36 + 8
    for number, (name, kind) in enumerate(
        (("compute", "f0"), ("converter", "f1"), ("load, store", "f2"), ("fork", "f3"))
    ):
        drawing.rect(DIES + 84 * number, y, 10, 10, kind, 2)
        drawing.text(DIES + 84 * number + 14, y + 9, name, kind="small")


def _code(drawing: Drawing, lines: Sequence[str]) -> None:
    drawing.text(CODE, 22, "C++ of one task", kind="title")
    shown = list(lines) if len(lines) <= LINES else [*lines[: LINES - 1], "    ..."]
    for number, line in enumerate(shown):
        kind = "code f1" if _KEYWORDS.match(line) else "code"
        text = line if len(line) <= 74 else line[:72] + " \u2026"
        drawing.text(CODE, TOP + ROW * 1.06 * number, text.replace(" ", "\u00a0"), kind=kind)


def main() -> None:
    draw("first-page", picture())


if __name__ == "__main__":
    main()
