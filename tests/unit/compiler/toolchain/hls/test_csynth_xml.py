"""Figures were read off the files by eye."""

import pytest
from fixtures import synthetic_fixture, vitis_fixture

from compiler.errors import ReportError
from compiler.toolchain.hls.csynth import Clock, CsynthReport, Issue, Loop, Span
from compiler.toolchain.hls.csynth_rows import Area
from compiler.toolchain.hls.csynth_xml import parse_csynth_xml
from compiler.toolchain.source import Source, read_source


def synthetic(name: str) -> CsynthReport:
    return parse_csynth_xml(read_source(synthetic_fixture(f"csynth/{name}")))


def real(name: str) -> CsynthReport:
    return parse_csynth_xml(read_source(vitis_fixture(f"csynth/{name}")))


def test_a_whole_design() -> None:
    report = synthetic("mlp_k0_csynth.xml")
    assert (report.version, report.part, report.top, report.flow) == (
        "2023.2", "xcu55c-fsvh2892-2L-e", "mlp_k0", "vitis",
    )  # fmt: skip
    assert report.clock == Clock(3.33, 0.9, 2.48)
    assert report.design.area == Area(4, 80, 9300, 8200, 0)
    assert report.available == Area(4032, 9024, 2607360, 1303680, 960)
    assert report.design.latency == Span(None, None)
    assert report.design.calls == ("load_x", "op_up", "store_h")


def test_a_flattened_loop_with_its_missed_interval() -> None:
    module = synthetic("mlp_k0_csynth.xml").module["op_up"]
    name = "VITIS_LOOP_30_1_VITIS_LOOP_31_2_VITIS_LOOP_32_3"
    assert module.loops == (Loop(name, Span(1024, 1024), Span(4104, 4104), Span(12, 12), 4, True),)
    assert module.issues == (
        Issue("timing", "op_up", cause="Timing"),
        Issue("ii", "op_up", name, "Memory Dependency", "mlp_tasks.cpp:31"),
    )


def test_a_loop_around_a_pipeline_of_its_own() -> None:
    module = synthetic("mlp_k0_csynth.xml").module["store_h"]
    (outer,) = module.loops
    assert (outer.trips, outer.iteration, outer.pipelined, outer.ii) == (Span(), Span(20, 24), False, None)
    assert outer.calls == module.calls == ("store_h_Pipeline_VITIS_LOOP_52_2",)


def test_fifos_memories_and_operators() -> None:
    report = synthetic("mlp_k0_csynth.xml")
    assert [(f.name, f.module, f.depth, f.width, f.area.bram18) for f in report.fifos] == [
        ("up_in_U", "mlp_k0", 15, 128, 0),
        ("h_U", "mlp_k0", 512, 128, 4),
        ("late_U", "", 4, None, None),
    ]
    assert [(m.name, m.module, m.words, m.width, m.banks) for m in report.memories] == [("acc_U", "op_up", 16, 32, 4)]
    assert [(o.operation, o.implementation, o.latency, o.dsp) for o in report.operators] == [("fmul", "maxdsp", 4, 5)]


def test_the_schema_of_2019() -> None:
    report = synthetic("old_csynth.xml")
    assert report.design.area == Area(1, 2, 70, 90, 0)
    assert (report.design.latency, report.design.average, report.design.interval) == (Span(10, 40), 20, Span(10, 40))
    outer, forever = report.design.loops
    assert (outer.trips, outer.latency, outer.iteration) == (Span(1, 4), Span(10, 40), Span(10, 10))
    assert (outer.loops[0].name, outer.loops[0].ii, outer.loops[0].trips.exact) == ("inner", 1, 8)
    assert (forever.trips, forever.pipelined) == (Span(), True)


def test_a_foreign_file() -> None:
    with pytest.raises(ReportError, match=r"x\.xml is not a csynth report: it starts with '<a/>'"):
        parse_csynth_xml(Source("x.xml", "<a/>"))


@pytest.mark.parametrize("tag", ["Part", "Version", "LUT", "AvailableResources", "Worst-caseLatency", "PipelineType"])
def test_a_required_value_that_is_missing(tag: str) -> None:
    text = synthetic_fixture("csynth/mlp_k0_csynth.xml").read_text()
    with pytest.raises(ReportError, match=rf"<.*{tag}>.* is missing|has no <{tag}>"):
        parse_csynth_xml(Source("x.xml", text.replace(f"<{tag}>", "<gone>").replace(f"</{tag}>", "</gone>")))


