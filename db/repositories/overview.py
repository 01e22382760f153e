"""What lists and pictures show of many rows, read as few plain columns: no objects are made of ten thousand designs."""

from collections.abc import Collection, Sequence
from typing import Any, NamedTuple, get_args

from sqlalchemy import Text, cast, func, select
from sqlalchemy.orm import Session

from db.models import Build, BuildState, Design, DesignStage, Exploration, Stage


class Point(NamedTuple):
    """One design of a scatter."""

    id: str
    number: int
    objectives: list[float]
    latency_us: float | None
    feasible: bool
    on_front: bool
    simulated_us: float | None
    refuted: bool


class StageState(NamedTuple):
    """How the newest build of one stage of a design stands; `passed` is its verdict, None where it has none."""

    state: BuildState
    passed: bool | None


class Newest(NamedTuple):
    """The newest build of one stage of a design, as far as lists show it."""

    state: BuildState
    verdict: dict[str, Any] | None


class Rated(NamedTuple):
    """A design with its latency by estimate and by simulation."""

    exploration_id: str
    id: str
    latency_us: float
    simulated_us: float


class OnFront(NamedTuple):
    """A design of a front, as far as is needed to choose one of it."""

    exploration_id: str
    id: str
    number: int
    objectives: list[float]
    simulated_us: float | None


def fronts(session: Session, exploration_ids: Collection[str]) -> list[OnFront]:
    """The designs of the fronts of these explorations, in order of evaluation."""
    query = select(Design.exploration_id, Design.id, Design.number, Design.objectives, Design.simulated_us)
    query = query.where(Design.exploration_id.in_(exploration_ids), Design.on_front, Design.latency_us.is_not(None))
    return [OnFront(*row) for row in session.execute(query.order_by(Design.number))]


def distinct(session: Session, exploration_id: str) -> int:
    """How many different objectives the designs of the exploration have that can be built. Reads all of them; at least
    so many of them are different accelerators.
    """
    different = (
        select(cast(Design.objectives, Text))  # JSON has no equality on Postgres
        .where(Design.exploration_id == exploration_id, Design.latency_us.is_not(None))
        .distinct()
    )
    return session.scalar(select(func.count()).select_from(different.subquery())) or 0


def points(session: Session, exploration_id: str) -> list[Point]:
    """Every design of the exploration that is not archived, in order of evaluation."""
    query = (
        select(
            Design.id,
            Design.number,
            Design.objectives,
            Design.latency_us,
            Design.feasible,
            Design.on_front,
            Design.simulated_us,
            Design.refuted.is_not(None),
        )
        .where(Design.exploration_id == exploration_id, ~Design.archived)
        .order_by(Design.number)
    )
    return [Point(*row) for row in session.execute(query)]


def newest_stages(
    session: Session, design_ids: Collection[str], stages: Collection[DesignStage]
) -> dict[tuple[str, Stage], Newest]:
    """The newest build of each of the stages, by design and stage, of designs that have one."""
    query = (
        select(Build.design_id, Build.stage, Build.state, Build.verdict)
        .where(Build.design_id.in_(design_ids), Build.stage.in_(stages))
        .order_by(Build.id)
    )
    return {
        (design, stage): Newest(state, verdict)
        for design, stage, state, verdict in session.execute(query)
        if design is not None
    }


def stage_states(session: Session, exploration_id: str, stage: DesignStage) -> dict[str, StageState]:
    """The newest build of the stage, by design, of every design of the exploration that has one."""
    query = (
        select(Build.design_id, Build.state, Build.verdict["passed"].as_boolean())
        .where(Build.exploration_id == exploration_id, Build.stage == stage, Build.design_id.is_not(None))
        .order_by(Build.id)
    )
    return {design: StageState(state, passed) for design, state, passed in session.execute(query) if design is not None}


def rated(session: Session, exploration_ids: Sequence[str]) -> list[Rated]:
    """Designs whose latency was estimated and simulated, in order of evaluation."""
    query = select(Design.exploration_id, Design.id, Design.latency_us, Design.simulated_us).where(
        Design.exploration_id.in_(exploration_ids),
        Design.simulated_us.is_not(None),  # said in full: the planner's key to the index of these designs
        Design.simulated_us > 0,
        Design.latency_us.is_not(None),
    )
    return [Rated(*row) for row in session.execute(query.order_by(Design.number))]


def first_waiting(session: Session, exploration: Exploration) -> Build | None:
    """A queued build of the exploration, or the import of its model, while none of them runs; else None."""
    if exploration.state in ("queued", "lowering"):
        of = (Build.workload_id == exploration.workload_id, Build.stage == "lower")
    else:
        of = (Build.exploration_id == exploration.id, Build.stage.in_(get_args(Stage)))  # all: as the index has it
    if session.scalars(select(Build.id).where(*of, Build.state == "running").limit(1)).first() is not None:
        return None
    return session.scalars(select(Build).where(*of, Build.state == "queued").limit(1)).first()


class Load(NamedTuple):
    """What runs on a node, and the CPUs and GB of memory that it asked for."""

    running: int
    cpus: float
    memory_gb: float


def loads(session: Session) -> dict[str, Load]:
    """By node, of those on which something runs."""
    query = select(Build.node, func.count(), func.sum(Build.cpus), func.sum(Build.memory_gb))
    found = session.execute(query.where(Build.state == "running", Build.node.is_not(None)).group_by(Build.node))
    return {node: Load(number, cpus, memory) for node, number, cpus, memory in found if node is not None}


def explorations_by_state(session: Session) -> dict[str, int]:
    """How many explorations there are in each state that one is in."""
    query = select(Exploration.state, func.count()).group_by(Exploration.state)
    return {state: number for state, number in session.execute(query)}  # noqa: C416 - rows are no pairs to a checker


def running_twins(session: Session, keys: Collection[str]) -> set[str]:
    """Those of the keys that a build is running with."""
    return set(session.scalars(select(Build.key).where(Build.key.in_(keys), Build.state == "running")))


def of_ids(session: Session, build_ids: Collection[str]) -> Sequence[Build]:
    """The builds with these ids, in no order."""
    return session.scalars(select(Build).where(Build.id.in_(build_ids))).all()
