"""`millrace calibrate`, and a compiled design that says what its area and power rest on."""

import json
from pathlib import Path
from typing import Any

import onnx
import onnx_models
import pytest
from fixtures import OURS
from typer.testing import CliRunner

from cli.main import app
from compiler.platforms.platform import load_platform

run = CliRunner().invoke


def test_without_reports_it_is_wrong_use():
    result = run(app, ["calibrate"])
    assert result.exit_code != 0
    assert "csynth.xml" in str(result.exception)


def test_small_reports_to_a_file(tmp_path: Path):
    file = tmp_path / "lab.toml"
    result = run(app, ["calibrate", str(OURS / "csynth"), "--write", str(file), "--json"])
    assert result.exit_code == 0, result.output
    found: dict[str, Any] = json.loads(result.stdout)
    assert found["summary"].startswith("calibrated (area: ")
    assert found["written"] == str(file)
    assert found["errors"]
    assert load_platform("u55c", file).calibration.startswith(found["summary"])


def test_tables_for_people():
    result = run(app, ["calibrate", str(OURS / "csynth")])
    assert result.exit_code == 0, result.output
    assert "relative error" in result.output
    assert "task.stage" in result.output


def test_power_alone(tmp_path: Path):
    rows = ["1e5,2e5,1000,200,50,0.5,250,0,30", "2e5,3e5,2000,300,50,0.5,250,0,38", "3e5,5e5,2500,400,50,0.5,250,0,44"]
    table = tmp_path / "runs.csv"
    table.write_text("\n".join(["lut,ff,dsp,bram36,uram,activity,clock_mhz,hbm_gb_s,watts", *rows]))
    result = run(app, ["calibrate", "--power", str(table)])
    assert result.exit_code == 0, result.output
    assert "power: 3 runs" in result.output
    assert "area: uncalibrated" in result.output
    assert "too few runs" in result.output


@pytest.mark.slow
def test_a_design_names_its_calibration(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("MILLRACE_HOME", str(tmp_path / "home"))
    model, lab = tmp_path / "mlp.onnx", tmp_path / "lab.toml"
    onnx.save(onnx_models.mlp(), model)
    lab.write_text('platform = "u55c"\nsummary = "calibrated (a test)"\n[limits]\n[power]\nstatic_w = 2.0\n')
    result = run(app, ["compile", str(model), "--calibration", str(lab), "--out", str(tmp_path / "d")])
    assert result.exit_code == 0, result.output
    design = json.loads((tmp_path / "d" / "design.json").read_text())
    assert design["calibration"].startswith("calibrated (a test)")
    assert [flag["metric"] for flag in design["flags"]] == ["power"]  # 2 W of a card that rests at 14.5
    assert "impossible: power" in result.output
    assert "area and power: calibrated (a test)" in result.output
