"""How far up the ladder designs are to go, before anything runs: what would come to nothing, what would wait."""

from collections.abc import Iterator, Mapping
from typing import Any

from sqlalchemy.orm import Session

from compiler.errors import InvalidInputError
from db.models import DesignStage
from db.repositories import waiting
from worker.ladder import table as ladder
from worker.ladder.chains import announced_tools, settled
from worker.ladder.climbing import RUNGS


def check_reach(options: Mapping[str, Any]) -> None:
    """Raise InvalidInputError where designs are to go to a stage, and none to one that it reads from.

    `options` are an exploration's: "builds" says how many go to each stage, "verify" how many are compiled anyway.
    """
    wanted: Mapping[str, int] = options.get("builds") or {}
    on_board = (options.get("board") or ladder.SIMULATED) != ladder.SIMULATED
    for stage, below, what in (
        ("cosim", ("csynth",), "a synthesised"),
        ("link", ("csynth",), "a synthesised"),
        ("measure", ("link",), "a linked") if on_board else ("measure", ("verify", "csynth"), "a compiled"),
    ):
        if wanted.get(stage, 0) and not any(options.get(name, wanted.get(name, 0)) for name in below):
            none = " and ".join(f"{name} is 0" for name in below)
            raise InvalidInputError(
                f"{stage} is {wanted[stage]} and {none}: it needs {what} design, so nothing would come of it; "
                f"ask for {below[0]} too: --{below[0]} {wanted[stage]}"
            )


def unoffered(session: Session, options: Mapping[str, Any], platform: str) -> list[str]:
    """What of an exploration would wait for a node, as the farm is now, and why; a sentence a stage."""
    return [f"{stage} will wait: {why}" for stage, why in _unoffered(session, options, platform)]


def _unoffered(session: Session, options: Mapping[str, Any], platform: str) -> Iterator[tuple[DesignStage, str]]:
    wanted: Mapping[str, int] = options.get("builds") or {}
    if not any(wanted.values()):
        return
    chosen = settled(options, announced_tools(session))
    for rung in RUNGS:
        for stage in filter(wanted.get, rung):
            if why := waiting.why_no_node(session, ladder.queue_of(stage, chosen, platform)):
                yield stage, why
