"""The tokens that tasks are given: where the operation has corners, they are met."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from small_graphs import elementwise, mlp, quantised

from compiler.graph.linalg_graph import Body, LinalgGraph, LinalgOp, Operand, Output, ScalarOp, Value
from compiler.options import Knobs
from compiler.passes.design_passes import planned_tasks
from compiler.platforms.platform import load_platform
from compiler.proof.probing import PROBES, Probe, give_tokens
from compiler.proof.recording import Recording

U55C = load_platform("u55c")


def given(graph: LinalgGraph, folder: Path, probe: Probe) -> Recording:
    recording = Recording(folder / probe, planned_tasks(graph, Knobs(overall_unroll=1), U55C), given=True)
    recording.prepare()
    give_tokens(recording, probe, 0)
    return recording


def test_every_reader_is_given_its_whole_tensor(tmp_path: Path) -> None:
    for probe in PROBES:
        recording = given(quantised(), tmp_path, probe)
        for stream in recording.tasks.streams:
            tensor = recording.read(stream.name)
            assert tensor.shape == stream.itensor.shape
            assert len(np.unique(tensor)) > 8 or tensor.size < 16


def test_the_same_seed_draws_the_same(tmp_path: Path) -> None:
    first, second = (given(mlp(), tmp_path / name, "exact") for name in ("a", "b"))
    for stream in first.tasks.streams:
        assert np.array_equal(first.read(stream.name), second.read(stream.name))


def test_ties_clamps_and_equal_values_are_met(tmp_path: Path) -> None:
    graph = _clamped()
    recording = given(graph, tmp_path, "exact")
    [stream] = [s for s in recording.tasks.streams if s.target == "clamp"]
    x = recording.read(stream.name)
    assert np.count_nonzero(np.abs(x) == 100) > 3
    assert np.count_nonzero(x > 100) > 3
    assert np.count_nonzero(x < -100) > 3
    assert np.count_nonzero(np.abs(x % 1) == 0.5) > 30  # ties
    assert len(np.unique(x)) < x.size / 4  # equal ones


def test_numbers_of_the_size_of_a_constant_are_met(tmp_path: Path) -> None:
    recording = given(_clamped(), tmp_path, "constants")
    [stream] = [s for s in recording.tasks.streams if s.target == "clamp"]
    x = np.abs(recording.read(stream.name))
    assert np.count_nonzero((x > 30) & (x < 300)) > 10
    assert np.count_nonzero(x < 0.01) > 3


@pytest.mark.parametrize(("shift", "narrow"), [(38, False), (30, True), (16, True)])
def test_clamps_of_fixed_point_are_met(shift: int, narrow: bool, tmp_path: Path) -> None:
    """Numbers and their multipliers together are as large as what is dropped of their products; narrow ones are so."""
    graph = _fixed_point(shift, narrow=narrow)
    for probe in PROBES:
        recording = given(graph, tmp_path, probe)
        q, m = (recording.read(s.name).astype(np.int64) for s in recording.tasks.streams if s.target == "fixed")
        if narrow:
            assert 2**25 < np.abs(q).max() < 2**26
            assert 2**16 < np.abs(m).max() < 2**17
        made = (q * m) >> shift
        assert np.count_nonzero(made > 127) > 3
        assert np.count_nonzero(made < -127) > 3
        assert np.count_nonzero(np.abs(made) < 127) > 30


def _fixed_point(shift: int, *, narrow: bool) -> LinalgGraph:
    """Products of 256 numbers with as many multipliers, without so many bits; of 27 and 18 bits where `narrow`."""
    wide = (
        ScalarOp("arith.extsi", (0,), "i64"),
        ScalarOp("arith.extsi", (1,), "i64"),
        ScalarOp("arith.muli", (2, 3), "i64"),
        ScalarOp("arith.constant", (), "i64", const=shift),
        ScalarOp("arith.shrsi", (4, 5), "i64"),
        ScalarOp("arith.trunci", (6,), "i32"),
    )
    narrowed = (
        ScalarOp("dataflow.narrow", (0,), "i32", 27),
        ScalarOp("dataflow.narrow", (1,), "i32", 18),
        *(replace(op, args=tuple(a + 2 for a in op.args)) for op in wide),
    )
    values = (
        Value("q", (256,), "i32", "input", "q"),
        Value("m", (256,), "i32", "param", "m"),
        Value("y", (256,), "i32"),
    )
    read = (Operand("q", (0,)), Operand("m", (0,)))
    body = Body(("i32", "i32"), narrowed if narrow else wide, 9 if narrow else 7)
    fixed = LinalgOp("fixed", "generic", (256,), ("parallel",), (0,), read, (Operand("y", (0,)),), body)
    return LinalgGraph("net", values, (fixed,), (Output("y", "y", (0,), (256,)),))


def _clamped() -> LinalgGraph:
    body = Body(
        ("f32",),
        (
            ScalarOp("arith.constant", (), "f32", -100.0),
            ScalarOp("arith.maximumf", (0, 1), "f32"),
            ScalarOp("arith.constant", (), "f32", 100.0),
            ScalarOp("arith.minimumf", (2, 3), "f32"),
        ),
        4,
    )
    values = (Value("x", (16, 16), "f32", "input", "x"), Value("y", (16, 16), "f32"))
    op = elementwise("clamp", (16, 16), [Operand("x", (0, 1))], "y", body)
    return LinalgGraph("clamped", values, (op,), (Output("y", "y", (0, 1), (16, 16)),))
