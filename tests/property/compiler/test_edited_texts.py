"""Whatever a person does to the text of a stage: it is a design that the compiler goes on from, or it is refused."""

import re
from contextlib import suppress
from functools import cache

from examples import examples
from hypothesis import given, settings
from hypothesis import strategies as st
from layered_networks import folded_layers
from plans import U55C, plans
from small_graphs import ALL as SMALL

from compiler.analysis.build import task_graph
from compiler.errors import MillraceError
from compiler.ir.read import parse_design
from compiler.ir.write import design_text
from compiler.options import Knobs
from compiler.passes.design_passes import DESIGN_PASSES

ALL = {**SMALL, "layers": folded_layers}
KNOBS = Knobs(default_tile_size=8, fusion_budget=64)
PASSES = [pass_.name for pass_ in DESIGN_PASSES]
WORDS = (r"\d+", r"%\w+", r"@\w+", r'"[\w.]+"', r"[a-z_]+", r'[][<>(){}",=x]')


@cache
def texts() -> list[tuple[str, int]]:
    """Of each network after each stage, and how many passes have run."""
    return [
        (design_text(design, f"after {stage}"), PASSES.index(stage) + 1 if stage in PASSES else 0)
        for make in ALL.values()
        for stage, design in plans(make(), KNOBS).items()
    ]


@st.composite
def edits(draw: st.DrawFn) -> tuple[str, int]:
    """The text of a stage with one line less, two lines swapped, or a word in place of another; passes that follow."""
    text, following = draw(st.sampled_from(texts()))
    lines = text.splitlines(keepends=True)
    a, b = (draw(st.integers(0, len(lines) - 1)) for _ in range(2))
    match draw(st.sampled_from(("less", "swapped", *WORDS))):
        case "less":
            del lines[a]
            return "".join(lines), following
        case "swapped":
            lines[a], lines[b] = lines[b], lines[a]
            return "".join(lines), following
        case kind:
            words = list(re.finditer(kind, text))
            old, new = (words[draw(st.integers(0, len(words) - 1))] for _ in range(2))
            return text[: old.start()] + new[0] + text[old.end() :], following


@settings(max_examples=examples(150))
@given(edits())
def test_an_edited_text_is_a_design_or_refused(edit: tuple[str, int]) -> None:
    text, following = edit
    with suppress(MillraceError):
        design = parse_design(text, U55C)
        assert parse_design(design_text(design, "now"), U55C) == design
        for pass_ in DESIGN_PASSES[following:]:
            design = pass_(KNOBS).run(design)
        task_graph(design).verify()
