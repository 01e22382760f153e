"""C++ of memory behind credits: right with them, stale without, hung where what waits has no room."""

from dataclasses import replace
from pathlib import Path

import pytest
from through_memory import KEPT, TOKENS, U55C, credited, network, through_memory, with_depth

from compiler.analysis.ports import kernel_ports
from compiler.analysis.tasks import load_task, plan_packing
from compiler.errors import UnsupportedError
from compiler.graph.design import Transfer
from compiler.graph.itensor import ITensor, Loop
from compiler.graph.task_graph import TaskGraph
from compiler.proof.recording import Recording
from compiler.simulator.csim.build import build, calls_of
from compiler.simulator.csim.errors import DeadlockError
from compiler.simulator.csim.execute import run
from compiler.simulator.timing.simulate import simulate
from compiler.targets.emit import NetworkData, emit_design
from compiler.targets.interface import plan_interface
from compiler.targets.tasks.emitter import TaskEmitter
from compiler.targets.writer import CppWriter

PASSED, STALE = 0, 1
slow = pytest.mark.slow


def emitted(tasks: TaskGraph, folder: Path) -> Path:
    made = network()
    emit_design(tasks, made.graph(), U55C, NetworkData(made.tensors, made.expected, 1e-5), folder)
    return folder


def outcome(folder: Path, tasks: TaskGraph | None = None) -> int:
    """How the testbench ends; held to the streams of `tasks`."""
    program = build(folder / "hls", folder / "csim", calls_of(folder))
    taps = None
    if tasks is not None:
        recording = Recording(folder / "taps", tasks)
        recording.prepare()
        taps = recording.folder
    arguments = (str(folder), str(folder / "out"))
    return run(program, folder, taps, arguments=arguments, accepted=(PASSED, STALE)).returncode


@slow
@pytest.mark.parametrize("outer", [0, 1, 2])
def test_what_is_read_is_what_was_written(outer: int, tmp_path: Path) -> None:
    tasks = with_depth(credited(outer), KEPT, TOKENS[outer])
    assert outcome(emitted(tasks, tmp_path), tasks) == PASSED
    assert simulate(tasks, U55C).deadlock is None


@slow
@pytest.mark.parametrize("outer", [0, 1])
def test_with_a_token_less_both_simulations_name_the_fifo(outer: int, tmp_path: Path) -> None:
    tasks = with_depth(credited(outer), KEPT, TOKENS[outer] - 1)
    with pytest.raises(DeadlockError) as found:
        outcome(emitted(tasks, tmp_path), tasks)
    assert found.value.streams == (KEPT,)
    deadlock = simulate(tasks, U55C).deadlock
    assert deadlock is not None
    assert (deadlock.fifo, deadlock.depth_needed) == (KEPT, TOKENS[outer])


@slow
def test_without_a_credit_the_words_are_the_old_ones(tmp_path: Path) -> None:
    assert outcome(emitted(through_memory(), tmp_path)) == STALE


CREDIT = """    {
#pragma HLS protocol mode=fixed
      ap_wait();
      credit.%s;
      ap_wait();
    }
"""
MUTANTS = {
    "the store does not wait for the answer": ("    memory0.write_response();\n", CREDIT % "write(0)"),
    "the load asks before it has the credit": (CREDIT % "read()", "    memory0.read_request(run * 4, 4);\n"),
}


@slow
@pytest.mark.parametrize("mutant", MUTANTS)
def test_credits_and_memory_the_wrong_way_round_are_seen(mutant: str, tmp_path: Path) -> None:
    emitted(credited(), tmp_path)
    file = tmp_path / "hls" / "kept_tasks.cpp"
    first, second = MUTANTS[mutant]
    text = file.read_text()
    assert first + second in text
    file.write_text(text.replace(first + second, second + first))
    assert outcome(tmp_path) == STALE


def test_pointers_and_bursts_by_hand_share_no_port() -> None:
    """Two loads and two stores, of which those of the value between can share."""
    tasks = credited()
    (kernel,) = plan_interface(tasks, network().graph()).kernels
    bundles = {p.bundle for p in kernel.ports}
    assert len(bundles) == sum(kernel_ports(tasks)) == 2
    for bundle in bundles:
        assert len({p.type.startswith("hls::burst_maxi") for p in kernel.ports if p.bundle == bundle}) == 1


@pytest.mark.parametrize(
    ("restarts", "complaint"),
    [(0, "task load_k: it reads again within a run"), (2, "task load_k: a run of its pipeline ends within a word")],
)
def test_a_run_is_whole_words_in_a_row(restarts: int, complaint: str) -> None:
    streamed = ITensor((4,), "f32", (Loop(3, 24, 0), Loop(2, 1, None), Loop(6, 4, 0)))
    packing = plan_packing(streamed, 1, U55C.hbm.port_bits)._replace(tokens_per_word=4)
    tasks = credited()
    load = load_task("load_k", Transfer("k", 0, streamed, packing), "op_y_in0", U55C)
    load = replace(load, timing=replace(load.timing, restarts=restarts))
    streams = tuple(s._replace(itensor=streamed) if s.name == "op_y_in0" else s for s in tasks.streams)
    changed = replace(tasks, tasks=tuple(load if t.name == "load_k" else t for t in tasks.tasks), streams=streams)
    with pytest.raises(UnsupportedError, match=complaint):
        TaskEmitter(changed, CppWriter()).emit(load, "load")
