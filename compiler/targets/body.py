"""C++ of an operation's body: one named value per scalar operation, wires written in place."""

from collections.abc import Callable, Sequence

from compiler.analysis.operators import products_added_to
from compiler.graph.linalg_graph import INDEX, Body, ScalarOp
from compiler.targets.scalar_ops import C_TYPE, expression, hint, is_inline
from compiler.targets.writer import CppWriter, Namer

MAX_DESCRIPTION = 60


def emit_body(
    out: CppWriter,
    body: Body,
    args: Sequence[str],
    multiplier: str | None,
    namer: Namer,
    place: Callable[[int], str] = str,
) -> str:
    """Write `body` on the C++ expressions `args`; returns the expression of its result. `place` says where a loop is.

    `multiplier` (dsp or fabric) binds integer products, but those that HLS joins with the addition behind them.
    """
    values = list(args)
    for number, op in enumerate(body.ops, len(body.arg_dtypes)):
        text = expression(op, _operands(op, values, place), [body.dtype_of(a) for a in op.args])
        if not is_inline(op):
            name = namer.name(hint(op))
            out.line(f"const {C_TYPE[op.dtype]} {name} = {text};")
            if op.name == "arith.muli" and multiplier is not None and number not in products_added_to(body):
                out.pragma(f"bind_op variable={name} op=mul impl={multiplier}")
            text = name
        values.append(text)
    return values[body.result]


def describe_body(body: Body, args: Sequence[str], dims: Sequence[str] = ()) -> str:
    """`body` as one expression for a comment, or f(arguments) where that is long. `dims` are the names of its loops."""
    values = list(args)
    for op in body.ops:
        text = expression(op, _operands(op, values, lambda loop: dims[loop]), [body.dtype_of(a) for a in op.args])
        if len(text) > MAX_DESCRIPTION:
            return f"f({', '.join(args)})"
        values.append(text if is_inline(op) or text.startswith("hls::") else f"({text})")
    text = values[body.result].replace("hls::", "")
    return text[1:-1] if text.startswith("(") else text


def _operands(op: ScalarOp, values: Sequence[str], place: Callable[[int], str]) -> list[str]:
    if op.name != INDEX:
        return [values[a] for a in op.args]
    assert op.const is not None
    return [place(int(op.const))]
