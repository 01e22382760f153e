from dataclasses import replace
from typing import Any

import pytest
from orders import LIMITS

from compiler.errors import InvalidInputError
from worker.ladder.table import chain, new_build, options_of, queue_of
from worker.settings import Settings

VITIS = {"vitis": "2023.2"}
SHELL = "xilinx_u55c_gen3x16_xdma_3_202210_1"
SETTINGS = Settings(requests={"link": {"memory_gb": 32}, "csim": {"timeout_s": 60}})


def keys(wanted: dict[str, Any], announced: dict[str, dict[str, str]] | None = None) -> dict[str, str]:
    """Key of each stage up to the link."""
    found, subject = dict[str, str](), "design"
    for stage in chain("link", wanted):
        found[stage] = subject = new_build(
            stage, subject, wanted, SETTINGS, platform="u55c", announced=announced or {}
        ).key
    return found


def changed(before: dict[str, str], after: dict[str, str]) -> list[str]:
    return [stage for stage in before if before[stage] != after[stage]]


@pytest.mark.parametrize(
    ("stage", "options", "expected"),
    [
        ("simulate", {}, "simulate"),
        ("csynth", VITIS, "csynth@2023.2"),
        ("cosim", VITIS, "cosim@2023.2"),
        ("link", VITIS, f"link@2023.2:{SHELL}"),
        ("link", {**VITIS, "shell": "other"}, "link@2023.2:other"),
        ("measure", {}, "measure@simulated"),
        ("measure", {"board": SHELL}, f"measure@{SHELL}"),
    ],
)
def test_queues_are_capabilities(stage: Any, options: dict[str, Any], expected: str) -> None:
    assert queue_of(stage, options, "u55c") == expected


def test_a_simulated_board_needs_no_link() -> None:
    assert chain("measure", {}) == ("csim", "measure")
    assert chain("measure", {"board": SHELL}) == ("csim", "csynth", "link", "measure")
    assert chain("cosim", {}) == ("csim", "csynth", "cosim")
    assert chain("simulate", {}) == ("simulate",)


def test_another_vitis_changes_csynth_and_what_is_after_it() -> None:
    assert changed(keys(VITIS), keys({"vitis": "2024.1"})) == ["csynth", "link"]


def test_another_compiler_changes_everything_from_csim_on() -> None:
    tools = [{"csim": {"g++": version}} for version in ("13.2.0", "14.1.0")]
    assert changed(keys(VITIS, tools[0]), keys(VITIS, tools[1])) == ["csim", "csynth", "link"]


def test_only_a_stage_s_own_options_are_in_its_key() -> None:
    assert changed(keys(VITIS), keys({**VITIS, "target": "hw_emu", "seed": 3, "verify": 9})) == ["link"]
    assert changed(keys(VITIS), keys({**VITIS, "area_model": "a" * 64})) == ["csim", "csynth", "link"]
    assert options_of("csynth", {**VITIS, "clock_mhz": None, "board": "x"}) == VITIS


def test_what_is_asked_of_a_node() -> None:
    link = new_build("link", "k", VITIS, SETTINGS, platform="u55c", exploration_id="e", priority="high")
    assert (link.memory_gb, link.licence, link.priority, link.exploration_id) == (32, "vivado", "high", "e")
    assert link.options == {**VITIS, "shell": SHELL}
    assert link.tool_versions == VITIS
    large = new_build("lower", "k", {}, SETTINGS, limits=replace(LIMITS, memory_gb=20, timeout_s=900))
    assert (large.memory_gb, large.timeout_s) == (20, 900)


def test_an_unknown_platform_is_named() -> None:
    with pytest.raises(InvalidInputError, match="unknown platform 'u99'"):
        queue_of("link", VITIS, "u99")
