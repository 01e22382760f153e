import pytest
from fixtures import synthetic_fixture, vitis_fixture

from compiler.errors import ReportError
from compiler.toolchain.hls.csynth import Clock, CsynthReport, Issue, Span
from compiler.toolchain.hls.csynth_rows import (
    Area,
    ExpressionRow,
    FifoRow,
    InstanceRow,
    MemoryRow,
    MultiplexerRow,
    RegisterRow,
)
from compiler.toolchain.hls.csynth_xml import parse_csynth_xml
from compiler.toolchain.hls.module_rpt import parse_module_rpt
from compiler.toolchain.source import Source, read_source

OURS = "csynth/op_up_csynth.rpt"


def ours() -> CsynthReport:
    return parse_module_rpt(read_source(synthetic_fixture(OURS)))


def real(name: str) -> CsynthReport:
    return parse_module_rpt(read_source(vitis_fixture(f"csynth/{name}")))


def test_head_and_summary() -> None:
    report = ours()
    assert (report.version, report.part, report.top, report.flow) == (
        "2023.2",
        "xcu55c-fsvh2892-2L-e",
        "op_up",
        "vitis",
    )
    assert (report.clock, report.slack) == (Clock(3.33, 0.9, 2.48), -0.05)
    assert (report.design.latency, report.design.interval, report.design.pipeline) == (
        Span(4106, 4106), Span(4106, 4106), "no",
    )  # fmt: skip
    assert (report.design.area, report.available.uram) == (Area(3, 80, 5200, 4100, 0), 960)


def test_loops() -> None:
    outer, flat = ours().design.loops
    assert (outer.name, outer.trips, outer.pipelined, outer.ii) == ("VITIS_LOOP_28_1", Span(8, 8), False, None)
    (inner,) = outer.loops
    assert (inner.name, inner.trips, inner.latency, inner.ii) == ("VITIS_LOOP_29_2", Span(), Span(), 1)
    assert (flat.ii, flat.target_ii, flat.iteration, flat.trips.exact) == (4, 1, Span(12, 12), 1024)
    assert [i for i in ours().issues if i.kind == "ii"] == [Issue("ii", "op_up", flat.name, "target 1, reached 4")]


def test_where_the_area_goes() -> None:
    report = ours()
    breakdown = report.breakdown
    assert breakdown is not None
    assert dict(breakdown.by_kind)["FIFO"] == Area(3, None, 112, 40, None)
    name = "fmul_32ns_32ns_32_5_max_dsp_1"
    assert breakdown.instances == (InstanceRow(f"{name}_U1", name, Area(0, 5, 143, 78, 0)),)
    assert breakdown.dsps == ()
    assert breakdown.expressions == (ExpressionRow("icmp_ln30_fu_120_p2", "icmp", Area(dsp=0, ff=0, lut=14)),)
    assert breakdown.multiplexers == (MultiplexerRow("ap_NS_fsm", 76, 14, 1),)
    assert breakdown.registers == (RegisterRow("total_reg_211", 488, 488),)
    assert report.fifos == (FifoRow("partial_U", "op_up", 2048, 24, Area(3, None, 112, 0, None)),)
    assert report.memories == (
        MemoryRow("acc_U", "op_up", "op_up_acc_RAM_S2P_LUTRAM_1R1W", 32, 16, 4, Area(0, None, 0, 64, 0)),
    )


@pytest.mark.parametrize(
    ("text", "xml"),
    [
        ("dat480_u55c_2023.2_krnl_proj_split_csynth.rpt", "dat480_u55c_2023.2_krnl_proj_split_csynth.xml"),
        ("axiotisk_DNN_u55c_2022.2_kernel_wrapper_csynth.rpt", "axiotisk_DNN_u55c_2022.2_kernel_wrapper_csynth.xml"),
        ("streamhls_MHSA_opt1_u280_2023.2_forward_csynth.rpt", "streamhls_MHSA_opt1_u280_2023.2_csynth.xml"),
    ],
)
def test_text_and_xml_agree(text: str, xml: str) -> None:
    ours, twin = real(text), parse_csynth_xml(read_source(vitis_fixture(f"csynth/{xml}")))
    for name in ("version", "part", "top", "flow", "clock", "available", "slack"):
        assert getattr(ours, name) == getattr(twin, name), name
    for name in ("pipeline", "latency", "interval", "area"):
        assert getattr(ours.design, name) == getattr(twin.design, name), name
    assert set(ours.design.calls) >= set(twin.design.calls)
    top_fifos = {(f.name, f.depth, f.width) for f in twin.fifos if f.module == twin.top}
    assert not top_fifos or {(f.name, f.depth, f.width) for f in ours.fifos} == top_fifos


def test_fifos_of_real_reports() -> None:
    cnn = {f.name: f for f in real("axiotisk_CNN_u55c_2022.2_dataflow_in_loop_csynth.rpt").fifos}
    assert cnn["input1_U"] == FifoRow(
        "input1_U", "dataflow_in_loop_VITIS_LOOP_36_1", 1024, 48, Area(2, None, 159, 0, None)
    )
    gemm = real("prometheus_gemm_u55c_2023.2_kernel_nlp_slr0_csynth.rpt")
    assert (gemm.design.latency, gemm.design.area.dsp) == (Span(19494, 22516), 4814)
    assert ("fifo_C_to_off_chip_U", 1024, 512, 15) in [(f.name, f.depth, f.width, f.area.bram18) for f in gemm.fifos]
    assert gemm.breakdown is not None
    assert len(gemm.breakdown.instances) == 10
    mhsa = real("streamhls_MHSA_opt1_u280_2023.2_forward_csynth.rpt")
    assert (len(mhsa.fifos), {f.area.bram18 for f in mhsa.fifos}, len(mhsa.memories)) == (18, {1}, 11)


def test_a_foreign_file() -> None:
    with pytest.raises(ReportError, match=r"x\.rpt is not a csynth report of a module: it starts with 'hello'"):
        parse_module_rpt(Source("x.rpt", "hello"))


@pytest.mark.parametrize("gone", ["* Register:", "* FIFO:", "+ Timing:", "* Version:", "|Total  ", "== Interface"])
def test_a_part_that_is_missing(gone: str) -> None:
    text = synthetic_fixture(OURS).read_text()
    with pytest.raises(ReportError, match=r"x\.rpt is truncated or damaged"):
        parse_module_rpt(Source("x.rpt", text.replace(gone, gone.replace(gone[2:5], "xyz"))))
