import errno

import pytest
from farm_states import lower_build, set_state
from sqlalchemy.exc import OperationalError

from db.errors import LeaseLostError
from db.models import Build, Exploration
from db.repositories import builds, explorations, leases
from worker.errors import DiskFullError
from worker.farm import Farm
from worker.flow import advance
from worker.outcome import is_disk_full, record_failure


@pytest.mark.parametrize(
    ("error", "expected"),
    [
        (DiskFullError("full"), True),
        (OSError(errno.ENOSPC, "No space left on device"), True),
        (OperationalError("INSERT", {}, Exception("database or disk is full")), True),
        (OperationalError("INSERT", {}, Exception("could not extend file: No space left on device")), True),
        (OperationalError("INSERT", {}, Exception("database is locked")), False),
        (OSError(errno.EACCES, "Permission denied"), False),
        (ValueError("disk is full"), False),
    ],
)
def test_full_disks_are_recognised(error: Exception, expected: bool) -> None:
    assert is_disk_full(error) == expected


def test_failed_search_frees_its_lease(farm: Farm, exploration: Exploration) -> None:
    set_state(farm, exploration, "searching")
    with farm.database.write() as session:
        token = leases.claim(session, Exploration, exploration.id, "w", 60, ("searching",))
        assert token is not None
    record_failure(farm, "search", exploration.id, token, "tool", "it broke")
    with farm.database.read() as session:
        row = explorations.get(session, exploration.id)
        assert (row.state, row.error, row.lease_owner) == ("failed", "it broke", None)


def test_who_lost_the_lease_records_no_failure(farm: Farm, exploration: Exploration) -> None:
    advance(farm, exploration.id)
    build = lower_build(farm)
    with farm.database.write() as session:
        token = leases.claim(session, Build, build.id, "w", 60, ("queued",))
        assert token is not None
        leases.revoke(session, Build, build.id)
    with pytest.raises(LeaseLostError):
        record_failure(farm, "lower", build.id, token, "tool", "it broke")
    with farm.database.read() as session:
        assert builds.get(session, build.id).state == "queued"
