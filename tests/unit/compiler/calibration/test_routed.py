"""Factors from csynth to routed kernels, and their error on other designs."""

from pathlib import Path

import pytest
from fixtures import vitis_fixture

from compiler.calibration.routed import KernelPair, factors_of, pairs_of_table, routed_rows
from compiler.errors import InvalidInputError
from compiler.platforms.platform import load_platform


def pair(source: str, design: str, lut: float, routed: float) -> KernelPair:
    rest = {"ff": 0.0, "dsp": 0.0, "bram36": 0.0}
    return KernelPair(source, design, "k", {"lut": lut, **rest}, {"lut": routed, **rest})


def test_median_and_spread():
    pairs = [pair("a", f"d{k}", 1000.0, 1000.0 * ratio) for k, ratio in enumerate([0.5, 0.6, 0.7, 0.8, 0.9])]
    factor = factors_of(pairs)["lut"]
    assert (factor.factor, factor.low, factor.high) == (0.7, pytest.approx(0.54), pytest.approx(0.86))


def test_small_kernels_say_nothing():
    assert factors_of([pair("a", "d", 499.0, 1.0), pair("a", "e", 499.0, 1.0)]) == {}


def test_held_out():
    pairs = [
        pair("a", "d0", 1000, 500),
        pair("a", "d1", 1000, 500),
        pair("b", "d2", 1000, 1000),
        pair("b", "d3", 1000, 1000),
    ]
    (row,) = routed_rows(pairs)
    assert row.before.median == 0.5  # 100 % too much for two, right for two
    assert row.other_sources is not None
    assert row.other_sources.median == 0.75  # 1.0 for 0.5, 0.5 for 1.0


def test_the_platform_has_the_factors_of_the_table():
    pairs = pairs_of_table(vitis_fixture("derived/u55c_hls_vs_routed.csv"))
    assert len(pairs) == 18
    assert factors_of(pairs) == load_platform("u55c").routed


def test_a_foreign_table(tmp_path: Path):
    file = tmp_path / "x.csv"
    file.write_text("a,b\n1,2\n")
    with pytest.raises(InvalidInputError, match="no table"):
        pairs_of_table(file)
