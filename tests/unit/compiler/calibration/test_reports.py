"""Which files count, what twins are, and where a design of ours is recognised."""

import json
from pathlib import Path

import pytest
from fixtures import OURS

from compiler.calibration.reports import read_reports, samples_of, token_bits
from compiler.errors import InvalidInputError


def test_what_can_not_be_read_is_passed_over_with_the_reason(tmp_path: Path):
    (tmp_path / "a.rpt").write_text("no report\n")
    (tmp_path / "a.txt").write_text("never looked at\n")
    read, skipped = read_reports([tmp_path, *sorted((OURS / "csynth").glob("mlp*"))])
    assert len(read) == 2
    assert [s.path.name for s in skipped] == ["a.rpt"]
    assert {r.source for r in read} == {"mlp"}


def test_a_report_given_twice_counts_once():
    (report, *_), _ = read_reports([OURS / "csynth" / "mlp_k0_csynth.xml"])
    once = samples_of([report])
    assert once
    assert samples_of([report, report]) == once


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
