"""The Pareto front of an exploration: its designs, by the first objective."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any, overload

from millrace.client import Client
from millrace.design import Design
from millrace.drawing import Mark, html_table, scatter_svg
from millrace.extras import load
from millrace.table import Table
from millrace.wire import TableColumn

if TYPE_CHECKING:
    import pandas

_SHOWN = ("lut", "ff", "dsp", "bram36", "uram", "csim")
_LATENCY, _SIMULATED = "latency_us", "latency_us_simulate"


class Front(Sequence[Design]):
    """Designs of the front by estimate, by the first objective. A notebook shows them as a picture, of the first two
    objectives, and a table.
    """

    def __init__(self, client: Client, table: Table, **filters: Any) -> None:
        self._table = table
        self._places = table.front(**filters)
        self._designs = [Design(client, table.row(place)) for place in self._places]

    def __len__(self) -> int:
        return len(self._designs)

    def __iter__(self) -> Iterator[Design]:
        return iter(self._designs)

    @overload
    def __getitem__(self, index: int) -> Design: ...
    @overload
    def __getitem__(self, index: slice) -> list[Design]: ...
    def __getitem__(self, index: int | slice) -> Design | list[Design]:
        return self._designs[index]

    def df(self) -> pandas.DataFrame:
        """The designs as a pandas DataFrame, as `Table.df`. Raises MissingExtraError without pandas."""
        return self._table.df(self._places)

    def svg(self) -> str:
        """The front on the cloud of the other feasible designs, as the text of an SVG file."""
        on_front = set(self._places)
        cloud = self._points([place for place in self._table.where(feasible=True) if place not in on_front])
        ids = self._table["id"]
        front = [Mark(a, b, ids[place]) for place in self._places for a, b in self._points([place])]
        return scatter_svg(cloud, front, *self._labels)

    def plot(self, ax: Any = None) -> Any:
        """The same with matplotlib, in these Axes or in new ones, which it returns. Raises MissingExtraError."""
        axes = ax if ax is not None else load("matplotlib.pyplot", "plot").subplots()[1]
        axes.loglog(*_columns(self._points(self._table.where(feasible=True))), ".", color="0.7", markersize=3)
        line = "o-" if len(self._table.objectives) == 2 else "o"
        axes.loglog(*_columns(self._points(self._places)), line, color="C1")
        axes.set_xlabel(self._labels[0])
        axes.set_ylabel(self._labels[1])
        return axes

    @property
    def _axes(self) -> tuple[str, str]:
        x, y, *_ = self._table.objectives
        return x, y

    @property
    def _labels(self) -> tuple[str, str]:
        x, y = (_label(self._table.about[name]) for name in self._axes)
        return x, y

    def _points(self, places: Sequence[int]) -> list[tuple[float, float]]:
        x, y = (self._table[name] for name in self._axes)
        return [(x[place], y[place]) for place in places if x[place] is not None and y[place] is not None]

    def __repr__(self) -> str:
        return f"<Front of {len(self)} designs>"

    def _repr_html_(self) -> str:
        objectives = [
            n for name in self._table.objectives for n in ([name, _SIMULATED] if name == _LATENCY else [name])
        ]
        wanted = dict.fromkeys(("id", *objectives, *_SHOWN))
        names = [name for name in wanted if name in self._table.names]
        return self.svg() + html_table(names, [[self._table[name][place] for name in names] for place in self._places])


def _label(column: TableColumn) -> str:
    """As in: latency, us (estimate)."""
    ending = f"_{column.unit.lower()}"
    return f"{column.name.removesuffix(ending).removesuffix('_percent').replace('_', ' ')}, {column.unit} (estimate)"


def _columns(points: Sequence[tuple[float, float]]) -> tuple[list[float], list[float]]:
    return [x for x, _ in points], [y for _, y in points]
