"""simulated designs: their latency, their deadlock, values that can not be."""
# pyright: basic

import sqlalchemy as sa
from alembic import op

revision = "0002"
down_revision = "0001"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.add_column("designs", sa.Column("simulated_us", sa.Double(), nullable=True))
    op.add_column("designs", sa.Column("deadlock", sa.Text(), nullable=True))
    # The default is for the designs that are stored already: nobody looked at their values yet.
    op.add_column("designs", sa.Column("flags", sa.JSON(), server_default="[]", nullable=False))


def downgrade() -> None:
    op.drop_column("designs", "flags")
    op.drop_column("designs", "deadlock")
    op.drop_column("designs", "simulated_us")
