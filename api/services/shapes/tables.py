"""All designs of an exploration as a table: what columns it has, and what they are called."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from api.schemas.designs import DesignTable, TableColumn
from api.services.shapes.designs import csim_word
from compiler.metrics import Fidelity
from db.repositories.overview import StageState
from db.repositories.tables import DesignRow, MetricKind
from dse.objectives import OBJECTIVES
from worker.ladder.build_events import simulation_word

_ESTIMATE = Fidelity.ESTIMATE.value
# A number of resources is told from its share of the budget; what is no unit but repeats the name is left out.
_SUFFIX = {"us": "_us", "uJ": "_uj", "W": "_w", "MHz": "_mhz", "GB/s": "_gb_s", "bytes": "_bytes", "%": "_percent"}
# What the designs' own rows have.
_KNOWN = {MetricKind("latency", _ESTIMATE, "us"), MetricKind("energy", _ESTIMATE, "uJ")}


def design_table(
    exploration_id: str,
    objectives: Sequence[str],
    rows: Sequence[DesignRow],
    metrics: Mapping[MetricKind, Mapping[str, float]],
    simulations: Mapping[str, StageState],
    csims: Mapping[str, StageState],
    budgets: Mapping[str, int],
) -> DesignTable:
    """`objectives` are names of metrics; `metrics`: values by design id; `simulations` and `csims`: newest builds by
    design id; `budgets` by resource.
    """
    columns = [*_own(rows, simulations, csims)]
    made_small = [MetricKind(name, _ESTIMATE, OBJECTIVES[name].unit) for name in objectives]
    known: dict[MetricKind, Mapping[str, float]] = {kind: {} for kind in made_small}
    for kind, values in (known | dict(metrics)).items():
        if kind not in _KNOWN:
            columns += _of_metric(kind, [values.get(row.id) for row in rows], budgets.get(kind.name))
    return DesignTable(
        exploration_id=exploration_id,
        rows=len(rows),
        objectives=[_name(kind, budgets.get(kind.name)) for kind in made_small],
        columns=[*columns, *_knobs(rows)],
    )


def _own(
    rows: Sequence[DesignRow], simulations: Mapping[str, StageState], csims: Mapping[str, StageState]
) -> Iterator[TableColumn]:
    def column(name: str, value: Callable[[DesignRow], Any], unit: str = "", estimated: bool = False) -> TableColumn:
        fidelity = _ESTIMATE if estimated else None
        kind = "metric" if unit else "design"
        return TableColumn(name=name, kind=kind, unit=unit, fidelity=fidelity, values=[value(row) for row in rows])

    yield column("id", lambda row: row.id)
    yield column("number", lambda row: row.number)
    yield column("feasible", lambda row: row.feasible, estimated=True)
    yield column("on_front", lambda row: row.on_front, estimated=True)
    yield column("latency_us", lambda row: row.latency_us, "us", estimated=True)
    yield column("energy_uj", lambda row: row.energy_uj, "uJ", estimated=True)
    yield column("simulation", lambda row: simulation_word(simulations.get(row.id), row.refuted is not None))
    yield column("csim", lambda row: csim_word(csims.get(row.id)))
    yield column("refuted", lambda row: row.refuted)
    yield column("reason", lambda row: row.reason)
    yield column("flags", lambda row: len(row.flags))


def _name(kind: MetricKind, budget: int | None) -> str:
    """Of the column with its values."""
    return kind.name + (_SUFFIX.get(kind.unit, "") if budget is None else "_used") + _at(kind)


def _at(kind: MetricKind) -> str:
    return "" if kind.fidelity == _ESTIMATE else f"_{kind.fidelity}"


def _of_metric(kind: MetricKind, values: list[float | None], budget: int | None) -> Iterator[TableColumn]:
    name = _name(kind, budget)
    yield TableColumn(name=name, kind="metric", unit=kind.unit, fidelity=kind.fidelity, values=values)
    if budget is not None:
        shares = [None if value is None else value / budget for value in values]
        yield TableColumn(name=kind.name + _at(kind), kind="share", unit="", fidelity=kind.fidelity, values=shares)


def _knobs(rows: Sequence[DesignRow]) -> Iterator[TableColumn]:
    """Of all knobs that any design has."""
    for name in dict.fromkeys(name for row in rows for name in row.knobs):
        values = [row.knobs.get(name) for row in rows]
        yield TableColumn(name=f"knob_{name}", kind="knob", unit="", fidelity=None, values=values)
