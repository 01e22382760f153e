"""what inputs and results of a workload are."""
# pyright: basic

import sqlalchemy as sa
from alembic import op

revision = "0010"
down_revision = "0009"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.add_column("workloads", sa.Column("ports", sa.String(8), server_default="f32", nullable=False))


def downgrade() -> None:
    op.drop_column("workloads", "ports")
