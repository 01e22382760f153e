"""Errors are of the prediction, by kind and resource; those held out come from fits that did not see the design."""

from math import isclose

import pytest

from compiler.calibration.errors import error_rows, spread
from compiler.calibration.samples import Amount, Sample, coefficients_of
from compiler.platforms.platform import load_platform

START = coefficients_of(load_platform("u55c").area)


def process(design: str, source: str, processes: int, lut: float) -> Sample:
    features = {"process.base": float(processes)}
    return Sample("dataflow top", source, design, "top", "process", features, Amount(lut), Amount(None))


def test_spread():
    found = spread([-0.2, 0.1, 0.4])
    assert (found.median, found.bias) == (0.2, 0.1)
    assert isclose(found.p90, 0.36)
    assert spread([-0.5]).p90 == 0.5


def test_a_design_is_predicted_by_the_others():
    """Three agree on 100 LUT a process; the odd one of 300 is predicted with their 100, and they hardly mind it."""
    samples = [process(f"d{k}", "a", 2, 200.0) for k in range(5)] + [process("odd", "a", 2, 600.0)]
    (row,) = error_rows(samples, START)
    assert (row.kind, row.resource, row.n, row.designs) == ("dataflow top", "lut", 6, 6)
    assert row.other_designs is not None
    assert row.other_designs.median < 0.15
    assert row.before.median > 0.9  # the platform's 5.6 LUT a process
    assert row.other_sources is None  # all are of one source


def test_sources_are_held_out_whole():
    samples = [process(f"a{k}", "a", 2, 200.0) for k in range(4)] + [process(f"b{k}", "b", 2, 400.0) for k in range(4)]
    (row,) = error_rows(samples, START)
    assert row.other_sources is not None
    assert row.other_designs is not None
    assert row.other_sources.median == pytest.approx(0.75, abs=0.02)  # 400 for 200, and 200 for 400
    assert row.other_designs.median < row.other_sources.median


def test_nothing_is_claimed_where_nothing_could_be_fitted():
    (row,) = error_rows([process("d0", "a", 2, 200.0), process("d1", "b", 2, 200.0)], START)
    assert (row.other_designs, row.other_sources) == (None, None)


def test_memories_need_no_fit():
    memory = Sample("memory", "a", "d", "m", "", {}, Amount(None), Amount(None), bram36=Amount(8.0, 6.0))
    (row,) = error_rows([memory], START)
    assert (row.resource, row.before.bias) == ("bram36", -0.25)
    assert row.other_designs == row.other_sources == row.before


def test_no_samples():
    assert error_rows([], START) == ()
