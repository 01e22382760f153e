"""Frozen values that are looked up over and over: a hash is computed once."""

from typing import Any, TypeVar

T = TypeVar("T")
_KEPT = "_hash"


def hashed_once(kind: type[T]) -> type[T]:
    """Let a frozen dataclass without slots keep its hash. It is left behind where a value goes to another process:
    strings hash otherwise there, and a value must hash as those that equal it.
    """
    compute = kind.__hash__

    def kept(self: Any) -> int:
        try:
            return self._hash  # not through __dict__: that costs as much again
        except AttributeError:
            found = self.__dict__[_KEPT] = compute(self)
            return found

    def travelling(self: T) -> dict[str, Any]:
        return {name: value for name, value in self.__dict__.items() if name != _KEPT}

    kind.__hash__ = kept
    kind.__getstate__ = travelling
    return kind
