"""How far up the ladder designs are to go, before anything runs: what they need besides, what would wait."""

from collections.abc import Collection, Iterator, Mapping
from typing import Any

from sqlalchemy.orm import Session

from db.models import DesignStage
from db.repositories import waiting
from worker.ladder import table as ladder
from worker.ladder.chains import announced_tools, settled
from worker.ladder.climbing import RUNGS


def with_implied(options: Mapping[str, Any]) -> tuple[dict[str, Any], list[str]]:
    """Options of an exploration with the stages that those which it asks for read from, and a sentence for each stage
    that was added.

    "builds" says how many designs go to each stage, "verify" how many are compiled anyway. Where a stage is asked for
    and none below it, as many go to that one.
    """
    builds: dict[str, int] = dict(options.get("builds") or {})
    found, said = dict(options), list[str]()
    on_board = (options.get("board") or ladder.SIMULATED) != ladder.SIMULATED
    # The highest stage first: what it adds may need something itself.
    for stage, below in (
        ("measure", ("link",) if on_board else ("verify", "csynth")),
        ("link", ("csynth",)),
        ("cosim", ("csynth",)),
    ):
        if not builds.get(stage) or any(found.get(name, builds.get(name, 0)) for name in below):
            continue
        said.append(f"{stage} {builds[stage]} implies {below[0]} {builds[stage]}: it reads what that makes")
        if below[0] == "verify":
            found["verify"] = builds[stage]
        else:
            builds[below[0]] = builds[stage]
    return (found | {"builds": builds} if said else found), said


def unoffered(session: Session, options: Mapping[str, Any], platform: str, autoscaled: Collection[str]) -> list[str]:
    """What of an exploration would wait for a node, as the farm is now, and why; a sentence a stage.

    `autoscaled` are capabilities, or what is before their @, for which nodes start when something waits.
    """
    missing = _unoffered(session, options, platform, autoscaled)
    return [f"{stage} will wait: {why}" for stage, why in missing]


def _unoffered(
    session: Session, options: Mapping[str, Any], platform: str, autoscaled: Collection[str]
) -> Iterator[tuple[DesignStage, str]]:
    wanted: Mapping[str, int] = options.get("builds") or {}
    if not any(wanted.values()):
        return
    chosen = settled(options, announced_tools(session))
    for rung in RUNGS:
        for stage in filter(wanted.get, rung):
            queue = ladder.queue_of(stage, chosen, platform)
            if queue in autoscaled or queue.partition("@")[0] in autoscaled:
                continue
            if why := waiting.why_no_node(session, queue):
                yield stage, why
