"""pad-dimensions: lengthen the dimensions that no tile divides, so that they can be tiled."""

from dataclasses import dataclass

from typing_extensions import override
from xdsl.context import Context
from xdsl.dialects.builtin import ArrayAttr, DictionaryAttr, ModuleOp
from xdsl.dialects.func import FuncOp
from xdsl.ir import SSAValue
from xdsl.passes import ModulePass
from xdsl.rewriter import Rewriter
from xdsl.utils.exceptions import PassFailedException

from compiler.analysis.padding import pad
from compiler.analysis.read_back import VALUE_ATTRIBUTE, arguments_of, design_function, linalg_of, tasks_of
from compiler.dialects.dataflow_attributes import Space, SpaceAttr, Valid, ValidAttr, ValueAttr, ValueInfo
from compiler.dialects.dataflow_task import TaskOp
from compiler.dialects.element_types import tensor_type
from compiler.graph.linalg_graph import LinalgGraph, LinalgOp, Value
from compiler.options import Knobs


def _set_shape(ssa: SSAValue, value: Value) -> None:
    name = ssa.name_hint
    Rewriter.replace_value_with_new_type(ssa, tensor_type(value.shape, value.dtype)).name_hint = name


def _pad_task(task: TaskOp, op: LinalgOp, graph: LinalgGraph) -> None:
    if not op.valid:
        return
    task.space = SpaceAttr(Space(op.loops, op.iterators, op.groups))
    task.valid = ValidAttr(Valid(op.valid, op.masked))
    for result, operand in zip(tuple(task.outputs), op.outputs, strict=True):
        _set_shape(result, graph.value[operand.value])


def _pad_arguments(function: FuncOp, graph: LinalgGraph) -> None:
    values = [graph.value[value.name] for value in arguments_of(function)]
    for arg, value in zip(tuple(function.args), values, strict=True):
        _set_shape(arg, value)
    infos = [ValueAttr(ValueInfo(v.name, v.role, v.source, v.valid)) for v in values]
    entries = zip(function.arg_attrs or (), infos, strict=True)
    function.arg_attrs = ArrayAttr(DictionaryAttr({**old.data, VALUE_ATTRIBUTE: info}) for old, info in entries)


def pad_dimensions(module: ModuleOp, knobs: Knobs) -> None:
    tasks = tasks_of(module)
    if tiled := [task.process_name for task in tasks if task.nest is not None]:
        raise PassFailedException(f"task @{tiled[0]} is tiled already; run pad-dimensions before tile-tasks")
    padded = pad(linalg_of(module), knobs)
    function = design_function(module)
    _pad_arguments(function, padded)
    for task in tasks:
        _pad_task(task, padded.op[task.process_name], padded)
    function.update_function_type()


@dataclass(frozen=True)
class PadDimensionsPass(ModulePass):
    """Pad by `compiler.analysis.padding`: longer tensors and loops, `valid` on every task that has one.

    Assumes tasks on tensors that are not tiled yet; options as in `Knobs`.
    """

    name = "pad-dimensions"

    default_tile_size: int = 16
    max_padding: int = 12

    @staticmethod
    def of(knobs: Knobs) -> "PadDimensionsPass":
        return PadDimensionsPass(knobs.default_tile_size, knobs.max_padding)

    @override
    def apply(self, ctx: Context, op: ModuleOp) -> None:
        pad_dimensions(op, Knobs(default_tile_size=self.default_tile_size, max_padding=self.max_padding))
