"""bind-multipliers: choose what integer products are made of (level 3 of the design space)."""

from dataclasses import dataclass

from typing_extensions import override
from xdsl.context import Context
from xdsl.dialects.arith import MuliOp
from xdsl.dialects.builtin import ModuleOp, StringAttr
from xdsl.passes import ModulePass
from xdsl.utils.exceptions import PassFailedException

from compiler.analysis.read_back import tasks_of
from compiler.dialects.dataflow_task import MULTIPLIERS


def bind_multipliers(module: ModuleOp, multiplier: str) -> None:
    if multiplier not in MULTIPLIERS:
        raise PassFailedException(f"multiplier {multiplier!r} is unknown; use one of {', '.join(MULTIPLIERS)}")
    for task in tasks_of(module):
        if any(isinstance(op, MuliOp) for block in task.body.blocks for op in block.ops):
            task.multiplier = StringAttr(multiplier)


@dataclass(frozen=True)
class BindMultipliersPass(ModulePass):
    """Mark every task with integer products: LUTs (`fabric`) or DSP blocks (`dsp`). Assumes nothing."""

    name = "bind-multipliers"

    multiplier: str = "fabric"

    @override
    def apply(self, ctx: Context, op: ModuleOp) -> None:
        bind_multipliers(op, self.multiplier)
