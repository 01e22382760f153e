"""All designs of an exploration with all that is known of them, in the formats that people load: JSON, CSV, Arrow."""

import csv
import io
import json
from collections.abc import Callable, Sequence
from dataclasses import asdict
from typing import Any, Literal

from sqlalchemy.orm import Session

from api.schemas.designs import DesignTable, TableColumn
from api.services.arrow import arrow_stream
from api.services.shapes import tables as shapes
from compiler.platforms.platform import load_platform
from db.repositories import explorations, overview, tables

TableFormat = Literal["json", "csv", "arrow"]


def design_table(session: Session, exploration_id: str) -> DesignTable:
    """Every design in order of evaluation; a fixed number of queries. Raises NotFoundError."""
    exploration = explorations.get(session, exploration_id)
    return shapes.design_table(
        exploration_id,
        exploration.objectives,
        tables.design_rows(session, exploration_id),
        tables.metric_values(session, exploration_id),
        overview.stage_states(session, exploration_id, "simulate"),
        overview.stage_states(session, exploration_id, "csim"),
        {name: amount for name, amount in asdict(load_platform(exploration.platform).budget).items() if amount},
    )


def _as_json(table: DesignTable) -> bytes:
    return table.model_dump_json().encode()


def _as_csv(table: DesignTable) -> bytes:
    """A line of names, then one a design; lists and objects are JSON."""
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow([column.name for column in table.columns])
    writer.writerows(zip(*(_plain(column.values) for column in table.columns), strict=True))
    return out.getvalue().encode()


def _as_arrow(table: DesignTable) -> bytes:
    """Unit and fidelity are metadata of the fields; lists and objects are JSON."""
    return arrow_stream([(c.name, _plain(c.values), _about(c)) for c in table.columns], table.rows)


def _about(column: TableColumn) -> dict[str, str]:
    return {"kind": column.kind, "unit": column.unit, "fidelity": column.fidelity or ""}


def _plain(values: Sequence[Any]) -> Sequence[Any]:
    """Values that a cell can have: lists and objects as JSON, and all of a column as text where one is."""
    nested = any(isinstance(value, list | dict) for value in values)
    return [None if value is None else json.dumps(value) for value in values] if nested else values


FORMATS: dict[TableFormat, tuple[str, Callable[[DesignTable], bytes]]] = {
    "json": ("application/json", _as_json),
    "csv": ("text/csv; charset=utf-8", _as_csv),
    "arrow": ("application/vnd.apache.arrow.stream", _as_arrow),
}
"""Media type and encoder by name."""
