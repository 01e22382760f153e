"""What quotas promise on any database: requests at once count each other's, so that never one is too many."""

from concurrent.futures import ThreadPoolExecutor

import pytest
from queued_builds import NODE, announce, claimed_hand, ensure, finish
from sqlalchemy.orm import Session

from db.engine import Database
from db.ids import new_id
from db.models import Artifact, Exploration, Workload
from db.repositories import api_keys, builds, catalog, designs, explorations, holdings, queue
from db.repositories.builds import BuildFilter
from db.repositories.designs import NewDesign
from db.repositories.new_build import NewBuild
from worker.errors import QuotaError
from worker.ladder.quotas import bounded, check_room

OWNER = "bob"
AT_ONCE = 50


def with_quotas(database: Database, **quotas: int) -> None:
    with database.write() as session:
        api_keys.add(session, OWNER, "user", "p", "h" * 64, quotas)


def explore(session: Session, workload: Workload, budget: int = 10) -> Exploration:
    return explorations.add(session, workload, "u55c", ["latency", "energy"], {"seed": 0}, budget, owner=OWNER)


def all_at_once(database: Database, ask, names: tuple[str, ...]) -> int:
    """Ask fifty times at once; how many were not refused."""

    def one(number: int) -> int:
        try:
            with database.write() as session, bounded(session, OWNER, *names):
                ask(session, number)
        except QuotaError as error:
            return 0 if f"millrace farm key quota {OWNER} --" in str(error) else 99
        return 1

    with ThreadPoolExecutor(AT_ONCE) as pool:
        return sum(pool.map(one, range(AT_ONCE)))


class QuotaContract:
    def test_explorations_at_once(self, database: Database, exploration: Exploration) -> None:
        with_quotas(database, active_explorations=7)
        names = ("active_explorations", "designs")
        assert all_at_once(database, lambda session, _: explore(session, exploration.workload), names) == 7
        with database.read() as session:
            assert holdings.active_explorations(session, OWNER) == 7

    def test_designs_that_may_be_found_at_once(self, database: Database, exploration: Exploration) -> None:
        with_quotas(database, designs=75)
        names = ("active_explorations", "designs")
        assert all_at_once(database, lambda session, _: explore(session, exploration.workload), names) == 7
        with database.read() as session:
            assert holdings.designs(session, OWNER) == 70

    def test_builds_at_once(self, database: Database, exploration: Exploration) -> None:
        with_quotas(database, open_builds=8)
        with database.write() as session:
            mine = explore(session, exploration.workload).id

        def two(session: Session, number: int) -> None:
            for stage in ("simulate", "csim"):
                new = NewBuild(stage, f"{stage}{number}", {}, stage, exploration_id=mine, owner=OWNER)
                builds.ensure(session, new)

        assert all_at_once(database, two, ("open_builds",)) == 4
        with database.read() as session:
            assert holdings.open_builds(session, OWNER) == 8

    def test_builds_that_run_at_once(self, database: Database, exploration: Exploration) -> None:
        with_quotas(database, running_builds=3)
        announce(database, NODE, 100, 100)
        with database.write() as session:
            ensure(session, exploration, *(f"k{n}" for n in range(9)), owner=OWNER)
            [other] = ensure(session, exploration, "other", owner="carol")
        with ThreadPoolExecutor(AT_ONCE) as pool:
            hands = list(pool.map(lambda _: claimed_hand(database, 2), range(AT_ONCE)))
        assert sorted(key for hand in hands for key in hand).count("other") == 1
        with database.read() as session:
            assert holdings.running_builds(session, OWNER) == 3
            waits = queue.why_waiting(session, builds.page(session, BuildFilter(state="queued"), None, 1)[0])
        assert waits == "waits for others of its owner: the key 'bob' may run 3 builds at once (quota running_builds)"
        with database.read() as session:
            running = builds.page(session, BuildFilter(state="running"), None, 9)
        finish(database, next(build.id for build in running if build.id != other.id))
        assert len(claimed_hand(database, 2)) == 1

    def test_uploads_at_once(self, database: Database, exploration: Exploration) -> None:
        with_quotas(database, stored_bytes=999)

        def upload(session: Session, number: int) -> None:
            file = {"digest": f"{number}", "size": 100}
            catalog.put_model(session, f"m{number}", "onnx", file, f"{number}", OWNER)

        assert all_at_once(database, upload, ("stored_bytes",)) == 9
        with database.read() as session:
            assert holdings.stored_bytes(session, OWNER) == 900
        with database.write() as session:
            check_room(session, OWNER, 99)
            with pytest.raises(QuotaError, match=r"has 900 bytes stored and may have 999 \(quota stored_bytes\)"):
                check_room(session, OWNER, 100)

    def test_what_has_ended_counts_as_it_is(self, database: Database, exploration: Exploration) -> None:
        """Designs that were found, and each content once."""
        with_quotas(database, designs=100)
        found = [NewDesign(n, f"k{n}", {}, True, 1.0, 1.0, [1.0, 1.0], [], None, 0.1, ()) for n in range(3)]
        with database.write() as session:
            mine = explore(session, exploration.workload)
            ids = designs.add(session, mine.id, found)
            assert holdings.designs(session, OWNER) == 10
            mine.state = "done"
            session.flush()
            assert holdings.designs(session, OWNER) == 3
            for key in ids[:2]:
                new = NewBuild("csim", new_id("k"), {}, "csim", exploration_id=mine.id, design_id=key, owner=OWNER)
                build = builds.ensure(session, new)
                file = {"path": "a", "digest": "d" * 64, "size": 5, "media_type": "t"}
                session.add(Artifact(build_id=build.id, design_id=key, **file))
            session.flush()
            assert holdings.stored_bytes(session, OWNER) == 5
            assert holdings.stored_bytes(session, "") == 0
