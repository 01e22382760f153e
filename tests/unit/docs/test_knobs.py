"""docs/knobs.md has every knob, with the values that it takes and that a search tries."""

import re
from dataclasses import fields
from typing import Any, get_args

import pytest
from pages import ROOT

from bench.site.kept import kept
from compiler import options
from compiler.errors import InvalidInputError
from compiler.options import Knobs
from dse import space

PAGE = (ROOT / "docs" / "knobs.md").read_text(encoding="utf-8")
ROWS = {
    row[0]: row[1:] for row in re.findall(r"^\| \[`(\w+)`\]\(#\w+\) \| (.+?) \| (.+?) \| (.+?) \|$", PAGE, re.MULTILINE)
}
CHOICES = {
    "order": options.LoopOrder,
    "fifo": options.FifoStrategy,
    "multiplier": options.Multiplier,
    "fusion_plan": options.FusionPlan,
    "converters": options.ConverterRule,
    "engines": options.Engines,
    "loads": options.Loads,
    "unrolling": options.Unrolling,
    "weights": options.Weights,
}
# What a search tries of each parameter; `docs/data/knobs.json` has its names.
PARAMETERS = {field: name for name, field in space._FIELDS.items()}


def test_every_knob_has_a_row_a_section_and_a_picture() -> None:
    names = [field.name for field in fields(Knobs)]
    assert sorted(ROWS) == sorted(names)
    assert [name for name in names if f"\n### `{name}`\n" not in PAGE] == []
    sections = {name: PAGE.partition(f"\n### `{name}`\n")[2].partition("\n##")[0] for name in names}
    shown = {name: re.findall(r"\]\((pictures/knob-[\w-]+\.svg)\)", text) for name, text in sections.items()}
    assert [name for name in names if not shown[name]] == ["rows"]  # of replies alone: a table
    assert [file for files in shown.values() for file in files if not (ROOT / "docs" / file).is_file()] == []


@pytest.mark.parametrize("name", [name for name in ROWS if name != "overrides"])
def test_a_row_says_which_values_are_taken(name: str) -> None:
    values, default, _ = ROWS[name]
    assert default.strip("`") == str(getattr(Knobs(), name))
    if name in CHOICES:
        assert sorted(values.split(", ")) == sorted(f"`{choice}`" for choice in get_args(CHOICES[name]))
        return
    low, high = map(int, values.split(" to "))
    for value, taken in ((low - 1, False), (low, True), (high, True), (high + 1, False)):
        assert is_taken({name: value}) == taken, (name, value)


def is_taken(knobs: dict[str, Any]) -> bool:
    try:
        Knobs(**knobs)
    except InvalidInputError:
        return False
    return True


@pytest.mark.parametrize("name", [name for name in ROWS if name != "overrides"])
def test_a_row_says_what_a_search_tries(name: str) -> None:
    values, _, tried = ROWS[name]
    if tried in ("both", "all"):
        tried = values
    if name in space._OF_PROMPTS:
        assert tried == f"{', '.join(map(str, space._TRIED[name]))} with the objective `prompt_time`"
        return
    measured = kept("knobs")["designs"][0]["knobs"][PARAMETERS[name]]
    assert sorted(str(entry["choice"]) for entry in measured) == sorted(part.strip("`") for part in tried.split(", "))


def test_the_curves_are_those_of_the_search() -> None:
    designs = kept("knobs")["designs"]
    names = {*space._FIELDS, *(f"heaviest.{part}" for part in ("tile", "unroll", "order", "weights"))}
    assert all(set(design["knobs"]) == names for design in designs)
