"""Refits of a platform's area model."""

from typing import Any

from sqlalchemy import select
from sqlalchemy.orm import Session

from db.ids import new_id
from db.models import Calibration


def add(session: Session, platform: str, digest: str, summary: dict[str, Any], build_id: str | None) -> Calibration:
    """Store one; it is the platform's latest from now on."""
    made = Calibration(id=new_id("cal"), platform=platform, digest=digest, summary=summary, build_id=build_id)
    session.add(made)
    session.flush()
    return made


def latest(session: Session, platform: str) -> Calibration | None:
    """The newest of the platform."""
    query = select(Calibration).where(Calibration.platform == platform).order_by(Calibration.id.desc())
    return session.scalars(query.limit(1)).first()
