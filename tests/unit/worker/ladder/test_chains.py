"""Which tools the keys of builds are made with, whatever process makes them."""

from dataclasses import replace
from datetime import timedelta

import pytest
from farm_states import add_designs, announce, builds_of, set_state, work_once

from db.models import Exploration, Node
from db.repositories import designs, nodes
from worker.farm import Farm
from worker.ladder.chains import DEFAULT_VITIS, announced_tools, chains_of, newest_vitis, version_parts
from worker.ladder.flow import start_build


@pytest.mark.parametrize(
    ("queues", "expected"),
    [
        ((), DEFAULT_VITIS),
        (("csynth@2023.2", "csynth@2022.1"), "2023.2"),
        (("csynth@9.1", "csynth@2020.10"), "2020.10"),
    ],
)
def test_the_newest_vitis_of_the_farm_is_taken(farm: Farm, queues: tuple[str, ...], expected: str) -> None:
    announce(farm, queues)
    with farm.database.read() as session:
        assert newest_vitis(announced_tools(session)) == expected


def test_versions_are_compared_by_their_numbers() -> None:
    assert sorted(["2023.10", "2023.2", "2023.2-rc"], key=version_parts) == ["2023.2-rc", "2023.2", "2023.10"]


def test_the_newest_compiler_of_the_nodes_that_are_there_counts(farm: Farm) -> None:
    with farm.database.write() as session:
        for name, version in (("old", "12.2.0"), ("new", "13.1.0"), ("gone", "14.0.0")):
            nodes.announce(session, name, {"csim": {"g++": version}}, {}, 1.0, 1.0, "1")
        gone = session.get_one(Node, "gone")
        gone.last_seen -= timedelta(hours=1)
    with farm.database.read() as session:
        assert announced_tools(session) == {"csim": {"g++": "13.1.0"}}


def test_the_embedded_farm_takes_the_compiler_of_its_machine(farm: Farm, exploration: Exploration) -> None:
    announce(farm, ("csim",))
    with farm.database.write() as session:
        nodes.announce(session, "before", {"csim": {"g++": "99.9.9"}}, {}, 1.0, 1.0, "1")
        shared = replace(farm, settings=farm.settings.model_copy(update={"database_url": "postgresql://farm"}))
        alone = replace(farm, settings=farm.settings.model_copy(update={"database_url": None}))
        assert chains_of(shared, session, exploration).tools["csim"] == {"g++": "99.9.9"}
        assert chains_of(alone, session, exploration).tools["csim"] == {}


def test_a_chain_is_found_again_and_not_made_twice(farm: Farm, exploration: Exploration) -> None:
    announce(farm)
    [first, *_] = add_designs(farm, exploration)
    set_state(farm, exploration, "done")
    for stage in ("cosim", "csynth", "link"):
        with farm.database.write() as session:
            start_build(farm, session, designs.get(session, first), stage)
    assert [b.stage for b in builds_of(farm, exploration)] == ["csim", "csynth", "cosim", "link"]
    csim, csynth, cosim, link = builds_of(farm, exploration)
    assert [b.after_id for b in (csynth, cosim, link)] == [csim.id, csynth.id, csynth.id]


@pytest.mark.parametrize(("chosen", "said"), [({}, "g++\n"), ({"proof": "whole"}, "g++ for the whole proof\n")])
def test_the_whole_proof_is_asked_of_the_simulation(
    farm: Farm, exploration: Exploration, capsys: pytest.CaptureFixture[str], chosen: dict[str, str], said: str
) -> None:
    announce(farm)
    [first, *_] = add_designs(farm, exploration)
    set_state(farm, exploration, "done")
    with farm.database.write() as session:
        start_build(farm, session, designs.get(session, first), "csim", chosen)
    assert work_once(farm, "csim") == "csim"
    assert said in capsys.readouterr().out
