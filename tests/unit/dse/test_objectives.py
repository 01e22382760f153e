"""What a search may make small."""

import pytest

from compiler.errors import InvalidInputError
from dse.objectives import DEFAULT, OBJECTIVES, check_objectives, in_words


@pytest.mark.parametrize("names", [DEFAULT, ("area", "latency"), ("latency", "energy", "area")])
def test_two_or_three_are_taken(names: tuple[str, ...]) -> None:
    check_objectives(names)


@pytest.mark.parametrize(
    ("names", "said"),
    [
        ((), "2 or 3 different objectives, not none"),
        (("latency",), "not latency; there are latency, energy"),
        (("area", "area"), "not area, area"),
        (("lut", "ff", "dsp", "uram"), "not lut, ff, dsp, uram"),
        (("latency", "speed"), "no objective is called speed"),
    ],
)
def test_others_are_refused_in_words(names: tuple[str, ...], said: str) -> None:
    with pytest.raises(InvalidInputError, match=said):
        check_objectives(names)


def test_some_are_of_one_phase() -> None:
    names = "latency", "prompt_time"
    check_objectives(names, ["token"])
    with pytest.raises(InvalidInputError, match="prompt_time is known of a token, not of a decode: --phase token"):
        check_objectives(names, ["token", "decode"])
    check_objectives(["latency", "mean_latency"], ["token", "step"])
    with pytest.raises(InvalidInputError, match="mean_energy is known of a step or token, not of a decode: --phase"):
        check_objectives(["latency", "mean_energy"], ["decode"])


def test_the_interval_is_that_of_several_inputs() -> None:
    names = "input_interval", "area"
    check_objectives(names, ["prefill"], [8, 2])
    with pytest.raises(InvalidInputError, match="input_interval is known of launches that take several inputs"):
        check_objectives(names, ["prefill"], [8, 1])


def test_they_have_names_for_people() -> None:
    assert in_words(DEFAULT) == "latency and energy"
    assert in_words(("hbm_ports", "lut", "area"), "or") == "hbm ports, lut or area"
    assert [OBJECTIVES[name].best for name in ("latency", "energy", "area")] == [
        "fastest",
        "least_energy",
        "least_area",
    ]
