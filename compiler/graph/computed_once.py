"""Attributes of frozen values that are computed when somebody asks for them: the search asks for thousands a second."""

from collections.abc import Callable
from typing import Any, Generic, TypeVar

T = TypeVar("T")


class computed_once(Generic[T]):  # noqa: N801 # read as the decorator that it is
    """As `functools.cached_property`, without the lock that it takes each time before Python 3.12."""

    def __init__(self, compute: Callable[[Any], T]) -> None:
        self._compute, self.__doc__ = compute, compute.__doc__

    def __set_name__(self, owner: type, name: str) -> None:
        self._name = name

    def __get__(self, instance: object, owner: type | None = None) -> T:
        found = instance.__dict__[self._name] = self._compute(instance)
        return found
