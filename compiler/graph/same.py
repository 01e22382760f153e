"""Keys that go by identity: to compare two networks would cost more than to plan one."""

from dataclasses import dataclass
from typing import Generic, TypeVar, cast

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Same(Generic[T]):
    """A value that `lru_cache` looks up by identity. It holds on to the value, so that no other gets its address."""

    value: T

    def __hash__(self) -> int:
        return id(self.value)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Same) and cast("Same[object]", other).value is self.value
