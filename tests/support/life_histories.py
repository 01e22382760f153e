"""Farms with a past, drawn at random: what retention may take away of them, and what it must leave."""

import os
import shutil
from collections.abc import Generator
from contextlib import closing, contextmanager
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path

import sqlalchemy as sa
from hypothesis import strategies as st
from migrated import migrated
from sqlalchemy.orm import Session

from db.ids import new_id
from db.models import (
    Artifact,
    AuditEntry,
    Build,
    BuildState,
    Design,
    Event,
    Exploration,
    IdempotencyKey,
    Leader,
    Model,
    Sweep,
    SweepRun,
    Workload,
)
from db.repositories import designs
from db.repositories.designs import NewDesign
from db.types import utcnow
from worker.farm import Farm, open_farm
from worker.settings import Settings

OLD = timedelta(days=1000)
CONTENTS = tuple(f"content {number}".encode() * (number + 1) for number in range(6))


@dataclass(frozen=True)
class BuildPast:
    """One build of a design: which of CONTENTS are its files and its log."""

    state: BuildState
    old: bool
    files: tuple[int, ...]
    log: int


@dataclass(frozen=True)
class DesignPast:
    """A design with its builds; `read_lately`: somebody has read a file of it."""

    pinned: bool
    archived: bool
    read_lately: bool
    builds: tuple[BuildPast, ...]

    @property
    def is_free(self) -> bool:
        """Whether its logs may expire."""
        return not (self.pinned or self.archived or any(b.state == "queued" for b in self.builds))


@dataclass(frozen=True)
class ExplorationPast:
    """An exploration; `of_sweep` says which run of a sweep it belongs to."""

    active: bool
    pinned: bool
    archived: bool
    of_sweep: str | None
    old: bool
    designs: tuple[DesignPast, ...]

    @property
    def is_free(self) -> bool:
        """Whether anything of it may expire."""
        return self.old and not (self.active or self.pinned or self.archived or self.of_sweep == "baseline")


@dataclass(frozen=True)
class Past:
    """A whole farm. `area_model` is the content that the options of an exploration name."""

    explorations: tuple[ExplorationPast, ...]
    model: int
    area_model: int
    backup: bool


def _design(mark: str | None, builds: list[BuildPast]) -> DesignPast:
    return DesignPast(mark == "pinned", mark == "archived", mark == "read", tuple(builds))


def _exploration(mark: str | None, designs: list[DesignPast]) -> ExplorationPast:
    of_sweep = mark if mark in ("baseline", "before") else None
    return ExplorationPast(
        mark == "active", mark == "pinned", mark == "archived", of_sweep, mark != "young", tuple(designs)
    )


_content = st.integers(0, len(CONTENTS) - 1)
_builds = st.builds(
    BuildPast,
    state=st.sampled_from(["done", "done", "done", "done", "failed", "queued"]),
    old=st.sampled_from([True, True, True, True, False]),
    files=st.lists(_content, min_size=1, max_size=3, unique=True).map(tuple),
    log=_content,
)
# One reason to stay at a time: two would hide that one of them is not looked at.
_designs = st.builds(
    _design, st.sampled_from([None, None, "pinned", "archived", "read"]), st.lists(_builds, min_size=1, max_size=2)
)
_explorations = st.builds(
    _exploration,
    st.sampled_from([None, None, None, None, "active", "pinned", "archived", "baseline", "before", "young"]),
    st.lists(_designs, min_size=1, max_size=3),
)
pasts = st.builds(
    Past,
    explorations=st.lists(_explorations, min_size=1, max_size=3).map(tuple),
    model=_content,
    area_model=_content,
    backup=st.sampled_from([False, False, False, True]),
)


@contextmanager
def opened(home: Path) -> Generator[Farm]:
    """The farm in a folder."""
    farm = open_farm(Settings(home=home), send=lambda _queue: None)
    with closing(farm):
        yield farm


