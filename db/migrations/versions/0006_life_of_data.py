"""archived and pinned rows, owners of models, expired builds, last use of designs, days after which things expire."""
# pyright: basic

import sqlalchemy as sa
from alembic import op

import db.types

revision = "0006"
down_revision = "0005"
branch_labels = None
depends_on = None

_TIME = db.types.UtcDateTime(timezone=True)
_MARKS = (("models", ("archived",)), ("explorations", ("archived", "pinned")), ("designs", ("archived", "pinned")))


def upgrade() -> None:
    _mend_what_earlier_scripts_left()
    for table, names in _MARKS:
        for name in names:  # the default is for the rows that are stored already
            op.add_column(table, sa.Column(name, sa.Boolean(), server_default=sa.false(), nullable=False))
    op.add_column("models", sa.Column("owner", sa.String(100), nullable=True))
    op.add_column("designs", sa.Column("used_at", _TIME, nullable=True))
    op.add_column("builds", sa.Column("expired_at", _TIME, nullable=True))
    op.create_index(op.f("ix_models_owner"), "models", ["owner"])
    op.create_index(op.f("ix_artifacts_digest"), "artifacts", ["digest"])
    op.create_table(
        "retention",
        sa.Column("what", sa.String(16), nullable=False),
        sa.Column("days", sa.Integer(), nullable=True),
        sa.PrimaryKeyConstraint("what", name=op.f("pk_retention")),
    )


def _mend_what_earlier_scripts_left() -> None:
    """Two revisions were first written without these; databases of those days lack them still."""
    names = {column["name"] for column in sa.inspect(op.get_bind()).get_columns("designs")}
    if "reason" not in names:
        op.add_column("designs", sa.Column("reason", sa.Text(), nullable=True))
    search = "SELECT 1 FROM builds WHERE builds.exploration_id = explorations.id AND builds.stage = 'search'"
    op.execute(f"UPDATE explorations SET state = 'queued' WHERE state = 'searching' AND NOT EXISTS ({search})")


def downgrade() -> None:
    op.drop_table("retention")
    op.drop_index(op.f("ix_artifacts_digest"), "artifacts")
    op.drop_index(op.f("ix_models_owner"), "models")
    op.drop_column("builds", "expired_at")
    op.drop_column("designs", "used_at")
    op.drop_column("models", "owner")
    for table, names in reversed(_MARKS):
        for name in names:
            op.drop_column(table, name)
