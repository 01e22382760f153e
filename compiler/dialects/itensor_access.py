"""Itensors inside tasks: where one begins (`empty`, `instance`), and one token of it (`read`, `write`).

A write is destination-carried: it takes the itensor written so far and gives the one with a token more, which loops
carry on. A read takes the next token. The loops between an itensor and its read or write are exactly its iteration
space, tripcounts of 1 aside; so the type of the itensor says which token it is.
"""

from typing import ClassVar

from xdsl.dialects.builtin import TensorType
from xdsl.ir import Attribute, Operation, SSAValue
from xdsl.irdl import (
    AnyAttr,
    IRDLOperation,
    VarConstraint,
    base,
    irdl_op_definition,
    operand_def,
    opt_operand_def,
    result_def,
)
from xdsl.utils.exceptions import VerifyException

from compiler.dialects.element_types import tensor_type, token_type
from compiler.dialects.itensor_stream import itensor_of
from compiler.dialects.itensor_type import ITensorType
from compiler.dialects.loop_nests import carried_from, definition_block, loops_between, require_iteration_space
from compiler.graph.itensor import ITensor


@irdl_op_definition
class EmptyOp(IRDLOperation):
    """An itensor of which nothing is written yet and that leaves its kernel: a place for `write`, not yet hardware.

    ```
    %e = itensor.empty : !itensor.itensor<4xf32, iter_space: [2]*[4], iter_map: (d0)->(d0)>
    ```
    """

    name = "itensor.empty"

    result = result_def(ITensorType)

    assembly_format = "attr-dict `:` type($result)"

    def __init__(self, type_: ITensorType):
        super().__init__(result_types=[type_])


@irdl_op_definition
class InstanceOp(IRDLOperation):
    """An itensor that stays on chip, between one task and another: it becomes a FIFO.

    ```
    %e = itensor.instance : !itensor.itensor<4xf32, iter_space: [2]*[4], iter_map: (d0)->(d0)>
    ```
    """

    name = "itensor.instance"

    result = result_def(ITensorType)

    assembly_format = "attr-dict `:` type($result)"

    def __init__(self, type_: ITensorType):
        super().__init__(result_types=[type_])


@irdl_op_definition
class ReadOp(IRDLOperation):
    """Takes the next token: a vector or scalar, or a tensor, for which `init` is the place.

    ```
    // for i in 0, 4:
    %v = itensor.read %x : !itensor.itensor<4xf32, iter_space: [2]*[4], iter_map: (d0)->(d0)> -> vector<4xf32>
    ```
    """

    name = "itensor.read"

    source = operand_def(ITensorType)
    init = opt_operand_def(TensorType)
    value = result_def(AnyAttr())

    assembly_format = "$source (`init` $init^ `:` type($init) `from`)? attr-dict `:` type($source) `->` type($value)"

    def __init__(self, source: SSAValue):
        itensor = itensor_of(source)
        super().__init__(operands=[source, None], result_types=[token_type(itensor.element, itensor.dtype)])

    def verify_(self) -> None:
        itensor = itensor_of(self.source)
        _verify_token(self, itensor, self.value.type)
        if isinstance(self.value.type, TensorType) != (self.init is not None):
            raise VerifyException("itensor.read of a tensor needs an init, of a vector or scalar has none")
        if self.init is not None and self.init.type != self.value.type:
            raise VerifyException(f"itensor.read has an init of {self.init.type} for a {self.value.type}")
        if len(list(self.source.uses)) != 1:
            raise VerifyException("itensor.read of an itensor that has another reader; insert itensor.fork")
        require_iteration_space(self, itensor, loops_between(definition_block(self.source), self))


@irdl_op_definition
class WriteOp(IRDLOperation):
    """The itensor with one token more.

    ```
    // for i in 0, 4:
    %b = itensor.write %v into %a
           : vector<4xf32> into !itensor.itensor<4xf32, iter_space: [2]*[4], iter_map: (d0)->(d0)>
    ```
    """

    name = "itensor.write"

    T: ClassVar = VarConstraint("T", base(ITensorType))

    value = operand_def(AnyAttr())
    dest = operand_def(T)
    result = result_def(T)

    assembly_format = "$value `into` $dest attr-dict `:` type($value) `into` type($dest)"

    def __init__(self, value: SSAValue, dest: SSAValue):
        super().__init__(operands=[value, dest], result_types=[dest.type])

    def verify_(self) -> None:
        itensor = itensor_of(self.dest)
        _verify_token(self, itensor, self.value.type)
        if len(list(self.dest.uses)) != 1 or len(list(self.result.uses)) > 1:
            raise VerifyException("itensor.write: an itensor is written once, and what is written is carried on once")
        begin = carried_from(self.dest)
        require_iteration_space(self, itensor, loops_between(definition_block(begin), self))


def _verify_token(op: Operation, itensor: ITensor, type_: Attribute) -> None:
    allowed = token_type(itensor.element, itensor.dtype), tensor_type(itensor.element, itensor.dtype)
    if type_ not in allowed:
        raise VerifyException(f"{op.name} moves a {type_} where a token of {itensor} is {allowed[0]}")
