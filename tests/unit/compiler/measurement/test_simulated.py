"""Measuring on the simulated board: real results, simulated time, modelled power."""

import json
from pathlib import Path

import numpy as np
import pytest
from fake_board import ESTIMATES, described_design

from compiler.errors import InvalidInputError
from compiler.measurement.errors import MeasurementError
from compiler.measurement.measure import measure
from compiler.measurement.request import MeasureRequest
from compiler.metrics import Fidelity
from compiler.platforms.platform import load_platform
from compiler.simulator.timing.simulate import simulate_directory

SIMULATED = MeasureRequest()


@pytest.mark.slow
def test_results_are_checked_time_is_simulated_power_is_modelled(tmp_path: Path) -> None:
    design = described_design(tmp_path, "layer_norm")  # it has a scalar
    lines: list[str] = []
    found = measure(design, None, SIMULATED, lines.append)
    assert found.passed, found.message
    assert (found.board, found.tool_versions) == ("simulated", {"millrace": "0.1.0"})
    (output,) = found.outputs
    assert 0 < output.max_abs_error < 1e-4
    by_fidelity = {
        fidelity: {m.name: m.value for m in found.metrics() if m.fidelity is fidelity}
        for fidelity in (Fidelity.SIMULATE, Fidelity.ESTIMATE)
    }
    latency = simulate_directory(design).latency_us
    assert by_fidelity[Fidelity.SIMULATE] == {"latency": latency, "throughput": pytest.approx(1e6 / latency)}
    watts, idle = ESTIMATES["power"][0], load_platform("u55c").power.static_w
    assert by_fidelity[Fidelity.ESTIMATE] == {
        "power": watts,
        "idle_power": idle,
        "energy": pytest.approx((watts - idle) * latency),
        "energy_with_idle": pytest.approx(watts * latency),
    }
    assert len(found.metrics()) == 6
    assert lines == ["build with g++", "load", "timed runs: 2 runs", "simulate"]
    assert json.loads(json.dumps(found.to_json()))["metrics"][0]["fidelity"] == "simulate"

    with np.load(design / "tb" / "expected.npz") as golden:
        other = {name: array + 1 for name, array in golden.items()}
    np.savez(design / "tb" / "expected.npz", **other)
    with pytest.raises(InvalidInputError, match=r"tb/expected\.npz was edited"):
        measure(design, None, SIMULATED)
    wrong = measure(design, None, MeasureRequest(allow_edited=True))
    assert not wrong.passed
    assert "y is off by" in wrong.message
    assert (wrong.metrics(), wrong.edited) == ((), ("tb/expected.npz",))


@pytest.mark.slow
def test_a_design_that_hangs_is_a_deadlock_that_names_the_kernel(tmp_path: Path) -> None:
    design = described_design(tmp_path, "softmax")
    source = design / "hls" / "softmax_k0.cpp"
    text = source.read_text()
    source.write_text(text.replace("\n  load_x(", "\n  if (false) load_x(", 1))
    assert source.read_text() != text
    with pytest.raises(MeasurementError, match=r"kernel softmax_k0 of softmax hangs: .*\n?.*no task can run") as caught:
        measure(design, None, MeasureRequest(allow_edited=True))
    assert caught.value.kind == "deadlock"


def test_a_design_without_golden_results_is_refused(tmp_path: Path) -> None:
    design = described_design(tmp_path)
    (design / "tb" / "expected.npz").unlink()
    with pytest.raises(InvalidInputError, match=r"expected\.npz is missing: nothing says what the results are"):
        measure(design, None, MeasureRequest(allow_edited=True))


@pytest.mark.parametrize(
    "fields", [{"repeats": 0}, {"warm_up": -1}, {"min_seconds": -1.0}, {"timeout_s": 0.0}, {"sample_s": 0.0}]
)
def test_a_request_that_makes_no_sense_is_refused(fields: dict[str, float]) -> None:
    with pytest.raises(InvalidInputError):
        MeasureRequest(**fields)  # pyright: ignore[reportArgumentType]
