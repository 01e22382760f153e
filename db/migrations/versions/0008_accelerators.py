"""digest of the accelerator that a design is."""
# pyright: basic

import sqlalchemy as sa
from alembic import op

revision = "0008"
down_revision = "0007"
branch_labels = None
depends_on = None

_INDEX = "ix_designs_accelerator"


def upgrade() -> None:
    op.add_column("designs", sa.Column("accelerator", sa.String(32), nullable=True))
    known = sa.text("accelerator IS NOT NULL")
    columns = ["exploration_id", "accelerator"]
    op.create_index(op.f(_INDEX), "designs", columns, unique=True, postgresql_where=known, sqlite_where=known)


def downgrade() -> None:
    op.drop_index(op.f(_INDEX), "designs")
    op.drop_column("designs", "accelerator")
