"""The bounds of a key that are looked at before anything is stored; `worker.ladder.quotas` has the others."""

from sqlalchemy.orm import Session

from api.principal import Principal
from worker.errors import QuotaError
from worker.ladder.quotas import check_room


def check_sweep(who: Principal, explorations: int) -> None:
    """Raise QuotaError where a run of a sweep, which starts so many at once, is too many by itself."""
    most = who.quotas.get("active_explorations")
    if most is not None and explorations > most:
        raise QuotaError(
            f"a run of the sweep has {explorations} explorations, and the key {who.name!r} may have {most} active; "
            f"give the matrix fewer values, or ask an admin for more: millrace farm key quota {who.name} "
            "--explorations N"
        )


def check_upload(who: Principal, size: int) -> None:
    """Raise QuotaError where an upload of `size` bytes is too large for the key."""
    most = who.quotas.get("upload_bytes")
    if most is not None and size > most:
        raise QuotaError(
            f"the upload has {size} bytes, the key {who.name!r} may upload {most} at once; ask an admin for more: "
            f"millrace farm key quota {who.name} --upload-mb N"
        )


def check_stored(session: Session, who: Principal, size: int) -> None:
    """Raise QuotaError where `size` bytes more are too many for the key: before they are stored."""
    check_room(session, who.name, size)
