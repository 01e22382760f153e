"""Bring a stream into the order that a reader wants."""

from typing import get_args

from xdsl.ir import SSAValue
from xdsl.utils.exceptions import PassFailedException

from compiler.analysis.names import converter_name, operand_stream
from compiler.dialects.dataflow_task import TaskOp
from compiler.dialects.itensor_adapters import CastOp
from compiler.dialects.itensor_routing import ConverterOp
from compiler.dialects.itensor_stream import itensor_of
from compiler.dialects.itensor_type import ITensorType
from compiler.graph.converter import plan_converter
from compiler.options import ConverterRule


def converter_rule(name: str) -> ConverterRule:
    """`name` as a rule. Raises PassFailedException for another word."""
    rule: ConverterRule | None = next((r for r in get_args(ConverterRule) if r == name), None)
    if rule is None:
        raise PassFailedException(
            f"converter rule {name!r} is unknown; use one of {', '.join(get_args(ConverterRule))}"
        )
    return rule


def restream(source: SSAValue, task: TaskOp, index: int, value: str, rule: ConverterRule) -> None:
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
        chosen = plan_converter(itensor_of(source), wanted.data, rule).realisation
        adapter = ConverterOp(converter_name(value, operand_stream(task.process_name, index)), source, wanted, chosen)
    block = task.parent
    assert block is not None
    block.insert_op_before(adapter, task)
    adapter.results[0].name_hint = source.name_hint
    task.operands[index] = adapter.results[0]
