"""A design gets no more than its shape allows, than is asked for, and than any as large is known to have."""

import pytest

from compiler.platforms.clock import ClockCoefficients, ClockModel, ClockShape, LargeDesigns
from compiler.platforms.platform import load_platform

EMPTY = ClockShape(0.0)
QUICK = ClockModel(ClockCoefficients(2.0), LargeDesigns(400_000, 4_000, 225.0))


def test_the_period_is_the_sum_of_its_parts() -> None:
    model = ClockCoefficients(base=2.0, fill=1.0, crossed=0.75, registered=0.25, crowded=4.0)
    assert model.mhz(EMPTY) == 500
    assert model.mhz(ClockShape(0.8, crossed=True, crowded=0.1)) == pytest.approx(1e3 / (2.0 + 0.8 + 0.75 + 0.4))
    assert model.mhz(ClockShape(0.8, registered=True)) == pytest.approx(1e3 / (2.0 + 0.8 + 0.25))


def test_no_design_is_faster_than_asked_or_than_any_as_large_that_is_known() -> None:
    assert QUICK.mhz(EMPTY, 400_000, 4_000, asked=250) == 250
    assert QUICK.mhz(EMPTY, 400_001, 0, asked=250) == QUICK.mhz(EMPTY, 0, 4_001, asked=250) == 225
    assert QUICK.mhz(EMPTY, 1_000, 0, asked=300) == 300
    assert QUICK.mhz(EMPTY, 500_000, 0, asked=200) == 200
    assert ClockModel(ClockCoefficients(5.0)).mhz(EMPTY, 500_000, 0, asked=250) == 200


def test_the_board_caps_large_designs_and_pays_for_crossings_without_registers() -> None:
    u55c = load_platform("u55c")
    assert u55c.clock.large == LargeDesigns(400_000, 4_000, 225.0)
    assert u55c.clock_mhz == 250
    shapes = ClockShape(0.5), ClockShape(0.5, crossed=True), ClockShape(0.5, registered=True)
    alone, across, through = (u55c.clock.mhz(shape, 1e5, 0, 250) for shape in shapes)
    assert across < alone - 30
    assert across < through <= alone
