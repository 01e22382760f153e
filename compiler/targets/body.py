"""C++ of an operation's body: one named value per scalar operation, wires written in place."""

from collections.abc import Sequence

from compiler.graph.linalg_graph import Body
from compiler.targets.scalar_ops import C_TYPE, expression, hint, is_inline
from compiler.targets.writer import CppWriter, Namer


def emit_body(out: CppWriter, body: Body, args: Sequence[str], multiplier: str | None, namer: Namer) -> str:
    """Write `body` on the C++ expressions `args`; returns the expression of its result.

    `multiplier` (dsp or fabric) binds integer products.
    """
    values = list(args)
    for op in body.ops:
        operands = [values[a] for a in op.args]
        text = expression(op, operands, [body.dtype_of(a) for a in op.args])
        if not is_inline(op):
            name = namer.name(hint(op))
            out.line(f"const {C_TYPE[op.dtype]} {name} = {text};")
            if op.name == "arith.muli" and multiplier is not None:
                out.pragma(f"bind_op variable={name} op=mul impl={multiplier}")
            text = name
        values.append(text)
    return values[body.result]
