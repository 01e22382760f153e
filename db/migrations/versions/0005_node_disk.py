"""what a node holds on its disk."""
# pyright: basic

import sqlalchemy as sa
from alembic import op

revision = "0005"
down_revision = "0004"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.add_column("nodes", sa.Column("disk", sa.JSON(), server_default="{}", nullable=False))


def downgrade() -> None:
    op.drop_column("nodes", "disk")
