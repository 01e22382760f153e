"""What `builds.ensure` is given."""

from dataclasses import dataclass, field
from typing import Any

from db.ids import new_id
from db.models import Priority, Stage


def request_text(licence: str | None, cpus: float, memory_gb: float) -> str:
    """What a build asks of a node in one column: builds with equal ones are takeable alike."""
    return f"{licence or ''}/{cpus:g}/{memory_gb:g}"


@dataclass(frozen=True, slots=True)
class NewBuild:
    """What to run: of a workload, of an exploration, or of a design (whose exploration is named too).

    `queue`, `licence`, `cpus`, `memory_gb` (GB) are what it asks of a node; `after_id` the build it waits for;
    `priority` weighs it against other explorations of `owner`; `timeout_s` in seconds, None for the farm's.
    """

    stage: Stage
    key: str
    tool_versions: dict[str, Any]
    queue: str
    workload_id: str | None = None
    exploration_id: str | None = None
    design_id: str | None = None
    after_id: str | None = None
    options: dict[str, Any] = field(default_factory=dict[str, Any])
    owner: str = ""
    priority: Priority = "normal"
    licence: str | None = None
    cpus: float = 0.0
    memory_gb: float = 0.0
    timeout_s: float | None = None

    def row(self) -> dict[str, Any]:
        """Its columns, without a place in the queue."""
        return {
            "id": new_id("bld"),
            "workload_id": self.workload_id,
            "exploration_id": self.exploration_id,
            "design_id": self.design_id,
            "after_id": self.after_id,
            "stage": self.stage,
            "key": self.key,
            "options": self.options,
            "owner": self.owner,
            "state": "blocked",
            "queue": self.queue,
            "request": request_text(self.licence, self.cpus, self.memory_gb),
            "licence": self.licence,
            "cpus": self.cpus,
            "memory_gb": self.memory_gb,
            "timeout_s": self.timeout_s,
            "tool_versions": self.tool_versions,
        }
