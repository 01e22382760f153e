"""The builds of one design from the bottom of the ladder up to a stage: made, found, or adopted from another design."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from sqlalchemy.orm import Session

from db.errors import ConflictError
from db.models import Build, Design, DesignStage, Exploration, Node
from db.repositories import builds, nodes
from db.repositories.ladder import has_given_up
from db.types import utcnow
from worker.farm import Farm
from worker.ladder import table as ladder
from worker.ladder.build_events import emit_build
from worker.ladder.requeuing import requeue
from worker.ladder.versions import digest

DEFAULT_VITIS = "2023.2"
"""The version that builds wait for where no node offers any and nobody has chosen one."""


def is_wrong(build: Build) -> bool:
    """Whether the build is done and its result says no: nothing above it makes sense."""
    return build.state == "done" and build.verdict is not None and build.verdict.get("passed") is False


def is_dead_end(build: Build) -> bool:
    """Whether running the build again would not help what waits for it."""
    return is_wrong(build) or (build.state == "failed" and build.failure == "infeasible")


@dataclass(frozen=True, slots=True)
class Chains:
    """Makes the builds of one exploration. `tools` are what the farm's nodes announce, by queue."""

    farm: Farm
    session: Session
    exploration: Exploration
    tools: Mapping[str, Mapping[str, str]]

    def ensure(self, design: Design, stage: DesignStage, wanted: Mapping[str, Any], *, revive: bool = False) -> Build:
        """The design's build of `stage`, with those that it waits for.

        One that failed or was cancelled stays so, and nothing is made above it; with `revive` it is queued again
        instead. Raises ConflictError where a stage below has found that there is no point.
        """
        wanted = settled(wanted, self.tools)
        known = {b.id for b in builds.of_design(self.session, design.id)}
        before: Build | None = None
        for step in ladder.chain(stage, wanted):
            if before is not None and is_dead_end(before):
                raise ConflictError(_dead_end(before, stage))
            before = self._ensure_one(design, step, wanted, before)
            if revive and before.failure != "infeasible" and requeue(self.farm, self.session, before):
                known.discard(before.id)
                before = builds.get(self.session, before.id)
            self._tell(before, known)
            if has_given_up(before):
                return before
        assert before is not None
        return before

    def _ensure_one(self, design: Design, stage: DesignStage, wanted: Mapping[str, Any], before: Build | None) -> Build:
        exploration = self.exploration
        subject = before.key if before else digest(design.key, exploration.workload.digest, exploration.platform)
        new = ladder.new_build(
            stage,
            subject,
            wanted,
            self.farm.settings,
            platform=exploration.platform,
            announced=self.tools,
            exploration_id=exploration.id,
            design_id=design.id,
            after_id=before.id if before else None,
            owner=exploration.owner or "",
            priority=exploration.priority,
        )
        return builds.ensure(self.session, new)

    def _tell(self, build: Build, known: set[str]) -> None:
        if build.id in known:
            return
        if build.state == "queued":
            self.farm.queue.announce(self.session, build.queue)
        emit_build(self.farm, self.session, build)


def settled(wanted: Mapping[str, Any], tools: Mapping[str, Any]) -> dict[str, Any]:
    """A person's choices, with board and version of Vitis where they chose none. `tools`: by queue."""
    chosen = {name: value for name, value in wanted.items() if value is not None}
    return {"board": ladder.SIMULATED, "vitis": newest_vitis(tools), **chosen}


def chains_of(farm: Farm, session: Session, exploration: Exploration) -> Chains:
    """For the exploration, with the farm as it is now."""
    tools = announced_tools(session)
    if farm.settings.database_url is None:
        # The embedded farm is this machine. What its database says of g++ may be of another that the home came from.
        tools = {queue: {name: v for name, v in known.items() if name != "g++"} for queue, known in tools.items()}
    return Chains(farm, session, exploration, tools)


def announced_tools(session: Session) -> dict[str, dict[str, str]]:
    """Tool versions by queue, of the node with the newest: what a build is keyed with must not depend on who asks."""
    known, seen = nodes.all(session), utcnow() - nodes.LOST_AFTER
    # What only nodes that are gone had comes first, for those that are there to replace.
    gone = _newest(node for node in known if node.last_seen < seen)
    return gone | _newest(node for node in known if node.last_seen >= seen)


def _newest(known: Iterable[Node]) -> dict[str, dict[str, str]]:
    found: dict[str, dict[str, str]] = {}
    for node in known:
        for queue, tools in node.capabilities.items():
            found[queue] = max(found.get(queue, {}), dict(tools), key=_age)
    return found


def _age(tools: Mapping[str, str]) -> list[tuple[str, list[tuple[int, str]]]]:
    return [(name, version_parts(tools[name])) for name in sorted(tools)]


def newest_vitis(tools: Mapping[str, Any]) -> str:
    """The newest version that a node of the farm has."""
    versions = [queue.removeprefix("csynth@") for queue in tools if queue.startswith("csynth@")]
    return max(versions, key=version_parts, default=DEFAULT_VITIS)


def version_parts(version: str) -> list[tuple[int, str]]:
    """To compare versions by: numbers by value, the rest by its letters."""
    return [(int(part), "") if part.isdigit() else (-1, part) for part in version.split(".")]


def _dead_end(build: Build, stage: DesignStage) -> str:
    why = build.error or "its result is wrong"
    return f"{stage} of this design has no point: its {build.stage} ({build.id}) says no: {why}; change the design"
