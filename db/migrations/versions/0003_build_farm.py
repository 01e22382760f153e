"""the build farm: builds with a place in a queue, nodes, licences, calibrations, sweeps, access."""
# pyright: basic

import sqlalchemy as sa
from alembic import op

import db.types

revision = "0003"
down_revision = "0002"
branch_labels = None
depends_on = None

_TIME = db.types.UtcDateTime(timezone=True)
_LEASE = ("lease_owner", "lease_expires", "lease_token", "losses", "enqueued_at")


def upgrade() -> None:
    _create_farm()
    _create_sweeps()
    _create_access()
    _change_builds()
    _fill_builds()
    _index_builds()
    _create_calibrations()
    _change_explorations()
    _index_designs()


def _create_farm() -> None:
    op.create_table(
        "leaders",
        sa.Column("task", sa.String(60), nullable=False),
        sa.Column("holder", sa.String(200), nullable=True),
        sa.Column("expires", _TIME, nullable=True),
        sa.PrimaryKeyConstraint("task", name=op.f("pk_leaders")),
    )
    op.create_table(
        "licences",
        sa.Column("feature", sa.String(60), nullable=False),
        sa.Column("tokens", sa.Integer(), nullable=False),
        sa.PrimaryKeyConstraint("feature", name=op.f("pk_licences")),
    )
    op.create_table(
        "nodes",
        sa.Column("name", sa.String(100), nullable=False),
        sa.Column("state", sa.String(16), nullable=False),
        sa.Column("capabilities", sa.JSON(), nullable=False),
        sa.Column("missing", sa.JSON(), nullable=False),
        sa.Column("cpus", sa.Double(), nullable=False),
        sa.Column("memory_gb", sa.Double(), nullable=False),
        sa.Column("version", sa.String(100), nullable=False),
        sa.Column("waiting", sa.JSON(), nullable=False),
        sa.Column("first_seen", _TIME, nullable=False),
        sa.Column("last_seen", _TIME, nullable=False),
        sa.PrimaryKeyConstraint("name", name=op.f("pk_nodes")),
    )
    op.create_table(
        "queue_shares",
        sa.Column("queue", sa.String(120), nullable=False),
        sa.Column("owner", sa.String(100), nullable=False),
        sa.Column("served", sa.Double(), nullable=False),
        sa.PrimaryKeyConstraint("queue", "owner", name=op.f("pk_queue_shares")),
    )


