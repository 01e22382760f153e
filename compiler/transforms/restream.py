"""Bring a stream into the order that a reader wants."""

from xdsl.ir import SSAValue

from compiler.analysis.names import converter_name, operand_stream
from compiler.dialects.dataflow import TaskOp
from compiler.dialects.itensor import CastOp, ConverterOp, ITensorType, itensor_of


def restream(source: SSAValue, task: TaskOp, index: int, value: str) -> None:
    """Let input `index` of `task` read `source`, which streams `value`: through a cast where the streams are equal but
    for their text, through a converter where they differ.
    """
    wanted = task.inputs[index].type
    if source.type == wanted:
        task.operands[index] = source
        return
    assert isinstance(wanted, ITensorType)
    if itensor_of(source).same_stream(wanted.data):
        adapter: CastOp | ConverterOp = CastOp(source, wanted)
    else:
        adapter = ConverterOp(converter_name(value, operand_stream(task.process_name, index)), source, wanted)
    block = task.parent
    assert block is not None
    block.insert_op_before(adapter, task)
    adapter.results[0].name_hint = source.name_hint
    task.operands[index] = adapter.results[0]
