"""What goes up the ladder: designs to simulate, then designs to verify. The rules are those of `dse.promote`."""

from collections.abc import Iterable, Sequence

from sqlalchemy.orm import Session

from db.models import Build, Design, DesignStage, Exploration
from db.repositories import builds, designs
from dse.archive import Entry, ParetoArchive
from dse.promote import Rated, calibration_sample, recommended, spread
from worker.build_events import emit_build
from worker.farm import Farm
from worker.versions import stage_key, stage_tools

DEFAULT_SIMULATE = 32
DEFAULT_CALIBRATION = 4


def promote(farm: Farm, session: Session, exploration: Exploration) -> list[Build]:
    """Have the front and the calibration sample simulated; the builds that were queued by this. May be called again:
    when a deadlock has let other designs onto the front they follow.
    """
    options = exploration.options
    found = {d.key: d for d in designs.candidates(session, exploration.id)}
    front = [d for d in found.values() if d.on_front]
    picks = spread(_front(front), options.get("simulate", DEFAULT_SIMULATE))
    keys = {d.key for d in front}
    sample = calibration_sample(found, keys, options.get("calibration", DEFAULT_CALIBRATION), options["seed"])
    before = {b.design_id for b in builds.of_exploration(session, exploration.id, "simulate")}
    chosen = [found[key] for key in (*(entry.key for entry in picks), *sample)]
    made = [ensure(session, exploration, design, "simulate") for design in chosen if design.id not in before]
    if made:
        _tell(farm, session, exploration, made, {found[key].id for key in sample})
    for build in made:
        if build.state == "done":  # another exploration has simulated this very design
            emit_build(farm, session, exploration.id, build)
    return [build for build in made if build.state == "queued"]


def _tell(farm: Farm, session: Session, exploration: Exploration, made: Iterable[Build], sample: set[str]) -> None:
    ids = [build.design_id for build in made if build.design_id is not None]
    beside = [i for i in ids if i in sample]
    farm.emit(session, exploration.id, "promoted", {"ids": [i for i in ids if i not in sample], "calibration": beside})


def verify(session: Session, exploration: Exploration) -> list[Build]:
    """Have the recommended designs of the front compiled and compared with the reference; where these are fewer than
    the exploration wants, others of the front too.
    """
    front, count = {d.key: d for d in designs.front(session, exploration.id)}, exploration.options["verify"]
    picks = spread(recommended(rated(front.values())), count)
    chosen = {entry.key for entry in picks}
    picks += spread(_front([d for d in front.values() if d.key not in chosen]), count - len(picks))
    return [ensure(session, exploration, front[entry.key], "csim") for entry in picks]


def ensure(session: Session, exploration: Exploration, design: Design, stage: DesignStage) -> Build:
    """The stage's build of the design, queued now if it is new."""
    key = stage_key(stage, design.key, exploration.workload.digest, exploration.platform)
    return builds.ensure(session, stage, key, stage_tools(), design_id=design.id)


def renew_front(farm: Farm, session: Session, exploration_id: str) -> None:
    """Take designs that are known to deadlock off the front; those that they had kept off come onto it."""
    entries = _front(designs.candidates(session, exploration_id))
    if designs.set_front(session, exploration_id, {entry.key for entry in entries}):
        farm.emit(session, exploration_id, "front", {"ids": designs.front_ids(session, exploration_id)})


def rated(rows: Iterable[Design]) -> list[Rated]:
    """Designs that have both objectives."""
    return [
        Rated(d.key, d.latency_us, d.simulated_us, d.energy_uj)
        for d in rows
        if d.latency_us is not None and d.energy_uj is not None
    ]


def _front(rows: Sequence[Design]) -> list[Entry]:
    """The Pareto front of the designs by estimate."""
    archive = ParetoArchive()
    for design in rated(rows):
        archive.add(design.key, (design.estimated_us, design.energy_uj))
    return archive.front()
