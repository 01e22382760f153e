"""Element types of the networks, by the names that the frozen graphs use."""

from collections.abc import Sequence

from xdsl.dialects.builtin import (
    DenseIntOrFPElementsAttr,
    Float32Type,
    FloatAttr,
    IntegerAttr,
    IntegerType,
    TensorType,
    VectorType,
    f32,
    i1,
    i32,
    i64,
)
from xdsl.ir import Attribute
from xdsl.utils.exceptions import VerifyException

from compiler.errors import VerificationError
from compiler.graph.itensor import DTYPE_BITS

ELEMENT_TYPES: dict[str, Attribute] = {
    "f32": f32,
    "i64": i64,
    "i32": i32,
    "i8": IntegerType(8),
    "i4": IntegerType(4),
    "i1": i1,
}
_NAMES = {type_: name for name, type_ in ELEMENT_TYPES.items()}


def dtype_name(type_: Attribute) -> str:
    """The name of an element type. Raises VerifyException for one that no accelerator has."""
    if type_ not in _NAMES:
        raise VerifyException(f"element type {type_} is not supported; use one of {', '.join(ELEMENT_TYPES)}")
    return _NAMES[type_]


def tensor_type(shape: Sequence[int], dtype: str) -> TensorType[Attribute]:
    return TensorType(ELEMENT_TYPES[dtype], shape)


def token_type(element: Sequence[int], dtype: str) -> Attribute:
    """What one token is in hardware: a vector, or a scalar where the element has no dimension."""
    return VectorType(ELEMENT_TYPES[dtype], element) if element else ELEMENT_TYPES[dtype]


def literal(value: float, dtype: str) -> FloatAttr[Float32Type] | IntegerAttr[IntegerType]:
    """A typed constant. Raises VerificationError for a number that the type can not hold."""
    if dtype != "f32":
        return IntegerAttr(int(value), IntegerType(DTYPE_BITS[dtype]))
    number = FloatAttr(value, f32)
    if number.value.data != value:
        raise VerificationError(
            f"constant {value!r} is no f32, the nearest is {number.value.data!r}; round it on import"
        )
    return number


def literal_value(attr: Attribute) -> float | int:
    """The number in a typed constant."""
    if isinstance(attr, FloatAttr):
        return attr.value.data
    if isinstance(attr, IntegerAttr):
        return attr.value.data & 1 if attr.get_type() == i1 else attr.value.data  # xDSL keeps a true i1 as -1
    raise VerifyException(f"{attr} is not a number")


def zeros(element: Sequence[int], dtype: str) -> DenseIntOrFPElementsAttr:
    """A token of zeros: a vector of at least one dimension."""
    if dtype == "f32":
        return DenseIntOrFPElementsAttr.from_list(VectorType(f32, element), [0.0])
    return DenseIntOrFPElementsAttr.from_list(VectorType(IntegerType(DTYPE_BITS[dtype]), element), [0])
