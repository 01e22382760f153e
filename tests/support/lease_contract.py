"""What leases promise, on any database: one shared class of tests."""

import pytest
from queued_builds import QUEUE, announce, another, claim, ensure, expire

from db.engine import Database
from db.errors import LeaseLostError
from db.models import Exploration
from db.repositories import attempts, builds, leases, queue
from db.repositories.queue import Claimed


def running(database: Database, exploration: Exploration, owner: str = "a", seconds: float = 60) -> Claimed:
    """A build that `owner` has taken."""
    announce(database)
    with database.write() as session:
        ensure(session, exploration, "x")
    return again(database, owner, seconds)


def again(database: Database, owner: str = "b", seconds: float = 60) -> Claimed:
    taken = claim(database, owner=owner, seconds=seconds)
    assert taken is not None
    return taken


def lose(database: Database, build_id: str) -> int:
    expire(database, build_id)
    with database.write() as session:
        assert leases.expired(session) == [build_id]
        return leases.count_loss(session, build_id)


class LeaseContract:
    """Fixtures `database` and `exploration` come from the subclass's conftest."""

    def test_renewal_keeps_it(self, database: Database, exploration: Exploration) -> None:
        taken = running(database, exploration, seconds=0)
        with database.write() as session:
            assert leases.renew_all(session, [(taken.build_id, taken.token)], 60)
            assert leases.expired(session) == []
            assert leases.held(session) == [(taken.build_id, "a")]

    def test_fence_passes_for_the_holder(self, database: Database, exploration: Exploration) -> None:
        taken = running(database, exploration)
        with database.write() as session:
            leases.fence(session, taken.build_id, taken.token)

    def test_a_lost_build_is_taken_with_a_higher_token(self, database: Database, exploration: Exploration) -> None:
        old = running(database, exploration, "a")
        assert lose(database, old.build_id) == 1
        with database.read() as session:
            row = builds.get(session, old.build_id)
            assert (row.state, row.node, row.losses) == ("queued", None, 1)
            assert [(h["attempt"], h["failure"]) for h in row.history] == [(1, "node")]
        assert again(database).token > old.token
        with database.read() as session:
            assert attempts.failures(builds.get(session, old.build_id)) == {"node": 1}

    def test_losses_are_counted(self, database: Database, exploration: Exploration) -> None:
        taken = running(database, exploration)
        for expected in (1, 2, 3):
            assert lose(database, taken.build_id) == expected
            again(database)

    @pytest.mark.parametrize("end", ["lost", "revoked", "cancelled", "released", "failed"])
    def test_an_old_holder_can_neither_renew_nor_write(
        self, database: Database, exploration: Exploration, end: str
    ) -> None:
        old = running(database, exploration)
        with database.write() as session:
            build = builds.get(session, old.build_id)
            if end == "lost":
                leases.count_loss(session, old.build_id)
            elif end == "revoked":
                assert leases.revoke(session, old.build_id)
            elif end == "cancelled":
                builds.cancel(session, [old.build_id])
            elif end == "released":
                leases.release(session, old.build_id, old.token)
            else:
                builds.fail(session, build, "tool", "it broke")
        if end not in ("cancelled", "failed"):
            again(database)
        with database.write() as session:
            assert not leases.renew_all(session, [(old.build_id, old.token)], 60)
            assert not leases.holds(session, old.build_id, old.token)
            assert not leases.release(session, old.build_id, old.token)
        with pytest.raises(LeaseLostError), database.write() as session:
            leases.fence(session, old.build_id, old.token)

    def test_what_is_given_back_counts_as_nothing(self, database: Database, exploration: Exploration) -> None:
        taken = running(database, exploration)
        with database.write() as session:
            assert leases.release(session, taken.build_id, taken.token)
        with database.read() as session:
            row = builds.get(session, taken.build_id)
            assert (row.state, row.node, row.lease_owner, row.losses, row.attempt) == ("queued", None, None, 0, 0)
            assert (row.history, queue.lengths(session)) == ([], {QUEUE: 1})

    def test_what_is_given_back_comes_before_what_came_later(
        self, database: Database, exploration: Exploration
    ) -> None:
        taken = running(database, exploration)
        with database.write() as session:
            ensure(session, exploration, "later")
            ensure(session, another(session, exploration), "other")
            leases.release(session, taken.build_id, taken.token)
        assert again(database).build_id == taken.build_id
