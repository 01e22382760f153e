"""names of explorations; tags and notes of explorations and designs."""
# pyright: basic

from itertools import count

import sqlalchemy as sa
from alembic import op

revision = "0004"
down_revision = "0003"
branch_labels = None
depends_on = None

_CONFIGURED = ("builtin", "config")  # kinds of models whose phase and length are chosen


def upgrade() -> None:
    for table in ("explorations", "designs"):
        # The defaults are for the rows that are stored already.
        op.add_column(table, sa.Column("tags", sa.JSON(), server_default="[]", nullable=False))
        op.add_column(table, sa.Column("notes", sa.Text(), server_default="", nullable=False))
    op.add_column("explorations", sa.Column("name", sa.String(240), nullable=True))
    _name_explorations()
    with op.batch_alter_table("explorations") as table:
        table.alter_column("name", existing_type=sa.String(240), nullable=False)
        table.create_unique_constraint(op.f("uq_explorations_name"), ["name"])


def _name_explorations() -> None:
    """As db/repositories/naming.py made them at this revision: the oldest of several that are alike has no number."""
    connection = op.get_bind()
    query = """
        SELECT e.id, m.name, m.kind, w.phase, w.length, w.precision, w.layers
        FROM explorations AS e JOIN workloads AS w ON w.id = e.workload_id JOIN models AS m ON m.id = w.model_id
        ORDER BY e.id
    """
    taken: set[str] = set()
    for key, model, kind, phase, length, precision, layers in connection.execute(sa.text(query)).all():
        shape = [phase, str(length)] if kind in _CONFIGURED else []
        several = [f"{layers}-layers"] if layers > 1 else []
        base = "-".join([model.replace(" ", "-"), *shape, precision, *several])
        name = next(n for n in (base if i == 1 else f"{base}-{i}" for i in count(1)) if n not in taken)
        taken.add(name)
        connection.execute(sa.text("UPDATE explorations SET name = :name WHERE id = :id"), {"name": name, "id": key})


def downgrade() -> None:
    with op.batch_alter_table("explorations") as table:
        table.drop_constraint(op.f("uq_explorations_name"))
        table.drop_column("name")
    for table in ("designs", "explorations"):
        op.drop_column(table, "notes")
        op.drop_column(table, "tags")
