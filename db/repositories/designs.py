"""Designs and their metrics."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from datetime import timedelta
from itertools import count
from typing import Any

from sqlalchemy import delete, func, insert, or_, select, update
from sqlalchemy.orm import Session, aliased

from db.errors import NotFoundError
from db.ids import new_id
from db.models import Build, Design, DesignStage, Exploration, Metric
from db.types import utcnow

_BATCH = 500  # SQLite bounds the parameters of a statement
_TOUCH = timedelta(days=1)


@dataclass(frozen=True, slots=True)
class NewMetric:
    """One number of a new design, with its provenance."""

    name: str
    value: float
    unit: str
    fidelity: str
    tool: str
    tool_version: str


@dataclass(frozen=True, slots=True)
class NewDesign:
    """What the search found out about one point. A design that can not be built has a reason and no objectives."""

    number: int
    key: str
    knobs: dict[str, Any]
    feasible: bool
    latency_us: float | None
    energy_uj: float | None
    objectives: list[float]
    violations: list[dict[str, Any]]
    reason: str | None
    seconds: float
    metrics: tuple[NewMetric, ...]
    flags: list[dict[str, Any]] = field(default_factory=list[dict[str, Any]])
    accelerator: str | None = None


def add(session: Session, exploration_id: str, designs: Sequence[NewDesign]) -> list[str]:
    """Store a batch; the new ids in the same order. A number, key or accelerator that is there already raises
    IntegrityError.
    """
    ids = [new_id("dsg") for _ in designs]
    if designs:
        now = utcnow()
        own = {"exploration_id": exploration_id, "created_at": now, "on_front": False} | _UNLABELLED
        session.execute(insert(Design), [{**_row(d), **own, "id": i} for i, d in zip(ids, designs, strict=True)])
        _add_estimates(session, ids, designs)
    return ids


_UNLABELLED: dict[str, Any] = {"tags": [], "notes": "", "archived": False, "pinned": False}


def _row(design: NewDesign) -> dict[str, Any]:
    return {field.name: getattr(design, field.name) for field in fields(design) if field.name != "metrics"}


def _add_estimates(session: Session, ids: Sequence[str], designs: Sequence[NewDesign]) -> None:
    if metrics := [_metric(m, i, None) for i, d in zip(ids, designs, strict=True) for m in d.metrics]:
        session.connection().execute(insert(Metric), metrics)  # the session itself takes up to twice as long


def add_first(session: Session, exploration_id: str, designs: Sequence[NewDesign]) -> list[str]:
    """Store of a batch what no design with a lower number is, by knobs or accelerator; one with a higher number becomes
    it. The ids of what was stored. A number that another design has is none of a search's: the next free one is taken.

    The caller has locked the exploration.
    """
    stored, new = list[str](), list[NewDesign]()
    twins = _twins(session, exploration_id, designs)
    for design in designs:
        twin = twins.get(design.key) or twins.get(design.accelerator)
        if twin is None:
            new.append(design)
        elif design.number < twin.number:
            _become(session, twin, design)
            stored.append(twin.id)
    return stored + add(session, exploration_id, _renumbered(session, exploration_id, new))


def _twins(session: Session, exploration_id: str, designs: Sequence[NewDesign]) -> dict[str | None, Design]:
    """What is stored with these knobs and accelerators, by both."""
    keys, accelerators = [d.key for d in designs], [d.accelerator for d in designs if d.accelerator is not None]
    alike = or_(Design.key.in_(keys), Design.accelerator.in_(accelerators))
    found = session.scalars(select(Design).where(Design.exploration_id == exploration_id, alike)).all()
    return {name: row for row in found for name in (row.key, row.accelerator) if name is not None}


def _become(session: Session, twin: Design, design: NewDesign) -> None:
    for name, value in _row(design).items():
        setattr(twin, name, value)
    session.flush()
    session.execute(delete(Metric).where(Metric.design_id == twin.id, Metric.build_id.is_(None)))
    _add_estimates(session, [twin.id], [design])


def _renumbered(session: Session, exploration_id: str, designs: Sequence[NewDesign]) -> list[NewDesign]:
    numbers = [d.number for d in designs]
    query = select(Design.number).where(Design.exploration_id == exploration_id, Design.number.in_(numbers))
    if not (taken := set(session.scalars(query))):
        return list(designs)
    free = count(max(next_number(session, exploration_id), *(n + 1 for n in numbers)))
    return [replace(d, number=next(free)) if d.number in taken else d for d in designs]


def next_number(session: Session, exploration_id: str) -> int:
    """Behind that of every design."""
    last = session.scalar(select(func.max(Design.number)).where(Design.exploration_id == exploration_id))
    return 0 if last is None else last + 1


def _metric(metric: NewMetric, design_id: str, build_id: str | None) -> dict[str, Any]:
    return {
        "design_id": design_id,
        "name": metric.name,
        "value": metric.value,
        "unit": metric.unit,
        "fidelity": metric.fidelity,
        "tool": metric.tool,
        "tool_version": metric.tool_version,
        "build_id": build_id,
    }


def record_build(
    session: Session, design_id: str, build_id: str, stage: DesignStage, metrics: Sequence[NewMetric]
) -> None:
    """Make `metrics`, which this build gave its design, all that builds of its stage gave the design."""
    same_stage = select(Build.id).where(Build.design_id == design_id, Build.stage == stage)
    session.execute(delete(Metric).where(Metric.design_id == design_id, Metric.build_id.in_(same_stage)))
    rows = [_metric(m, design_id, build_id) for m in metrics]
    if rows:
        session.execute(insert(Metric), rows)


def copy(session: Session, from_exploration: str, to_exploration: str, first: int, end: int) -> int:
    """Give an exploration the designs of another one with numbers from `first` to before `end`, with their estimates
    and their place on the front; how many.

    Designs that it has already stay where builds belong to them, or a person has pinned or archived them, else they
    make way: an interrupted search left them, and what it would have found is what comes.
    """
    _discard_without_builds(session, to_exploration, first, end)
    kept = {d.key: d.number for d in between(session, to_exploration, first, end)}
    free = count(max(next_number(session, to_exploration), end))
    missing = [d for d in between(session, from_exploration, first, end) if d.key not in kept]
    taken = set(kept.values())
    rows = [_copied(d, to_exploration, next(free) if d.number in taken else d.number) for d in missing]
    for start in range(0, len(rows), _BATCH):
        batch = rows[start : start + _BATCH]
        session.execute(insert(Design), batch)
        _copy_estimates(session, from_exploration, [row["id"] for row in batch])
    return len(rows)


def between(session: Session, exploration_id: str, first: int, end: int) -> Sequence[Design]:
    """Those with numbers from `first` to before `end`, in order of evaluation."""
    numbers = (Design.number >= first, Design.number < end)
    query = select(Design).where(Design.exploration_id == exploration_id, *numbers).order_by(Design.number)
    return session.scalars(query).all()


def _discard_without_builds(session: Session, exploration_id: str, first: int, end: int) -> None:
    has_build = select(Build.id).where(Build.design_id == Design.id).exists()
    loose = (Design.number >= first, Design.number < end, ~has_build, ~Design.pinned, ~Design.archived)
    found = session.scalars(select(Design.id).where(Design.exploration_id == exploration_id, *loose)).all()
    for start in range(0, len(found), _BATCH):
        ids = found[start : start + _BATCH]
        session.execute(delete(Metric).where(Metric.design_id.in_(ids)))
        session.execute(delete(Design).where(Design.id.in_(ids)).execution_options(synchronize_session=False))


def _copied(design: Design, exploration_id: str, number: int) -> dict[str, Any]:
    row = {column.name: getattr(design, column.name) for column in Design.__table__.columns}
    own = {"id": new_id("dsg"), "exploration_id": exploration_id, "number": number, "created_at": utcnow()}
    known = {"simulated_us": None, "refuted": None, "used_at": None}
    return row | own | known | _UNLABELLED


def _copy_estimates(session: Session, from_exploration: str, ids: Sequence[str]) -> None:
    new, columns = aliased(Design), ("name", "value", "unit", "fidelity", "tool", "tool_version")
    found = (
        select(new.id, *(getattr(Metric, column) for column in columns))
        .join(Design, Metric.design_id == Design.id)
        .join(new, new.key == Design.key)
        .where(new.id.in_(ids), Design.exploration_id == from_exploration, Metric.fidelity == "estimate")
        .order_by(Metric.id)
    )
    session.execute(insert(Metric).from_select(["design_id", *columns], found))


def set_simulated(
    session: Session, design_id: str, simulated_us: float | None, refuted: str | None, flags: list[dict[str, Any]]
) -> None:
    """Record what the simulation found: a latency, why it refutes the design, and all flags of the design."""
    values = {"simulated_us": simulated_us, "refuted": refuted, "flags": flags}
    session.execute(update(Design).where(Design.id == design_id).values(**values))


def retime(session: Session, design_id: str) -> None:
    """Give the simulated latency the clock that a link reached, or its own again where no link has one."""
    design = get(session, design_id)
    if design.simulated_us is not None:
        design.simulated_us = clocked_latency(metrics_of(session, [design_id])[design_id], design.simulated_us)
        session.flush()


def clocked_latency(known: Iterable[Metric], simulated_us: float) -> float:
    """The simulated latency of the design with these metrics: at the clock that a link reached, where one has."""
    latency = {m.fidelity: m.value for m in known if m.name == "latency"}
    return latency.get("link", latency.get("simulate", simulated_us))


def set_flags(session: Session, design_id: str, flags: list[dict[str, Any]]) -> None:
    """Make these all flags of the design."""
    get(session, design_id).flags = flags
    session.flush()


def relabel(session: Session, design: Design, changes: Mapping[str, Any]) -> None:
    """Set what is given of `tags`, `notes`, `archived` and `pinned`."""
    for name, value in changes.items():
        setattr(design, name, value)
    session.flush()


def is_stale(design: Design) -> bool:
    """Whether `touch` would write: last use is kept to the day."""
    return design.used_at is None or design.used_at < utcnow() - _TOUCH


def touch(session: Session, design_id: str) -> None:
    """Note that a file of the design was read; at most once a day."""
    now = utcnow()
    stale = or_(Design.used_at.is_(None), Design.used_at < now - _TOUCH)
    row = update(Design).where(Design.id == design_id, stale).values(used_at=now)
    session.execute(row, execution_options={"synchronize_session": False})


def get(session: Session, design_id: str) -> Design:
    design = session.get(Design, design_id)
    if design is None:
        raise NotFoundError("design", design_id)
    return design


def of_ids(session: Session, ids: Sequence[str]) -> list[Design]:
    """These, in their order."""
    found = {design.id: design for design in session.scalars(select(Design).where(Design.id.in_(ids)))}
    return [found[design_id] for design_id in ids]


def with_exploration(session: Session, design_id: str) -> tuple[Design, Exploration]:
    """The design and what it is of, read at once. Raises NotFoundError."""
    query = select(Design, Exploration).join(Exploration, Design.exploration_id == Exploration.id)
    row = session.execute(query.where(Design.id == design_id)).first()
    if row is None:
        raise NotFoundError("design", design_id)
    return row[0], row[1]


def stored(session: Session, exploration_id: str) -> Sequence[Design]:
    """Every design of the exploration in order of evaluation."""
    query = select(Design).where(Design.exploration_id == exploration_id).order_by(Design.number)
    return session.scalars(query).all()


def page(
    session: Session,
    exploration_id: str,
    after: int | None,
    limit: int,
    front: bool = False,
    *,
    archived: bool = False,
) -> Sequence[Design]:
    """In order of evaluation, those after number `after`; with `front` those on the Pareto front only, with `archived`
    those too that lists leave out.
    """
    query = select(Design).where(Design.exploration_id == exploration_id).order_by(Design.number).limit(limit)
    if not archived:
        query = query.where(~Design.archived)
    if after is not None:
        query = query.where(Design.number > after)
    if front:
        query = query.where(Design.on_front)
    return session.scalars(query).all()


def pinned(session: Session, exploration_id: str) -> list[int]:
    """Numbers of the pinned designs of the exploration, in order."""
    query = select(Design.number).where(Design.exploration_id == exploration_id, Design.pinned)
    return list(session.scalars(query.order_by(Design.number)))


def front_ids(session: Session, exploration_id: str) -> list[str]:
    """Ids on the Pareto front, by the first objective."""
    query = select(Design.id, Design.objectives, Design.number)
    found = session.execute(query.where(Design.exploration_id == exploration_id, Design.on_front))
    return [row.id for row in sorted(found, key=lambda row: (row.objectives, row.number))]


def front(session: Session, exploration_id: str) -> Sequence[Design]:
    """Designs on the Pareto front, by the first objective."""
    query = select(Design).where(Design.exploration_id == exploration_id, Design.on_front)
    return sorted(session.scalars(query), key=lambda design: (design.objectives, design.number))


def candidates(session: Session, exploration_id: str) -> Sequence[Design]:
    """Designs that may be on the front: within budget, and not refuted. In order of evaluation."""
    query = select(Design).where(Design.exploration_id == exploration_id, Design.feasible, Design.refuted.is_(None))
    return session.scalars(query.order_by(Design.number)).all()


def simulated(session: Session, exploration_ids: Sequence[str]) -> Sequence[Design]:
    """Designs that have a simulated latency beside the estimate, in order of evaluation."""
    query = select(Design).where(Design.exploration_id.in_(exploration_ids), Design.simulated_us.is_not(None))
    return session.scalars(query.order_by(Design.number)).all()


def set_front(session: Session, exploration_id: str, keys: Iterable[str]) -> bool:
    """Make exactly the designs with these keys the front; True when that changed anything."""
    wanted = set(keys)
    query = select(Design.key).where(Design.exploration_id == exploration_id, Design.on_front)
    before = set(session.scalars(query))
    for flag, changed in ((False, before - wanted), (True, wanted - before)):
        if changed:
            session.execute(
                update(Design)
                .where(Design.exploration_id == exploration_id, Design.key.in_(changed))
                .values(on_front=flag)
            )
    return before != wanted


def metrics_of(session: Session, design_ids: Sequence[str]) -> dict[str, list[Metric]]:
    """Metrics by design id, in the order they were stored."""
    found: dict[str, list[Metric]] = {key: [] for key in design_ids}
    for metric in session.scalars(select(Metric).where(Metric.design_id.in_(design_ids)).order_by(Metric.id)):
        found[metric.design_id].append(metric)
    return found


def metrics_of_exploration(session: Session, exploration_id: str, fidelity: str) -> dict[str, list[Metric]]:
    """Metrics of one fidelity by design id, of all designs of an exploration."""
    found: dict[str, list[Metric]] = {}
    query = select(Metric).join(Design, Metric.design_id == Design.id).where(Design.exploration_id == exploration_id)
    query = query.where(Metric.fidelity == fidelity)
    for metric in session.scalars(query.order_by(Metric.id)):
        found.setdefault(metric.design_id, []).append(metric)
    return found
