"""The regression finds the coefficients that made the data, outliers or not, and keeps what the data does not tell."""

import random
from dataclasses import replace

import pytest

from compiler.calibration.fit import fit
from compiler.calibration.samples import PARTS, Amount, Coefficients, Sample, coefficients_of
from compiler.platforms.area import Logic
from compiler.platforms.platform import load_platform

START = coefficients_of(load_platform("u55c").area)
TRUE = {"task.base": 40.0, "task.counter_bit": 9.0, "task.stage": 12.0, "task.bit": 1.5, "task.memory": 150.0}


def task_sample(rng: random.Random, number: int) -> Sample:
    features = {
        "task.base": 1.0,
        "task.counter_bit": float(rng.randint(4, 24)),
        "task.stage": float(rng.randint(1, 40)),
        "task.bit": float(rng.choice([32, 64, 512, 4096])),
        "task.memory": float(rng.randint(0, 3)),
    }
    fixed = float(rng.randint(0, 5000))
    lut = fixed + sum(TRUE[name] * count for name, count in features.items())
    return Sample("pipeline task", "s", f"d{number}", "t", "task", features, Amount(lut, fixed), Amount(2 * lut, fixed))


def task_samples(count: int) -> list[Sample]:
    rng = random.Random(7)
    return [task_sample(rng, k) for k in range(count)]


def luts(found: Coefficients) -> dict[str, float]:
    return {name: found[name].lut for name in TRUE}


def test_exact_data_gives_the_coefficients_back():
    assert luts(fit(task_samples(60), START)) == pytest.approx(TRUE, rel=0.05, abs=4)


def test_an_outlier_hardly_moves_them():
    samples = task_samples(60)
    wild = replace(samples[0], lut=Amount(20 * (samples[0].lut.actual or 0), 0.0))
    assert luts(fit([wild, *samples[1:]], START)) == pytest.approx(TRUE, rel=0.12, abs=25)


def test_no_coefficient_is_negative():
    samples = [replace(s, lut=Amount(1.0, s.lut.fixed)) for s in task_samples(30)]
    assert min(luts(fit(samples, START)).values()) >= 0


def test_what_no_sample_has_stays():
    found = fit(task_samples(60), START)
    assert found["task.shared_bit"] == START["task.shared_bit"]
    assert all(found[name] == START[name] for name in PARTS["port"])


def test_too_few_samples_change_nothing():
    assert fit(task_samples(6), START) == START
    assert fit([], START) == START


def test_the_start_does_not_matter():
    other = {name: Logic(1e4, 1e4) for name in START}
    samples = task_samples(60)
    found, again = luts(fit(samples, START)), luts(fit(samples, other))
    assert found == pytest.approx(again, rel=1e-3, abs=0.1)
