"""The queued builds of one queue, by lane: one owner, one request of node and licences. Builds of one lane are taken in
the order of their tags; what holds one up, except for its time and its key, holds up the whole lane.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from sqlalchemy import bindparam, literal_column, or_, select
from sqlalchemy.orm import Session, aliased

from db.models import Build
from db.types import utcnow


@dataclass(frozen=True, slots=True)
class Head:
    """The first build of a lane, with its request: `memory_gb` in GB."""

    id: str
    queue: str
    owner: str
    request: str
    fair_tag: float
    licence: str | None
    cpus: float
    memory_gb: float

    @classmethod
    def of(cls, build: Build) -> "Head":
        """As if the build were the first of its lane."""
        return cls(
            build.id,
            build.queue,
            build.owner,
            build.request,
            build.fair_tag,
            build.licence,
            build.cpus,
            build.memory_gb,
        )

    @property
    def is_light(self) -> bool:
        """It asks for nothing that a node could run out of."""
        return not self.cpus and not self.memory_gb


# Statements are built once: building one takes longer than running it.
_TWIN = aliased(Build)
_KEY_RUNS = select(_TWIN.id).where(_TWIN.key == Build.key, _TWIN.state == literal_column("'running'")).exists()
_COLUMNS = (
    Build.id,
    Build.queue,
    Build.owner,
    Build.request,
    Build.fair_tag,
    Build.licence,
    Build.cpus,
    Build.memory_gb,
)
_ORDER = (Build.fair_tag, Build.id)

FIRST_OF_QUEUE = (
    select(*_COLUMNS)
    .where(Build.state == "queued", Build.queue == bindparam("queue"))
    .order_by(Build.owner, Build.request, *_ORDER)
    .limit(1)
)
"""The head of the first lane of `queue`."""
NEXT_OF_OWNER = FIRST_OF_QUEUE.where(Build.owner == bindparam("owner"), Build.request > bindparam("request"))
"""The head of the owner's lane after `request`."""
NEXT_OF_QUEUE = FIRST_OF_QUEUE.where(Build.owner > bindparam("owner"))
"""The head of the first lane of the next owner. Two statements: SQLite reads all that is equal to one row value."""
_MAY_RUN = (
    Build.state == "queued",
    Build.queue == bindparam("queue"),
    Build.owner == bindparam("owner"),
    Build.request == bindparam("request"),
    or_(Build.not_before.is_(None), Build.not_before <= bindparam("now")),
    ~_KEY_RUNS,
)
FIRST_OF_LANE = select(*_COLUMNS).where(*_MAY_RUN).order_by(*_ORDER).limit(1)
"""The first build of a lane whose time has come and whose key does not run."""
LOCKED_FIRST_OF_LANE = (
    select(Build)
    .where(*_MAY_RUN)
    .order_by(*_ORDER)
    .limit(bindparam("most"))
    .with_for_update(of=Build, skip_locked=True)
)
"""The first ones of those that nobody has locked, locked."""


def by_owner(session: Session, queue: str) -> dict[str, list[Head]]:
    """The heads of the queue's lanes by owner, whether they may be taken or not: one probe of the index for each."""
    found: dict[str, list[Head]] = {}
    row = session.execute(FIRST_OF_QUEUE, {"queue": queue}).first()
    while row is not None:
        head = Head(*row)
        found.setdefault(head.owner, []).append(head)
        lane = {"queue": queue, "owner": head.owner, "request": head.request}
        row = session.execute(NEXT_OF_OWNER, lane).first() or session.execute(NEXT_OF_QUEUE, lane).first()
    return found


def in_turn(session: Session, heads: Sequence[Head]) -> Iterable[Head]:
    """The first build of each lane that may be taken now, in the order of their turn."""
    if len(heads) == 1:
        return heads
    rows = [session.execute(FIRST_OF_LANE, _parameters(lane)).first() for lane in heads]
    found = [Head(*row) for row in rows if row is not None]
    return sorted(found, key=lambda head: (head.fair_tag, head.id))


def is_due(session: Session, lane: Head) -> bool:
    """Whether a build of the lane may be taken now: one of the `heads` of `by_owner` need not be."""
    return session.execute(FIRST_OF_LANE, _parameters(lane)).first() is not None


def lock_first(session: Session, lane: Head, most: int = 1) -> list[Build]:
    """The lane's first builds that may be taken now and that no other claim has its hand on, locked: one of each key,
    `most` at most.
    """
    parameters = {**_parameters(lane), "most": most}
    found = session.scalars(LOCKED_FIRST_OF_LANE, parameters, execution_options={"populate_existing": True}).all()
    first_of_key = {build.key: build for build in reversed(found)}
    return [build for build in found if build is first_of_key[build.key]]


def _parameters(lane: Head) -> dict[str, object]:
    return {"queue": lane.queue, "owner": lane.owner, "request": lane.request, "now": utcnow()}
