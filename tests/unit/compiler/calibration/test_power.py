"""The power model is found again from runs that it made; the idle figures of boards agree with it."""

import csv
from dataclasses import replace
from pathlib import Path
from statistics import mean

import pytest
from fixtures import vitis_fixture

from compiler.calibration.power import (
    COLUMNS,
    PowerRun,
    dynamic_watts,
    fit_power,
    held_out_error,
    median_error,
    predicted_watts,
    read_runs,
)
from compiler.errors import InvalidInputError
from compiler.platforms.platform import load_platform

POWER = load_platform("u55c").power


def run(scale: float, activity: float, hbm: float) -> PowerRun:
    """A run on a card that rests at 21 W, draws 1.5 times the model's, and 60 pJ/byte."""
    made = PowerRun(1e5 * scale, 2e5 * scale, 1e3 * scale, 200 * scale, 50, activity, 250, hbm, 0)
    watts = 21 + 1.5 * dynamic_watts(made, POWER) + hbm * 0.06
    return replace(made, watts=watts)


RUNS = [run(1, 0.2, 10), run(2, 0.9, 50), run(4, 0.5, 200), run(6, 1.0, 400), run(3, 0.1, 5)]


def test_the_card_is_found_again():
    found = fit_power(RUNS, POWER)
    assert found.static_w == pytest.approx(21, rel=1e-3)
    assert found.dsp_mw == pytest.approx(1.5 * POWER.dsp_mw)
    assert found.hbm_pj_per_byte == pytest.approx(60)
    assert found.waiting_share == POWER.waiting_share
    assert median_error(RUNS, POWER) > 0.1
    assert held_out_error(RUNS, POWER) == pytest.approx(0, abs=1e-6)


def test_same_traffic_everywhere_leaves_the_energy_of_a_byte():
    runs = [run(k, 0.5, 100) for k in (1, 2, 3, 4)]
    assert fit_power(runs, POWER).hbm_pj_per_byte == POWER.hbm_pj_per_byte


def test_too_few_runs():
    with pytest.raises(InvalidInputError, match="at least 3"):
        fit_power(RUNS[:2], POWER)
    assert held_out_error(RUNS[:3], POWER) is None


def test_a_table_is_read(tmp_path: Path):
    file = tmp_path / "runs.csv"
    file.write_text(",".join(COLUMNS) + "\n1e5,2e5,1000,200,50,0.5,250,100,40\n")
    (read,) = read_runs(file)
    assert (read.lut, read.watts) == (1e5, 40)
    file.write_text("lut,watts\n1,2\n")
    with pytest.raises(InvalidInputError, match="activity"):
        read_runs(file)


@pytest.mark.parametrize("run", ["1,2,3,4,5,0.5,250,100,0", "1,2,3,4,5,50,250,100,40", "1,nan,3,4,5,0.5,250,100,40"])
def test_a_run_that_can_not_be(tmp_path: Path, run: str):
    file = tmp_path / "runs.csv"
    file.write_text(",".join(COLUMNS) + f"\n{run}\n")
    with pytest.raises(InvalidInputError, match="a run draws power"):
        read_runs(file)


def test_power_at_rest_is_within_what_boards_show():
    """A U280 at rest, which has DIMMs besides, draws more than the U55C's idle and not twice it."""
    lines = vitis_fixture("power/zttt_u280_power_profile_idle95s.csv").read_text().splitlines()[1:]
    rows = list(csv.DictReader(lines))
    watts = mean(
        sum(float(row[f"{rail}_curr"]) * float(row[f"{rail}_vol"]) for rail in ("12v_aux", "12v_pex")) * 1e-6
        for row in rows
    )
    idle = predicted_watts(PowerRun(0, 0, 0, 0, 0, 0, 250, 0, 0), POWER)
    assert load_platform("u55c").limits.idle_w <= idle <= watts < 2 * idle
