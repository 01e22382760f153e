"""why the simulation of a design refutes it: a deadlock, which it was until now, or a budget that it exceeds."""
# pyright: basic

import sqlalchemy as sa
from alembic import op

revision = "0011"
down_revision = "0010"
branch_labels = None
depends_on = None

_EVENTS = sa.table("events", sa.column("id"), sa.column("kind"), sa.column("data", sa.JSON()))


def upgrade() -> None:
    _rename("deadlock", "refuted")


def downgrade() -> None:
    _rename("refuted", "deadlock")


def _rename(old: str, new: str) -> None:
    """The column of designs; the field and the word of a state in what was told of them."""
    op.execute(sa.text(f"ALTER TABLE designs RENAME COLUMN {old} TO {new}"))
    connection = op.get_bind()
    for (key,) in connection.execute(sa.select(_EVENTS.c.id).where(_EVENTS.c.kind == "simulated")).all():
        data = connection.execute(sa.select(_EVENTS.c.data).where(_EVENTS.c.id == key)).scalar_one()
        if old in data:
            data[new] = data.pop(old)
            data["state"] = new if data["state"] == old else data["state"]
            connection.execute(sa.update(_EVENTS).where(_EVENTS.c.id == key).values(data=data))
