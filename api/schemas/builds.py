"""Builds: one stage, run on the farm."""

from datetime import datetime
from typing import Annotated, Any, Literal

from pydantic import Field

from api.schemas.common import Reply, Request
from api.schemas.explorations import BoardName, VitisVersion
from db.models import BuildState, DesignStage, Failure


class Attempt(Reply):
    """A run of a build that failed and was tried again."""

    attempt: int
    """Number of the run, from 0; its log is at the build's `log_url` + "?attempt=" + this."""
    failure: Failure
    """Why it failed: the design (infeasible), the tool, no licence, the node, its time was up, or another limit."""
    error: str
    """What was wrong, in words."""
    node: str | None
    """Machine that it ran on; null where none had taken it."""
    log_digest: str | None
    """SHA-256 of its log; null where it has none."""
    started_at: datetime | None
    """When it began, UTC."""
    finished_at: datetime | None
    """When it ended, UTC."""


class Build(Reply):
    """One stage of a workload, an exploration or a design."""

    id: str
    """Identifier of the build."""
    workload_id: str | None
    """The workload that it is of; null for a build of something else."""
    exploration_id: str | None
    """The exploration that it belongs to; null for a workload's."""
    design_id: str | None
    """The design that it is of; null for a build of something else."""
    stage: str
    """What is done: lower, search, simulate, csim, csynth, cosim, link, measure or calibrate."""
    state: BuildState
    """How it stands; a blocked one waits for the build `after`."""
    queue: str
    """The capability of a node that it waits for or has."""
    node: str | None
    """Machine that runs it or ran it; null before."""
    owner: str
    """Who pays for it in fair queuing: the exploration's owner, or empty."""
    licence: str | None
    """Licence feature that it takes a token of; null for none."""
    after: str | None
    """The build whose results it reads; null for none."""
    waiting: str | None
    """Why it does not run, while it is queued or blocked; else null."""
    attempt: int
    """Runs since it was last queued; the failed ones are in `history`."""
    losses: int
    """Times that its worker was lost."""
    history: list[Attempt]
    """Failed runs that were tried again, oldest first."""
    adopted_from: str | None
    """The build with equal inputs whose results these are; null where it ran itself."""
    options: dict[str, Any]
    """What was chosen for the stage, by name."""
    cpus: float
    """CPU cores that it asks for."""
    memory_gb: float
    """Memory that it asks for, GB (of 2**30 bytes)."""
    timeout_s: float | None
    """Seconds after which it is stopped; null for never."""
    verdict: dict[str, Any] | None
    """What the stage found out, by name; null before its end and for stages without one."""
    failure: Failure | None
    """Why it failed: the design (infeasible), the tool, no licence, the node, its time was up, or another limit."""
    error: str | None
    """What was wrong, in words; null where nothing was."""
    log_url: str | None
    """Path of what its tools have printed; null where there is nothing yet."""
    live: bool
    """Whether the log still grows: follow it at `log_url` + "/stream"."""
    tool_versions: dict[str, Any]
    """Versions of the tools that it depends on, by name."""
    created_at: datetime
    """When it was made, UTC."""
    started_at: datetime | None
    """When its last run began, UTC; null before."""
    finished_at: datetime | None
    """When it ended, UTC; null before."""


class BuildOptions(Request):
    """What may be chosen for the stages that need Vitis or a board; null takes what the exploration has."""

    vitis: VitisVersion | None = None
    """Version of Vitis, like 2023.2."""
    clock_mhz: Annotated[float, Field(gt=0, le=1000)] | None = None
    """Clock to aim at, MHz."""
    target: Literal["hw", "hw_emu"] | None = None
    """"hw" is the bitstream, "hw_emu" its emulation."""
    board: BoardName | None = None
    """Board to measure on: "simulated" or the shell of a board."""

    def chosen(self) -> dict[str, Any]:
        """Those that were chosen, by name."""
        return {name: getattr(self, name) for name in BuildOptions.model_fields if getattr(self, name) is not None}


class NewBuild(BuildOptions):
    """The stage to run; those before it that are not done run first."""

    stage: DesignStage = "csim"
    """The stage of the ladder."""
    proof: Literal["whole"] | None = None
    """"whole": the C simulation also runs on other inputs, other lengths of the cache and more tokens for
    each task.
    """

    def chosen(self) -> dict[str, Any]:
        return super().chosen() | ({} if self.proof is None else {"proof": self.proof})


class Clone(BuildOptions):
    """What is to be different in the copy of a build."""
