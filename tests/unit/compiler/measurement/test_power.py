"""Readings of power: where they come from, and which of them are new."""

import time
from dataclasses import dataclass, field
from pathlib import Path

import pytest
from fake_board import FakeBoard
from fake_xbutil import BDF
from fixtures import synthetic_fixture, vitis_fixture
from processes import until

from compiler.measurement.boards import Host, find_host
from compiler.measurement.errors import MeasurementError
from compiler.measurement.power import find_power
from compiler.measurement.sampler import Sampler, distinct
from compiler.measurement.xbutil import find_xbutil
from compiler.toolchain.board.power_profile import PowerSample


@pytest.fixture
def board(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> FakeBoard:
    return FakeBoard(tmp_path, monkeypatch)


def test_pyxrt_is_asked_first(board: FakeBoard) -> None:
    board.xbutil.answer(electrical=synthetic_fixture("xbutil/small_examine.json").read_text())
    source = find_power(BDF, find_host())
    try:
        assert source.name == "pyxrt"
        assert source.watts() == pytest.approx(20.0, abs=0.1)
    finally:
        source.close()


def test_the_tool_is_asked_where_pyxrt_has_no_sensors(board: FakeBoard) -> None:
    board.break_it("sensor = False")
    board.xbutil.answer(electrical=synthetic_fixture("xbutil/small_examine.json").read_text())
    source = find_power(BDF, find_host())
    assert (source.name, source.watts()) == ("xbutil examine", 24.0)
    file = board.xbutil.calls[-1][-1]
    assert board.xbutil.calls[-1] == [
        "examine", "--device", BDF, "--report", "electrical", "--format", "JSON", "--output", file,
    ]  # fmt: skip


def test_the_reconstructed_report_of_a_u55c_is_read(board: FakeBoard) -> None:
    name = "xbutil/RECONSTRUCTED_NOT_REAL_u55c_examine_thermal_electrical.json"
    board.xbutil.answer(electrical=vitis_fixture(name).read_text())
    assert find_power(BDF, Host(tool=find_xbutil())).watts() == pytest.approx(49.66, abs=0.01)


def test_a_board_without_a_total_gives_the_sum_of_the_rails_that_feed_it(board: FakeBoard) -> None:
    text = synthetic_fixture("xbutil/small_examine.json").read_text()
    for nothing in ("N/A", "NA"):
        board.xbutil.answer(electrical=text.replace('"24.000000"', f'"{nothing}"'))
        assert find_power(BDF, Host(tool=find_xbutil())).watts() == 24.0  # 12 V x 2 A


def test_what_each_source_lacks_is_said(board: FakeBoard) -> None:
    board.break_it("sensor = False")
    with pytest.raises(MeasurementError) as caught:
        find_power(BDF, find_host())
    assert str(caught.value).startswith(f"the power of {BDF} is not known: the sensors by pyxrt holds no sensors")
    assert "xbutil examine wrote no report" in str(caught.value)


@dataclass
class Readings:
    """A source that gives these watts one after the other, None for a failure, then the last for ever."""

    watts_in_order: list[float | None]
    name: str = "list"
    read: int = 0
    begun: list[float] = field(default_factory=list)
    first_takes_s: float = 0.0

    def watts(self) -> float:
        self.begun.append(time.monotonic())
        if not self.read:
            time.sleep(self.first_takes_s)
        watts = self.watts_in_order[min(self.read, len(self.watts_in_order) - 1)]
        self.read += 1
        if watts is None:
            raise MeasurementError("device", "no reading")
        return watts

    def close(self) -> None:
        pass


def test_readings_that_repeat_the_one_before_are_not_new() -> None:
    source = Readings([20.0, 20.0, 21.0, 21.0, 21.0, 20.0])
    with Sampler(source, BDF, 0.01) as sampler:
        until(lambda: source.read >= 7)
    profile = sampler.profile()
    assert profile is not None
    assert [s.watts for s in profile.distinct] == [20.0, 21.0, 20.0]
    assert not profile.measured
    assert len(profile.samples) >= 6
    assert distinct(()) == ()
    assert distinct((PowerSample(0, 1.0), PowerSample(1, 1.0))) == (PowerSample(0, 1.0),)


def test_the_sampler_keeps_its_pace_and_reads_nothing_at_once() -> None:
    source = Readings([20.0])
    begun = time.monotonic()
    with Sampler(source, BDF, 0.05) as sampler:
        assert sampler.profile() is None
        until(lambda: source.read >= 4)
    assert all(at >= begun + 0.05 * number for number, at in enumerate(source.begun, 1))


def test_readings_that_a_slow_one_left_out_are_not_made_up_for() -> None:
    source = Readings([20.0], first_takes_s=0.2)
    with Sampler(source, BDF, 0.05):
        until(lambda: source.read >= 4)
    slow, next_one, after_that = source.begun[:3]
    assert next_one >= slow + 0.2
    assert after_that >= slow + 0.2 + 0.05


def test_one_reading_may_fail_but_not_one_after_the_other() -> None:
    source = Readings([20.0, None, 21.0])
    with Sampler(source, BDF, 0.01) as sampler:
        until(lambda: source.read >= 4)
    profile = sampler.profile()
    assert profile is not None
    assert [s.watts for s in profile.distinct] == [20.0, 21.0]

    source = Readings([20.0, None])
    with Sampler(source, BDF, 0.01) as sampler:
        until(lambda: source.read >= 4)
    with pytest.raises(MeasurementError, match="no reading"):
        sampler.profile()
