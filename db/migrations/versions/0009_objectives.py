"""objectives of a search by request: names of them, and their values of each design."""
# pyright: basic

from typing import Any

import sqlalchemy as sa
from alembic import op

revision = "0009"
down_revision = "0008"
branch_labels = None
depends_on = None

_DEFAULT = ["latency", "energy"]
_JSON = sa.JSON()
_EXPLORATIONS = sa.table("explorations", sa.column("id"), sa.column("objectives", _JSON))
_RUNS = sa.table("sweep_runs", sa.column("id"), sa.column("comparison", _JSON))
_EVENTS = sa.table("events", sa.column("id"), sa.column("kind"), sa.column("data", _JSON))
# Each digit of the values, as Python writes them.
_PAIR = {
    "sqlite": "printf('[%!.17g, %!.17g]', latency_us, energy_uj)",
    "postgresql": "json_build_array(latency_us, energy_uj)",
}


def upgrade() -> None:
    op.add_column("designs", sa.Column("objectives", _JSON, server_default="[]", nullable=False))
    pair = _PAIR[op.get_bind().dialect.name]
    op.execute(sa.text(f"UPDATE designs SET objectives = {pair} WHERE latency_us IS NOT NULL"))
    op.execute(sa.update(_EXPLORATIONS).values(objectives=_DEFAULT))
    _rewrite(_RUNS, "comparison", _slots)
    _rewrite(_EVENTS, "data", _columns, _EVENTS.c.kind == "designs")


def downgrade() -> None:
    pairs = (("latency_us", "us"), ("energy_uj", "uJ"))
    old = [{"name": name, "unit": unit, "direction": "minimize"} for name, unit in pairs]
    op.execute(sa.update(_EXPLORATIONS).values(objectives=old))
    op.drop_column("designs", "objectives")


def _rewrite(table: sa.TableClause, name: str, change: Any, *where: Any) -> None:
    connection, column = op.get_bind(), table.c[name]
    for (key,) in connection.execute(sa.select(table.c.id).where(column.is_not(None), *where)).all():
        value = connection.execute(sa.select(column).where(table.c.id == key)).scalar_one()
        if value:
            change(value)
            connection.execute(sa.update(table).where(table.c.id == key).values({name: value}))


def _slots(comparison: dict[str, Any]) -> None:
    for slot in comparison.get("slots", []):
        slot["objectives"] = _DEFAULT


def _columns(event: dict[str, Any]) -> None:
    event["objectives"] = [event["latency_us"], event.pop("energy_uj")]
