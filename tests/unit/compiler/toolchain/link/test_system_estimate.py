import pytest
from fixtures import synthetic_fixture, vitis_fixture

from compiler.errors import ReportError
from compiler.metrics import Fidelity
from compiler.toolchain.link.system_estimate import Module, parse_system_estimate
from compiler.toolchain.source import Source, read_source

SMALL = "impl/small_system_estimate.xtxt"


def test_modules_and_the_kernel_itself() -> None:
    report = parse_system_estimate(read_source(synthetic_fixture(SMALL)))
    assert (report.tool_version, report.design, report.clock_mhz, report.kernels) == ("2024.1", "small", 250, 1)
    assert report.platform == "xilinx:u55c:gen3x16_xdma_3:202210.1"
    assert report.modules == (
        Module("gemm_1", "gemm", "multiply_loop", 250, 342.465759, 66, 66, 70, 148, 268, 16, 0, 0),
        Module("gemm_1", "gemm", "gemm", 250, 331.125824, None, None, None, 877, 812, 16, 3, 2),
    )
    assert report.tops == report.modules[1:]
    assert [(m.name, m.value) for m in report.metrics()] == [
        ("lut", 812), ("ff", 877), ("dsp", 16), ("bram36", 1.5), ("uram", 2), ("fmax", 331.125824),
    ]  # fmt: skip
    assert {m.fidelity for m in report.metrics()} == {Fidelity.CSYNTH}


def test_a_real_one() -> None:
    report = parse_system_estimate(read_source(vitis_fixture("impl/dat480_u55c_2023.2_system_estimate.xtxt")))
    assert (report.kernels, len(report.modules), report.clock_mhz) == (3, 14, 300)
    (top,) = report.tops
    assert (top.estimated_mhz, top.interval, top.ff, top.lut, top.dsp, top.bram18) == (
        322.580658,
        None,
        6951,
        43478,
        0,
        138,
    )
    loop = report.modules[3]
    assert (loop.name, loop.interval, loop.best_cycles) == ("matcher_engine_1720_16_Pipeline_pattern_loop", 3444, 3444)


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("gemm           877", "gemn           877", "do not list the same modules"),
        ("877  812  16   3     2\n", "877  812  16   3     2\n\n", "does not end with the rule|same modules"),
        ("331.125824", "33x.125824", "not a number"),
        ("---  ---  ---  ----  ----", "---  ---  ---  ---------", "7 columns"),
        ("250.000000MHz", "fast", "target clock"),
    ],
)
def test_damaged(old: str, new: str, message: str) -> None:
    text = synthetic_fixture(SMALL).read_text().replace(old, new)
    if text.endswith("\n\n" + "-" * 79 + "\n"):
        text = text.removesuffix("-" * 79 + "\n")
    with pytest.raises(ReportError, match=message):
        parse_system_estimate(Source("x.xtxt", text))