def test_a_design_whose_top_is_no_module() -> None:
    text = synthetic_fixture("csynth/mlp_k0_csynth.xml").read_text().replace("<Name>mlp_k0<", "<Name>other<")
    with pytest.raises(ReportError, match="top module mlp_k0 is not among"):
        parse_csynth_xml(Source("x.xml", text))


def test_dat480() -> None:
    report = real("dat480_u55c_2023.2_csynth.xml")
    assert (report.version, report.part, report.top) == ("2023.2", "xcu55c-fsvh2892-2L-e", "krnl_proj_split")
    assert (report.clock, report.slack) == (Clock(3.33, 0.9, 3.1), -0.67)
    assert report.design.area == Area(138, 0, 6951, 43478, 0)
    assert len(report.modules) == 14
    loop = report.module["matcher_engine_1720_16_Pipeline_pattern_loop"].loops[0]
    assert (loop.trips.exact, loop.latency.exact, loop.ii, loop.iteration.exact) == (1720, 3442, 2, 5)
    (outer,) = report.module["matcher_engine_957_214_s"].loops
    assert (outer.iteration, outer.loops[0].latency, outer.loops[0].iteration) == (
        Span(2873, 213413), Span(2871, 213411), Span(3, 223),
    )  # fmt: skip
    fifos = {f.name: (f.width, f.depth, f.implementation) for f in report.fifos}
    assert len(fifos) == 6
    assert fifos["long_matches_U"] == (33, 64, "memory")
    assert next(i for i in report.issues if i.kind == "ii").cause == "Resource Limitation"


def test_feed_forward() -> None:
    report = real("streamhls_FeedForward_opt1_u280_2023.2_csynth.xml")
    assert (report.flow, report.design.latency.exact, report.design.interval.exact) == ("vivado", 67141684, 67108877)
    assert report.design.area == Area(1157, 10, 4119, 4732, 0)
    loop = report.module["node5"].loops[0]
    assert (loop.name, loop.trips.exact, loop.ii, loop.iteration.exact) == ("loop11_loop12_loop13", 16777216, 4, 15)
    assert {(f.name, f.depth, f.width) for f in report.fifos} >= {("v84_U", 131072, 32), ("v87_U", 65536, 32)}
    assert {i.loop for i in report.issues if i.kind == "ii"} == {"loop11_loop12_loop13", "loop4_loop5_loop6"}


def test_the_other_versions() -> None:
    old = real("autobridge_pagerank_2019.2_csynth.xml")
    assert (old.version, old.flow, old.slack, old.design.area.ff) == ("2019.2", "", -1.476, 4358)
    assert [(loop.name, loop.trips.exact, loop.ii) for loop in old.design.loops] == [
        ("memset_pe_out_ready", 4, None), ("vertex_router", None, 1),
    ]  # fmt: skip
    arp = real("consensus_arp_u280_2022.1_csynth.xml")
    assert (arp.version, arp.design.latency.exact, arp.module["arp_table"].depth) == ("2022.1", 5, 3)
    assert next((f.name, f.depth) for f in arp.fifos) == ("arpReplyMetaFifo_U", 4)
    canny = real("superkooks_canny_k26_2025.2_canny_top_csynth.xml")
    assert (canny.version, canny.design.latency, canny.design.average) == ("2025.2", Span(635819, 637031), 635819)
    assert canny.design.interval == Span(379202, 636846)
    wrapper = real("axiotisk_DNN_u55c_2022.2_kernel_wrapper_csynth.xml")
    assert (wrapper.design.latency.exact, wrapper.design.area.dsp) == (65706, 1087)
    atax = real("prometheus_atax3slr_slr1_u55c_2023.2_csynth.xml")
    assert (atax.design.latency, atax.design.average, len(atax.modules)) == (Span(4926, 10802), 5680, 13)
    gemm = real("streamhls_vitisbaseline_gemm_u280_2023.2_csynth.xml")
    assert gemm.design.loops[0].calls == (
        "kernel_Pipeline_VITIS_LOOP_31_2", "kernel_Pipeline_VITIS_LOOP_33_3_VITIS_LOOP_34_4",
    )  # fmt: skip
    mhsa = real("streamhls_MHSA_opt1_u280_2023.2_csynth.xml")
    assert (len(mhsa.modules), len(mhsa.fifos), mhsa.design.area.bram18) == (27, 18, 948)
    tapa = real("cookbook_callipepla_u280_2022.2_csynth.xml")
    assert (tapa.version, tapa.top, tapa.design.area.lut) == ("2022.2", "Callipepla", 3752)
