"""Nothing that is kept is ever taken away, wherever retention is interrupted, and what is begun again is finished."""

import hashlib
import json
from collections.abc import Callable, Generator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest
import sqlalchemy as sa
from examples import examples
from hypothesis import given, settings
from hypothesis import strategies as st
from life_histories import CONTENTS, BuildPast, DesignPast, ExplorationPast, Past, copied, make, opened, pasts
from sqlalchemy import event

from db import dump
from db.engine import Database
from db.models import Artifact, Build, Event
from worker.backup.make import back_up
from worker.farm import Farm
from worker.retention.retaining import Retained, retain
from worker.store.folder import FolderStore

ONE_OF_ALL = Past(
    explorations=(
        ExplorationPast(
            False, False, False, None, True, (DesignPast(False, False, False, (BuildPast("done", True, (0, 1), 2),)),)
        ),
        ExplorationPast(
            False, False, False, None, True, (DesignPast(True, False, False, (BuildPast("done", True, (1, 3), 4),)),)
        ),
    ),
    model=5,
    area_model=5,
    backup=False,
)


DIGESTS = {hashlib.sha256(content).hexdigest() for content in CONTENTS}


class CrashError(Exception):
    """The process ends here."""


@contextmanager
def crash_before(farm: Farm, step: int) -> Generator[Callable[[], int]]:
    """Crash before the step of this number: the commit of a transaction, or the deletion of a content. Yields how many
    steps there were.
    """
    steps = 0

    def next_step(*_: Any) -> None:
        nonlocal steps
        steps += 1
        if steps > step:
            raise CrashError

    def delete(store: FolderStore, digest: str) -> None:
        next_step()
        unlink(store, digest)

    unlink = FolderStore.delete
    event.listen(farm.database.engine, "commit", next_step)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(FolderStore, "delete", delete)
        try:
            yield lambda: steps
        finally:
            event.remove(farm.database.engine, "commit", next_step)


def kept_files(past: Past) -> set[tuple[int, int, int]]:
    """Builds whose files must stay, by the places of exploration, design and build: said again, in other words."""
    return {
        (e, d, b)
        for e, exploration in enumerate(past.explorations)
        for d, design in enumerate(exploration.designs)
        for b, _ in enumerate(design.builds)
        if not exploration.is_free
        or not design.is_free
        or design.read_lately
        or not all(build.old for build in design.builds)
    }


def kept_logs(past: Past) -> set[tuple[int, int, int]]:
    return {
        (e, d, b)
        for e, exploration in enumerate(past.explorations)
        for d, design in enumerate(exploration.designs)
        for b, build in enumerate(design.builds)
        if not (exploration.is_free and design.is_free and build.old)
    }


def check_kept(farm: Farm, before: Farm, past: Past) -> None:
    """Whatever a row names reads back whole, all rows but those that expire are there, and all that is kept."""
    for digest in named(farm.database):
        farm.store.read(digest)
    was, now = rows_of(before), rows_of(farm)
    for table in ("explorations", "designs", "models", "workloads", "sweeps", "sweep_runs"):
        assert now[table] == was[table]
    expected = by_place(before, past)
    for place, (log, files) in by_place(farm, past).items():
        if place in kept_files(past):
            assert files == expected[place][1]
        if place in kept_logs(past):
            assert log == expected[place][0]


def _files_of(row: Build) -> sa.Select[str]:
    return sa.select(Artifact.digest).where(Artifact.build_id == row.id)


def by_place(farm: Farm, past: Past) -> dict[tuple[int, int, int], tuple[str | None, list[str]]]:
    """Log and files of each build."""
    found: dict[tuple[int, int, int], tuple[str | None, list[str]]] = {}
    with farm.database.read() as session:
        rows = iter(session.scalars(sa.select(Build).order_by(sa.text("rowid"))).all())
        for e, exploration in enumerate(past.explorations):
            for d, design in enumerate(exploration.designs):
                for b, _ in enumerate(design.builds):
                    row = next(rows)
                    found[e, d, b] = row.log_digest, sorted(session.scalars(_files_of(row)))
    return found


