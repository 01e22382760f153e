"""What can be said of an uploaded network in a second, without an importer: whether it is one at all, and what of it is
refused by name or number. The bytes are hostile until proven otherwise: they are only stepped over, never unpacked, and
every loop has a bound.

The wire format of protobuf: https://protobuf.dev/programming-guides/encoding; the fields: onnx.proto of ONNX 1.19.
"""

import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import BinaryIO

from compiler.errors import InvalidInputError, UnsupportedError
from compiler.frontend.inputs.onnx_operators import DOMAINS, MAX_NODES, MAX_TENSORS, REFUSED

_VARINT, _FIXED64, _BYTES, _FIXED32 = 0, 1, 2, 5
_VARINT_BYTES = 10
_MAX_FIELDS = 4 * MAX_TENSORS
_MAX_NAME = 1024
_GRAPH = 7  # of a model
_NODE, _INITIALIZER, _INPUT, _OUTPUT = 1, 5, 11, 12  # of a graph
_NODE_NAME, _OP_TYPE, _DOMAIN = 3, 4, 7  # of a node
# Wire types of the fields that are known; others may come with a later ONNX.
_MODEL: Mapping[int, int] = {1: _VARINT, 5: _VARINT, **dict.fromkeys((2, 3, 4, 6, 7, 8, 14, 20, 25), _BYTES)}
_OF_GRAPH: Mapping[int, int] = dict.fromkeys((1, 2, 5, 10, 11, 12, 13, 14, 15, 16), _BYTES)
_OF_NODE: Mapping[int, int] = dict.fromkeys((1, 2, 3, 4, 5, 6, 7, 8, 9), _BYTES)


@dataclass(frozen=True, slots=True)
class _Field:
    """A field of a message: where its content lies in the file."""

    number: int
    start: int
    end: int


def check_onnx(file: BinaryIO, name: str) -> None:
    """Raise InvalidInputError for what is no ONNX file or too much of one, UnsupportedError for an operator that is
    refused by its name.
    """
    size = file.seek(0, os.SEEK_END)
    graphs = [f for f in _fields(file, name, 0, size, _MODEL) if f.number == _GRAPH]
    if len(graphs) != 1:
        raise InvalidInputError(f"{name} is no ONNX file: it holds {'no graph' if not graphs else 'several graphs'}")
    count = dict.fromkeys((_NODE, _INITIALIZER, _INPUT, _OUTPUT), 0)
    for field in _fields(file, name, graphs[0].start, graphs[0].end, _OF_GRAPH):
        if field.number in count:
            count[field.number] += 1
        if field.number == _NODE:
            _check_node(file, name, field)
    if not count[_NODE] or not count[_OUTPUT]:
        raise InvalidInputError(f"{name} holds no network: it has no nodes or no outputs")
    if count[_NODE] > MAX_NODES or max(count[_INITIALIZER], count[_INPUT]) > MAX_TENSORS:
        raise InvalidInputError(
            f"{name} has {count[_NODE]} nodes, {count[_INITIALIZER]} tensors and {count[_INPUT]} inputs; at most "
            f"{MAX_NODES}, {MAX_TENSORS} and {MAX_TENSORS} are accepted"
        )


def check_mlir(file: BinaryIO, name: str) -> None:
    """Raise InvalidInputError for what is no text, or has no function @main."""
    file.seek(0)
    content = file.read()
    try:
        text = content.decode()
    except UnicodeDecodeError as error:
        raise InvalidInputError(f"{name} is not text: byte {error.start} is none of UTF-8's") from error
    if "\0" in text:
        raise InvalidInputError(f"{name} is not text: it holds a NUL; .mlir is taken as text, not as bytecode")
    if "func.func" not in text or not ("@main" in text or '"main"' in text):
        raise InvalidInputError(f"{name} has no function @main (func.func @main), which is what would be compiled")


def _check_node(file: BinaryIO, name: str, node: _Field) -> None:
    texts = {_NODE_NAME: "", _OP_TYPE: "", _DOMAIN: ""}
    for field in _fields(file, name, node.start, node.end, _OF_NODE):
        if field.number in texts:
            texts[field.number] = _text(file, field)
    called = f"{name}: node {texts[_NODE_NAME]!r} ({texts[_OP_TYPE]})"
    if texts[_DOMAIN] not in DOMAINS:
        raise UnsupportedError(f"{called} is of the domain {texts[_DOMAIN]!r}; only ONNX's own operators work")
    if texts[_OP_TYPE] in REFUSED:
        raise UnsupportedError(f"{called} is not supported: {REFUSED[texts[_OP_TYPE]]}")


def _text(file: BinaryIO, field: _Field) -> str:
    file.seek(field.start)
    return file.read(min(field.end - field.start, _MAX_NAME)).decode(errors="replace")


def _fields(file: BinaryIO, name: str, start: int, end: int, known: Mapping[int, int]) -> Iterator[_Field]:
    """The fields of the message between two bytes of the file; their contents are stepped over."""
    at = start
    for _ in range(_MAX_FIELDS):
        if at == end:
            return
        key, content = _varint(file, name, at, end)
        number, wire = key >> 3, key & 7
        if not number or known.get(number, wire) != wire:
            raise _broken(name, f"byte {at} begins no field of an ONNX model")
        field, at = _content(file, name, number, wire, content, end)
        yield field
    raise InvalidInputError(f"{name} has more than {_MAX_FIELDS} parts in one place; export fewer layers")


def _content(file: BinaryIO, name: str, number: int, wire: int, at: int, end: int) -> tuple[_Field, int]:
    """The field whose content begins at `at`, and where the next one begins."""
    if wire == _VARINT:
        _, after = _varint(file, name, at, end)
        return _Field(number, at, after), after
    if wire == _BYTES:
        length, at = _varint(file, name, at, end)
    elif wire in (_FIXED64, _FIXED32):
        length = 8 if wire == _FIXED64 else 4
    else:
        raise _broken(name, f"the field at byte {at} has a kind that ONNX does not use")
    if at + length > end:
        raise _broken(name, f"the field at byte {at} declares {length} bytes, and {end - at} are left; is it whole?")
    return _Field(number, at, at + length), at + length


def _varint(file: BinaryIO, name: str, at: int, end: int) -> tuple[int, int]:
    file.seek(at)
    value = 0
    for i, byte in enumerate(file.read(min(_VARINT_BYTES, end - at))):
        value |= (byte & 0x7F) << (7 * i)
        if byte < 0x80:
            return value, at + i + 1
    raise _broken(name, f"byte {at} begins no number")


def _broken(name: str, why: str) -> InvalidInputError:
    return InvalidInputError(f"{name} is no ONNX file: {why}")