def make(home: Path, past: Past) -> None:
    """Write the farm's database and store into an empty folder; all contents are old."""
    migrated(Settings(home=home).database)
    with opened(home) as farm:
        digests = [farm.store.put_bytes(content) for content in (*CONTENTS, b"nothing names this")]
        for digest in digests:
            then = (utcnow() - OLD).timestamp()
            os.utime(farm.store.path(digest), (then, then))
        with farm.database.write() as session:
            _write(session, past, digests)


def copied(home: Path, to: Path) -> Path:
    """The same farm elsewhere, its files as old."""
    shutil.copytree(home, to)
    return to


def _write(session: Session, past: Past, digests: list[str]) -> None:
    old = utcnow() - OLD
    session.add(Model(id="mdl_1", name="m", kind="onnx", config={"digest": digests[past.model], "size": 1}, digest="m"))
    row = {"phase": "decode", "length": 8, "batch": 1, "precision": "f32", "layers": 1}
    session.add(Workload(id="wkl_1", model_id="mdl_1", digest="w", **row))
    sweep = {"cron": "0 3 * * *", "zone": "UTC", "misfire": "skip", "matrix": {"workload": ["wkl_1"]}, "options": {}}
    session.add(Sweep(id="swp_1", name="s", enabled=False, **sweep))
    session.flush()
    for key, state in (("run_1", "changed"), ("run_2", "changed")):
        session.add(SweepRun(id=key, sweep_id="swp_1", state=state, cause="manual", tool_versions={}, created_at=old))
    session.flush()
    for number, exploration in enumerate(past.explorations):
        _write_exploration(session, exploration, f"e{number}", digests, past.area_model if number == 0 else None)
    session.add(AuditEntry(address="", action="a", detail={"x": 1}, at=old))
    session.add(AuditEntry(address="", action="b", detail={}))
    session.add(IdempotencyKey(route="r", key="k", body_digest="d", response={"a": 1}, created_at=old))
    if past.backup:
        session.add(Leader(task="backup", holder="elsewhere", expires=utcnow() + timedelta(hours=1)))


def _write_exploration(
    session: Session, past: ExplorationPast, name: str, digests: list[str], area_model: int | None
) -> None:
    then = utcnow() - OLD if past.old else utcnow()
    row = Exploration(
        id=f"exp_{name}", name=name, workload_id="wkl_1", platform="u55c", objectives=["latency", "energy"], budget=1
    )
    row.options = {"area_model": None if area_model is None else digests[area_model]}
    row.state, row.finished_at = ("building", None) if past.active else ("done", then)
    row.pinned, row.archived, row.created_at = past.pinned, past.archived, then
    row.sweep_run_id = {"baseline": "run_2", "before": "run_1", None: None}[past.of_sweep]
    session.add(row)
    session.flush()
    for kind in ("state", "designs", "state", "build"):
        session.add(Event(exploration_id=row.id, kind=kind, data={"n": 1}, created_at=then))
    new = [NewDesign(n, f"k{n}", {}, True, 1.0, 1.0, [1.0, 1.0], [], None, 0.1, ()) for n in range(len(past.designs))]
    ids = designs.add(session, row.id, new) if new else []
    for key, design in zip(ids, past.designs, strict=True):
        used = utcnow() if design.read_lately else None
        marks = {"pinned": design.pinned, "archived": design.archived, "created_at": then, "used_at": used}
        session.execute(sa.update(Design).where(Design.id == key).values(**marks))
        for build in design.builds:
            _write_build(session, build, row.id, key, digests)


def _write_build(session: Session, past: BuildPast, exploration: str, design: str, digests: list[str]) -> None:
    then = utcnow() - OLD if past.old else utcnow()
    row = Build(id=new_id("bld"), exploration_id=exploration, design_id=design, stage="csim", key=new_id("k"))
    row.state, row.queue, row.tool_versions, row.created_at = past.state, "csim", {}, then
    row.finished_at = None if past.state == "queued" else then
    row.log_digest, row.history = digests[past.log], [{"attempt": 1, "log_digest": digests[past.log]}]
    session.add(row)
    session.flush()
    for content in past.files:
        file = {"path": f"f{content}", "digest": digests[content], "size": len(CONTENTS[content]), "media_type": "t"}
        session.add(Artifact(build_id=row.id, design_id=design, **file))
