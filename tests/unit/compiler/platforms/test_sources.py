"""The tables of the shipped board: each number has a source, and none got smaller without one."""

import tomllib
from collections.abc import Callable, Iterator
from importlib.resources import files
from pathlib import Path
from typing import Any

import pytest

from compiler.calibration.cores import core_area
from compiler.platforms.platform import load_platform

U55C: dict[str, Any] = tomllib.loads(files("compiler.platforms").joinpath("u55c.toml").read_text())
BEFORE: dict[str, Any] = tomllib.loads((Path(__file__).parents[3] / "data" / "u55c_cdb5aca.toml").read_text())
AREAS = ("lut", "ff", "dsp")
KINDS = ("row", "fit", "formula", "guess")
# Width formulas: LUT, FF and DSP of an operator on so many bits. A new one comes with the rows that it was checked
# against.
FORMULAS: dict[str, Callable[[int], tuple[int, int, int]]] = {
    "a LUT a bit": lambda bits: (bits, 0, 0),
    "a LUT and a FF a bit": lambda bits: (bits, bits, 0),
    "one DSP48E2, whose factors have 27 and 18 bits": lambda _: (0, 0, 1),
    "nothing": lambda _: (0, 0, 0),
}


def entries(area: dict[str, Any], prefix: str = "") -> Iterator[tuple[str, dict[str, float]]]:
    """Every pair of LUT and FF of the area table, by its path."""
    for name, value in area.items():
        if isinstance(value, dict):
            if "lut" in value:
                yield prefix + name, value
            else:
                yield from entries(value, f"{prefix}{name}.")


def test_every_number_names_its_source() -> None:
    sources = U55C["sources"]
    assert set(sources["operators"]) == set(U55C["operators"])
    assert set(sources["area"]) == {name for name, _ in entries(U55C["area"])}
    areas = [source for of in ("operators", "area") for source in sources[of].values()]
    assert {source.split(":")[0].split()[0] for source in areas} == set(KINDS)
    assert set(sources["clock"]) == set(U55C["clock"])


@pytest.mark.parametrize("name", U55C["operators"])
def test_an_operator_is_what_its_source_says(name: str) -> None:
    kind, _, what = U55C["sources"]["operators"][name].partition(" ")
    ours = load_platform("u55c").operators[name]
    assert ours.guess == kind.startswith("guess")
    if kind == "row":
        row = core_area(what)
        assert row is not None
        assert (ours.lut, ours.dsp) == (row.lut, row.dsp)
        assert ours.ff >= row.ff
    elif kind.startswith("formula"):
        bits = 64 if name.endswith("_64") else 32
        assert (ours.lut, ours.ff, ours.dsp) == FORMULAS[what](bits)


def test_no_operator_is_smaller_than_it_was_unless_a_row_or_a_formula_says_so() -> None:
    for name, was in BEFORE["operators"].items():
        now, source = U55C["operators"][name], U55C["sources"]["operators"][name]
        smaller = [r for r in (*AREAS, "latency", "bits") if now.get(r, 0) < was.get(r, 0)]
        assert not smaller or source.startswith(("row", "formula")), f"{name}: {smaller}, by {source}"
        assert now.get("guess", False) >= was.get("guess", False) or source.startswith("row"), name


def test_no_area_is_smaller_than_it_was() -> None:
    """A fit may change them: then this table is renewed together with the errors in docs/calibration.md."""
    now = dict(entries(U55C["area"]))
    for name, was in entries(BEFORE["area"]):
        assert all(now[name][r] >= was[r] for r in ("lut", "ff")), name
