"""fold-adapters: casts and reassociations that undo or repeat each other disappear."""

from dataclasses import dataclass

from typing_extensions import override
from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import SSAValue
from xdsl.passes import ModulePass

from compiler.dialects.itensor_adapters import CastOp, ReassociateOp
from compiler.dialects.itensor_stream import itensor_of
from compiler.dialects.itensor_type import ITensorType


def _folded(op: CastOp | ReassociateOp) -> SSAValue | None:
    """What stands for the adapter: an earlier value that streams the same, or None where the adapter is needed.

    A cast of a cast reads the first source; a reassociation back to the shape before the last one is a cast of it.
    """
    source, wanted = op.source, op.result.type
    assert isinstance(wanted, ITensorType)
    if source.type == wanted:
        return source
    before = source.owner
    if not isinstance(before, CastOp | ReassociateOp):
        return None
    origin = before.source
    if origin.type == wanted:
        return origin
    same = itensor_of(origin).same_stream(wanted.data)
    block = op.parent
    if not same or block is None:
        return None
    cast = CastOp(origin, wanted)
    block.insert_op_before(cast, op)
    return cast.result


def fold_adapters(module: ModuleOp) -> None:
    for op in [op for op in module.walk() if isinstance(op, CastOp | ReassociateOp)]:
        if (folded := _folded(op)) is not None:
            op.result.replace_all_uses_with(folded)
    for op in reversed([op for op in module.walk() if isinstance(op, CastOp | ReassociateOp)]):
        if not list(op.result.uses):
            op.detach()
            op.erase()


@dataclass(frozen=True)
class FoldAdaptersPass(ModulePass):
    """Remove casts and reassociations that change nothing, and pairs that undo each other. Assumes nothing."""

    name = "fold-adapters"

    @override
    def apply(self, ctx: Context, op: ModuleOp) -> None:
        fold_adapters(op)
