"""A link that can not succeed ends early, unless it is told to be patient."""

from pathlib import Path
from types import SimpleNamespace

import pytest
from fixtures import synthetic_fixture
from vitis_standin.bench import Bench
from vitis_standin.install import U55C
from vitis_standin.texts import qor_bad

from compiler.toolchain.vitis import early_stop
from compiler.toolchain.vitis.commands import LinkOptions
from compiler.toolchain.vitis.early_stop import LinkWatch

OVER = (
    "ERROR: [VPL UTLZ-1] Resource utilization: RAMB36/FIFO over-utilized in Top Level Design (This design requires "
    "more RAMB36/FIFO cells than are available in the target device. This design requires 7895 of such cell types but "
    "only 2016 compatible sites are available in the target device.)"
)


def report(folder: Path, text: str) -> None:
    place = folder / "_x/link/vivado/vpl/prj/prj.runs/impl_1"
    place.mkdir(parents=True, exist_ok=True)
    (place / "qor_assessment_post_opt_design.rpt").write_text(text)


def test_a_bad_assessment_ends_the_link(bench: Bench) -> None:
    bench.tell(FAIL="hopeless_qor", SECONDS="link:6")
    result = bench.link()
    assert not result.passed
    (failure,) = result.failures
    assert failure.kind == "timing"
    assert "score 2 of 5" in failure.message
    assert 1 < result.seconds < 5  # it is written after a fifth of the time
    assert Path("qor_assessment.rpt") in result.files


def test_a_patient_link_goes_on(bench: Bench) -> None:
    bench.tell(FAIL="hopeless_qor")
    result = bench.link(options=LinkOptions(U55C, patient=True))
    assert result.passed, result.failures
    assert result.verdict["clock_mhz"] == 205


def test_a_good_assessment_is_no_reason(tmp_path: Path) -> None:
    report(tmp_path, synthetic_fixture("impl/small_qor_assessment.rpt").read_text())
    assert LinkWatch(tmp_path).verdict() is None


def test_a_report_that_is_gone_when_it_is_looked_at_is_no_reason(tmp_path: Path) -> None:
    report(tmp_path, "")
    (place,) = tmp_path.glob("**/impl_1")
    (place / "moved_qor_assessment.rpt").symlink_to(place / "gone")
    assert LinkWatch(tmp_path).verdict() is None


def test_a_report_that_is_still_written_is_looked_at_again(tmp_path: Path) -> None:
    watch, text = LinkWatch(tmp_path), qor_bad()
    assert watch.verdict() is None
    report(tmp_path, text[:900])
    assert watch.verdict() is None
    report(tmp_path, text)
    failure = watch.verdict()
    assert failure is not None
    assert failure.kind == "timing"


def test_too_many_cells_end_it_after_a_while(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    now = 100.0
    monkeypatch.setattr(early_stop, "time", SimpleNamespace(monotonic=lambda: now))
    watch = LinkWatch(tmp_path, grace_s=60)
    watch.line("INFO: [VPL 60-1] fine")
    watch.line(OVER.replace("ERROR:", "WARNING:"))
    assert watch.verdict() is None
    watch.line(OVER)
    assert watch.verdict() is None
    now += 61
    failure = watch.verdict()
    assert failure is not None
    assert (failure.kind, failure.message) == (
        "placement",
        "RAMB36/FIFO in Top Level Design: 7895 needed, 2016 available",
    )
