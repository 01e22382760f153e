import pytest
from fixtures import synthetic_fixture, vitis_fixture

from compiler.errors import ReportError
from compiler.toolchain.hls.design_size import FunctionSize, parse_design_size
from compiler.toolchain.source import Source, read_source


def test_functions_and_phases() -> None:
    report = parse_design_size(read_source(synthetic_fixture("csynth/design_size.xml")))
    assert report.phases == ("Compile/Link", "HW Transforms")
    assert report.functions[1] == FunctionSize("op_up", "mlp_tasks.cpp:20", (60, 81))
    assert (report.instructions, report.warning) == (120, 100000)
    assert [(m.name, m.value) for m in report.metrics()] == [("instructions", 120)]


def test_a_count_that_is_missing() -> None:
    text = synthetic_fixture("csynth/design_size.xml").read_text().replace('col3="81"', "")
    with pytest.raises(ReportError, match="instructions of op_up is missing"):
        parse_design_size(Source("x.xml", text))


def test_a_foreign_file() -> None:
    with pytest.raises(ReportError, match=r"x\.xml is not a design size report"):
        parse_design_size(Source("x.xml", "<profile/>"))


def test_feed_forward() -> None:
    report = parse_design_size(
        read_source(vitis_fixture("csynth/streamhls_FeedForward_opt1_u280_2023.2_csynth_design_size.xml"))
    )
    assert (report.instructions, report.functions[0].instructions) == (343, (578, 248, 218, 216, 343))
    assert len(report.functions) == 9
