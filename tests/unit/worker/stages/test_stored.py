"""Results of earlier stages from the store: checked, and made again where they are lost."""

from pathlib import Path
from typing import Any

import pytest
from farm_states import add_designs, announce, another, builds_of, set_state, take, work, work_once

from db.models import Build, Exploration
from db.repositories import builds, designs, relations
from worker.errors import DiskFullError, StoreAwayError
from worker.farm import Farm
from worker.ladder import flow


@pytest.fixture
def csynth(farm: Farm, exploration: Exploration) -> Build:
    """A csynth that is queued, its csim done, and a twin of that csim in another exploration."""
    announce(farm)
    [first, *_] = add_designs(farm, exploration)
    set_state(farm, exploration, "done")
    with farm.database.write() as session:
        made = flow.start_build(farm, session, designs.get(session, first), "csynth")
    assert work_once(farm) == "csim"
    second = another(farm, exploration)
    [twin, *_] = add_designs(farm, second)
    set_state(farm, second, "done")
    with farm.database.write() as session:
        assert flow.start_build(farm, session, designs.get(session, twin), "csim").state == "done"
    return made


def damage(farm: Farm, build: Build, path: str = "hls/top.cpp", data: bytes | None = b"else") -> None:
    with farm.database.read() as session:
        file = farm.store.path(relations.files_of(session, build.id)[path])
    file.unlink() if data is None else file.write_bytes(data)


@pytest.mark.parametrize("data", [b"// damaged", None], ids=["damaged", "gone"])
def test_what_is_lost_is_made_again(farm: Farm, exploration: Exploration, csynth: Build, data: bytes | None) -> None:
    [csim] = builds_of(farm, exploration, "csim")
    damage(farm, csim, data=data)
    assert work_once(farm) == "csynth"
    [csim], [found] = (builds_of(farm, exploration, stage) for stage in ("csim", "csynth"))
    assert (csim.state, found.state) == ("queued", "blocked")
    assert [entry["failure"] for entry in found.history] == ["node"]
    assert f"hls/top.cpp of the csim of this design ({csim.id}) is lost" in found.history[0]["error"]
    with farm.database.write() as session:
        builds.get(session, csynth.id).not_before = None
    assert work(farm) == ["csim", "csynth"]
    states = [b.state for b in builds_of(farm, exploration, "csim", "csynth")]
    assert states == ["done", "done"]


@pytest.mark.parametrize("error", [StoreAwayError("the store does not answer"), DiskFullError("no room here")])
def test_a_store_that_is_away_has_lost_nothing(
    farm: Farm, exploration: Exploration, csynth: Build, monkeypatch: pytest.MonkeyPatch, error: Exception
) -> None:
    def away(*_: Any) -> Path:
        raise error

    monkeypatch.setattr(type(farm.store), "path", away)
    assert work_once(farm) == "csynth"
    [csim], [found] = (builds_of(farm, exploration, stage) for stage in ("csim", "csynth"))
    assert (csim.state, found.state) == ("done", "queued")
    assert [entry["failure"] for entry in found.history] == ["node"]


def test_the_twin_has_its_result_again(farm: Farm, exploration: Exploration, csynth: Build) -> None:
    [csim] = builds_of(farm, exploration, "csim")
    damage(farm, csim)
    work_once(farm)
    assert take(farm, "csim") is not None
    assert take(farm, "csim") is None, "twins do not run at once"


def test_a_path_that_leaves_the_folder_is_refused(farm: Farm, exploration: Exploration, csynth: Build) -> None:
    from db.models import Artifact

    with farm.database.write() as session:
        [csim] = builds.of_exploration(session, exploration.id, "csim")
        row = session.query(Artifact).where(Artifact.build_id == csim.id, Artifact.path == "hls/top.cpp").one()
        row.path = "../top.cpp"
    assert work_once(farm) == "csynth"
    [found] = builds_of(farm, exploration, "csynth")
    assert "is not a path inside the design directory" in found.history[0]["error"]


def test_a_stage_further_up_waits_for_it_too(farm: Farm, exploration: Exploration, csynth: Build) -> None:
    with farm.database.write() as session:
        assert csynth.design_id is not None
        flow.start_build(farm, session, designs.get(session, csynth.design_id), "link")
    assert work_once(farm) == "csynth"
    [csim] = builds_of(farm, exploration, "csim")
    damage(farm, csim)
    assert work_once(farm) == "link"
    with farm.database.write() as session:
        [link] = builds.of_exploration(session, exploration.id, "link")
        assert link.state == "blocked"
        link.not_before = None
    assert work(farm) == ["csim", "link"]
    [link] = builds_of(farm, exploration, "link")
    assert link.state == "done"
