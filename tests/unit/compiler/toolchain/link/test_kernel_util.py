import pytest
from fixtures import synthetic_fixture, vitis_fixture
from xutil_files import Row, xutil

from compiler.errors import ReportError
from compiler.metrics import Fidelity
from compiler.toolchain.link.kernel_util import COLUMNS, ComputeUnit, KernelUse, KernelUtil, Usage, parse_kernel_util
from compiler.toolchain.source import Source, read_source

GEMM = KernelUse(
    "gemm",
    Usage(500, 10, 600, 2, 2, 16),
    (ComputeUnit("gemm_1", Usage(240, 5, 300, 1, 1, 8)), ComputeUnit("gemm_2", Usage(260, 5, 300, 1, 1, 8))),
)
LOAD = KernelUse("load", Usage(200, 20, 300, 1.5, 0, 1), (ComputeUnit("load_1", Usage(200, 20, 300, 1.5, 0, 1)),))


def synthetic(name: str) -> KernelUtil:
    return parse_kernel_util(read_source(synthetic_fixture(f"impl/small_kernel_util_routed{name}")))


def real(name: str) -> KernelUtil:
    return parse_kernel_util(read_source(vitis_fixture(f"impl/{name}")))


def test_the_text() -> None:
    report = synthetic(".rpt")
    assert (report.state, report.tool_version) == ("Routed", "2024.1")
    assert report.platform == Usage(1000, 100, 2000, 20, 0, 4)
    assert report.budget == Usage(9000, 4900, 18000, 180, 96, 96)
    assert report.used == Usage(700, 30, 900, 3.5, 2, 17)
    assert report.kernels == (GEMM, LOAD)
    assert [(m.name, m.value, m.unit) for m in report.metrics()] == [
        ("lut", 700, "LUT"), ("ff", 900, "FF"), ("dsp", 17, "DSP"), ("bram36", 3.5, "BRAM36"), ("uram", 2, "URAM"),
    ]  # fmt: skip
    assert {(m.fidelity, m.tool, m.tool_version) for m in report.metrics()} == {(Fidelity.LINK, "vivado", "2024.1")}


def test_the_json_says_the_same_but_for_the_platform() -> None:
    report = synthetic(".json")
    assert (report.state, report.platform) == ("Fully Placed", None)
    assert (report.budget, report.used, report.kernels) == (
        Usage(9000, 4900, 18000, 180, 96, 96), Usage(700, 30, 900, 3.5, 2, 17), (GEMM, LOAD),
    )  # fmt: skip


def test_the_binary_table() -> None:
    def row(name: str, n: int, *below: Row) -> Row:
        return (name, n, n, n, n, n, n), below

    rows = (row("Platform", 1), row("User Budget", 9, row("Used Resources", 3), row("Unused Resources", 6)))
    kernels = (row("gemm (2)", 3, row("gemm_1", 2), row("gemm_2", 1)),)
    report = parse_kernel_util(Source("x.xutil", "", xutil(("Name", *COLUMNS), rows + kernels)))
    assert (report.state, report.platform, report.used) == ("", Usage(1, 1, 1, 1, 1, 1), Usage(3, 3, 3, 3, 3, 3))
    assert [(k.name, [u.name for u in k.units]) for k in report.kernels] == [("gemm", ["gemm_1", "gemm_2"])]


def test_three_kernels_of_a_placed_design() -> None:
    report = real("prometheus_3mm_3SLR_u55c_2023.2_kernel_util_routed.rpt")
    assert report.state == "Fully Placed"
    assert report.platform == Usage(127157, 10096, 177874, 200, 40, 4)
    assert report.used == Usage(557856, 44655, 662660, 400, 0, 4375)
    assert [k.used.dsp for k in report.kernels] == [1451, 1451, 1473]


def test_four_units_of_one_kernel() -> None:
    (kernel,) = real("axiotisk_DNN_u55c_2022.2_kernel_util_routed.rpt").kernels
    assert [u.name for u in kernel.units] == [f"kernel_wrapper_{i}" for i in (1, 2, 3, 4)]
    assert [u.used.ff for u in kernel.units] == [18192, 18376, 18464, 18733]


def test_three_files_of_one_link_agree() -> None:
    text = real("dat480_u55c_2023.2_impl_1_kernel_util_routed.rpt")
    binary = real("dat480_u55c_2023.2_impl_1_kernel_util_routed.xutil")
    json = real("dat480_u55c_2023.2_kernel_util_routed.json")
    assert text.kernels == binary.kernels == json.kernels
    assert text.used == binary.used == json.used == Usage(36974, 3152, 87516, 110, 0, 0)
    assert text.platform == binary.platform == Usage(120472, 8008, 162782, 200, 0, 4)
    assert text.budget == binary.budget == json.budget


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("| Platform ", "| Platfrom ", "no row 'Platform'"),
        (" [ 10.00%]", " [ 10.00]", "not numbers and shares"),
        ("LUTAsMem", "LUTAsMen", "header of the table"),
        ("| gemm  ", "|    gemm", "belongs to no kernel"),
    ],
)
def test_damaged_text(old: str, new: str, message: str) -> None:
    text = synthetic_fixture("impl/small_kernel_util_routed.rpt").read_text().replace(old, new)
    with pytest.raises(ReportError, match=message):
        parse_kernel_util(Source("x.rpt", text))


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ('"LUT": "240"', '"LUT": "many"', r"compute_units\[0\].actual_resources.LUT is 'many', not a number"),
        ('"LUT": "240"', '"LUT": null', "not a text"),
        ('"LUT": "240"', '"LUT": "?"', "not a number"),
        ('"DSP": "96"', '"dsp": "96"', "supply_resources has no 'DSP'"),
        ('"compute_unit_count": "2"', '"compute_unit_count": "3"', "2 compute units"),
    ],
)
def test_damaged_json(old: str, new: str, message: str) -> None:
    text = synthetic_fixture("impl/small_kernel_util_routed.json").read_text().replace(old, new)
    with pytest.raises(ReportError, match=message):
        parse_kernel_util(Source("x.json", text))


def test_no_kernels() -> None:
    lines = synthetic_fixture("impl/small_kernel_util_routed.rpt").read_text().split("\n")
    kept = [line for line in lines if "gemm" not in line[:12] and "load" not in line[:12]]
    with pytest.raises(ReportError, match="no kernels"):
        parse_kernel_util(Source("x.rpt", "\n".join(kept)))


def test_deep_json_is_refused() -> None:
    with pytest.raises(ReportError):
        parse_kernel_util(Source("x.json", '{"user_budget": ' + "[" * 200_000))
