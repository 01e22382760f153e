"""A design says what its area and power rest on."""

from dataclasses import replace

from tasks_by_hand import compute

from compiler.analysis.provenance import calibration_note, guessed_luts, guessed_operators
from compiler.graph.task_graph import TaskGraph, TimingSpec
from compiler.platforms.platform import load_platform

U55C = load_platform("u55c")


def graph(*cores: str) -> TaskGraph:
    task = compute("t", TimingSpec((4,), 1, 3), operators=[(core, 2) for core in cores])
    return TaskGraph("g", 1, (task,), ())


def test_without_a_calibration_it_says_so():
    assert calibration_note(graph("fadd", "fmul"), U55C).startswith("uncalibrated")


def test_guessed_operators_are_named():
    tasks = graph("fadd", "ftanh", "fdiv")
    assert guessed_operators(tasks, U55C) == ("fdiv", "ftanh")
    luts = 2 * sum(U55C.operators[core].lut for core in ("fdiv", "ftanh"))
    assert guessed_luts(tasks, U55C) == luts
    assert calibration_note(tasks, U55C).endswith(f"; {luts:,.0f} LUTs rest on the guessed area of fdiv, ftanh")


def test_guesses_that_lanes_share_count_once():
    task = compute("t", TimingSpec((4,), 2, 3), operators=[("ftanh", 4), ("fadd", 4)])
    assert guessed_luts(TaskGraph("g", 1, (task,), ()), U55C) == 2 * U55C.operators["ftanh"].lut


def test_a_calibration_is_quoted():
    calibrated = replace(U55C, calibration="calibrated (area: 3 csynth reports)")
    assert calibration_note(graph("fadd"), calibrated) == "calibrated (area: 3 csynth reports)"
