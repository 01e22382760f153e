"""Builds as replies."""

from api.schemas import builds as replies
from db import models


def build(row: models.Build, waiting: str | None = None) -> replies.Build:
    """`waiting`: why it does not run yet."""
    live = row.state == "running"
    return replies.Build(
        id=row.id,
        workload_id=row.workload_id,
        exploration_id=row.exploration_id,
        design_id=row.design_id,
        stage=row.stage,
        state=row.state,
        queue=row.queue,
        node=row.node,
        owner=row.owner,
        licence=row.licence,
        after=row.after_id,
        waiting=waiting,
        attempt=row.attempt,
        losses=row.losses,
        history=[replies.Attempt.model_validate(a) for a in row.history],
        adopted_from=row.adopted_from,
        options=row.options,
        cpus=row.cpus,
        memory_gb=row.memory_gb,
        timeout_s=row.timeout_s,
        verdict=row.verdict,
        failure=row.failure,
        error=row.error,
        log_url=f"/v1/builds/{row.id}/log" if row.log_digest or live else None,
        live=live,
        tool_versions=row.tool_versions,
        created_at=row.created_at,
        started_at=row.started_at,
        finished_at=row.finished_at,
    )
