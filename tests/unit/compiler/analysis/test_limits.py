"""Each value that can not be is flagged, and nothing that can be."""

import json
import math

import pytest

from compiler.analysis.limits import Work, impossible
from compiler.metrics import Fidelity, Metric
from compiler.platforms.platform import load_platform

U55C = load_platform("u55c")
PLAUSIBLE = [
    ("latency", 900.0, "us"), ("power", 31.0, "W"), ("lut", 250_000.0, "LUT"), ("ff", 400_000.0, "FF"),
    ("dsp", 9024.0, "DSP"), ("bram36", 800.5, "BRAM36"), ("uram", 960.0, "URAM"), ("hbm_ports", 32.0, "ports"),
    ("hbm_bandwidth", 421.0, "GB/s"), ("hbm_traffic", 1e8, "bytes"), ("clock", 300.0, "MHz"), ("slack", -0.4, "ns"),
    ("clock_estimated", 2.4, "ns"), ("energy", 0.0, "uJ"), ("padding_share", 0.0, "%"),
]  # fmt: skip


def metric(name: str, value: float, unit: str, fidelity: Fidelity = Fidelity.CSYNTH) -> Metric:
    return Metric(name, value, unit, fidelity)


@pytest.mark.parametrize("fidelity", list(Fidelity))
def test_what_can_be_is_not_flagged(fidelity: Fidelity):
    assert impossible([metric(*row, fidelity) for row in PLAUSIBLE], U55C, Work(1e8, 1e9)) == ()


@pytest.mark.parametrize(
    ("name", "value", "unit", "bound"),
    [
        ("dsp", 9025, "DSP", 9024),
        ("lut", 1_303_681, "LUT", 1_303_680),
        ("ff", 3e6, "FF", 2_607_360),
        ("bram36", 2016.5, "BRAM36", 2016),
        ("uram", 961, "URAM", 960),
        ("hbm_ports", 33, "ports", 32),
        ("hbm_bandwidth", 461, "GB/s", 460),
        ("power", 151, "W", 150),
        ("clock", 800, "MHz", 775),
        ("clock_estimated", 1.0, "ns", 1e3 / 775),
        ("energy", -1, "uJ", 0),
        ("cycles", -1, "cycles", 0),
    ],
)
def test_beyond_part_or_card(name: str, value: float, unit: str, bound: float):
    (flag,) = impossible([metric(name, value, unit)], U55C)
    assert (flag.metric, flag.value, flag.bound, flag.fidelity) == (name, value, pytest.approx(bound), Fidelity.CSYNTH)
    assert name in flag.text
    assert json.loads(json.dumps(flag.to_json(), allow_nan=False))["bound"] == pytest.approx(bound)


@pytest.mark.parametrize("value", [math.nan, math.inf, -math.inf])
def test_no_number(value: float):
    (flag,) = impossible([metric("latency", value, "us")], U55C)
    assert json.loads(json.dumps(flag.to_json(), allow_nan=False))["value"] == str(value)


@pytest.mark.parametrize("fidelity", [Fidelity.ESTIMATE, Fidelity.SIMULATE, Fidelity.BOARD])
def test_a_card_under_its_idle_power(fidelity: Fidelity):
    assert [f.bound for f in impossible([metric("power", 14.0, "W", fidelity)], U55C)] == [14.5]


def test_the_chip_alone_may_draw_less_than_the_card_at_rest():
    assert impossible([metric("power", 5.0, "W", Fidelity.LINK)], U55C) == ()


@pytest.mark.parametrize(("value", "unit"), [(216.0, "us"), (0.216, "ms"), (216e3, "ns"), (216e-6, "s")])
def test_latency_below_the_hbm_bound(value: float, unit: str):
    """100 MB take 217.4 us at 460 GB/s."""
    (flag,) = impossible([metric("latency", value, unit)], U55C, Work(hbm_bytes=1e8))
    assert "HBM" in flag.text
    assert flag.bound / value == pytest.approx(217.39 / 216.0, rel=1e-3)


def test_traffic_among_the_metrics_bounds_latencies_of_every_fidelity():
    traffic = metric("hbm_traffic", 1e8, "bytes", Fidelity.ESTIMATE)
    measured = metric("latency", 100.0, "us", Fidelity.BOARD)
    assert [f.fidelity for f in impossible([traffic, measured], U55C)] == [Fidelity.BOARD]


def test_latency_below_what_all_multipliers_of_the_part_take():
    """1e12 products: 9024 DSPs x 4 and 1303680 LUTs / 8 at 775 MHz start 154 a nanosecond: 6.48 ms."""
    slow, fast = metric("latency", 6500.0, "us"), metric("latency", 6400.0, "us")
    (flag,) = impossible([slow, fast], U55C, Work(products=1e12))
    assert flag.value == 6400.0
    assert flag.bound == pytest.approx(6482, rel=1e-3)
