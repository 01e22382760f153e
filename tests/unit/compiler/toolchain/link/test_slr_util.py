import pytest
from fixtures import synthetic_fixture, vitis_fixture

from compiler.errors import ReportError
from compiler.metrics import Fidelity
from compiler.toolchain.link.slr_util import Boundary, parse_slr_util
from compiler.toolchain.source import Source, read_source


def test_dies_and_crossings() -> None:
    report = parse_slr_util(read_source(synthetic_fixture("impl/small_slr_util_routed.rpt")))
    assert (report.state, report.tool_version) == ("Routed", "2024.1")
    low, high = report.slrs
    assert (low.name, low.lut, low.lut_as_memory, low.ff, low.bram36, low.uram, low.dsp) == (
        "SLR0",
        400,
        10,
        500,
        1.5,
        0,
        1,
    )
    assert (high.uram, high.dsp, high.percent["uram"], high.percent["dsp"]) == (2, 16, 2.08, 16.67)
    assert low.percent["dsp"] == 0.01
    assert report.boundaries == (Boundary(("SLR1", "SLR0"), 500, 1000),)
    assert report.crossings == {("SLR1", "SLR0"): 200, ("SLR0", "SLR1"): 300}
    assert [(m.name, m.value, m.fidelity) for m in report.metrics()] == [
        ("sll", 500, Fidelity.LINK),
        ("sll_share", 50, Fidelity.LINK),
        ("slr_lut_share", 40, Fidelity.LINK),
        ("slr_bram36_share", 2, Fidelity.LINK),
        ("slr_dsp_share", 16.67, Fidelity.LINK),
    ]


def test_a_design_over_three_dies() -> None:
    report = parse_slr_util(read_source(vitis_fixture("impl/prometheus_3mm_3SLR_u55c_2023.2_slr_util_routed.rpt")))
    assert [(s.lut, s.ff, s.bram36, s.uram, s.dsp) for s in report.slrs] == [
        (221424, 283096, 292, 0, 1451), (221332, 269919, 170, 40, 1451), (242234, 287519, 138, 0, 1477),
    ]  # fmt: skip
    assert [(b.used, b.available) for b in report.boundaries] == [(7151, 23040), (7418, 23040)]
    assert report.crossings["SLR2", "SLR0"] == 100


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("CLB Registers", "CLB Registres", "no row 'CLB Registers'"),
        ("|   500 |       |      1000 |", "|   500 |       |           |", "Available of SLR1 <-> SLR0"),
        ("|   500 |       |      1000 |", "|   500 |       |         0 |", "above 0"),
        ("2. SLR Connectivity Matrix\n--", "2. SLR Matrix\n--", "no section 'SLR Connectivity Matrix'"),
        ("SLR1 <-> SLR0", "SLR1 --> SLR0", "names no SLRs"),
    ],
)
def test_damaged(old: str, new: str, message: str) -> None:
    text = synthetic_fixture("impl/small_slr_util_routed.rpt").read_text().replace(old, new)
    with pytest.raises(ReportError, match=message):
        parse_slr_util(Source("x.rpt", text))
