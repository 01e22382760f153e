import pytest
from fixtures import synthetic_fixture, vitis_fixture

from compiler.errors import ReportError
from compiler.metrics import Fidelity
from compiler.toolchain.link.vivado_power import Block, parse_vivado_power
from compiler.toolchain.source import Source, read_source

SMALL = "power/small_vivado_power.rpt"


def test_total_and_blocks() -> None:
    report = parse_vivado_power(read_source(synthetic_fixture(SMALL)))
    assert (report.state, report.device, report.confidence) == ("routed", "xcu55c-fsvh2892-2L-e", "Medium")
    assert (report.total_w, report.dynamic_w, report.static_w) == (24.5, 20, 4.5)
    assert report.by_resource[1:5] == (
        Block("CLB Logic", 0, 7.5), Block("LUT as Logic", 1, 7.499), Block("CARRY8", 1, 0.001), Block("HBM", 0, 7.5),
    )  # fmt: skip
    assert report.by_block == (Block("level0_wrapper", 0, 20), Block("ulp", 1, 12), Block("gemm_1", 2, 9))
    assert [(m.name, m.value, m.unit, m.fidelity) for m in report.metrics()] == [
        ("power", 24.5, "W", Fidelity.LINK),
        ("power_dynamic", 20, "W", Fidelity.LINK),
        ("power_static", 4.5, "W", Fidelity.LINK),
    ]


def test_a_real_one() -> None:
    report = parse_vivado_power(read_source(vitis_fixture("power/apollo_zynq_vivado_power.rpt")))
    assert (report.total_w, report.dynamic_w, report.static_w) == (0.161, 0.058, 0.104)
    assert report.by_resource[-1] == Block("Total", 0, 0.161)
    assert Block("wreq_burst_conv", 3, 0.004) in report.by_block


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("| Dynamic (W) ", "| Dinamic (W) ", r"Dynamic \(W\)"),
        ("|    20.000 |", "|    2o.000 |", "not a number"),
        ("3.1 By Hierarchy", "3.1 By hierarchy", "no section 'By Hierarchy'"),
    ],
)
def test_damaged(old: str, new: str, message: str) -> None:
    text = synthetic_fixture(SMALL).read_text().replace(old, new)
    with pytest.raises(ReportError, match=message):
        parse_vivado_power(Source("x.rpt", text))
