"""The clock model finds what made the rows, takes bounds as bounds, and is no worse than one clock."""

import tomllib
from dataclasses import replace
from importlib.resources import files
from pathlib import Path
from statistics import fmean

import pytest
from fixtures import vitis_fixture

from compiler.calibration.clock import (
    ClockRow,
    determined,
    fitted,
    fitted_constant,
    left_out,
    published_rows,
    table_rows,
)
from compiler.platforms.clock import COEFFICIENTS, ClockCoefficients
from compiler.platforms.platform import load_platform

U55C = load_platform("u55c")
BOARD = tomllib.loads(files("compiler.platforms").joinpath("u55c.toml").read_text())
SOURCES: dict[str, str] = BOARD["sources"]["clock"]
TRUTH = ClockCoefficients(3.0, 1.5, 1.0, 0.5)
SHAPES = [(0.1, ""), (0.7, "crossed"), (0.4, ""), (0.2, "crossed"), (0.6, "registered"), (0.3, "registered"), (0.5, "")]


def routed_rows() -> list[ClockRow]:
    return [*table_rows(vitis_fixture("derived/u55c_hls_vs_routed.csv"), U55C), *published_rows()]


def made(fill: float, how: str) -> ClockRow:
    row = ClockRow(f"{fill} {how}", "made here", 1.0, fill, how == "crossed", how == "registered", False)
    return replace(row, mhz=TRUTH.mhz(row.shape))


ROWS = [made(*shape) for shape in SHAPES]


def test_the_coefficients_that_made_the_rows_are_found() -> None:
    found = fitted(ROWS)
    assert found.values == pytest.approx(TRUTH.values, abs=1e-3)
    assert determined(found) == ("base", "fill", "crossed", "registered")
    assert max(map(abs, left_out(ROWS, fitted).values())) < 1


def test_one_that_no_row_has_is_not_determined() -> None:
    rows = [made(fill, "") for fill, _ in SHAPES]
    assert determined(fitted(rows)) == ("base", "fill")
    bound = replace(rows[0], crossed=True, reached=True, mhz=2 * rows[0].mhz)
    assert "crossed" not in determined(fitted([*rows, bound]))


def test_a_design_that_met_its_target_is_a_bound() -> None:
    """Slower than the model it says nothing, and no error is counted for it; faster it pulls the model up."""
    slow, fast = (replace(ROWS[0], design="met", mhz=factor * ROWS[0].mhz, reached=True) for factor in (0.5, 1.3))
    assert fitted([*ROWS, slow]).values == pytest.approx(TRUTH.values, abs=1e-3)
    assert fitted([*ROWS, fast]).mhz(fast.shape) > TRUTH.mhz(fast.shape) + 5
    assert set(left_out([*ROWS, slow], fitted)) == {row.design for row in ROWS}


def test_kernels_of_a_design_lie_on_the_dies_that_they_are_named_after(tmp_path: Path) -> None:
    table = tmp_path / "table.csv"
    table.write_text(
        "src,design,kernel,tgt_ns,board_MHz,LUT_hls,DSP_hls\n"
        "a,two,slr0,4.0,200,100000,0\na,two,slr1,4.0,200,200000,30\nb,one,top,5.0,200,50000,288\n"
    )
    two, one = table_rows(table, U55C)
    slr0, slr1 = U55C.dies.slrs[:2]
    assert two.fill == pytest.approx(200000 / slr1.lut)
    assert one.fill == pytest.approx(50000 / slr0.lut)
    assert (two.crossed, two.reached, one.crossed, one.reached) == (True, False, False, True)


def test_on_routed_designs_it_errs_no_more_than_one_clock() -> None:
    rows = routed_rows()
    assert sum(row.reached for row in rows) == 4
    for power in (1, 2):
        errors = [fmean(abs(e) ** power for e in left_out(rows, fit).values()) for fit in (fitted, fitted_constant)]
        assert errors[0] <= errors[1]


def test_the_board_has_what_the_rows_say_and_names_what_is_assumed() -> None:
    found, ours = fitted(routed_rows()), U55C.clock.coefficients
    for name, by_rows, value in zip(COEFFICIENTS, found.values, ours.values, strict=True):
        assumed = SOURCES[name].startswith("assumed: ")
        assert assumed or SOURCES[name].startswith("rows: ")
        assert assumed or value == pytest.approx(by_rows, abs=1e-3), name
        assert not assumed or name not in determined(found), name
