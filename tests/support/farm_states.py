"""Looking at, and moving along, what a farm has stored."""

from collections.abc import Iterable
from datetime import timedelta
from typing import Any, cast

from sqlalchemy import select

from db.models import OPEN_STATES, Build, Exploration, ExplorationState, Stage
from db.repositories import builds, designs, events, explorations, nodes, queue
from db.repositories.designs import NewDesign, NewMetric
from db.types import utcnow
from worker.farm import Farm
from worker.ladder import table as ladder
from worker.limits.table import limits_of
from worker.running.jobs import run_stage
from worker.running.orders import Order
from worker.running.recording import record
from worker.stages.functions import Stages, load_stages

NODE = "here"
VITIS = "2023.2"
SHELL = "xilinx_u55c_gen3x16_xdma_3_202210_1"
QUEUES = (
    "lower",
    "search",
    "simulate",
    "csim",
    "calibrate",
    f"csynth@{VITIS}",
    f"cosim@{VITIS}",
    f"link@{VITIS}:{SHELL}",
    f"measure@{ladder.SIMULATED}",
    f"measure@{SHELL}",
)


def announce(farm: Farm, queues: Iterable[str] = QUEUES, **tools: str) -> None:
    """A node that can do everything, with the versions `tools` in each capability."""
    with farm.database.write() as session:
        nodes.announce(session, NODE, dict.fromkeys(queues, tools), {}, 64.0, 1024.0, "1")


def work(farm: Farm, *queues: str, most: int = 1000) -> list[str]:
    """Do what waits in these queues, or in all, as a worker would, until nothing is left; the stages that ran."""
    done: list[str] = []
    while len(done) < most and (stage := work_once(farm, *queues)) is not None:
        done.append(stage)
    return done


def work_once(farm: Farm, *queues: str, stages: Stages | None = None) -> Stage | None:
    """Do one build; its stage, None where there is none."""
    order = take(farm, *queues)
    if order is None:
        return None
    record(farm, order, run_stage(farm, stages or load_stages(farm.settings.stages), order), None)
    return cast(Stage, order.stage)


def take(farm: Farm, *queues: str) -> Order | None:
    """Claim a build, as a worker that does not go on with it."""
    with farm.database.write() as session:
        claimed = queue.claim(session, queues or QUEUES, NODE, "worker", 60)
    return None if claimed is None else _order(farm, claimed.build_id, claimed.token, claimed.stage)


def _order(farm: Farm, build_id: str, token: int, stage: Stage) -> Order:
    scratch = farm.settings.run_dir / "scratch" / f"{build_id}-{token}"
    return Order(build_id, token, stage, "", str(scratch), limits_of(stage, farm.settings))


def run_build(farm: Farm, build: Build, stages: Stages | None = None) -> None:
    """Do this build now, whatever else waits."""
    with farm.database.write() as session:
        row = builds.get(session, build.id)
        row.state, row.lease_owner, row.lease_token = "running", "worker", row.lease_token + 1
        row.lease_expires, row.attempt = utcnow() + timedelta(seconds=60), row.attempt + 1
        order = _order(farm, row.id, row.lease_token, row.stage)
    record(farm, order, run_stage(farm, stages or load_stages(farm.settings.stages), order), None)


def set_options(farm: Farm, exploration: Exploration, **values: Any) -> None:
    with farm.database.write() as session:
        row = explorations.get(session, exploration.id)
        row.options = {**row.options, **values}


def told(farm: Farm, exploration: Exploration, kind: str) -> list[dict[str, Any]]:
    """What the events of this kind said."""
    with farm.database.read() as session:
        return [e.data for e in events.since(session, exploration.id, 0, 10_000) if e.kind == kind]


def new_design(number: int, unroll: int, energy: float) -> NewDesign:
    """A design as a search finds it; more unrolled is faster."""
    knobs = {"overall_unroll": unroll, "default_tile_size": 16}
    latency = 1e6 / unroll + 16
    metric = NewMetric("latency", latency, "us", "estimate", "millrace", "0")
    return NewDesign(number, f"k{number}", knobs, True, latency, energy, [latency, energy], [], None, 0.1, (metric,))


def add_designs(farm: Farm, exploration: Exploration) -> list[str]:
    """Four designs of a front, then eight that are beaten by the slowest of it; to be simulated next."""
    new = [new_design(n, unroll, 1.0 + n) for n, unroll in enumerate((64, 128, 256, 512))]
    new += [new_design(n, 32 - n, 100.0 + n) for n in range(4, 12)]
    with farm.database.write() as session:
        made = designs.add(session, exploration.id, new)
        designs.set_front(session, exploration.id, {f"k{n}" for n in range(4)})
    set_state(farm, exploration, "simulating")
    return made


def builds_of(farm: Farm, exploration: Exploration, *stages: Stage) -> list[Build]:
    with farm.database.read() as session:
        return list(builds.of_exploration(session, exploration.id, *stages))


def lower_build(farm: Farm) -> Build:
    """The only import under way."""
    with farm.database.read() as session:
        return session.scalars(select(Build).where(Build.stage == "lower", Build.state.in_(OPEN_STATES))).one()


def state_of(farm: Farm, exploration: Exploration) -> str:
    return now(farm, exploration).state


def now(farm: Farm, exploration: Exploration) -> Exploration:
    with farm.database.read() as session:
        return explorations.get(session, exploration.id)


def set_state(farm: Farm, exploration: Exploration, state: ExplorationState) -> None:
    with farm.database.write() as session:
        before = explorations.get(session, exploration.id).state
        explorations.transition(session, exploration.id, (before,), state)


def another(farm: Farm, exploration: Exploration, **options: Any) -> Exploration:
    """An exploration of the same workload, with other options where they are given."""
    with farm.database.write() as session:
        row = explorations.get(session, exploration.id)
        return explorations.add(
            session, row.workload, row.platform, row.objectives, {**row.options, **options}, row.budget
        )
