"""Conditions on designs, named like the columns of their table: `lut__lt=0.4`, `knob_multiplier="dsp"`."""

from __future__ import annotations

import operator
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from millrace.errors import UsageError

_OPERATORS: dict[str, Callable[[Any, Any], bool]] = {
    "lt": operator.lt,
    "le": operator.le,
    "gt": operator.gt,
    "ge": operator.ge,
    "eq": operator.eq,
    "ne": operator.ne,
    "in": lambda value, among: value in among,
}


def matching(columns: Mapping[str, Sequence[Any]], filters: Mapping[str, Any]) -> list[int]:
    """Places of the rows that meet all conditions; a row without a value meets none.

    Raises UsageError for a column or an operator that there is not, and for values that can not be compared.
    """
    rows = range(len(next(iter(columns.values()), ())))
    for condition, wanted in filters.items():
        name, compare = _split(condition, columns)
        values = columns[name]
        try:
            rows = [row for row in rows if values[row] is not None and compare(values[row], wanted)]
        except TypeError as error:
            raise UsageError(f"{condition}={wanted!r} can not be compared with what {name} holds: {error}") from None
    return list(rows)


def require_column(name: str, columns: Mapping[str, Any]) -> None:
    """Raises UsageError where there is no such column."""
    if name not in columns:
        raise UsageError(f"there is no column {name!r}; the columns are {', '.join(columns)}")


def _split(condition: str, columns: Mapping[str, Any]) -> tuple[str, Callable[[Any, Any], bool]]:
    if condition in columns:
        return condition, operator.eq
    name, _, how = condition.rpartition("__")
    require_column(name or condition, columns)
    if how not in _OPERATORS:
        raise UsageError(f"{condition}: there is no comparison {how!r}; there are {', '.join(_OPERATORS)}")
    return name, _OPERATORS[how]
