"""Operator cores by their RTL names."""

import pytest

from compiler.calibration.cores import core_area, is_core


@pytest.mark.parametrize(
    ("name", "lut", "ff", "dsp"),
    [
        ("fadd_32ns_32ns_32_7_full_dsp_1_U15", 198, 318, 2),
        ("faddfsub_32ns_32ns_32_7_full_dsp_1", 198, 318, 2),
        ("fadd_32ns_32ns_32_5_no_dsp_1_U2", 338, 243, 0),
        ("fmul_32ns_32ns_32_4_max_dsp_0", 78, 143, 3),
        ("fmul_32ns_32ns_32_3_max_dsp_1_U2269", 78, 143, 3),  # of the nearest number of stages
        ("sitofp_32s_32_5_no_dsp_1", 0, 0, 0),
        ("mul_8ns_10ns_17_1_1", 62, 0, 0),
        ("mul_4ns_7ns_10_1_1_U9", 33, 0, 0),
        ("mul_16s_10ns_26_1_0", 5, 0, 1),
    ],
)
def test_known_cores(name: str, lut: int, ff: int, dsp: int):
    area = core_area(name)
    assert area is not None
    assert (area.lut, area.ff, area.dsp) == (lut, ff, dsp)


@pytest.mark.parametrize(
    "name", ["fpow_32ns_32ns_32_9_full_dsp_1", "mul_64ns_66ns_129_5_1", "sparsemux_65_5_32_1_1_U3"]
)
def test_unknown_cores(name: str):
    assert core_area(name) is None


def test_plain_logic_is_no_core():
    assert not is_core("add_ln172_1_fu_112_p2")
    assert is_core("sparsemux_65_5_32_1_1_U343")
