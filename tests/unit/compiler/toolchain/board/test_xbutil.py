"""`xbutil examine` in its two forms, and the exporter's text: the same reading."""

import pytest
from fixtures import synthetic_fixture, vitis_fixture

from compiler.errors import ReportError
from compiler.metrics import Fidelity
from compiler.toolchain.board.prometheus import parse_prometheus
from compiler.toolchain.board.sensors import BoardReading, Examine, Rail, Temperature
from compiler.toolchain.board.xbutil_json import parse_xbutil_json
from compiler.toolchain.board.xbutil_text import parse_xbutil_text
from compiler.toolchain.source import Source, read_source


def text(name: str) -> BoardReading:
    (board,) = parse_xbutil_text(read_source(vitis_fixture(f"xbutil/{name}.txt"))).boards
    return board


def small_json(old: str = "'", new: str = "'") -> Examine:
    content = synthetic_fixture("xbutil/small_examine.json").read_text()
    return parse_xbutil_json(Source("x.json", content.replace(old, new)))


def test_text() -> None:
    report = parse_xbutil_text(read_source(synthetic_fixture("xbutil/small_examine.txt")))
    (board,) = report.boards
    assert (board.device, board.shell) == ("0000:3b:00.1", "xilinx_u55c_gen3x16_xdma_base_3")
    assert (board.power_w, board.max_power_w, board.power_warning) == (26.64, 225, False)
    assert board.rails == (
        Rail("", "12 Volts Auxillary", 12, 1), Rail("", "12 Volts PCI Express", 12, 1.22),
        Rail("", "3.3 Volts PCI Express", 3.3, None), Rail("", "Internal FPGA Vcc", 0.85, 10),
    )  # fmt: skip
    assert board.rails_w == pytest.approx(26.64)
    assert board.temperatures == (Temperature("", "FPGA", 57), Temperature("", "FPGA HBM", 52))
    assert [(m.name, m.value, m.fidelity) for m in report.metrics()] == [("power", 26.64, Fidelity.BOARD)]


def test_json() -> None:
    report = small_json()
    (board,) = report.boards
    assert (report.xrt_version, board.device, board.shell) == (
        "2.17.319",
        "0000:3b:00.1",
        "xilinx_u55c_gen3x16_xdma_base_3",
    )
    assert (board.power_w, board.max_power_w, board.power_warning) == (24, 225, True)
    assert board.rails == (Rail("12v_pex", "12 Volts PCI Express", 12, 2), Rail("1v8_top", "1.8 Volts Top", 1.8, None))
    assert (board.rails_w, board.temperatures) == (24, (Temperature("fpga0", "FPGA", 57),))
    assert board.facts["controller: version"] == "7.1.22"
    assert board.facts["clock: DATA_CLK"] == "300.0 MHz"
    assert [(f.kind, f.where) for f in report.failures] == [("device", "0000:3b:00.1")]


def test_what_pyxrt_returns() -> None:
    content = '{"power_rails": "", "power_consumption_watts": 31.5, "thermals": [{"location_id": "fpga0", '
    content += '"description": "FPGA", "temp_C": 57, "is_present": true}]}'
    report = parse_xbutil_json(Source("electrical", content))
    assert [(b.device, b.power_w, b.max_power_w, b.rails) for b in report.boards] == [("", 31.5, None, ())]


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ('"volts": "12.000"', '"volts": "high"', r"devices\[0\].electrical.power_rails\[0\].voltage.volts is 'high'"),
        ('"power_consumption_watts": "24.000000"', '"power_consumption_watts": "nan"', "not a number"),
        ('"temp_C": "57"', '"temp_F": "57"', "has no 'temp_C'"),
        ('"power_rails": [', '"power_rails": 3, "rest": [', "not a list"),
        ('"devices": [', '"devices": [], "old": [', "no board"),
    ],
)
def test_damaged_json(old: str, new: str, message: str) -> None:
    with pytest.raises(ReportError, match=message):
        small_json(old, new)


def test_a_sensor_that_is_not_there_has_no_value() -> None:
    (board,) = small_json('"power_consumption_watts": "24.000000"', '"power_consumption_watts": "N/A"').boards
    assert board.power_w is None


def test_exporter() -> None:
    report = parse_prometheus(read_source(synthetic_fixture("xbutil/small_metrics.prom")))
    (board,) = report.boards
    assert (report.xrt_version, board.power_w, board.max_power_w, board.power_warning) == ("2.17.319", 24.5, None, None)
    assert board.rails == (Rail("12v_pex", "12 Volts PCI Express", 12, 2),)
    assert [f.message for f in report.failures] == ["the board is not ready"]


def test_exporter_without_power() -> None:
    content = synthetic_fixture("xbutil/small_metrics.prom").read_text()
    lines = [line for line in content.splitlines(keepends=True) if "power_consumption" not in line]
    with pytest.raises(ReportError, match="no power"):
        parse_prometheus(Source("m.prom", "".join(lines)))


def test_real_boards_draw_what_their_rails_feed() -> None:
    for name, watts in (("alveocards_u280_electrical", 16.035208), ("alveocards_u50_electrical_thermal", 65.196971)):
        assert text(name).power_w == watts
        assert text(name).rails_w == pytest.approx(watts, rel=1e-3)


def test_a_real_warning_that_is_no_flag() -> None:
    board = text("xrt_pr7874_u55c_electrical_excerpt")
    assert (board.power_w, board.max_power_w, board.power_warning) == (21.445936, 225, None)
    assert board.rails[1] == Rail("", "12 Volts PCI Express", 12.24, 0.985)


def test_real_temperatures_and_platform() -> None:
    assert [t.celsius for t in text("alveocards_u55c_thermal").temperatures] == [36, 32, 38, 41]
    assert [t.celsius for t in text("alveocards_u50_electrical_thermal").temperatures] == [45, 47, 70, 69, 65]
    board = text("alveocards_u55c_xbmgmt_platform")
    assert (board.max_power_w, board.facts["Device properties: Name"]) == (225, "ALVEO U55C")
    assert board.facts["Flashable partitions running on FPGA: SC Version"] == "7.1.22"


def test_the_exporter_and_the_json_that_was_rebuilt_from_it_agree() -> None:
    exported = parse_prometheus(read_source(vitis_fixture("xbutil/exporter_u55c_xrt2.14.354_metrics.prom")))
    rebuilt = parse_xbutil_json(
        read_source(vitis_fixture("xbutil/RECONSTRUCTED_NOT_REAL_u55c_examine_thermal_electrical.json"))
    )
    (a,), (b,) = exported.boards, rebuilt.boards
    assert (a.device, a.power_w, a.max_power_w, a.power_warning) == ("0000:d1:00.1", 49.658128, 225, False)
    assert (b.device, b.power_w, b.max_power_w, b.power_warning) == ("0000:d1:00.1", 49.658128, 225, False)
    assert {r.id: r.watts for r in a.rails} == {r.id: r.watts for r in b.rails}
    assert {t.id: t.celsius for t in a.temperatures} == {t.id: t.celsius for t in b.temperatures}
    assert a.rails_w == pytest.approx(49.658128)


def test_a_real_json_that_is_cut() -> None:
    with pytest.raises(ReportError, match="truncated or damaged: the JSON ends or breaks at line 23"):
        parse_xbutil_json(read_source(vitis_fixture("xbutil/xrt_pr6240_u280_thermal_json_excerpt.txt")))
