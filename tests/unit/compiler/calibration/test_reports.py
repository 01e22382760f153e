"""Which files count, what twins are, and where a design of ours is recognised."""

import json
import shutil
from pathlib import Path

import pytest
from fixtures import OURS

from compiler.calibration.reports import read_reports, samples_of, token_bits
from compiler.calibration.routed import pairs_of
from compiler.errors import InvalidInputError, ReportError
from compiler.platforms.platform import load_platform

MEMORIES = load_platform("u55c").memories


def test_what_can_not_be_read_is_passed_over_with_the_reason(tmp_path: Path):
    (tmp_path / "a.rpt").write_text("no report\n")
    (tmp_path / "a.txt").write_text("never looked at\n")
    read, skipped = read_reports([tmp_path, *sorted((OURS / "csynth").glob("mlp*"))])
    assert len(read) == 2
    assert [s.path.name for s in skipped] == ["a.rpt"]
    assert {r.source for r in read} == {"mlp"}


def test_a_file_that_is_given_must_be_a_report(tmp_path: Path):
    (tmp_path / "a.rpt").write_text("no report\n")
    with pytest.raises(ReportError, match=r"a\.rpt is no report"):
        read_reports([tmp_path / "a.rpt"])


def test_reports_of_our_designs_have_one_origin_and_are_told_apart_by_directory(tmp_path: Path):
    for name in ("d1", "d2"):
        folder = tmp_path / name / "hls" / "reports"
        folder.mkdir(parents=True)
        (tmp_path / name / "design.json").write_text("{}")
        (tmp_path / name / "dataflow.json").write_text('{"streams": []}')
        shutil.copy(OURS / "csynth" / "mlp_k0_csynth.xml", folder / "csynth.xml")
    read, _ = read_reports([tmp_path])
    assert [r.path.name for r in read] == ["csynth.xml"] * 2
    assert {r.source for r in read} == {"millrace"}
    assert len({s.design for s in samples_of(read, MEMORIES)}) == 2


def test_a_routed_kernel_of_our_design_meets_its_csynth_report(tmp_path: Path):
    """The tools name the reports of all designs alike."""
    (tmp_path / "design.json").write_text("{}")
    text = (OURS / "csynth" / "mlp_k0_csynth.xml").read_text()
    (tmp_path / "csynth.xml").write_text(text.replace("mlp_k0", "gemm"))
    shutil.copy(OURS / "impl" / "small_kernel_util_routed.rpt", tmp_path / "kernel_util_routed.rpt")
    read, _ = read_reports([tmp_path])
    assert [pair.kernel for pair in pairs_of(read)] == ["gemm"]


def test_a_report_given_twice_counts_once():
    (report, *_), _ = read_reports([OURS / "csynth" / "mlp_k0_csynth.xml"])
    once = samples_of([report], MEMORIES)
    assert once
    assert samples_of([report, report], MEMORIES) == once


def test_token_bits_of_a_design(tmp_path: Path):
    streams = [
        {"source": "load", "target": "mac", "width": 512},
        {"source": "bias", "target": "mac", "width": 32},
        {"source": "mac", "target": "store", "width": 64},
    ]
    (tmp_path / "dataflow.json").write_text(json.dumps({"streams": streams}))
    report = tmp_path / "hls" / "solution" / "csynth.xml"
    assert token_bits(report) == {}  # not a design's directory
    (tmp_path / "design.json").write_text("{}")
    assert token_bits(report) == {"load": 512, "bias": 32, "mac": 544, "store": 64}
    (tmp_path / "dataflow.json").write_text("[]")
    with pytest.raises(InvalidInputError, match="compile the design again"):
        token_bits(report)