def named(database: Database) -> set[str]:
    """Digests of contents that rows name."""
    with database.read() as session:
        found = set(session.scalars(sa.select(Artifact.digest)))
        for log, history in session.execute(sa.select(Build.log_digest, Build.history)):
            found |= {log, *(entry["log_digest"] for entry in history)}
    text = json.dumps(rows_of_all(database))
    return {digest for digest in found if digest} | {d for d in DIGESTS if d in text}


def rows_of_all(database: Database) -> dict[str, list[dict[str, Any]]]:
    with dump.snapshot(database.engine) as connection:
        return {name: list(dump.rows(connection, name)) for name in dump.table_names()}


def rows_of(farm: Farm) -> dict[str, list[dict[str, Any]]]:
    return rows_of_all(farm.database)


def end_of(farm: Farm) -> tuple[dict[str, Any], set[str]]:
    """All rows, but when something expired, and all contents."""
    rows = rows_of(farm)
    for build in rows["builds"]:
        build["expired_at"] = build["expired_at"] is not None
    return rows, set(farm.store.digests())


def check_crash(home: Path, past: Past, step: int, folder: Path) -> bool:
    """Crash before a step, look, go on to the end, and look again; False where there is no such step."""
    with opened(copied(home, folder / "before")) as before, opened(copied(home, folder / "whole")) as whole:
        looked = retain(whole, dry_run=True)
        done = retain(whole, dry_run=False)
        assert done == looked or (past.backup and done.deferred)
        check_kept(whole, before, past)
        check_gone(whole, past)
        with opened(copied(home, folder / "crashed")) as crashed:
            try:
                with crash_before(crashed, step):
                    retain(crashed, dry_run=False)
                hit = False
            except CrashError:
                hit = True
            check_kept(crashed, before, past)
            retain(crashed, dry_run=False)
            assert end_of(crashed) == end_of(whole)
            nothing = Retained(deferred=retain(crashed, dry_run=False).deferred)
            assert retain(crashed, dry_run=False) == nothing
    return hit


def check_gone(farm: Farm, past: Past) -> None:
    """What may expire and is old has done so."""
    for place, (log, files) in by_place(farm, past).items():
        assert (log is None) == (place not in kept_logs(past))
        assert not files or place in kept_files(past)
    with farm.database.read() as session:
        for number, exploration in enumerate(past.explorations):
            query = sa.select(Event.kind).where(Event.exploration_id == f"exp_e{number}").order_by(Event.id)
            left = ["state", "build"] if exploration.is_free else ["state", "designs", "state", "build"]
            assert session.scalars(query).all() == left
    if not past.backup:
        assert set(farm.store.digests()) == named(farm.database)


@pytest.mark.slow
@settings(max_examples=examples(40))
@given(pasts, st.integers(0, 14))
def test_what_is_kept_outlives_a_crash_anywhere(past: Past, step: int) -> None:
    with TemporaryDirectory() as name:
        home = Path(name) / "home"
        make(home, past)
        check_crash(home, past, step, Path(name))


@pytest.mark.slow
def test_every_step_of_one_farm(tmp_path: Path) -> None:
    make(tmp_path / "home", ONE_OF_ALL)
    step = 0
    while check_crash(tmp_path / "home", ONE_OF_ALL, step, tmp_path / str(step)):
        step += 1
    assert step >= 8  # six transactions and the contents that nothing names any more


def test_a_backup_that_is_being_made_keeps_what_it_began_with(tmp_path: Path) -> None:
    make(tmp_path / "home", ONE_OF_ALL)
    seen: list[Retained] = []
    with opened(tmp_path / "home") as farm:

        def progress(what: str, done: int, total: int) -> None:
            if what == "artifacts" and not seen:
                seen.append(retain(farm, dry_run=False))

        manifest = back_up(farm.database, farm.store, tmp_path / "backup", progress)
        assert (seen[0].files.number, seen[0].contents.number) == (1, 0)
        assert "a backup is being made" in (seen[0].deferred or "")
        assert (manifest.missing, manifest.artifacts) == ((), 6)
        assert retain(farm, dry_run=False).contents.number > 0
