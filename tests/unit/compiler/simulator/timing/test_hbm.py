"""The pace of HBM: what was measured on boards, jumps of the address, ports that share a channel."""

from dataclasses import replace
from fractions import Fraction

import pytest
from timed_designs import design, load, task

from bench.hbm import rows
from compiler.analysis.transfers import burst_ns, slowdowns
from compiler.platforms.platform import load_platform
from compiler.simulator.timing.design import TimedDesign, Transfer
from compiler.simulator.timing.hbm import pace
from compiler.simulator.timing.simulate import simulate_design

U55C = load_platform("u55c")


@pytest.mark.parametrize("clock", [250.0, 300.0, 450.0])
def test_every_measured_figure_is_met_within_one_percent(clock: float) -> None:
    found = rows(replace(U55C, clock_mhz=clock))
    assert len(found) == 2 + len(U55C.hbm.random_gb_s) + len(U55C.hbm.spread_gb_s)
    assert {row.pattern: round(row.error, 3) for row in found if abs(row.error) > 0.01} == {}


def test_a_port_moves_at_most_a_word_a_cycle() -> None:
    slow_clock = replace(U55C, clock_mhz=150.0)  # 64 bytes a cycle are 9.6 GB/s, the channel would have 13.1
    assert pace(slow_clock, None) == pace(slow_clock, 64)
    assert pace(slow_clock, None).cycles(100, None) == 100


def test_between_measured_sizes_the_time_of_a_burst_is_linear_and_beyond_them_sequential() -> None:
    table = ((64, 4.0), (128, 8.0), (256, 12.8))
    assert burst_ns(table, 64, 10.0) == burst_ns(table, 128, 10.0) == 16.0
    assert burst_ns(table, 192, 10.0) == pytest.approx(18.0)
    assert burst_ns(table, 356, 10.0) == pytest.approx(30.0)
    assert burst_ns(table, 32, 10.0) == pytest.approx(16.0)  # no burst is shorter than the shortest measured


def test_ports_on_one_channel_take_turns() -> None:
    words = {"a": 100, "b": 100, "big": 1000, "small": 10}
    assert slowdowns(words, {"a": (0,), "b": (0,)})["a"] == 2
    found = slowdowns(words, {"big": (3,), "small": (3,), "a": (1,), "b": ()})
    assert found == {"big": Fraction(1010, 1000), "small": 2, "a": 1, "b": 1}
    # A transfer of several ports is as slow as its most crowded channel.
    assert slowdowns(words, {"a": (0, 1), "b": (1,)})["a"] == 2


def two_loads(first: int, second: int, words: int = 4000) -> TimedDesign:
    def one(n: int, channel: int) -> tuple[object, object]:
        return load(f"l{n}", words, f"s{n}", Transfer(1, 1, 1, None, (channel,))), task(f"t{n}", (words,), (f"s{n}",))

    return design((*one(0, first), *one(1, second)))  # pyright: ignore[reportArgumentType]


def test_two_loads_on_one_channel_take_twice_as_long() -> None:
    apart, together = (simulate_design(two_loads(0, c), U55C) for c in (1, 0))
    assert together.cycles == pytest.approx(2 * apart.cycles, rel=0.02)
    assert [round(h.bound_gb_s, 1) for h in together.hbm] == [6.5, 6.5]
    assert all(h.gb_s == pytest.approx(h.bound_gb_s, rel=0.01) for h in (*apart.hbm, *together.hbm))
