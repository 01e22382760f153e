from datetime import timedelta

import sqlalchemy as sa

from db.models import AuditEntry, Leader
from db.types import utcnow
from worker.farm import Farm
from worker.retention.schedule import Schedule


def old_entries(farm: Farm) -> int:
    with farm.database.read() as session:
        return len(session.scalars(sa.select(AuditEntry)).all())


def add_old_entry(farm: Farm) -> None:
    with farm.database.write() as session:
        session.add(AuditEntry(address="", action="a", detail={}, at=utcnow() - timedelta(days=1000)))


def run(schedule: Schedule) -> bool:
    """Whether it was its turn; waits for what was begun."""
    thread = schedule.tick()
    if thread is not None:
        thread.join(60)
    return thread is not None


def test_once_a_day_on_the_whole_farm(farm: Farm) -> None:
    add_old_entry(farm)
    assert run(Schedule(farm))
    assert old_entries(farm) == 0
    add_old_entry(farm)
    assert not run(Schedule(farm))  # another worker's
    assert old_entries(farm) == 1
    with farm.database.write() as session:
        session.execute(sa.update(Leader).values(expires=utcnow() - timedelta(seconds=1)))
    assert run(Schedule(farm))
    assert old_entries(farm) == 0


def test_the_database_is_asked_now_and_then_only(farm: Farm) -> None:
    schedule = Schedule(farm)
    assert run(schedule)
    farm.database.close()
    with farm.database.write() as session:
        session.execute(sa.delete(Leader))
    assert not run(schedule)
