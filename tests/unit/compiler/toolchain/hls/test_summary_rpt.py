import pytest
from fixtures import synthetic_fixture, vitis_fixture

from compiler.errors import ReportError
from compiler.toolchain.hls.csynth import CsynthReport, Issue, Loop, Span
from compiler.toolchain.hls.csynth_rows import Area
from compiler.toolchain.hls.csynth_xml import parse_csynth_xml
from compiler.toolchain.hls.summary_rpt import parse_summary_rpt
from compiler.toolchain.source import Source, read_source

OURS = "csynth/mlp_k0_csynth"


def summary(name: str) -> CsynthReport:
    return parse_summary_rpt(read_source(vitis_fixture(f"csynth/{name}")))


def assert_twins(rpt: CsynthReport, xml: CsynthReport) -> None:
    """What both forms know is the same; the text rounds slack to 0.01 ns and has worst cases only."""
    head = ("version", "part", "top", "flow")
    assert [getattr(rpt, name) for name in head] == [getattr(xml, name) for name in head]
    assert set(rpt.module) == set(xml.module)
    for name, module in rpt.module.items():
        twin = xml.module[name]
        assert (module.pipeline, module.area) == (twin.pipeline, twin.area), name
        assert (module.latency.worst, module.interval.worst) == (twin.latency.worst, twin.interval.worst), name
        assert module.slack == pytest.approx(twin.slack, abs=0.0051), name
        assert [_plain(loop) for loop in module.loops] == [_plain(loop) for loop in twin.loops], name
        assert set(module.calls) == set(twin.calls), name
        assert {(i.kind, i.loop) for i in module.issues} == {(i.kind, i.loop) for i in twin.issues}, name
    for rows in ("fifos", "memories", "operators"):
        ours = {(r.name, r.module): r for r in getattr(rpt, rows)}
        assert ours == {(r.name, r.module): r for r in getattr(xml, rows) if r.module}, rows


def _plain(loop: Loop) -> tuple[object, ...]:
    worst = (loop.trips.worst, loop.latency.worst, loop.iteration.worst)
    return (loop.name, *worst, loop.ii, loop.pipelined, set(loop.calls), [_plain(inner) for inner in loop.loops])


def test_ours() -> None:
    report = parse_summary_rpt(read_source(synthetic_fixture(f"{OURS}.rpt")))
    assert (report.version, report.part, report.flow) == ("2023.2", "xcu55c-fsvh2892-2L-e", "vitis")
    assert report.design.area == Area(4, 80, 9300, 8200, 0)
    assert report.slack == -0.05
    (outer,) = report.module["store_h"].loops
    assert (outer.trips, outer.iteration, outer.ii) == (Span(), Span(None, 24), None)
    assert outer.calls == ("store_h_Pipeline_VITIS_LOOP_52_2",)
    assert Issue("ii", "op_up", "VITIS_LOOP_30_1_VITIS_LOOP_31_2_VITIS_LOOP_32_3", "II") in report.issues


def test_text_and_xml_of_ours_agree() -> None:
    rpt = parse_summary_rpt(read_source(synthetic_fixture(f"{OURS}.rpt")))
    assert_twins(rpt, parse_csynth_xml(read_source(synthetic_fixture(f"{OURS}.xml"))))


@pytest.mark.parametrize("name", ["dat480_u55c_2023.2_csynth", "streamhls_FeedForward_opt1_u280_2023.2_csynth"])
def test_text_and_xml_agree(name: str) -> None:
    assert_twins(summary(f"{name}.rpt"), parse_csynth_xml(read_source(vitis_fixture(f"csynth/{name}.xml"))))


def test_the_unified_flow_of_2025() -> None:
    report = summary("superkooks_canny_k26_2025.2_hls_compile.rpt")
    assert (report.version, report.part, report.top) == ("2025.2", "xck26-sfvc784-2LV-c", "canny_top")
    assert (report.design.latency.worst, report.design.interval.worst, report.slack) == (637031, 636846, 0.0)
    assert report.design.area == Area(82, 4, 11523, 19591, 0)
    loop = report.module["write_frame"].loops[0]
    assert (loop.name, loop.trips.exact, loop.iteration.worst, loop.ii) == (
        "VITIS_LOOP_7_1_VITIS_LOOP_8_2", 307200, 72, 1,
    )  # fmt: skip
    assert ("sobel_out_U", 24, 1280, 3) in [(f.name, f.width, f.depth, f.area.bram18) for f in report.fifos]


def test_module_xml_and_text_of_2025_agree() -> None:
    rpt = summary("superkooks_canny_k26_2025.2_hls_compile.rpt")
    xml = parse_csynth_xml(read_source(vitis_fixture("csynth/superkooks_canny_k26_2025.2_canny_top_csynth.xml")))
    assert (rpt.design.latency.worst, rpt.design.interval.worst) == (
        xml.design.latency.worst,
        xml.design.interval.worst,
    )
    assert (rpt.slack, rpt.design.area.bram18, rpt.design.area.ff) == (xml.slack, 82, xml.design.area.ff)


def test_the_other_versions() -> None:
    llama = summary("yuan0404_llama2_zu7ev_2024.2_hls_compile.rpt")
    assert (llama.version, llama.design.latency.worst, llama.design.area.dsp) == ("2024.2", 18273010, 700)
    (heads,) = llama.module["attention"].loops
    assert (heads.name, heads.trips.exact, heads.loops[0].name) == ("attention_heads", 6, "compute_scores")
    assert "softmax" in heads.calls
    conv = summary("syedkit_hls_compile.rpt")
    assert (conv.version, conv.flow, conv.slack, conv.design.area.bram18) == ("2025.1", "vivado", -0.04, 11)
    assert {i.module for i in conv.issues if i.kind == "timing"} == {
        "depthwise_conv", "depthwise_conv_Pipeline_compute_VITIS_LOOP_54_5_VITIS_LOOP_55_6",
    }  # fmt: skip


def test_a_foreign_file() -> None:
    with pytest.raises(ReportError, match=r"x\.rpt is not a Synthesis Summary: it starts with 'hello'"):
        parse_summary_rpt(Source("x.rpt", "hello"))


@pytest.mark.parametrize("gone", ["Storage Report", "Bind Op Report", "Pragma Report"])
def test_a_section_that_is_missing(gone: str) -> None:
    text = synthetic_fixture(f"{OURS}.rpt").read_text()
    with pytest.raises(ReportError, match=f"the section '{gone}' is missing"):
        parse_summary_rpt(Source("x.rpt", text.replace(f"== {gone}", "== Other")))


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("| + load_x", "|    + load_x"),
        ("|+ mlp_k0*", "|x mlp_k0*"),
        ("|+ mlp_k0*", "|+ mlp_k1*"),
        ("9300 (~0%)", "          "),
    ],
)
def test_rows_that_make_no_tree_or_no_number(old: str, new: str) -> None:
    text = synthetic_fixture(f"{OURS}.rpt").read_text()
    changed = text.replace(old.ljust(len(new)), new.ljust(len(old)), 1)
    assert changed != text
    with pytest.raises(ReportError, match=r"x\.rpt is truncated or damaged"):
        parse_summary_rpt(Source("x.rpt", changed))
