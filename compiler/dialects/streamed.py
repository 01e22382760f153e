"""What a value holds or streams: element type and shape of a tensor, an itensor or a FIFO."""

from typing import cast

from xdsl.dialects.builtin import TensorType
from xdsl.ir import Attribute
from xdsl.utils.exceptions import VerifyException

from compiler.dialects.element_types import dtype_name
from compiler.dialects.itensor_type import ITensorType


def element_name(type_: Attribute) -> str:
    """Name of the element type of a tensor or itensor."""
    if isinstance(type_, ITensorType):
        return type_.data.dtype
    if isinstance(type_, TensorType):
        return dtype_name(cast(TensorType[Attribute], type_).element_type)
    raise VerifyException(f"{type_} has no elements; expected a tensor or an itensor")


def data_shape(type_: Attribute) -> tuple[int, ...]:
    """Shape of the tensor that a value is or streams."""
    if isinstance(type_, ITensorType):
        return type_.data.shape
    if isinstance(type_, TensorType):
        return cast(TensorType[Attribute], type_).get_shape()
    raise VerifyException(f"{type_} has no shape; expected a tensor or an itensor")
