"""All designs of an exploration with all metrics, resources and knobs, by column."""

from __future__ import annotations

import json
from bisect import bisect_left, bisect_right
from collections.abc import Iterable
from operator import itemgetter
from typing import TYPE_CHECKING, Any

from millrace.extras import data_frame
from millrace.filters import matching, require_column
from millrace.wire import DesignTable, TableColumn

if TYPE_CHECKING:
    import pandas


class Table:
    """Columns by name; `about` has unit and fidelity of each. `objectives` are those that the search made small."""

    def __init__(self, table: DesignTable) -> None:
        self.about: dict[str, TableColumn] = {column.name: column for column in table.columns}
        self._columns = {name: column.values for name, column in self.about.items()}
        self._rows = table.rows
        self.objectives = table.objectives

    def __len__(self) -> int:
        return self._rows

    def __getitem__(self, name: str) -> list[Any]:
        """The values of a column. Raises UsageError where there is none."""
        require_column(name, self._columns)
        return self._columns[name]

    @property
    def names(self) -> list[str]:
        """Of all columns, in their order."""
        return list(self._columns)

    def row(self, place: int) -> dict[str, Any]:
        """One design, by column."""
        return {name: values[place] for name, values in self._columns.items()}

    def where(self, **filters: Any) -> list[int]:
        """Places of the designs that meet all conditions; see `millrace.filters`. Raises UsageError."""
        shares = {name for name, column in self.about.items() if column.kind == "share"}
        return matching(self._columns, filters, shares)

    def usable(self, **filters: Any) -> list[int]:
        """Places of the feasible designs that no simulation refutes and that meet all conditions, as in `where`."""
        refuted = self["refuted"]
        return [place for place in self.where(**{"feasible": True, **filters}) if refuted[place] is None]

    def best(self, by: str, **filters: Any) -> int | None:
        """The place of the usable design with the least `by` that meets all conditions, None where none does."""
        values = self[by]
        known = [place for place in self.usable(**filters) if values[place] is not None]
        return min(known, key=lambda place: values[place], default=None)

    def front(self, **filters: Any) -> list[int]:
        """Places of the Pareto front by estimate, by the first objective: of all designs as the search has it, with
        conditions of the usable designs that meet them all. Raises UsageError.
        """
        values = dict(enumerate(zip(*(self[name] for name in self.objectives), strict=True)))
        if not filters:
            return sorted(self.where(on_front=True), key=values.__getitem__)
        taken = [p for p in self.usable(**filters) if None not in values[p]]
        steps = _Steps()
        return [p for p in sorted(taken, key=values.__getitem__) if steps.add(*values[p][-2:])]

    def df(self, places: Iterable[int] | None = None) -> pandas.DataFrame:
        """A pandas DataFrame, of the designs at these places or of all. `attrs` has "units" and "fidelities" by column.

        Lists and objects are JSON, as in the table's CSV: cells are hashable. Raises MissingExtraError without pandas.
        """
        chosen = range(len(self)) if places is None else list(places)
        frame = data_frame({name: _plain([values[at] for at in chosen]) for name, values in self._columns.items()})
        frame.attrs["units"] = {name: column.unit for name, column in self.about.items()}
        frame.attrs["fidelities"] = {name: column.fidelity for name, column in self.about.items()}
        return frame


class _Steps:
    """What no other beats in two objectives, by the first, so that the second falls. Of two or three objectives the
    last two, where designs come by the first: then no later one beats an earlier one.
    """

    def __init__(self) -> None:
        self._steps: list[tuple[Any, Any]] = []

    def add(self, x: Any, y: Any) -> bool:
        """Whether none that was added is nowhere worse."""
        steps = self._steps
        after = bisect_right(steps, x, key=itemgetter(0))
        if after and steps[after - 1][1] <= y:
            return False
        start = bisect_left(steps, x, key=itemgetter(0))
        steps[start : bisect_right(steps, -y, lo=start, key=lambda step: -step[1])] = [(x, y)]
        return True


def _plain(values: list[Any]) -> list[Any]:
    """Lists and objects as JSON, and all of a column as text where one is."""
    nested = any(isinstance(value, list | dict) for value in values)
    return [None if value is None else json.dumps(value) for value in values] if nested else values