def _create_sweeps() -> None:
    op.create_table(
        "sweeps",
        sa.Column("id", sa.String(32), nullable=False),
        sa.Column("name", sa.String(100), nullable=False),
        sa.Column("cron", sa.String(100), nullable=False),
        sa.Column("zone", sa.String(60), nullable=False),
        sa.Column("misfire", sa.String(16), nullable=False),
        sa.Column("matrix", sa.JSON(), nullable=False),
        sa.Column("options", sa.JSON(), nullable=False),
        sa.Column("webhook", sa.String(500), nullable=True),
        sa.Column("enabled", sa.Boolean(), nullable=False),
        sa.Column("owner", sa.String(100), nullable=True),
        sa.Column("next_at", _TIME, nullable=True),
        sa.Column("created_at", _TIME, nullable=False),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_sweeps")),
        sa.UniqueConstraint("name", name=op.f("uq_sweeps_name")),
    )
    op.create_index(op.f("ix_sweeps_next_at"), "sweeps", ["next_at"])
    op.create_table(
        "sweep_runs",
        sa.Column("id", sa.String(32), nullable=False),
        sa.Column("sweep_id", sa.String(32), nullable=False),
        sa.Column("baseline_id", sa.String(32), nullable=True),
        sa.Column("state", sa.String(16), nullable=False),
        sa.Column("scheduled_for", _TIME, nullable=True),
        sa.Column("cause", sa.String(16), nullable=False),
        sa.Column("comparison", sa.JSON(none_as_null=True), nullable=True),
        sa.Column("tool_versions", sa.JSON(), nullable=False),
        sa.Column("error", sa.Text(), nullable=True),
        sa.Column("created_at", _TIME, nullable=False),
        sa.Column("finished_at", _TIME, nullable=True),
        sa.ForeignKeyConstraint(["baseline_id"], ["sweep_runs.id"], name=op.f("fk_sweep_runs_baseline_id")),
        sa.ForeignKeyConstraint(["sweep_id"], ["sweeps.id"], name=op.f("fk_sweep_runs_sweep_id")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_sweep_runs")),
    )
    op.create_index(op.f("ix_sweep_runs_sweep_id"), "sweep_runs", ["sweep_id"])


def _create_access() -> None:
    op.create_table(
        "api_keys",
        sa.Column("id", sa.String(32), nullable=False),
        sa.Column("name", sa.String(100), nullable=False),
        sa.Column("role", sa.String(16), nullable=False),
        sa.Column("prefix", sa.String(16), nullable=False),
        sa.Column("hash", sa.String(64), nullable=False),
        sa.Column("quotas", sa.JSON(), nullable=False),
        sa.Column("created_at", _TIME, nullable=False),
        sa.Column("expires_at", _TIME, nullable=True),
        sa.Column("revoked_at", _TIME, nullable=True),
        sa.Column("last_used_at", _TIME, nullable=True),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_api_keys")),
        sa.UniqueConstraint("name", name=op.f("uq_api_keys_name")),
    )
    op.create_index(op.f("ix_api_keys_prefix"), "api_keys", ["prefix"])
    op.create_table(
        "audit",
        sa.Column("id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.Column("at", _TIME, nullable=False),
        sa.Column("who", sa.String(100), nullable=True),
        sa.Column("address", sa.String(64), nullable=False),
        sa.Column("action", sa.String(60), nullable=False),
        sa.Column("target", sa.String(200), nullable=True),
        sa.Column("detail", sa.JSON(), nullable=False),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_audit")),
    )
    op.create_index(op.f("ix_audit_at"), "audit", ["at"])


def _create_calibrations() -> None:
    op.create_table(
        "calibrations",
        sa.Column("id", sa.String(32), nullable=False),
        sa.Column("platform", sa.String(64), nullable=False),
        sa.Column("digest", sa.String(64), nullable=False),
        sa.Column("summary", sa.JSON(), nullable=False),
        sa.Column("build_id", sa.String(32), nullable=True),
        sa.Column("created_at", _TIME, nullable=False),
        sa.ForeignKeyConstraint(["build_id"], ["builds.id"], name=op.f("fk_calibrations_build_id")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_calibrations")),
    )
    op.create_index(op.f("ix_calibrations_platform"), "calibrations", ["platform"])


def _change_builds() -> None:
    op.drop_index(op.f("ix_builds_state"), "builds")
    with op.batch_alter_table("builds") as table:
        # The defaults are for the builds that are stored already.
        table.add_column(sa.Column("exploration_id", sa.String(32), nullable=True))
        table.add_column(sa.Column("after_id", sa.String(32), nullable=True))
        table.add_column(sa.Column("options", sa.JSON(), nullable=False, server_default="{}"))
        table.add_column(sa.Column("owner", sa.String(100), nullable=False, server_default=""))
        table.add_column(sa.Column("queue", sa.String(120), nullable=False, server_default=""))
        table.add_column(sa.Column("fair_tag", sa.Double(), nullable=False, server_default="0"))
        table.add_column(sa.Column("request", sa.String(120), nullable=False, server_default="/0/0"))
        table.add_column(sa.Column("licence", sa.String(60), nullable=True))
        table.add_column(sa.Column("cpus", sa.Double(), nullable=False, server_default="0"))
        table.add_column(sa.Column("memory_gb", sa.Double(), nullable=False, server_default="0"))
        table.add_column(sa.Column("timeout_s", sa.Double(), nullable=True))
        table.add_column(sa.Column("not_before", _TIME, nullable=True))
        table.add_column(sa.Column("node", sa.String(100), nullable=True))
        table.add_column(sa.Column("attempt", sa.Integer(), nullable=False, server_default="0"))
        table.add_column(sa.Column("history", sa.JSON(), nullable=False, server_default="[]"))
        table.add_column(sa.Column("adopted_from", sa.String(32), nullable=True))
        table.add_column(sa.Column("seconds", sa.Double(), nullable=True))
        table.create_foreign_key(op.f("fk_builds_exploration_id"), "explorations", ["exploration_id"], ["id"])
        table.create_foreign_key(op.f("fk_builds_after_id"), "builds", ["after_id"], ["id"])
        table.drop_column("enqueued_at")


def _fill_builds() -> None:
    of_design = "SELECT exploration_id FROM designs WHERE designs.id = builds.design_id"
    op.execute(f"UPDATE builds SET queue = stage, exploration_id = ({of_design})")
    # What was under way when the farm was stopped: a lease belongs to a running build, and a key runs once.
    freed = "lease_owner = NULL, lease_expires = NULL"
    op.execute(f"UPDATE builds SET {freed} WHERE state <> 'running'")
    earlier = "SELECT 1 FROM builds AS b WHERE b.key = builds.key AND b.state = 'running' AND b.id < builds.id"
    op.execute(f"UPDATE builds SET state = 'queued', {freed} WHERE state = 'running' AND EXISTS ({earlier})")


def _index_builds() -> None:
    _index("ix_builds_after_id", "after_id")
    _index("ix_builds_queue", "state", "queue", "owner", "request", "fair_tag", "id")
    _index("ix_builds_flow", "exploration_id", "stage", "state")
    _index("ix_builds_share", "queue", "exploration_id", "fair_tag")
    _index("ix_builds_node", "node", "state")
    _index("ix_builds_state", "state", "id")
    _index("ix_builds_statistics", "stage", "state", "failure", "seconds", "losses")
    _index("ix_builds_taken", "queue", "owner", "state", "fair_tag", where="state <> 'queued'")
    _index("ix_builds_delayed", "queue", "not_before", where="state = 'queued' AND not_before IS NOT NULL")
    _index("uq_builds_running_key", "key", where="state = 'running'", unique=True)
    of_exploration = "design_id IS NULL AND workload_id IS NULL"
    _index("uq_builds_exploration_key", "exploration_id", "key", where=of_exploration, unique=True)


def _index(name: str, *columns: str, where: str | None = None, unique: bool = False) -> None:
    condition = None if where is None else sa.text(where)
    op.create_index(
        op.f(name), "builds", list(columns), unique=unique, sqlite_where=condition, postgresql_where=condition
    )


def _change_explorations() -> None:
    with op.batch_alter_table("explorations") as table:
        table.add_column(sa.Column("priority", sa.String(8), nullable=False, server_default="normal"))
        table.add_column(sa.Column("owner", sa.String(100), nullable=True))
        table.add_column(sa.Column("sweep_run_id", sa.String(32), nullable=True))
        table.create_foreign_key(op.f("fk_explorations_sweep_run_id"), "sweep_runs", ["sweep_run_id"], ["id"])
        for column in _LEASE:
            table.drop_column(column)
    # A search is a build now, which a search that was under way has not: queued again, it goes on with what it stored.
    op.execute("UPDATE explorations SET state = 'queued' WHERE state = 'searching'")
    op.create_index(op.f("ix_explorations_owner"), "explorations", ["owner"])
    op.create_index(op.f("ix_explorations_sweep_run_id"), "explorations", ["sweep_run_id"])


def _index_designs() -> None:
    op.create_index(op.f("ix_designs_front"), "designs", ["exploration_id", "on_front", "number", "feasible"])
    simulated = sa.text("simulated_us IS NOT NULL")
    op.create_index(
        op.f("ix_designs_simulated"),
        "designs",
        ["exploration_id", "number", "id", "latency_us", "simulated_us"],
        sqlite_where=simulated,
        postgresql_where=simulated,
    )


def downgrade() -> None:
    raise NotImplementedError("the tables of the build farm can not be put back; restore a backup made before")
