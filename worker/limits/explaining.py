"""What a person is told of a build that was stopped by a limit: which, how much it used, whose fault, what to do."""

import json
from collections.abc import Mapping

from db.models import Stage
from worker.limits.group import Exceeded
from worker.limits.table import GB, Resource

_FIELDS: Mapping[Resource, str] = {
    "memory": "memory_gb",
    "processor time": "cpu_s",
    "time": "timeout_s",
    "processes": "processes",
    "disk": "disk_gb",
    "files": "files",
}
"""Under which name more of it is asked for."""
_SIZED = ("memory", "disk")
_TIMED = ("processor time", "time")


def explain(stage: Stage, reached: Exceeded) -> str:
    """One text for the build's failure."""
    used, limit = amount(reached.resource, reached.used), amount(reached.resource, reached.limit)
    more = json.dumps({stage: {_FIELDS[reached.resource]: _twice(reached)}})
    return (
        f"the {stage} stage was stopped by its limit of {reached.resource}: it used {used} of {limit}. "
        f"{_cause(stage)}, not the node, so it is not tried again. If it is worth more, ask for it "
        f"(MILLRACE_REQUESTS='{more}' for API and workers) and retry the build"
    )


def amount(resource: Resource, value: float) -> str:
    """The value with its unit, rounded for people."""
    if resource in _SIZED:
        return f"{value / GB:.3g} GB"
    if resource in _TIMED:
        return f"{value:.3g} s" if value < 1000 else f"{value:.0f} s"
    return f"{value:.0f} {resource}"


def _twice(reached: Exceeded) -> float:
    """Twice the limit, in the unit that requests have."""
    value = 2 * reached.limit / (GB if reached.resource in _SIZED else 1)
    return int(value) if value >= 1 else round(value, 3)


def _cause(stage: Stage) -> str:
    if stage == "lower":
        return "The model that is imported causes this (fewer layers or a shorter length need less)"
    if stage in ("search", "calibrate"):
        return "What the exploration asks for causes this"
    return "The design causes this"
