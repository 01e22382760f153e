"""Builds as replies."""

from api.schemas import builds as replies
from db import models


def build(row: models.Build, waiting: str | None = None) -> replies.Build:
    """`waiting`: why it does not run yet."""
    live = row.state == "running"
    log_url = f"/v1/builds/{row.id}/log" if row.log_digest or live else None
    return replies.Build.of(row, after=row.after_id, waiting=waiting, log_url=log_url, live=live)
