"""Tokens on which every part of an operation matters, given to the tasks in place of what the network brings.

A network in ordinary operation never reaches a clamp, meets no tie of a rounding and no row of variance zero. So the
design runs again, and each task reads tokens that are drawn for its operation: once halves and small powers of two,
whose sums and products are exact, so that ties and equal maxima abound, and once what lies around the constants of the
operation.
"""

from collections.abc import Iterable, Iterator
from typing import Literal, get_args

import numpy as np

from compiler.analysis.operators import DSP_FACTORS
from compiler.frontend.interpret import NUMPY_DTYPE, Array
from compiler.graph.linalg_graph import INDEX, NARROW, LinalgOp, Value
from compiler.graph.task_graph import StructuredTask, TaskGraph
from compiler.proof.ports import OperationPorts, Passed, inner_streams, ports_of
from compiler.proof.recording import Recording
from compiler.targets.parameters import scalars_of

Probe = Literal["exact", "constants"]
PROBES: tuple[Probe, ...] = get_args(Probe)

_RANGE = {"i4": (-8, 8), "i8": (-128, 128), "i1": (0, 2), "i64": (-(2**52), 2**52)}  # of 64 bits: what doubles hold
WORD_BITS = 32
_BEYOND = 250.0  # past every clamp to eight bits


def give_tokens(recording: Recording, probe: Probe, seed: int) -> None:
    """Draw what each task reads."""
    rng, tasks = np.random.default_rng([seed, PROBES.index(probe)]), recording.tasks
    readers = {
        p.stream: (ports.op, bits)
        for task in tasks.tasks
        for ports in ports_of(task, tasks)
        for p, bits in _read(ports)
    }
    inner = inner_streams(tasks) | {name for name in tasks.stream if name not in tasks.steady.stream}
    for access in (access for task in tasks.tasks for access in task.reads if access.stream not in inner):
        itensor = tasks.stream[access.stream].itensor
        op, bits = readers.get(access.stream, (None, WORD_BITS))
        recording.give(access.stream, _draw(rng, probe, itensor.shape, itensor.dtype, op, bits))


def _read(ports: OperationPorts) -> Iterator[tuple[Passed, int]]:
    """What brings an operation its inputs, with the bits that its body looks at."""
    scalars = scalars_of(ports.task)
    streamed = [number for number, operand in enumerate(ports.op.inputs) if operand.value not in scalars]
    for number, passed in zip(streamed, ports.reads, strict=True):
        yield passed, _bits_of(ports.op, number)


def _bits_of(op: LinalgOp, argument: int) -> int:
    narrowed = [s for s in op.body.ops if s.name == NARROW and s.args == (argument,)] if op.body is not None else []
    return min((int(s.const or 0) for s in narrowed), default=WORD_BITS)


def draw_scalar(rng: np.random.Generator, probe: Probe, seed: int, value: Value, tasks: TaskGraph) -> Array:
    """What a kernel passes to the operations that read `value`: a power of two, where sums are to be exact."""
    if probe == "exact":
        return np.asarray(rng.choice([0.5, 1.0]), NUMPY_DTYPE[value.dtype])
    if value.dtype == "f32":  # a scale that spreads numbers of magnitude one over eight bits, or the least of a GELU
        return np.asarray(rng.uniform(8, 64) * (128 if seed == 1 else 1), np.float32)
    ops = [t.op for t in tasks.tasks if isinstance(t, StructuredTask) and value.name in {o.value for o in t.op.inputs}]
    return _draw(rng, probe, (1,), value.dtype, ops[0]).reshape(())


def _draw(
    rng: np.random.Generator,
    probe: Probe,
    shape: Iterable[int],
    dtype: str,
    op: LinalgOp | None,
    bits: int = WORD_BITS,
) -> Array:
    shape = tuple(shape)
    if dtype in _RANGE:
        return rng.integers(*_RANGE[dtype], shape).astype(NUMPY_DTYPE[dtype])
    if dtype == "i32" and (shift := _shift(op)):
        return _around_clamps(rng, shape, shift, bits)
    if dtype == "i32":
        return (rng.normal(size=shape) * 2.0 ** rng.integers(0, 20, shape)).astype(np.int32)
    if op is None:
        return rng.normal(size=shape).astype(np.float32)
    drawn = _exact(rng, shape, _constants(op)) if probe == "exact" else _around(rng, shape, _constants(op))
    return drawn.astype(np.float32)


def _shift(op: LinalgOp | None) -> int:
    """Bits that the operation drops of a sum of products, as fixed point does; 0 where it drops none."""
    body = None if op is None else op.body
    found = [s.args[1] for s in body.ops if s.name == "arith.shrsi"] if body is not None else []
    consts = [body.ops[a - len(body.arg_dtypes)].const for a in found if a >= len(body.arg_dtypes)] if body else []
    return int(consts[0]) if consts and consts[0] is not None else 0


def _around_clamps(rng: np.random.Generator, shape: tuple[int, ...], shift: int, width: int) -> Array:
    """Factors whose products reach beyond eight bits when so many are dropped, but no further than doubles hold; half
    of them any smaller. Where they have a `width` that is less than a word's, an eighth of them need all of it.
    """
    most = min((shift + 10) // 2, 26)
    if width < WORD_BITS:  # the other has what one of them is short of
        most = min(width - 1, max(most, shift + 10 - (min(DSP_FACTORS) - 1)))
    bits = np.where(rng.random(shape) < 0.5, most, rng.integers(0, most + 1, shape))
    bits = np.where((width < WORD_BITS) & (rng.random(shape) < 1 / 8), width - 1, bits)
    return (rng.uniform(-1, 1, shape) * 2.0**bits).astype(np.int32)


def _exact(rng: np.random.Generator, shape: tuple[int, ...], constants: Array) -> Array:
    """Halves up to four; one in eight beyond what is clamped, or at a clamp."""
    if np.prod(shape) == 1:
        return rng.choice([1.0, -1.0, 0.5], shape)
    halves = rng.integers(-8, 9, shape) / 2
    limits = constants[np.abs(constants) > 8]
    if not len(limits):
        return halves
    limits = np.concatenate([limits, limits + 0.5, limits - 0.5, [_BEYOND, -_BEYOND]])
    return np.where(rng.random(shape) < 0.3, rng.choice(limits, shape), halves)


def _around(rng: np.random.Generator, shape: tuple[int, ...], constants: Array) -> Array:
    """Around the operation's constants, their quotients, and one; a quarter of magnitude one to ten, either sign."""
    constants = np.abs(constants[np.isfinite(constants) & (constants != 0)])
    centres = np.concatenate([constants, np.divide.outer(constants, constants).ravel(), [1e-3, 1.0]])
    centres = centres[(centres > 1e-12) & (centres < 1e4)]
    around = rng.choice(centres, shape) * rng.uniform(0.3, 3, shape) * rng.choice([1.0, 1.0, 1.0, -1.0], shape)
    drawn = np.where(rng.random(shape) < 0.25, 4 * rng.normal(size=shape), around)
    if len(constants) > 1 and drawn.size:  # an epsilon matters only where what it is added to is as small
        drawn.flat[0] = constants[-1] / constants[-2]
    return np.asarray(drawn)


def _constants(op: LinalgOp) -> Array:
    found = [s.const for s in op.body.ops if s.const is not None and s.name not in (INDEX, NARROW)] if op.body else []
    return np.asarray(found, np.float64)
