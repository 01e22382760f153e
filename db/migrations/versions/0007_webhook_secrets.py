"""secrets of webhooks, sealed, in a column of their own."""
# pyright: basic

import sqlalchemy as sa
from alembic import context, op

from db.errors import ConflictError

revision = "0007"
down_revision = "0006"
branch_labels = None
depends_on = None

_SWEEPS = sa.table("sweeps", sa.column("id"), sa.column("options", sa.JSON()), sa.column("webhook_secret"))
_OLD = "webhook_secret"


def upgrade() -> None:
    op.add_column("sweeps", sa.Column("webhook_secret", sa.Text(), nullable=True))
    connection = op.get_bind()
    if connection.dialect.name == "sqlite":
        op.execute("PRAGMA secure_delete=ON")  # else the text stays in the file until its place is used again
    seal = context.config.attributes["seal"]
    for key, options in connection.execute(sa.select(_SWEEPS.c.id, _SWEEPS.c.options)).all():
        if _OLD not in options:
            continue
        secret = options.pop(_OLD)
        if secret is not None and seal is None:
            raise ConflictError("the database holds secrets of webhooks to be sealed; upgrade it with `farm upgrade`")
        sealed = None if secret is None else seal(secret)
        change = sa.update(_SWEEPS).where(_SWEEPS.c.id == key).values(options=options, webhook_secret=sealed)
        connection.execute(change)


def downgrade() -> None:
    op.drop_column("sweeps", "webhook_secret")
