"""Engines in C++: several operations through the same lanes, each with its own loops; a wrong table is seen."""

import re
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from grouped_products import grouped
from networks import Network, body
from numpy.typing import NDArray
from small_graphs import chain, quantised

from compiler.analysis.padding import pad
from compiler.errors import MillraceError
from compiler.frontend.interpret import NUMPY_DTYPE, interpret
from compiler.graph.linalg_graph import LinalgGraph, Reduction
from compiler.graph.task_graph import ComputeTask, EngineTask, LanesTask, LoadTask, TaskGraph
from compiler.options import Knobs, Loads, TaskOverride
from compiler.passes.design_passes import planned_tasks
from compiler.platforms.platform import load_platform
from compiler.simulator.csim.build import build, calls_of
from compiler.simulator.csim.execute import run
from compiler.simulator.timing.simulate import simulate
from compiler.targets.emit import NetworkData, emit_design

pytestmark = pytest.mark.slow

U55C = load_platform("u55c")
SHARED = Knobs(default_tile_size=8, overall_unroll=16, engines="shared")
PACKED = Knobs(
    default_tile_size=8, overall_unroll=32, engines="shared", multiplier="dsp_packed", order="reduction-outer"
)
MISMATCH = 1


def floats() -> LinalgGraph:
    """Products of other shapes: another number of iterations, of partial results, of tokens."""
    return chain(16, 32, 24, 8)


def integers() -> LinalgGraph:
    """Products of int8 and int4, in groups: one has two dimensions where the other has one."""
    network = Network("integers")
    network.tensor("x", np.zeros((4, 16), np.int8), "i8", "input")
    network.tensor("w", np.zeros((16, 2, 8), np.int8), "i4")
    network.tensor("v", np.zeros((2, 8, 24), np.int8), "i4")
    product = body(
        ["i8", "i4"], ("arith.extsi", (0,), "i32"), ("arith.extsi", (1,), "i32"), ("arith.muli", (2, 3), "i32")
    )
    narrow = body(["i32"], ("arith.trunci", (0,), "i8"))
    network.generic("a", (4, 2, 8, 16), [("x", "ad"), ("w", "dbc")], "abc", product, Reduction("add", 0), "i32")
    network.generic("b", (4, 2, 8), [("a", "abc")], "abc", narrow, dtype="i8")
    network.generic("y", (4, 24, 2, 8), [("b", "acd"), ("v", "cdb")], "ab", product, Reduction("add", 0), "i32")
    network.result("y", np.zeros((4, 24)))
    return network.graph()


def emitted(
    graph: LinalgGraph, knobs: Knobs, folder: Path, given: Mapping[str, NDArray[np.int8]] | None = None
) -> TaskGraph:
    """With tensors at random, but those that are given."""
    rng = np.random.default_rng(3)
    tensors = {
        v.source: (rng.integers(-8, 8, v.shape) if v.dtype != "f32" else rng.uniform(-1, 1, v.shape)).astype(
            NUMPY_DTYPE[v.dtype]
        )
        for v in graph.values
        if v.role != "intermediate"
    } | dict(given or {})
    values = interpret(graph, tensors)
    tasks = planned_tasks(graph, knobs, U55C)
    expected = {o.name: values[o.value].reshape(o.shape) for o in graph.outputs}
    emit_design(tasks, pad(graph, knobs), U55C, NetworkData(tensors, expected, 1e-5), folder)
    return tasks


def objection(folder: Path) -> str:
    """What the testbench of a design objects to."""
    program = build(folder / "hls", folder / "csim", calls_of(folder))
    return run(program, folder, arguments=[str(folder)], accepted=(0, MISMATCH)).stderr


@pytest.mark.parametrize("slices", [1, 2, 4])
@pytest.mark.parametrize(("make", "knobs"), [(floats, SHARED), (integers, PACKED)], ids=["f32", "packed"])
def test_every_operation_comes_out_right(make: Callable[[], LinalgGraph], knobs: Knobs, slices: int, tmp_path: Path):
    tasks = emitted(make(), replace(knobs, slices=slices, overall_unroll=4 * knobs.overall_unroll), tmp_path)
    engines = [task for task in tasks.tasks if isinstance(task, EngineTask)]
    assert len(engines) == slices
    assert all(len(e.served) == len([op for op in make().ops if op.is_contraction]) for e in engines)
    source = next((tmp_path / "hls").glob("*_tasks.cpp")).read_text()
    assert source.count("Serves ") == 1  # slices are calls of one function
    assert objection(tmp_path) == ""


