import pytest
from fixtures import synthetic_fixture, vitis_fixture

from compiler.errors import ReportError
from compiler.toolchain.board.validate import parse_validation
from compiler.toolchain.source import Source, read_source


def test_text() -> None:
    report = parse_validation(read_source(synthetic_fixture("xbutil/small_validate.txt")))
    assert [(c.name, c.status) for c in report.checks] == [
        ("PCIE link", "passed"),
        ("SC version", "passed"),
        ("DMA", "failed"),
    ]
    (failure,) = report.failures
    assert (failure.kind, failure.where) == ("device", "0000:3b:00.1")
    assert failure.message == "the board fails the check DMA: DMA test data integrity check failed"


def test_json() -> None:
    report = parse_validation(read_source(synthetic_fixture("xbutil/small_validate.json")))
    assert [(c.name, c.status) for c in report.checks] == [("DMA", "passed"), ("HBM", "failed"), ("vcu", "skipped")]
    assert [f.message for f in report.failures] == ["the board fails the check HBM: no such xclbin"]


def test_a_failure_without_a_failed_check() -> None:
    text = "Test 1 [0000:3b:00.1]     : PCIE link\n    Test Status           : [PASSED]\nValidation failed.\n"
    assert [f.kind for f in parse_validation(Source("v.txt", text)).failures] == ["device"]


def test_a_real_failure() -> None:
    report = parse_validation(read_source(vitis_fixture("xbutil/alveocards_xbutil_validate_dma_FAIL.txt")))
    (check,), (failure,) = report.checks, report.failures
    assert (check.name, check.status, len(check.errors)) == ("DMA", "failed", 13)
    assert "integrity check failed.: Input/output error (13 times)" in failure.message


def test_no_end() -> None:
    text = synthetic_fixture("xbutil/small_validate.txt").read_text()
    with pytest.raises(ReportError, match="how the validation ended"):
        parse_validation(Source("v.txt", text[: text.index("Validation")]))
