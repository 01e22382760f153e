"""Designs that go round, follow an argument or take turns, as C++ that runs: they end, and with one token less in one
FIFO simulator and C simulation name it. Verilator's part is `tests/property/compiler/test_timing_rtl.py`.
"""

import re
from pathlib import Path

import pytest
from looped_pipelines import ARGUMENTS, LOOPS, following
from route_designs import build_routes, emit_routes, routes

from compiler.errors import ToolError
from compiler.graph.task_graph import TaskGraph
from compiler.platforms.platform import load_platform
from compiler.simulator.csim.build import build, calls_of
from compiler.simulator.csim.errors import DeadlockError
from compiler.simulator.csim.execute import run
from compiler.simulator.timing.simulate import simulate

pytestmark = pytest.mark.slow

U55C = load_platform("u55c")
NAMES = {
    "layers": "layers, flushable",
    "begun": "layers that begin with a token",
    "rows": "all arguments",
    "engine": "an engine",
    "slices": "an engine of four slices",
}
MAKE = {**{name: LOOPS[of] for name, of in NAMES.items()}, "argument": (following, max(ARGUMENTS))}
CASES = {
    case: (make, kept - less) for name, (make, kept) in MAKE.items() for less, case in ((0, name), (1, f"{name}_less"))
}
KERNELS = list(CASES)


@pytest.fixture(scope="module")
def graph() -> TaskGraph:
    return routes({case: make(kept) for case, (make, kept) in CASES.items()})


@pytest.fixture(scope="module")
def program(graph: TaskGraph, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """All of them in one build."""
    return build_routes(graph, U55C, tmp_path_factory.mktemp("routes"))


def alone(case: str) -> TaskGraph:
    make, kept = CASES[case]
    return routes({case: make(kept)})


@pytest.mark.parametrize("name", NAMES)
def test_it_ends_and_with_one_token_less_both_name_the_fifo(name: str, program: Path, tmp_path: Path):
    assert simulate(alone(name), U55C).deadlock is None
    run(program, tmp_path, arguments=[str(KERNELS.index(name))])
    less = f"{name}_less"
    found = simulate(alone(less), U55C).deadlock
    assert found is not None
    assert found.fifo == f"{less}_kept"
    with pytest.raises(DeadlockError) as caught:
        run(program, tmp_path, arguments=[str(KERNELS.index(less))])
    assert caught.value.streams == (f"{less}_kept",)


@pytest.mark.parametrize("value", ARGUMENTS)
def test_a_nest_that_follows_an_argument_ends_at_every_value(value: int, program: Path, tmp_path: Path):
    """With a token less, too, but for the value that needs them all."""
    run(program, tmp_path, arguments=[str(KERNELS.index("argument")), str(value)])
    less = "argument_less"
    given = [str(KERNELS.index(less)), str(value)]
    found = simulate(alone(less), U55C, launches=[{"length": value}]).deadlock
    if value < max(ARGUMENTS):
        assert found is None
        run(program, tmp_path, arguments=given)
    else:
        assert found is not None
        assert found.fifo == f"{less}_kept"
        with pytest.raises(DeadlockError) as caught:
            run(program, tmp_path, arguments=given)
        assert caught.value.streams == (f"{less}_kept",)


def test_the_testbench_takes_values_of_arguments(tmp_path: Path):
    emit_routes(alone("argument_less"), U55C, tmp_path)
    program = build(tmp_path / "hls", tmp_path / "csim", calls_of(tmp_path))
    given = [str(tmp_path), str(tmp_path / "out")]
    run(program, tmp_path, arguments=[*given, "length=15"])
    with pytest.raises(DeadlockError):
        run(program, tmp_path, arguments=given)
    for wrong in ("length=17", "length=-1", "length=", "length=1x"):
        with pytest.raises(ToolError, match=f"{wrong} can not be used; length must be 0 to 16"):
            run(program, tmp_path, arguments=[*given, wrong])


def test_equal_tasks_are_one_function(graph: TaskGraph, program: Path):
    """Of all kernels: those with a token less have no code of their own, and slices share one."""
    header = next((program.parents[1] / "hls").glob("*_tasks.h")).read_text()
    kernel = (program.parents[1] / "hls" / f"routes_k{KERNELS.index('slices')}.cpp").read_text()
    called = re.findall(r"^ *(\w+)\(slices_in\d", kernel, re.MULTILINE)
    assert len(called) == 4
    assert called[0] == called[1] == called[2] != called[3]
    assert header.count("void ") <= len(graph.tasks) / 2
