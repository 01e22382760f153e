"""The dialects that a design is written in."""

from xdsl.context import Context
from xdsl.dialects.arith import Arith
from xdsl.dialects.builtin import Builtin
from xdsl.dialects.func import Func
from xdsl.dialects.math import Math
from xdsl.dialects.memref import MemRef
from xdsl.dialects.scf import Scf
from xdsl.dialects.tensor import Tensor
from xdsl.dialects.vector import Vector
from xdsl.ir import Dialect

from compiler.dialects.dataflow import DATAFLOW
from compiler.dialects.itensor import ITENSOR

DIALECTS: tuple[Dialect, ...] = (Builtin, Func, Arith, Math, Scf, Vector, MemRef, Tensor, ITENSOR, DATAFLOW)


def design_context() -> Context:
    """A context that knows every dialect of a design."""
    context = Context()
    for dialect in DIALECTS:
        context.load_dialect(dialect)
    return context
