"""The rows of one exploration as the values that `dse.comparison` compares."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from sqlalchemy.orm import Session

from compiler.errors import Violation
from db.models import Build, Design, Exploration, Metric
from db.repositories import comparisons, designs
from dse.archive import Entry
from dse.comparison.causes import Circumstances
from dse.comparison.results import DesignResults, Reading, Results
from dse.promote import recommended
from worker.fronts import estimated_front, rated

_SHORT = 8  # characters of a digest that people compare
# What the digest behind "millrace 0.1.0+..." is of, and what the digest of the search's own sources is called.
_SOURCES = {"measure": "measurement", "calibrate": "calibration"}


def results_of(session: Session, exploration: Exploration, keys: Iterable[str] = ()) -> Results:
    """What the exploration came to; designs with these keys are among its designs even if nothing was built of them."""
    found = comparisons.looked_at(session, exploration.id, set(keys))
    builds = comparisons.builds(session, exploration.id)
    metrics = designs.metrics_of(session, [d.id for d in found])
    stages = {build.id: build.stage for build in builds}
    newest = _newest(builds)
    imported = comparisons.import_of(session, exploration)
    return Results(
        id=exploration.id,
        designs={d.key: _design(d, metrics[d.id], stages, newest.get(d.id, {})) for d in found},
        fronts=_fronts(exploration, [d for d in found if d.on_front]),
        circumstances=_circumstances(exploration, builds if imported is None else [imported, *builds]),
        objectives=tuple(exploration.objectives),
        failed=(exploration.error or "without a reason") if exploration.state == "failed" else None,
    )


def _newest(builds: Iterable[Build]) -> dict[str, dict[str, Build]]:
    """Ended builds by design and stage; `builds` has the oldest first."""
    found: dict[str, dict[str, Build]] = {}
    for build in builds:
        if build.design_id is not None and build.state in ("done", "failed"):
            found.setdefault(build.design_id, {})[build.stage] = build
    return found


def _design(
    row: Design, metrics: Sequence[Metric], stages: Mapping[str, str], builds: Mapping[str, Build]
) -> DesignResults:
    return DesignResults(
        id=row.id,
        key=row.key,
        number=row.number,
        on_front=row.on_front,
        infeasible=None if row.feasible else _why_infeasible(row),
        metrics={
            (stages.get(m.build_id or "", "search"), m.name): Reading(m.value, m.unit, m.fidelity) for m in metrics
        },
        failures={stage: _failure(build) for stage, build in builds.items()},
    )


def _why_infeasible(row: Design) -> str:
    over = [Violation(**found).text for found in row.violations]
    return row.reason or ", ".join(over) or "it does not fit"


def _failure(build: Build) -> str | None:
    """Why the build says no, or could not be run; None where it passed."""
    if build.state == "failed":
        return build.error or build.failure or "it failed"
    verdict = build.verdict or {}
    return str(verdict.get("message") or "its result is wrong") if verdict.get("passed") is False else None


def _fronts(exploration: Exploration, front: Sequence[Design]) -> dict[str, tuple[Entry, ...]]:
    """The front of the estimates, and among its simulated designs that by simulated latency (else the estimate)."""
    simulated = [design for design in rated(exploration, front) if design.simulated is not None]
    fronts = {"estimate": tuple(estimated_front(front)), "simulate": tuple(recommended(simulated))}
    return {fidelity: entries for fidelity, entries in fronts.items() if entries}


def _circumstances(exploration: Exploration, builds: Sequence[Build]) -> Circumstances:
    """Tools and nodes by stage; a result from the cache has the tools that made it, and no node."""
    tools: dict[str, dict[str, set[str]]] = {}
    nodes: dict[str, set[str]] = {}
    for build in builds:
        if build.state not in ("done", "failed"):
            continue
        for tool, version in _tools(build.stage, build.tool_versions).items():
            tools.setdefault(build.stage, {}).setdefault(tool, set()).add(version)
        if build.node is not None and build.adopted_from is None:
            nodes.setdefault(build.stage, set()).add(build.node)
    return Circumstances(
        tools={s: {tool: "|".join(sorted(found)) for tool, found in t.items()} for s, t in tools.items()},
        settings=_settings(exploration),
        nodes={stage: frozenset(names) for stage, names in nodes.items()},
    )


def _tools(stage: str, versions: Mapping[str, Any]) -> dict[str, str]:
    """For people: Millrace's own version is apart from the digest of the sources that count for the stage."""
    found = {tool: str(version) for tool, version in versions.items()}
    own, _, digest = found.get("millrace", "").partition("+")
    if digest:
        found |= {"millrace": own, _SOURCES.get(stage, "compiler"): digest[:_SHORT]}
    if "search" in found:
        found["search"] = found["search"][:_SHORT]
    return found


def _settings(exploration: Exploration) -> dict[str, str]:
    """What was asked for, by name."""
    model = exploration.workload.model
    asked: dict[str, Any] = {f"model {model.name}": model.digest[:_SHORT], "platform": exploration.platform}
    asked |= {"budget": exploration.budget, "objectives": ", ".join(exploration.objectives)}
    for name, value in exploration.options.items():
        if isinstance(value, dict):
            asked |= {f"{name} {key}": number for key, number in value.items()}  # pyright: ignore[reportUnknownVariableType]
        elif value is not None:
            asked[name] = value
    return {name: str(value) for name, value in asked.items()}


def all_tools(results: Iterable[Results]) -> dict[str, str]:
    """Versions by tool over all explorations of a run."""
    found: dict[str, set[str]] = {}
    for result in results:
        for tools in result.circumstances.tools.values():
            for tool, version in tools.items():
                found.setdefault(tool, set()).update(version.split("|"))
    return {tool: "|".join(sorted(versions)) for tool, versions in sorted(found.items())}
