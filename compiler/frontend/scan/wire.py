"""Protocol buffers as they lie in a file: fields are stepped over, never unpacked, and every loop has a bound.

https://protobuf.dev/programming-guides/encoding
"""

import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from compiler.errors import InvalidInputError
from compiler.frontend.scan.bounds import MAX_PARTS

VARINT, FIXED64, BYTES, FIXED32 = 0, 1, 2, 5
_VARINT_BYTES = 10
_WINDOW = 1 << 16
Known = Mapping[int, int]
"""Wire types of a message's fields by number; fields that are not in it may have any."""


@dataclass(frozen=True, slots=True)
class Field:
    """A field of a message: where its content lies in the file; `value` is that of a VARINT."""

    number: int
    wire: int
    start: int
    end: int
    value: int

    @property
    def size(self) -> int:
        return self.end - self.start


class Wire:
    """A file of one message, read through a window: what is stepped over is not read."""

    def __init__(self, descriptor: int, name: str) -> None:
        self.name = name
        self.size = os.fstat(descriptor).st_size
        self._descriptor = descriptor
        self._window, self._first = b"", 0
        self._parts = 0

    def fields(self, start: int, end: int, known: Known) -> Iterator[Field]:
        """The fields of the message between two bytes. Raises InvalidInputError where there is none."""
        at = start
        while at < end:
            self._parts += 1
            if self._parts > MAX_PARTS:
                raise InvalidInputError(f"{self.name} has more than {MAX_PARTS} parts; export fewer layers")
            key, content = self._varint(at, end)
            number, wire = key >> 3, key & 7
            if not number or known.get(number, wire) != wire:
                raise self.broken(f"byte {at} begins no field of an ONNX model")
            field = self._field(number, wire, content, end)
            at = field.end
            yield field

    def varints(self, field: Field) -> Iterator[int]:
        """The numbers of a repeated field, packed or single."""
        if field.wire == VARINT:
            yield field.value
            return
        at = field.start
        while at < field.end:
            value, at = self._varint(at, field.end)
            yield value

    def text(self, field: Field, what: str, most: int) -> str:
        """The field's text. Raises InvalidInputError where it is longer than `most` bytes or none."""
        if field.size > most:
            raise InvalidInputError(f"{self.name}: {what} has {field.size} bytes; at most {most} are accepted")
        try:
            text = os.pread(self._descriptor, field.size, field.start).decode()
        except UnicodeDecodeError as error:
            raise self.broken(f"{what} at byte {field.start} is not UTF-8") from error
        if "\0" in text:
            raise InvalidInputError(f"{self.name}: {what} {text[:80]!r} holds a NUL; rename it")
        return text

    def broken(self, why: str) -> InvalidInputError:
        return InvalidInputError(f"{self.name} is no ONNX file: {why}")

    def _field(self, number: int, wire: int, at: int, end: int) -> Field:
        """The field whose content begins at `at`."""
        value = 0
        if wire == VARINT:
            value, after = self._varint(at, end)
        elif wire == BYTES:
            length, at = self._varint(at, end)
            after = at + length
        elif wire in (FIXED64, FIXED32):
            after = at + (8 if wire == FIXED64 else 4)
        else:
            raise self.broken(f"the field at byte {at} has a kind that ONNX does not use")
        if after > end:
            raise self.broken(
                f"the field at byte {at} declares {after - at} bytes, and {end - at} are left; is it whole?"
            )
        return Field(number, wire, at, after, value)

    def _varint(self, at: int, end: int) -> tuple[int, int]:
        """The number at `at`, and where it ends."""
        offset = at - self._first
        if not 0 <= offset <= len(self._window) - _VARINT_BYTES:
            self._window, self._first, offset = os.pread(self._descriptor, _WINDOW, at), at, 0
        value = 0
        for i, byte in enumerate(self._window[offset : offset + min(_VARINT_BYTES, end - at)]):
            value |= (byte & 0x7F) << (7 * i)
            if byte < 0x80:
                return value, at + i + 1
        raise self.broken(f"byte {at} begins no number")
