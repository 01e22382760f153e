"""Reports in, coefficients, errors and a file out, which the platform takes."""

import json
import tomllib
from pathlib import Path

import pytest
from fixtures import REAL, vitis_fixture

from compiler.calibration.calibrate import calibrate
from compiler.calibration.calibration_file import write_calibration
from compiler.calibration.errors import ErrorRow
from compiler.errors import InvalidInputError
from compiler.platforms.platform import load_platform

U55C = load_platform("u55c")


def test_without_reports_it_says_what_it_needs():
    with pytest.raises(InvalidInputError, match=r"csynth\.xml"):
        calibrate(U55C, [])


def test_a_folder_without_reports(tmp_path: Path):
    (tmp_path / "notes.rpt").write_text("nothing\n")
    with pytest.raises(InvalidInputError, match="none of 1 files"):
        calibrate(U55C, [tmp_path])


def test_a_path_that_is_not_there(tmp_path: Path):
    with pytest.raises(InvalidInputError, match="neither"):
        calibrate(U55C, [tmp_path / "x.rpt"])


def rows_of(rows: tuple[ErrorRow, ...]) -> dict[tuple[str, str], ErrorRow]:
    return {(row.kind, row.resource): row for row in rows}


def test_the_public_reports(tmp_path: Path):
    vitis_fixture("derived/hls_fifo_table.csv")
    found = calibrate(U55C, [], REAL)
    rows = rows_of(found.rows)
    for resource, bound in (("lut", 0.15), ("ff", 0.10), ("dsp", 0.01), ("bram36", 0.01)):
        row = rows["whole design", resource]
        assert row.other_designs is not None
        assert row.other_designs.median < bound, row
    routed = rows["csynth to routed", "ff"]
    assert routed.other_designs is not None
    assert routed.other_designs.median < routed.before.median
    assert found.latency is not None
    assert found.latency.median == pytest.approx(1.0, abs=0.01)
    assert "power: uncalibrated" in found.summary
    json.dumps(found.to_json(), allow_nan=False)

    file = tmp_path / "lab.toml"
    write_calibration(found, "2026-11-21", file)
    provenance = tomllib.loads(file.read_text())["provenance"]
    assert provenance["date"] == "2026-11-21"
    assert {len(r["sha256"]) for r in provenance["reports"]} == {64}
    laid = load_platform("u55c", file)
    assert laid.calibration == f"{found.summary}, 2026-11-21"
    assert laid.area.task.stage.ff == pytest.approx(found.coefficients["task.stage"].ff, abs=1e-3)


def test_the_shipped_coefficients_are_those_of_the_public_reports():
    """What u55c.toml holds is this fit, rounded: within 2 % or half a unit."""
    vitis_fixture("derived/hls_fifo_table.csv")
    found = calibrate(U55C, [], REAL)
    for name, logic in found.coefficients.items():
        before = found.before[name]
        assert (before.lut, before.ff) == pytest.approx((logic.lut, logic.ff), rel=0.02, abs=0.5), name
