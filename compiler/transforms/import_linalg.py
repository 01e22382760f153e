"""LinalgGraph -> module: each operation a `dataflow.task` on tensors, in one function. The first stage of a design."""

from collections.abc import Sequence

from xdsl.dialects.builtin import ArrayAttr, DictionaryAttr, ModuleOp
from xdsl.dialects.func import FuncOp, ReturnOp
from xdsl.ir import Attribute, SSAValue

from compiler.analysis.names import c_name
from compiler.analysis.read_back import OUTPUT_ATTRIBUTE, VALUE_ATTRIBUTE
from compiler.dialects.dataflow_attributes import OutputAttr, ValueAttr, ValueInfo
from compiler.dialects.dataflow_task import TaskOp
from compiler.dialects.element_types import tensor_type
from compiler.graph.linalg_graph import LinalgGraph


def name_value(ssa: SSAValue, name: str) -> None:
    """Let the printer call a value by `name`, where that is a name in MLIR."""
    ssa.name_hint = c_name(name) if SSAValue.is_valid_name(c_name(name)) else None


def import_linalg(graph: LinalgGraph) -> ModuleOp:
    """The module of `graph`: arguments are what the network is given, results its outputs. O(operations)."""
    arguments = [value for value in graph.values if value.role != "intermediate"]
    types = {value.name: tensor_type(value.shape, value.dtype) for value in graph.values}
    infos = [ValueAttr(ValueInfo(value.name, value.role, value.source, value.valid)) for value in arguments]
    function = FuncOp(
        graph.name,
        ([types[value.name] for value in arguments], [types[out.value] for out in graph.outputs]),
        arg_attrs=_entries(VALUE_ATTRIBUTE, infos),
        res_attrs=_entries(OUTPUT_ATTRIBUTE, [OutputAttr(out) for out in graph.outputs]),
    )
    made: dict[str, SSAValue] = {value.name: arg for value, arg in zip(arguments, function.args, strict=True)}
    for op in graph.ops:
        task = TaskOp.of(op, [made[o.value] for o in op.inputs], [types[o.value] for o in op.outputs])
        made |= {operand.value: result for operand, result in zip(op.outputs, task.outputs, strict=True)}
        function.body.block.add_op(task)
    for name, ssa in made.items():
        name_value(ssa, name)
    function.body.block.add_op(ReturnOp(*(made[out.value] for out in graph.outputs)))
    return ModuleOp([function])


def _entries(name: str, attributes: Sequence[Attribute]) -> ArrayAttr[DictionaryAttr]:
    return ArrayAttr(DictionaryAttr({name: attribute}) for attribute in attributes)