@pytest.mark.parametrize(("channels", "pieces"), [(1, 2), (2, 1)])
@pytest.mark.parametrize("slices", [1, 4])
def test_tokens_wider_than_their_ports_are_put_together(channels: int, pieces: int, slices: int, tmp_path: Path):
    knobs = Knobs(default_tile_size=64, engines="shared", loads="joint", hbm_channels=channels, slices=slices)
    lanes = tuple(TaskOverride(op, unroll=64) for op in ("m1", "m2"))
    tasks = emitted(chain(64, 128, 64), replace(knobs, stream_width=2048, overrides=lanes), tmp_path)
    (load,) = (task for task in tasks.tasks if isinstance(task, LoadTask) and task.dma.joint)
    wide = [task.pieces for task in tasks.tasks if isinstance(task, LanesTask) and task.pieces > 1]
    assert wide == ([pieces] * slices if pieces > 1 else [])  # each slice puts its own together
    assert tasks.stream[load.writes[0].stream].width == load.dma.word_bits == 512 * channels
    assert simulate(tasks, U55C).deadlock is None
    if slices > 1 and pieces > 1:  # what crosses to a slice is its part of a word
        widened = [task for task in tasks.tasks if isinstance(task, LanesTask) and task.pieces > 1]
        assert {tasks.stream[task.reads[0].stream].width for task in widened} == {512 * channels // slices}
    assert objection(tmp_path) == ""
    if pieces > 1:  # the first in front
        header = tmp_path / "hls" / "stream_pack.h"
        text = header.read_text()
        assert text.count("get(part, e - BEHIND)") == 1
        header.write_text(text.replace("get(part, e - BEHIND)", "get(part, COUNT - 1 - e)"))
        assert objection(tmp_path)


def test_tokens_of_no_whole_words_are_put_together_by_their_load(tmp_path: Path):
    """The last word of each has bits of none: 36 elements of 32 bits lie in three."""
    lanes = tuple(TaskOverride(op, unroll=36) for op in ("m1", "m2"))
    knobs = Knobs(default_tile_size=48, engines="shared", loads="joint", stream_width=2048, overrides=lanes)
    tasks = emitted(chain(3, 96, 36), knobs, tmp_path)
    assert not any(isinstance(task, LanesTask) for task in tasks.tasks)
    assert objection(tmp_path) == ""


@pytest.mark.parametrize("joint", ["own", "joint"])
def test_parts_of_products_are_added_up_in_their_turns(joint: Loads, tmp_path: Path):
    lanes = tuple(TaskOverride(op, unroll=2) for op in ("op_d0", "op_d1"))
    tasks = emitted(grouped(), replace(PACKED, loads=joint, overrides=lanes), tmp_path)
    served = [[op.name for op, _ in task.served] for task in tasks.tasks if isinstance(task, EngineTask)]
    assert sorted(served) == [["op_d0", "op_d1"], ["op_p0", "op_p1"]]
    assert simulate(tasks, U55C).deadlock is None
    assert objection(tmp_path) == ""


@pytest.mark.parametrize(("weights", "lanes"), [("i4", 64), ("i4", 128), ("i8", 64)])
def test_the_largest_sums_of_pairs_are_right(weights: str, lanes: int, tmp_path: Path):
    """Of the smallest factors, beside the next columns of the largest: no pair may leak into its neighbour."""
    graph, rng = quantised(rows=1, inner=lanes, columns=16), np.random.default_rng(5)
    values = tuple(replace(v, dtype=weights) if v.dtype == "i4" else v for v in graph.values)
    ops = tuple(
        replace(op, body=replace(op.body, arg_dtypes=("i8", weights))) if op.is_contraction and op.body else op
        for op in graph.ops
    )
    graph, least = replace(graph, values=values, ops=ops), -8 if weights == "i4" else -128
    x, w = np.full((1, lanes), -128), rng.choice([least, -1 - least], (lanes, 16))
    w[:, :4] = least, -1 - least, least, -1 - least
    given = {"xq": x.astype(np.int8), "wq": w.astype(np.int8)}
    override = TaskOverride("product", tile=lanes, unroll=lanes * 16)
    knobs = replace(PACKED, engines="own", overrides=(override,), stream_width=8192)
    tasks = emitted(graph, knobs, tmp_path, given)
    task = tasks.task["product"]
    assert isinstance(task, ComputeTask)
    assert task.nest.unroll == (1, 16, lanes)
    assert dict(task.operators)[f"imul_8x{weights[1]}_dsp_summed"] == 8 * lanes
    assert objection(tmp_path) == ""


def test_slices_in_another_order_are_seen(tmp_path: Path):
    """The first two parts of each token of results change places."""
    emitted(integers(), replace(PACKED, slices=4), tmp_path)
    (source,) = (tmp_path / "hls").glob("*_tasks.cpp")
    before, join, behind = re.split(r"(?<=\n)(void engine0_join\(.*?\n}\n)", source.read_text(), flags=re.DOTALL)
    first, second, *_ = re.findall(r"= (\w+_token(?:\[\w+\])?;)", join)
    assert first != second
    swapped = join.replace(first, "@").replace(second, first).replace("@", second)
    source.write_text(before + swapped + behind)
    assert objection(tmp_path) != ""


MIXED = replace(
    SHARED, overrides=(TaskOverride("m2", tile=4, order=(0, 2, 1)), TaskOverride("m3", tile=4, order=(1, 0, 2)))
)


@pytest.mark.parametrize("table", ["trips", "writes_", "stride", "sums"])
def test_a_wrong_table_is_seen(table: str, tmp_path: Path):
    """An entry that differs from that of the first turn becomes equal to it."""
    emitted(floats(), MIXED, tmp_path)
    (source,) = (tmp_path / "hls").glob("*_tasks.cpp")
    before, engine, behind = re.split(r"(?<=\n)(void engine0\(.*?\n}\n)", source.read_text(), flags=re.DOTALL)
    found = re.search(rf"static const \w+ {table}\w*\[3\] = {{(.*)}};", engine)
    assert found is not None
    first, *others = found[1].split(", ")
    changed = next(n for n, entry in enumerate(others) if entry != first)
    entries = [first, *others[:changed], first, *others[changed + 1 :]]
    engine = engine[: found.start(1)] + ", ".join(entries) + engine[found.end(1) :]
    source.write_text(before + engine + behind)
    try:
        assert objection(tmp_path) != ""
    except MillraceError as error:
        assert "engine0" in str(error)  # noqa: PT017 # it asks for too many tokens, or for too few
