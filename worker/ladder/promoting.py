"""What goes up the ladder: designs to simulate, to verify, then to synthesise, link and measure.

The rules are those of `dse.promote` and `dse.rungs`; this knows what has been built and makes the builds.
"""

from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any

from sqlalchemy.orm import Session

from db.models import Build, Design, DesignStage, Exploration
from db.repositories import builds, designs
from dse.promote import calibration_sample, recommended, spread
from worker.farm import Farm
from worker.fronts import estimated_front, rated
from worker.ladder.chains import Chains, chains_of

DEFAULT_SIMULATE = 32
DEFAULT_CALIBRATION = 4


def promote(farm: Farm, session: Session, exploration: Exploration) -> list[Build]:
    """Have the front and the calibration sample simulated; the builds that are new. May be called again: when a
    design was refuted, those that this has let onto the front follow.
    """
    options = exploration.options
    found = {d.key: d for d in designs.candidates(session, exploration.id)}
    front = [d for d in found.values() if d.on_front]
    picks = spread(estimated_front(front), options.get("simulate", DEFAULT_SIMULATE))
    keys = {d.key for d in front}
    sample = calibration_sample(found, keys, options.get("calibration", DEFAULT_CALIBRATION), options["seed"])
    before = {b.design_id for b in builds.of_exploration(session, exploration.id, "simulate")}
    chosen = [found[key] for key in (*(entry.key for entry in picks), *sample)]
    chosen = [design for design in chosen if design.id not in before]
    if chosen:
        tell_promoted(farm, session, exploration, "simulate", chosen, {found[key].id for key in sample})
    return [build for _, build in _ensure_all(chains_of(farm, session, exploration), chosen, "simulate", options)]


def tell_promoted(
    farm: Farm,
    session: Session,
    exploration: Exploration,
    stage: DesignStage,
    chosen: Sequence[Design],
    beside: Collection[str] = (),
) -> None:
    """Say which designs go to `stage`; those of `beside`, by id, for calibration."""
    ids = [design.id for design in chosen]
    data = {"ids": [i for i in ids if i not in beside], "calibration": [i for i in ids if i in beside]}
    farm.emit(session, exploration.id, "promoted", {"stage": stage, **data})


def _ensure_all(
    chains: Chains, chosen: Iterable[Design], stage: DesignStage, options: Mapping[str, Any]
) -> list[tuple[Design, Build]]:
    return [(design, chains.ensure(design, stage, options)) for design in chosen]


def verify(farm: Farm, session: Session, exploration: Exploration) -> None:
    """Have the recommended designs of the front compiled and compared with the reference; where these are fewer than
    the exploration wants, others of the front too.
    """
    front, count = {d.key: d for d in designs.front(session, exploration.id)}, exploration.options["verify"]
    picks = spread(recommended(rated(exploration, front.values())), count)
    chosen = {entry.key for entry in picks}
    picks += spread(estimated_front([d for d in front.values() if d.key not in chosen]), count - len(picks))
    verified = [front[entry.key] for entry in picks]
    _ensure_all(chains_of(farm, session, exploration), verified, "csim", exploration.options)


def renew_front(farm: Farm, session: Session, exploration_id: str) -> None:
    """Take designs that their simulation refutes off the front; those that they had kept off come onto it."""
    entries = estimated_front(designs.candidates(session, exploration_id))
    if designs.set_front(session, exploration_id, {entry.key for entry in entries}):
        farm.emit(session, exploration_id, "front", {"ids": designs.front_ids(session, exploration_id)})
