"""What a body computes, as sums of multiples of what it reads, between bounds: what integers can compute as well.

    max(0, a * 0.02 + bias)    is    Affine({a: 0.02}, bias) between 0 and infinity

Coefficients and constants are arrays over the loops of the operation, of extent 1 where they are all alike. Anything
else, such as a product of two inputs or a square root, is none of these.
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from compiler.frontend.scalar_ops import PREDICATES
from compiler.graph.linalg_graph import Body, ScalarOp

Array = NDArray[Any]


@dataclass(frozen=True, eq=False)
class Affine:
    """The sum of `terms`, each an argument or what is bounded times its coefficient, and of the constant."""

    terms: "Mapping[int | Bounded, Array]"
    constant: Array

    def times(self, factor: Array) -> "Affine":
        return Affine({term: coefficient * factor for term, coefficient in self.terms.items()}, self.constant * factor)

    def plus(self, other: "Affine") -> "Affine":
        zero = np.zeros(())
        terms = {t: self.terms.get(t, zero) + other.terms.get(t, zero) for t in (*self.terms, *other.terms)}
        return Affine(terms, self.constant + other.constant)

    @property
    def number(self) -> float | None:
        """The number that it is; None, where it is more than one."""
        return None if self.terms or self.constant.size != 1 else float(self.constant.flat[0])


@dataclass(frozen=True, eq=False)
class Bounded:
    """What is between two bounds, and these where it is not."""

    inner: Affine
    low: float = -math.inf
    high: float = math.inf


class _NoneOfTheseError(Exception):
    """The body does something else."""


def affine_of(body: Body, given: Mapping[int, Affine]) -> Affine | None:
    """The body, whose argument i is `given[i]`; None where it is no such thing."""
    values = [given[i] for i in range(len(body.arg_dtypes))]
    compares = dict[int, ScalarOp]()
    try:
        for number, op in enumerate(body.ops, len(body.arg_dtypes)):
            if op.name == "arith.cmpf":
                compares[number] = op
                values.append(constant(0))  # only what selects by it reads it
            elif compares.keys() & op.args:
                values.append(_selected(op, compares, values))
            else:
                values.append(_scalar(op, [values[a] for a in op.args]))
    except _NoneOfTheseError:
        return None
    return values[body.result]


def constant(values: Array | float) -> Affine:
    return Affine({}, np.asarray(values, np.float64))


def _scalar(op: ScalarOp, args: list[Affine]) -> Affine:
    match op.name:
        case "arith.constant":
            return constant(float(op.const or 0))
        case "arith.addf":
            return args[0].plus(args[1])
        case "arith.subf":
            return args[0].plus(args[1].times(np.asarray(-1.0)))
        case "arith.negf":
            return args[0].times(np.asarray(-1.0))
        case "arith.mulf":
            factor, other = (args[0], args[1]) if not args[0].terms else (args[1], args[0])
            if not factor.terms:
                return other.times(factor.constant)
        case "arith.divf":
            if not args[1].terms and np.all(args[1].constant != 0):
                return args[0].times(1 / args[1].constant)
        case "arith.maximumf" | "arith.minimumf":
            return _bounded(args, upper=op.name == "arith.minimumf")
        case _:
            pass
    raise _NoneOfTheseError


def _selected(op: ScalarOp, compares: Mapping[int, ScalarOp], values: list[Affine]) -> Affine:
    """The larger or the smaller of what is compared, as ReLU is written."""
    compare = compares.get(op.args[0])
    if op.name != "arith.select" or compare is None or set(op.args[1:]) != set(compare.args):
        raise _NoneOfTheseError
    relation = PREDICATES[compare.predicate]
    if relation not in ("gt", "ge", "lt", "le"):
        raise _NoneOfTheseError
    larger = (relation in ("gt", "ge")) == (op.args[1:] == compare.args)
    return _bounded([values[a] for a in compare.args], upper=not larger)


def _bounded(args: list[Affine], *, upper: bool) -> Affine:
    bound, other = (args[0], args[1]) if args[0].number is not None else (args[1], args[0])
    if bound.number is None:
        raise _NoneOfTheseError
    made = Bounded(other, high=bound.number) if upper else Bounded(other, low=bound.number)
    return Affine({made: np.ones(())}, np.zeros(()))
