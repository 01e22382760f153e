"""Conditions on designs, named like the columns of their table: `lut__lt=0.4`, `knob_multiplier="dsp"`."""

from __future__ import annotations

import operator
from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Any

from millrace.errors import UsageError


def _among(value: Any, wanted: Any) -> bool:
    return value in wanted


_OPERATORS: dict[str, Callable[[Any, Any], bool]] = {
    "lt": operator.lt,
    "le": operator.le,
    "gt": operator.gt,
    "ge": operator.ge,
    "eq": operator.eq,
    "ne": operator.ne,
    "in": _among,
}


_LARGEST_SHARE = 2.0  # a design that needs more than twice the board is not what people ask for


def matching(
    columns: Mapping[str, Sequence[Any]], filters: Mapping[str, Any], shares: Collection[str] = ()
) -> list[int]:
    """Places of the rows that meet all conditions; a row without a value meets none. `shares` are the columns that
    hold shares of a budget.

    Raises UsageError for a column or an operator that there is not, for values that can not be compared, and for a
    percentage or a number where a share is meant.
    """
    rows = range(len(next(iter(columns.values()), ())))
    for condition, wanted in filters.items():
        name, compare = _split(condition, columns)
        if compare is _among and isinstance(wanted, str):
            raise UsageError(f"{condition}={wanted!r} is one text; give a list: {condition}=[{wanted!r}]")
        if name in shares:
            _check_share(name, condition, wanted)
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


def _check_share(name: str, condition: str, wanted: Any) -> None:
    """Raises UsageError where what is wanted is more than a share can sensibly be."""
    if isinstance(wanted, int | float) and wanted > _LARGEST_SHARE:
        raise UsageError(
            f"{condition}={wanted}: {name} is a share of the board's budget, 0 to 1: write 0.4 for 40 %; "
            "columns with _used in their names have numbers"
        )


def _split(condition: str, columns: Mapping[str, Any]) -> tuple[str, Callable[[Any, Any], bool]]:
    if condition in columns:
        return condition, operator.eq
    name, _, how = condition.rpartition("__")
    require_column(name or condition, columns)
    if how not in _OPERATORS:
        raise UsageError(f"{condition}: there is no comparison {how!r}; there are {', '.join(_OPERATORS)}")
    return name, _OPERATORS[how]
