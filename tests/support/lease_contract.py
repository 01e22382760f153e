"""What leases promise, on any database: one shared class of tests."""

import threading
from datetime import timedelta

import pytest
from sqlalchemy import update

from db.engine import Database
from db.errors import LeaseLostError
from db.models import Exploration
from db.repositories import leases
from db.types import utcnow

STATES = ("queued",)


def claim(database: Database, key: str, owner: str = "a", seconds: float = 60) -> int | None:
    with database.write() as session:
        return leases.claim(session, Exploration, key, owner, seconds, STATES)


def expire(database: Database, key: str) -> None:
    with database.write() as session:
        past = utcnow() - timedelta(seconds=1)
        session.execute(update(Exploration).where(Exploration.id == key).values(lease_expires=past))


class LeaseContract:
    """Fixtures `database` and `exploration` (queued) come from the subclass's conftest."""

    def test_one_holder_at_a_time(self, database: Database, exploration: Exploration) -> None:
        assert claim(database, exploration.id, "a") == 1
        assert claim(database, exploration.id, "b") is None

    def test_many_claim_at_once_and_one_gets_it(self, database: Database, exploration: Exploration) -> None:
        found: list[int | None] = []
        threads = [
            threading.Thread(target=lambda n=n: found.append(claim(database, exploration.id, f"w{n}")))
            for n in range(8)
        ]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert sorted(found, key=str) == [1] + [None] * 7

    def test_state_must_fit(self, database: Database, exploration: Exploration) -> None:
        with database.write() as session:
            assert leases.claim(session, Exploration, exploration.id, "a", 60, ("searching",)) is None

    def test_expired_lease_is_taken_with_a_higher_token(self, database: Database, exploration: Exploration) -> None:
        assert claim(database, exploration.id, "a") == 1
        expire(database, exploration.id)
        with database.read() as session:
            assert leases.expired(session, Exploration) == [exploration.id]
        assert claim(database, exploration.id, "b") == 2

    def test_renewal_keeps_it(self, database: Database, exploration: Exploration) -> None:
        token = claim(database, exploration.id, seconds=0)
        assert token is not None
        with database.write() as session:
            assert leases.renew(session, Exploration, exploration.id, token, 60)
        assert claim(database, exploration.id, "b") is None

    def test_old_holder_can_neither_renew_nor_write(self, database: Database, exploration: Exploration) -> None:
        old = claim(database, exploration.id, "a")
        assert old is not None
        expire(database, exploration.id)
        claim(database, exploration.id, "b")
        with database.write() as session:
            assert not leases.renew(session, Exploration, exploration.id, old, 60)
        with database.read() as session:
            assert not leases.holds(session, Exploration, exploration.id, old)
        with pytest.raises(LeaseLostError), database.write() as session:
            leases.fence(session, Exploration, exploration.id, old)

    def test_fence_passes_for_the_holder(self, database: Database, exploration: Exploration) -> None:
        token = claim(database, exploration.id)
        assert token is not None
        with database.write() as session:
            leases.fence(session, Exploration, exploration.id, token)

    def test_revoked_lease_fences_its_holder_off(self, database: Database, exploration: Exploration) -> None:
        token = claim(database, exploration.id)
        assert token is not None
        with database.write() as session:
            leases.revoke(session, Exploration, exploration.id)
        with pytest.raises(LeaseLostError), database.write() as session:
            leases.fence(session, Exploration, exploration.id, token)

    def test_released_lease_is_free_and_its_message_forgotten(
        self, database: Database, exploration: Exploration
    ) -> None:
        token = claim(database, exploration.id)
        assert token is not None
        with database.write() as session:
            leases.mark_enqueued(session, Exploration, exploration.id)
            leases.release(session, Exploration, exploration.id, token)
        with database.read() as session:
            row = session.get_one(Exploration, exploration.id)
            assert (row.lease_owner, row.enqueued_at) == (None, None)
        assert claim(database, exploration.id, "b") == 2

    def test_release_by_an_old_holder_changes_nothing(self, database: Database, exploration: Exploration) -> None:
        old = claim(database, exploration.id, "a")
        assert old is not None
        expire(database, exploration.id)
        claim(database, exploration.id, "b")
        with database.write() as session:
            leases.release(session, Exploration, exploration.id, old)
        with database.read() as session:
            assert leases.held(session, Exploration) == [(exploration.id, "b")]

    def test_losses_are_counted(self, database: Database, exploration: Exploration) -> None:
        for expected in (1, 2):
            claim(database, exploration.id)
            with database.write() as session:
                assert leases.count_loss(session, Exploration, exploration.id) == expected
