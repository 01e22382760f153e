"""Building scalar bodies: sharing, folding, narrowing to 32 bits, composing."""

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from struct import pack, unpack

from compiler.errors import UnsupportedError
from compiler.frontend.scalar_ops import BODY_DTYPES, PREDICATES, SCALAR_OPS
from compiler.graph.linalg_graph import INDEX, NARROW, Body, ScalarOp

_MAX_POWER = 4


def as_f32(value: float) -> float:
    """The float32 nearest to `value`, as a Python float; infinite, where that is beyond all of them."""
    try:
        return float(unpack("<f", pack("<f", value))[0]) if math.isfinite(value) else value
    except OverflowError:
        return math.copysign(math.inf, value)


@dataclass
class BodyBuilder:
    """Builds one body: equal operations are shared, constants folded.

    Value ids: arguments are 0, 1, ...; operations are -1, -2, ... until `finish` renumbers them, so that arguments may
    be added at any time.
    """

    args: list[str] = field(default_factory=list[str])
    ops: list[ScalarOp] = field(default_factory=list[ScalarOp])
    _known: dict[ScalarOp, int] = field(default_factory=dict[ScalarOp, int])

    def arg(self, dtype: str) -> int:
        """A new argument."""
        self.args.append(dtype)
        return len(self.args) - 1

    def constant(self, value: float | int, dtype: str) -> int:
        if dtype == "f32":
            value = as_f32(float(value))
        return self._add(ScalarOp("arith.constant", (), dtype, const=value))

    def index(self, loop: int) -> int:
        """Where a loop of the operation is."""
        return self._add(ScalarOp(INDEX, (), "i32", const=loop))

    def narrow(self, value: int, bits: int) -> int:
        """So many of the lowest bits of an i32, with their sign."""
        return self._add(ScalarOp(NARROW, (value,), "i32", const=bits))

    def dtype(self, value: int) -> str:
        return self.args[value] if value >= 0 else self.ops[-value - 1].dtype

    def op(self, value: int) -> ScalarOp | None:
        """The operation that makes `value`; None for an argument."""
        return None if value >= 0 else self.ops[-value - 1]

    def emit(self, name: str, args: tuple[int, ...], dtype: str, predicate: str | None = None) -> int:
        """Add an operation, simplified. Raises UnsupportedError for one outside SCALAR_OPS."""
        if name in {"arith.truncf", "arith.extf", "arith.index_cast"} or (
            name in {"arith.extsi", "arith.trunci"} and dtype == self.dtype(args[0])
        ):
            return args[0]  # 64-bit types are narrowed, so that a cast from or to them is the identity
        if name in {"math.powf", "math.fpowi"} and (power := self._power(args[0], args[1], dtype)) is not None:
            return power
        if name == "arith.select" and (clamp := self._clamp(args, dtype)) is not None:
            return clamp
        if name == "arith.mulf" and (one := self._times_one(args)) is not None:
            return one
        if name == "math.log1p":  # of a softplus: what is lost below 1e-7 is below the noise of f32 sums
            return self.emit("math.log", (self.emit("arith.addf", (args[0], self.constant(1.0, dtype)), dtype),), dtype)
        if name == "math.ceil":
            down = self.emit("math.floor", (self.emit("arith.negf", args, dtype),), dtype)
            return self.emit("arith.negf", (down,), dtype)
        if name not in SCALAR_OPS:
            raise UnsupportedError(f"scalar operation {name} is not supported; the known ones are {_known_names()}")
        if len(args) != SCALAR_OPS[name]:
            raise UnsupportedError(f"scalar operation {name} with {len(args)} arguments is not supported")
        if name in {"arith.cmpf", "arith.cmpi"} and (
            predicate not in PREDICATES or (name == "arith.cmpi" and (predicate or "").startswith("u"))
        ):
            raise UnsupportedError(f"{name} with predicate {predicate} is not supported; compare signed values")
        return self._add(ScalarOp(name, args, dtype, predicate=predicate))

    def replay(self, body: Body, args: list[int], loops: Mapping[int, int] | None = None) -> int:
        """Append the operations of `body` on the values `args`; the id of its result. Its loops are those in `loops`
        now, where they are given.
        """
        values = list(args)
        for op in body.ops:
            if op.name == "arith.constant":
                assert op.const is not None
                values.append(self.constant(op.const, op.dtype))
            elif op.name == INDEX:
                assert op.const is not None
                values.append(self.index(int(op.const) if loops is None else loops[int(op.const)]))
            elif op.name == NARROW:
                assert op.const is not None
                values.append(self.narrow(values[op.args[0]], int(op.const)))
            else:
                values.append(self.emit(op.name, tuple(values[a] for a in op.args), op.dtype, op.predicate))
        return values[body.result]

    def finish(self, result: int) -> tuple[Body, tuple[int, ...]]:
        """The body that makes `result`, and which arguments it still reads, in order.

        An operation comes after what it reads, first argument first: in whichever order operations were fused.
        """
        live = self._live(result)
        used = tuple(sorted(value for value in live if value >= 0))
        kept = [value for value in live if value < 0]
        number = {value: i for i, value in enumerate((*used, *kept))}
        ops = tuple(
            ScalarOp(op.name, tuple(number[a] for a in op.args), op.dtype, op.const, op.predicate)
            for op in (self.ops[-value - 1] for value in kept)
        )
        body = Body(tuple(self.args[a] for a in used), ops, number[result])
        _check_dtypes(body)
        return body, used

    def depends_on(self, value: int, arg: int) -> bool:
        return arg in self._live(value)

    def _live(self, result: int) -> dict[int, None]:
        """What `result` depends on, and itself; each value after those it is made of."""
        live: dict[int, None] = {}
        entered: set[int] = set()
        pending = [result]
        while pending:
            value = pending.pop()
            if value in entered:
                live[value] = None
                continue
            entered.add(value)
            op = self.op(value)
            pending += [value, *(a for a in reversed(op.args if op else ()) if a not in entered)]
        return live

    def _add(self, op: ScalarOp) -> int:
        if op not in self._known or not _same_constant(self.ops[-self._known[op] - 1], op):
            self.ops.append(op)
            self._known[op] = -len(self.ops)
        return self._known[op]

    def _const(self, value: int) -> float | int | None:
        op = self.op(value)
        return op.const if op is not None and op.name == "arith.constant" else None

    def _power(self, base: int, exponent: int, dtype: str) -> int | None:
        """Small constant powers as products and roots: cheaper in hardware than exp and log."""
        power = self._const(exponent)
        if power == 0.5:
            return self.emit("math.sqrt", (base,), dtype)
        if power == -0.5:
            return self.emit("math.rsqrt", (base,), dtype)
        if power is None or power != int(power) or not 1 <= power <= _MAX_POWER:
            return None
        result = base
        for _ in range(int(power) - 1):
            result = self.emit("arith.mulf", (result, base), dtype)
        return result

    def _clamp(self, args: tuple[int, ...], dtype: str) -> int | None:
        """`x < c ? c : x` as a maximum, `x > c ? c : x` as a minimum (torch.clamp lowers to these)."""
        compare = self.op(args[0])
        if compare is None or compare.name != "arith.cmpf" or compare.args != (args[2], args[1]):
            return None
        if compare.predicate in {"ult", "olt"}:
            return self.emit("arith.maximumf", (args[2], args[1]), dtype)
        if compare.predicate in {"ugt", "ogt"}:
            return self.emit("arith.minimumf", (args[2], args[1]), dtype)
        return None

    def _times_one(self, args: tuple[int, ...]) -> int | None:
        for one, other in (args, args[::-1]):
            if self._const(one) == 1.0:
                return other
        return None


def with_arg_dtype(body: Body, arg: int, dtype: str) -> Body:
    """The same body reading argument `arg` as `dtype`."""
    return Body((*body.arg_dtypes[:arg], dtype, *body.arg_dtypes[arg + 1 :]), body.ops, body.result)


def narrow(dtype: str) -> str:
    """i64 accumulators and f64 constants come from torch's promotion rules, never from the model."""
    return {"i64": "i32", "f64": "f32", "index": "i32"}.get(dtype, dtype)


def _same_constant(a: ScalarOp, b: ScalarOp) -> bool:
    """0.0 equals -0.0 and 1 equals 1.0 in Python, not here."""
    return repr(a.const) == repr(b.const)


def _known_names() -> str:
    return ", ".join(sorted(SCALAR_OPS))


def _check_dtypes(body: Body) -> None:
    for dtype in (*body.arg_dtypes, *(op.dtype for op in body.ops)):
        if dtype not in BODY_DTYPES:
            raise UnsupportedError(f"element type {dtype} is not supported; known are {', '.join(BODY_DTYPES)}")
