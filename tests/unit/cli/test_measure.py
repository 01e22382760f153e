"""`millrace measure`: what it prints of a measurement, and how it ends."""

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

import compiler.measurement.measure
from cli.main import app
from compiler.analysis.limits import impossible
from compiler.measurement.errors import MeasurementError
from compiler.measurement.measurement import Measurement, RunPower, RunTimes, board_metrics
from compiler.measurement.progress import Step
from compiler.measurement.request import MeasureRequest
from compiler.platforms.platform import load_platform

RUNNER = CliRunner()
SHELL = "xilinx_u55c_gen3x16_xdma_base_3"
TIMES, POWER = RunTimes(100, 120.5, 119.0, 131.25, 118.0), RunPower(20.0, 12.0, 1.25e-4, 11, 9, "pyxrt")
METRICS = board_metrics(TIMES, POWER, 8000.0, "2.16.204")
FLAGS = impossible(METRICS, load_platform("u55c"))
FOUND = Measurement(
    "mlp", "0000:3b:00.1", SHELL, True, "", (), TIMES, POWER, METRICS, FLAGS, ("a note",), {"xrt": "2.16.204"}, 17.5
)


@pytest.fixture
def calls(monkeypatch: pytest.MonkeyPatch) -> list[Any]:
    """Requests that were made; the directory `wrong` gives a wrong result, `hangs` hangs."""
    made: list[Any] = []

    def measure(
        directory: Path, xclbin: Path | None, request: MeasureRequest, on_line: Any, on_step: Any
    ) -> Measurement:
        made.append((xclbin, request))
        on_line("timed runs: 20 runs")
        on_step(Step("timed runs", 3, 20))
        if directory.name == "hangs":
            raise MeasurementError("timeout", "kernel mlp_k1 of mlp did not end within 60 s")
        if directory.name == "wrong":
            return replace(FOUND, passed=False, message="y is off by 0.5", found=(), flags=())
        return FOUND

    monkeypatch.setattr(compiler.measurement.measure, "measure", measure)
    return made


def test_metrics_are_shown_with_their_fidelity_and_doubts(calls: list[Any]) -> None:
    result = RUNNER.invoke(app, ["measure", "d"])
    assert result.exit_code == 0, result.output
    lines = result.output.splitlines()
    assert f"passed mlp on 0000:3b:00.1 ({SHELL}) in 17.5 s" in lines
    assert any(line.split() == ["latency", "120.5", "us", "board", "xrt", "2.16.204"] for line in lines)
    assert any(line.split() == ["energy", "-1,000", "uJ", "board", "xrt", "2.16.204"] for line in lines)
    assert "not to be believed: power of 12 W (board) can not be: the card at rest draws at least 14.5 W" in lines
    assert "a note" in lines
    assert calls == [(None, MeasureRequest())]


def test_options_reach_the_measurement(calls: list[Any], tmp_path: Path) -> None:
    options = ["--board", SHELL, "--xclbin", "x.xclbin", "--repeats", "5", "--warm-up", "0", "--seconds", "0"]
    options += ["--timeout", "9", "--wait", "1", "--allow-reset", "--allow-edited"]
    assert RUNNER.invoke(app, ["measure", str(tmp_path), *options]).exit_code == 0
    ((xclbin, request),) = calls
    assert xclbin == Path("x.xclbin")
    assert request == MeasureRequest(SHELL, 5, 0, 0.0, timeout_s=9.0, lock_s=1.0, allow_reset=True, allow_edited=True)


def test_json_is_the_whole_measurement(calls: list[Any]) -> None:
    result = RUNNER.invoke(app, ["measure", "d", "--json"])
    found = json.loads(result.stdout)
    assert [m["name"] for m in found["metrics"]][:2] == ["latency", "latency_p95"]
    assert found["times"]["p95_us"] == 131.25
    assert {flag["metric"] for flag in found["flags"]} == {"power", "energy"}


@pytest.mark.parametrize(("directory", "code", "said"), [("wrong", 1, "y is off by 0.5"), ("hangs", 3, "mlp_k1")])
def test_a_wrong_result_is_a_no_and_a_board_that_fails_a_failure(
    calls: list[Any], directory: str, code: int, said: str
) -> None:
    result = RUNNER.invoke(app, ["measure", directory])
    assert (result.exit_code if directory == "wrong" else _code(result)) == code
    assert said in (result.output if directory == "wrong" else str(result.exception))


def _code(result: Any) -> int:
    from cli.errors import exit_code

    return exit_code(result.exception)
