"""A farm on the database of an earlier release goes on with what was under way."""

from pathlib import Path

import pytest
from farm_states import announce, work
from old_releases import store_old_release
from sqlalchemy import update

from db.engine import Database
from db.migrate import upgrade
from db.models import Build
from db.repositories import explorations
from worker.farm import open_farm
from worker.running.reaper import reap
from worker.settings import Settings


def cancel_builds(url: str) -> None:
    database = Database(url)
    with database.write() as session:
        session.execute(update(Build).where(Build.exploration_id == "exp_2").values(state="cancelled"))
    database.close()


@pytest.mark.parametrize("revision", ["0001", "0002"])
def test_a_search_that_was_under_way_goes_on(tmp_path: Path, revision: str) -> None:
    settings = Settings(home=tmp_path / "home", stages="service_stages:STAGES")
    store_old_release(settings.database, revision)
    upgrade(settings.database)
    cancel_builds(settings.database)
    farm = open_farm(settings, lambda _: None)
    announce(farm)
    with farm.database.write() as session:
        explorations.get(session, "exp_2").budget = 3  # of which one was found
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("worker.running.reaper.top_up", lambda _: None)  # there is no broker
        reap(farm)
    assert {"lower", "search"} <= set(work(farm))
    with farm.database.read() as session:
        found = explorations.get(session, "exp_2")
        assert (found.state, found.error) == ("done", None)
    farm.close()
