"""The bounds of a key on what it may have under way."""

from sqlalchemy.orm import Session

from api.errors import QuotaError
from api.principal import Principal
from db.repositories import overview


def check_explorations(session: Session, who: Principal, more: int = 1) -> None:
    """Raise QuotaError where so many more explorations are too many."""
    most = who.quotas.get("active_explorations")
    if most is None or who.name is None:
        return
    active = overview.active_explorations(session, who.name)
    if active + more > most:
        raise QuotaError(_text(who, active, most, "active explorations", "wait for one to end, or cancel one"))


def check_sweep(who: Principal, explorations: int) -> None:
    """Raise QuotaError where a run of a sweep, which starts so many at once, is too many by itself."""
    most = who.quotas.get("active_explorations")
    if most is not None and explorations > most:
        raise QuotaError(
            f"a run of the sweep has {explorations} explorations, and the key {who.name!r} may have {most} active; "
            "give the matrix fewer values, or ask an admin for more"
        )


def check_builds(session: Session, who: Principal) -> None:
    """Raise QuotaError where one more build is one too many."""
    most = who.quotas.get("open_builds")
    if most is None or who.name is None:
        return
    unfinished = overview.open_builds(session, who.name)
    if unfinished >= most:
        raise QuotaError(_text(who, unfinished, most, "unfinished builds", "wait for one to end, or cancel one"))


def check_upload(who: Principal, size: int) -> None:
    """Raise QuotaError where an upload of `size` bytes is too large for the key."""
    most = who.quotas.get("upload_bytes")
    if most is not None and size > most:
        raise QuotaError(f"the upload has {size} bytes, the key {who.name!r} may upload {most} at once; ask an admin")


def _text(who: Principal, have: int, most: int, what: str, how: str) -> str:
    return f"the key {who.name!r} has {have} {what} and may have {most}; {how}, or ask an admin for more"
