from dataclasses import replace

import pytest
from fixtures import synthetic_fixture, vitis_fixture

from compiler.errors import InvalidInputError, ReportError
from compiler.metrics import Fidelity
from compiler.toolchain.board.power_profile import ActivePower, PowerProfile, PowerSample, active_power
from compiler.toolchain.board.power_profile import parse_power_profile as parse
from compiler.toolchain.source import Source, read_source

SMALL = "power/small_power_profile.csv"


def small(old: str = "'", new: str = "'") -> PowerProfile:
    return parse(Source("power.csv", synthetic_fixture(SMALL).read_text().replace(old, new)))


def test_watts_over_time() -> None:
    profile = small()
    assert profile.device == "xilinx_u55c_gen3x16_xdma_base_3-0"
    assert profile.samples[0] == PowerSample(0, 24)
    assert [round(s.watts, 3) for s in profile.samples] == [24, 24, 25.2, 26.4, 25.2, 24]
    assert [s.seconds for s in profile.distinct] == [0, 1, 2, 3, 4]  # temperatures do not count
    assert profile.mean_w == pytest.approx((12 + 12.3 + 25.8 + 25.8 + 24.6) / 4)
    assert [(m.name, m.unit, m.fidelity) for m in profile.metrics()] == [("power", "W", Fidelity.BOARD)]


def test_idle_is_subtracted() -> None:
    idle = small("1000,12000,1000,12000", "500,12000,1000,12000")
    power = active_power(small(), idle)
    assert power == ActivePower(small().mean_w, idle.mean_w, 4)
    assert power.mean_w == pytest.approx(small().mean_w - idle.mean_w)


def test_too_few_readings_are_no_measurement() -> None:
    profile = small()
    few = replace(profile, distinct=profile.distinct[:4])
    assert few.metrics() == ()
    with pytest.raises(InvalidInputError, match="profile of the run has 4 distinct readings"):
        active_power(few, profile)
    with pytest.raises(InvalidInputError, match="profile of the idle has 4 distinct readings"):
        active_power(profile, few)


def test_another_board_and_no_power_left() -> None:
    profile = small()
    with pytest.raises(InvalidInputError, match="the same board"):
        active_power(profile, replace(profile, device="other"))
    with pytest.raises(InvalidInputError, match="no power is left"):
        active_power(profile, profile)


def test_a_real_idle_board() -> None:
    profile = parse(read_source(vitis_fixture("power/zttt_u280_power_profile_idle95s.csv")))
    assert (len(profile.samples), len(profile.distinct), round(profile.seconds, 1)) == (913, 22, 89.6)
    assert profile.mean_w == pytest.approx(22.1, abs=0.1)


def test_a_real_run_that_is_too_short() -> None:
    profile = parse(read_source(vitis_fixture("power/zttt_u280_power_profile_short.csv")))
    assert (len(profile.samples), len(profile.distinct), profile.metrics()) == (17, 1, ())
    assert profile.mean_w == pytest.approx(0.747 * 12.158 + 1.121 * 12.115)


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("500,1000", "500,1x00", "12v_aux_curr in line 4 is '1x00'"),
        ("500,1000,", "500,", "line 4 has 10 values, its header 11"),
        ("500,1000", "500,", "not a number"),
        ("1000,1100", "400,1100", "timestamps do not increase"),
        ("_curr", "_current", "no current and voltage"),
        ("1000,1100,12000", "1000,inf,12000", "'inf', not a number"),
    ],
)
def test_damaged(old: str, new: str, message: str) -> None:
    with pytest.raises(ReportError, match=message):
        small(old, new)


def test_no_samples() -> None:
    head = "\n".join(synthetic_fixture(SMALL).read_text().split("\n")[:2])
    with pytest.raises(ReportError, match="no samples"):
        parse(Source("power.csv", head + "\n"))
