"""Fields of a JSON document that anybody may have written: each is checked, each complaint says where it is."""

from collections.abc import Sequence
from typing import Any, cast

from compiler.errors import InvalidInputError

LARGEST = 1 << 60  # of any number; the simulator counts cycles in 64 bits


class Fields:
    """One JSON object; `where` says which, for complaints."""

    def __init__(self, data: Any, where: str) -> None:
        if not isinstance(data, dict):
            raise InvalidInputError(f"{where} is {_short(data)}; it must be an object")
        self._data = cast("dict[str, Any]", data)
        self.where = where

    def complain(self, name: str, expected: str) -> InvalidInputError:
        """The error that field `name` is not what is expected."""
        if name not in self._data:
            return InvalidInputError(f"{self.where} lacks {name}: {expected}")
        return InvalidInputError(f"{name} of {self.where} is {_short(self._data[name])}; it must be {expected}")

    def has(self, name: str) -> bool:
        """Whether the field is there and not null."""
        return self._data.get(name) is not None

    def integer(self, name: str, low: int, high: int = LARGEST, default: int | None = None) -> int:
        value = self._data.get(name, default)
        if isinstance(value, bool) or not isinstance(value, int) or not low <= value <= high:
            raise self.complain(name, f"an integer from {low} to {high}")
        return value

    def flag(self, name: str) -> bool:
        """Whether the field is there and true."""
        value = self._data.get(name, False)
        if not isinstance(value, bool):
            raise self.complain(name, "true or false")
        return value

    def text(self, name: str, default: str | None = None) -> str:
        value = self._data.get(name, default)
        if not isinstance(value, str) or (not value and default is None):
            raise self.complain(name, "a text")
        return value

    def choice(self, name: str, choices: Sequence[str], default: str | None = None) -> str:
        value = self._data.get(name, default)
        if value not in choices:
            raise self.complain(name, f"one of {', '.join(choices)}")
        return value

    def list(self, name: str) -> list[Any]:
        value = self._data.get(name)
        if not isinstance(value, list):
            raise self.complain(name, "a list")
        return cast("list[Any]", value)

    def integers(self, name: str, low: int, high: int = LARGEST) -> tuple[int, ...]:
        values = self.list(name)
        if any(isinstance(v, bool) or not isinstance(v, int) or not low <= v <= high for v in values):
            raise self.complain(name, f"a list of integers from {low} to {high}")
        return tuple(values)

    def object(self, name: str) -> "Fields":
        return Fields(self._data.get(name), f"{name} of {self.where}")

    def named(self, what: str) -> "Fields":
        """The same object, called by its own name."""
        return Fields(self._data, f"{what} {self.text('name')}")


def _short(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= 60 else f"{text[:57]}..."
