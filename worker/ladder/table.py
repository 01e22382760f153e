"""The stages of the farm as one table: what each waits for and depends on (design sections 4 and 6).

A build's key is chained: it digests the key of the build that it waits for. So the keys of a whole ladder are known
before it runs, and another version of a tool changes exactly its stage and those after it.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from db.models import DESIGN_STAGES, DesignStage, Stage
from db.repositories.new_build import NewBuild
from worker.ladder.versions import key_of, tools_of
from worker.limits.table import Limits, limits_of
from worker.settings import Settings

SIMULATED = "simulated"
"""The board that is the simulator: `measure` on it needs no link."""


@dataclass(frozen=True, slots=True)
class StageKind:
    """One stage. `after` is the stage that it reads from, `licence` the farm's name of the token that it holds while it
    runs. What it asks of a node is in `worker.limits.table`.

    `options` are the choices of a person that change its result: what of them is not named here is not in its key.
    """

    stage: Stage
    after: DesignStage | None
    licence: str | None
    options: tuple[str, ...] = ()


_MODEL = ("area_model",)
_SEARCH = ("budget", "seed", "sampler", "at_most", "area_model", "known", "first", "count", "island", "islands")
_VITIS = ("vitis",)
_LINK = ("vitis", "clock_mhz", "target", "shell")
_TABLE = (
    StageKind("lower", None, None),
    StageKind("search", None, None, _SEARCH),
    StageKind("simulate", None, None, _MODEL),
    StageKind("csim", None, None, (*_MODEL, "proof")),
    StageKind("csynth", "csim", "vitis_hls", _VITIS),
    StageKind("cosim", "csynth", "vitis_hls", _VITIS),
    StageKind("link", "csynth", "vivado", _LINK),
    StageKind("measure", "link", None, ("board",)),
    StageKind("calibrate", None, None, ("reports",)),
)
KINDS: Mapping[Stage, StageKind] = {kind.stage: kind for kind in _TABLE}


def after(stage: Stage, options: Mapping[str, Any]) -> DesignStage | None:
    """The stage that must have passed first; a simulated board runs the C++, it needs no xclbin."""
    if stage == "measure" and options.get("board", SIMULATED) == SIMULATED:
        return "csim"
    return KINDS[stage].after


def chain(stage: DesignStage, options: Mapping[str, Any]) -> tuple[DesignStage, ...]:
    """The stages of one design from the first to `stage`, in the order they run."""
    before = after(stage, options)
    return (stage,) if before is None else (*chain(before, options), stage)


def later(stage: DesignStage) -> tuple[DesignStage, ...]:
    """Stages of one design above `stage` in the ladder's order, which may wait for it."""
    return DESIGN_STAGES[DESIGN_STAGES.index(stage) + 1 :]


def options_of(stage: Stage, wanted: Mapping[str, Any]) -> dict[str, Any]:
    """Those of a person's choices that this stage depends on; None counts as not chosen."""
    return {name: wanted[name] for name in KINDS[stage].options if wanted.get(name) is not None}


def queue_of(stage: Stage, options: Mapping[str, Any], platform: str | None = None) -> str:
    """The capability that a node needs for the stage: its name, then versions and boards where those matter.

    `options` are the build's: "vitis" for csynth and above, "shell" of the platform for link, "board" for measure.
    `platform` names the shell where the options do not.
    """
    if stage in ("csynth", "cosim"):
        return f"{stage}@{options['vitis']}"
    if stage == "link":
        return f"link@{options['vitis']}:{options.get('shell') or shell_of(platform)}"
    if stage == "measure":
        return f"measure@{options.get('board') or SIMULATED}"
    return stage


def shell_of(platform: str | None) -> str:
    """The shell that designs for the platform are linked with. Raises InvalidInputError for an unknown one."""
    from compiler.platforms.platform import load_platform  # noqa: PLC0415

    assert platform is not None
    return load_platform(platform).shell


def new_build(
    stage: Stage,
    subject: str,
    wanted: Mapping[str, Any],
    settings: Settings,
    *,
    platform: str | None = None,
    announced: Mapping[str, Mapping[str, str]] | None = None,
    limits: Limits | None = None,
    **of: Any,
) -> NewBuild:
    """A build to `ensure`: its key, queue, licence, request and tools.

    `subject`: key of the build that it waits for, or the digest of what it is of. `wanted` are a person's choices, of
    which the stage takes its own; `announced` the tools of the farm's nodes by queue; `limits` what it asks for, where
    that is not its stage's. `of` goes into the row as it is: workload_id, exploration_id, design_id, after_id, owner,
    priority.
    """
    options = options_of(stage, wanted)
    if stage == "link":
        options.setdefault("shell", shell_of(platform))
    queue, limits = queue_of(stage, options, platform), limits or limits_of(stage, settings)
    tools = tools_of(stage, options, (announced or {}).get(queue))
    return NewBuild(
        stage=stage,
        key=key_of(stage, subject, options, tools),
        tool_versions=tools,
        queue=queue,
        options=options,
        licence=KINDS[stage].licence,
        cpus=limits.cpus,
        memory_gb=limits.memory_gb,
        timeout_s=limits.timeout_s,
        **of,
    )
