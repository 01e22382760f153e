"""The service's routes, each described once: a function that gives what to send and how to read the answer.

`millrace.client` makes of each a method of `Client` and one of `AsyncClient`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Generic, TypeVar
from urllib.parse import quote

from millrace import wire

T = TypeVar("T")


@dataclass(frozen=True)
class Upload:
    """Files to send, each in a field of the form, by its name and as its media type; `fields` go with them."""

    files: Mapping[str, tuple[Path, str]]
    fields: Mapping[str, str]


@dataclass(frozen=True)
class Call(Generic[T]):
    """One request, and what its answer is: a dataclass of `millrace.wire`, `str`, `bytes`, or `None` for nothing."""

    method: str
    path: str
    answer: type[T]
    query: Mapping[str, str] = field(default_factory=dict[str, str])
    body: Any = None
    headers: Mapping[str, str] = field(default_factory=dict[str, str])
    upload: Upload | None = None


@dataclass(frozen=True)
class Listing(Generic[T]):
    """A list that comes in pages; `limit` is how many items are wanted, None for all."""

    path: str
    item: type[T]
    query: Mapping[str, str] = field(default_factory=dict[str, str])
    limit: int | None = None


@dataclass(frozen=True)
class Following:
    """An event stream that is taken up again where it broke. It ends with an event of the kind `end`; or, of an
    exploration, after a state in which nothing more happens, unless `exploration` was resumed after that.
    """

    path: str
    exploration: str | None = None


@dataclass(frozen=True)
class Download:
    """A body that is read in pieces."""

    path: str


def health() -> Call[wire.Health]:
    """How the service is, and of which version."""
    return Call("GET", "/health", wire.Health)


def me() -> Call[wire.Me]:
    """Who asks, and what their key allows."""
    return Call("GET", "/me", wire.Me)


def platforms() -> Listing[wire.Platform]:
    """The boards that can be explored for."""
    return Listing("/platforms", wire.Platform)


def models(archived: bool = False) -> Listing[wire.Model]:
    """Built-in and stored ones; with `archived` those too that lists leave out."""
    return Listing("/models", wire.Model, _archived(archived))


def model(model: str) -> Call[wire.Model]:
    """The model with this id or name."""
    return Call("GET", f"/models/{_part(model)}", wire.Model)


def add_model(path: Path, name: str, samples: Path | None = None) -> Call[wire.Model]:
    """Store a network from its config.json, or from a file that holds it whole; then with the .npz of `samples` that
    its integers are calibrated with, where there is one.
    """
    files = {"file": (path, "application/json" if path.suffix == ".json" else "application/octet-stream")}
    if samples is not None:
        files["samples"] = (samples, "application/octet-stream")
    return Call("POST", "/models", wire.Model, upload=Upload(files, {"name": name}))


def change_model(model: str, changes: wire.ModelChange) -> Call[wire.Model]:
    """Archive a model, or list it again."""
    return Call("PATCH", f"/models/{_part(model)}", wire.Model, body=changes)


def model_deletion(model: str) -> Call[wire.Deletion]:
    """What would be deleted with a model, and what still needs it."""
    return Call("GET", f"/models/{_part(model)}/deletion", wire.Deletion)


def delete_model(model: str) -> Call[None]:
    """Delete a model that nothing needs."""
    return Call("DELETE", f"/models/{_part(model)}", type(None))


def explorations(archived: bool = False) -> Listing[wire.Exploration]:
    """Newest first; with `archived` those too that lists leave out."""
    return Listing("/explorations", wire.Exploration, _archived(archived))


def exploration(exploration: str) -> Call[wire.Exploration]:
    """By its id or the beginning of it, its name, or `latest`; all else takes ids."""
    return Call("GET", f"/explorations/{_part(exploration)}", wire.Exploration)


def start_exploration(request: wire.NewExploration, key: str) -> Call[wire.Exploration]:
    """Start an exploration; the same `key` starts it once."""
    return Call("POST", "/explorations", wire.Exploration, body=request, headers=_once(key))


def start_explorations(request: wire.NewExplorations, key: str) -> Call[wire.StartedExplorations]:
    """Start all of them or, where one is refused, none; the same `key` starts them once."""
    return Call("POST", "/explorations/batch", wire.StartedExplorations, body=request, headers=_once(key))


def change_exploration(exploration: str, changes: wire.ExplorationChange) -> Call[wire.Exploration]:
    """Set what is given of name, tags and notes, archive or pin it."""
    return Call("PATCH", f"/explorations/{_part(exploration)}", wire.Exploration, body=changes)


def exploration_deletion(exploration: str) -> Call[wire.Deletion]:
    """What would be deleted with an exploration, and what still needs it."""
    return Call("GET", f"/explorations/{_part(exploration)}/deletion", wire.Deletion)


def delete_exploration(exploration: str) -> Call[None]:
    """Delete an exploration that nothing needs, with its designs, builds and events."""
    return Call("DELETE", f"/explorations/{_part(exploration)}", type(None))


def cancel(exploration: str) -> Call[wire.Exploration]:
    """Stop an exploration; its designs are kept."""
    return Call("POST", f"/explorations/{_part(exploration)}/cancel", wire.Exploration)


def resume(exploration: str) -> Call[wire.Exploration]:
    """Go on with an exploration that was stopped or failed."""
    return Call("POST", f"/explorations/{_part(exploration)}/resume", wire.Exploration)


def events(exploration: str) -> Following:
    """All events from the first on, until the exploration has ended."""
    return Following(f"/explorations/{_part(exploration)}/events", exploration)


def designs(exploration: str) -> Listing[wire.DesignSummary]:
    """In order of evaluation."""
    return Listing(f"/explorations/{_part(exploration)}/designs", wire.DesignSummary)


def front(exploration: str) -> Listing[wire.DesignSummary]:
    """The designs of the Pareto front, in order of evaluation."""
    return Listing(f"/explorations/{_part(exploration)}/designs", wire.DesignSummary, {"front": "true"})


def groups(exploration: str) -> Call[wire.Groups]:
    """The front with designs that the estimate can not tell apart as one, by the first objective."""
    return Call("GET", f"/explorations/{_part(exploration)}/groups", wire.Groups)


def table(exploration: str) -> Call[wire.DesignTable]:
    """All designs with all metrics and knobs, by column."""
    return Call("GET", f"/explorations/{_part(exploration)}/table", wire.DesignTable)


def table_file(exploration: str, form: str) -> Call[bytes]:
    """The same as a file: `form` is json, csv or arrow."""
    return Call("GET", f"/explorations/{_part(exploration)}/table", bytes, {"format": form})


def scatter(exploration: str) -> Call[wire.Scatter]:
    """Objectives and states of all designs, by column."""
    return Call("GET", f"/explorations/{_part(exploration)}/scatter", wire.Scatter)


def design(design: str) -> Call[wire.Design]:
    """By its id or the beginning of it, its number in the latest exploration, or EXPLORATION#NUMBER; all else takes
    ids.
    """
    return Call("GET", f"/designs/{_part(design)}", wire.Design)


def change_design(design: str, changes: wire.DesignChange) -> Call[wire.Design]:
    """Set what is given of tags and notes, archive or pin it."""
    return Call("PATCH", f"/designs/{_part(design)}", wire.Design, body=changes)


def design_deletion(design: str) -> Call[wire.Deletion]:
    """What would be deleted with a design, and what still needs it."""
    return Call("GET", f"/designs/{_part(design)}/deletion", wire.Deletion)


def delete_design(design: str) -> Call[None]:
    """Delete a design that nothing needs, with its builds and files."""
    return Call("DELETE", f"/designs/{_part(design)}", type(None))


def start_build(design: str, request: wire.NewBuild) -> Call[wire.Build]:
    """Queue a stage of a design; a finished one is not run again."""
    return Call("POST", f"/designs/{_part(design)}/builds", wire.Build, body=request)


def artifacts(design: str) -> Listing[wire.Artifact]:
    """Files of the design directory, as far as they are stored."""
    return Listing(f"/designs/{_part(design)}/artifacts", wire.Artifact)


def artifact(design: str, path: str) -> Call[bytes]:
    """One file of the design directory."""
    return Call("GET", f"/designs/{_part(design)}/artifacts/{quote(path)}", bytes)


def archive(design: str) -> Download:
    """The design directory as a tar.gz stream."""
    return Download(f"/designs/{_part(design)}/archive")


def builds(limit: int, **filters: str) -> Listing[wire.Build]:
    """Newest first, at most `limit`; the filters are those of GET /v1/builds."""
    return Listing("/builds", wire.Build, filters, limit)


def build(build: str) -> Call[wire.Build]:
    """By its id or the beginning of it; all else takes ids."""
    return Call("GET", f"/builds/{_part(build)}", wire.Build)


def retry_build(build: str) -> Call[wire.Build]:
    """Run a build again that failed or was cancelled."""
    return Call("POST", f"/builds/{_part(build)}/retry", wire.Build)


def cancel_build(build: str) -> Call[wire.Build]:
    """Stop a build."""
    return Call("POST", f"/builds/{_part(build)}/cancel", wire.Build)


def clone_build(build: str, changes: wire.Clone) -> Call[wire.Build]:
    """The same stage of the same design with other options."""
    return Call("POST", f"/builds/{_part(build)}/clone", wire.Build, body=changes)


def build_log(build: str, attempt: int | None = None) -> Call[str]:
    """What its tools have printed, so far where it runs; with `attempt` in one that failed."""
    return Call("GET", f"/builds/{_part(build)}/log", str, {} if attempt is None else {"attempt": str(attempt)})


def log_events(build: str) -> Following:
    """The log as it grows: events `log` with text, until the build has ended."""
    return Following(f"/builds/{_part(build)}/log/stream")


def farm() -> Call[wire.Farm]:
    """Nodes, queues and licences at a glance."""
    return Call("GET", "/farm", wire.Farm)


def set_node_state(node: str, state: str) -> Call[wire.Node]:
    """Have a node be active, draining or paused."""
    return Call("POST", f"/farm/nodes/{_part(node)}", wire.Node, body={"state": state})


def forget_node(node: str) -> Call[None]:
    """Take a node that is gone off the list."""
    return Call("DELETE", f"/farm/nodes/{_part(node)}", type(None))


def put_licence(feature: str, tokens: int) -> Call[wire.Licence]:
    """Say how many builds that need the feature may run at once."""
    return Call("PUT", f"/farm/licences/{_part(feature)}", wire.Licence, body={"tokens": tokens})


def retention() -> Call[wire.Retention]:
    """After how many days things expire."""
    return Call("GET", "/farm/retention", wire.Retention)


def change_retention(changes: wire.RetentionChange) -> Call[wire.Retention]:
    """Say after how many days things expire."""
    return Call("PATCH", "/farm/retention", wire.Retention, body=changes)


def keys() -> Listing[wire.ApiKey]:
    """All API keys, without their texts."""
    return Listing("/keys", wire.ApiKey)


def add_key(request: wire.NewApiKey) -> Call[wire.MadeApiKey]:
    """A new key, with its text."""
    return Call("POST", "/keys", wire.MadeApiKey, body=request)


def change_key(key: str, changes: wire.KeyChange) -> Call[wire.ApiKey]:
    """Set all bounds of a key."""
    return Call("PATCH", f"/keys/{_part(key)}", wire.ApiKey, body=changes)


def revoke_key(key: str) -> Call[None]:
    """Have a key open nothing any more."""
    return Call("DELETE", f"/keys/{_part(key)}", type(None))


def audit(limit: int) -> Listing[wire.AuditEntry]:
    """Newest first."""
    return Listing("/audit", wire.AuditEntry, limit=limit)


def sweeps() -> Listing[wire.Sweep]:
    """Newest first."""
    return Listing("/sweeps", wire.Sweep)


def sweep(sweep: str) -> Call[wire.Sweep]:
    """By its id."""
    return Call("GET", f"/sweeps/{_part(sweep)}", wire.Sweep)


def add_sweep(request: wire.NewSweep, key: str) -> Call[wire.Sweep]:
    """Make a sweep; the same `key` makes it once."""
    return Call("POST", "/sweeps", wire.Sweep, body=request, headers=_once(key))


def change_sweep(sweep: str, changes: wire.SweepChange) -> Call[wire.Sweep]:
    """Set what is given; a run that is under way goes on as it began."""
    return Call("PATCH", f"/sweeps/{_part(sweep)}", wire.Sweep, body=changes)


def remove_sweep(sweep: str) -> Call[None]:
    """Remove a sweep and its runs; their explorations stay."""
    return Call("DELETE", f"/sweeps/{_part(sweep)}", type(None))


def run_sweep(sweep: str, key: str) -> Call[wire.SweepRun]:
    """Start a run; the same `key` starts it once."""
    return Call("POST", f"/sweeps/{_part(sweep)}/run", wire.SweepRun, headers=_once(key))


def sweep_runs(sweep: str, limit: int) -> Listing[wire.SweepRunSummary]:
    """Newest first, at most `limit`."""
    return Listing(f"/sweeps/{_part(sweep)}/runs", wire.SweepRunSummary, limit=limit)


def sweep_run(run: str) -> Call[wire.SweepRun]:
    """One run, with its comparison."""
    return Call("GET", f"/sweep-runs/{_part(run)}", wire.SweepRun)


def accept_run(run: str) -> Call[wire.SweepRun]:
    """Take a regressed run as the baseline."""
    return Call("POST", f"/sweep-runs/{_part(run)}/accept", wire.SweepRun)


def cancel_run(run: str) -> Call[wire.SweepRun]:
    """Stop a run and its explorations."""
    return Call("POST", f"/sweep-runs/{_part(run)}/cancel", wire.SweepRun)


def _part(name: str) -> str:
    """A name as one part of a path."""
    return quote(name, safe="")


def _once(key: str) -> dict[str, str]:
    return {"Idempotency-Key": key}


def _archived(archived: bool) -> dict[str, str]:
    return {"archived": "true"} if archived else {}
