"""C++ of an operation's body: one named value per scalar operation, wires written in place."""

from collections.abc import Sequence

from compiler.graph.linalg_graph import Body
from compiler.targets.scalar_ops import C_TYPE, expression, hint, is_inline
from compiler.targets.writer import CppWriter, Namer

MAX_DESCRIPTION = 60


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


def describe_body(body: Body, args: Sequence[str]) -> str:
    """`body` as one expression for a comment, or f(arguments) where that is long."""
    values = list(args)
    for op in body.ops:
        text = expression(op, [values[a] for a in op.args], [body.dtype_of(a) for a in op.args])
        if len(text) > MAX_DESCRIPTION:
            return f"f({', '.join(args)})"
        values.append(text if is_inline(op) or text.startswith("hls::") else f"({text})")
    text = values[body.result].replace("hls::", "")
    return text[1:-1] if text.startswith("(") else text
