"""Builds: one stage, run on the farm."""

from datetime import datetime
from typing import Annotated, Any, Literal

from pydantic import Field

from api.schemas.common import Reply, Request
from api.schemas.explorations import BoardName, VitisVersion
from db.models import BuildState, DesignStage, Failure


class Attempt(Reply):
    """A run of a build that failed and was tried again; its log: `log_url` + "?attempt=" + `attempt`."""

    attempt: int
    failure: Failure
    error: str
    node: str | None
    log_digest: str | None
    started_at: datetime | None
    finished_at: datetime | None


class Build(Reply):
    """One stage of a workload, an exploration or a design.

    `queue`: the capability that it waits for or has; `after`: the build whose results it reads; `waiting`: why it does
    not run, while it is queued or blocked; `attempt`: runs since it was last queued, the failed ones in `history`;
    `adopted_from`: the build with equal inputs whose results these are. `live`: `log_url` still grows, follow it at
    `log_url` + "/stream".
    """

    id: str
    workload_id: str | None
    exploration_id: str | None
    design_id: str | None
    stage: str
    state: BuildState
    queue: str
    node: str | None
    owner: str
    licence: str | None
    after: str | None
    waiting: str | None
    attempt: int
    losses: int
    history: list[Attempt]
    adopted_from: str | None
    options: dict[str, Any]
    cpus: float
    memory_gb: float
    timeout_s: float | None
    verdict: dict[str, Any] | None
    failure: Failure | None
    error: str | None
    log_url: str | None
    live: bool
    tool_versions: dict[str, Any]
    created_at: datetime
    started_at: datetime | None
    finished_at: datetime | None


class BuildOptions(Request):
    """What may be chosen for the stages that need Vitis or a board; null takes what the exploration has.

    `target`: "hw" is the bitstream, "hw_emu" its emulation.
    """

    vitis: VitisVersion | None = None
    clock_mhz: Annotated[float, Field(gt=0, le=1000)] | None = None
    target: Literal["hw", "hw_emu"] | None = None
    board: BoardName | None = None

    def chosen(self) -> dict[str, Any]:
        """Those that were chosen, by name."""
        return {name: getattr(self, name) for name in BuildOptions.model_fields if getattr(self, name) is not None}


class NewBuild(BuildOptions):
    """The stage to run; those before it that are not done run first. `proof` "whole": the C simulation also runs on
    other inputs, other lengths of the cache and more tokens for each task.
    """

    stage: DesignStage = "csim"
    proof: Literal["whole"] | None = None

    def chosen(self) -> dict[str, Any]:
        return super().chosen() | ({} if self.proof is None else {"proof": self.proof})


class Clone(BuildOptions):
    """What is to be different in the copy of a build."""
