"""A backup restored elsewhere: the same rows, every artifact; and nothing at all from a damaged one."""

import io
import json
import os
import tarfile
import threading
from collections.abc import Generator, Iterable
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from datetime import datetime, timedelta
from pathlib import Path

import pytest
from backup_homes import Home, announce_node, fill_home, new_home
from dump_contract import fill
from sqlalchemy import select, update

import worker.backup.make as make_module
from db.migrate import HEAD
from db.models import Artifact, AuditEntry, Build, Node
from db.types import utcnow
from worker.backup.files import MANIFEST, Manifest, Part, newest_in
from worker.backup.make import back_up
from worker.backup.restore import restore
from worker.errors import BackupError, StoreError
from worker.store.names import key_of

pytestmark = pytest.mark.slow

TARGETS = ["folder", "one.tar", "one.tar.gz", "one.tar.zst"]


@pytest.fixture
def home(tmp_path: Path) -> Generator[Home]:
    made = new_home(tmp_path / "home")
    with closing(made.database):
        fill_home(made)
        yield made


@pytest.fixture
def other(tmp_path: Path) -> Generator[Home]:
    made = new_home(tmp_path / "other")
    with closing(made.database):
        yield made


class Seen:
    """Progress, as it was reported."""

    def __init__(self) -> None:
        self.reports: list[tuple[str, int, int]] = []

    def __call__(self, what: str, done: int, total: int) -> None:
        self.reports.append((what, done, total))


def make(home: Home, target: Path) -> Manifest:
    return back_up(home.database, home.store, target, Seen())


def bring_back(home: Home, source: Path, *, replace: bool = False) -> Manifest:
    return restore(home.database, home.store, source, replace=replace, progress=Seen())


@pytest.mark.parametrize("name", TARGETS)
def test_backup_and_restore(home: Home, other: Home, tmp_path: Path, name: str) -> None:
    manifest = make(home, tmp_path / name)
    assert (manifest.artifacts, manifest.revision, manifest.missing) == (4, HEAD, ())
    assert bring_back(other, tmp_path / name) == manifest
    assert other.rows() == home.rows()
    garbage = home.store.put_bytes(b"garbage")
    assert other.digests() == home.digests() - {garbage}


def test_what_ran_when_it_was_made_waits_for_the_farm_that_takes_over(home: Home, other: Home, tmp_path: Path) -> None:
    lease = {"state": "running", "lease_owner": "elsewhere", "lease_expires": utcnow() + timedelta(hours=1)}
    with home.database.write() as session:
        session.execute(update(Build).values(**lease, node="lab-7", attempt=1, lease_token=7))
    make(home, tmp_path / "b")
    bring_back(other, tmp_path / "b")
    with other.database.read() as session:
        found = list(session.scalars(select(Build)))
        assert {(b.state, b.node, b.lease_owner, b.lease_expires, b.attempt) for b in found} == {
            ("queued", None, None, None, 0)
        }


def test_progress_reaches_its_end(home: Home, other: Home, tmp_path: Path) -> None:
    for work in (
        lambda seen: back_up(home.database, home.store, tmp_path / "b", seen),
        lambda seen: restore(other.database, other.store, tmp_path / "b", replace=False, progress=seen),
    ):
        seen = Seen()
        work(seen)
        for what in ("tables", "artifacts"):
            counts = [(done, total) for name, done, total in seen.reports if name == what]
            assert counts == sorted(counts)
            assert counts[0][0] == 0
            assert counts[-1][0] == counts[-1][1] > 0


def test_folder_holds_many_backups_and_each_artifact_once(home: Home, tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    stamps = iter(["2026-01-01T00-00-00Z", "2026-01-02T00-00-00Z"])
    monkeypatch.setattr(make_module, "new_stamp", lambda: next(stamps))
    first = make(home, tmp_path / "b")
    kept = {p: p.stat().st_mtime_ns for p in (tmp_path / "b" / "store").rglob("*") if p.is_file()}
    with home.database.write() as session:
        session.execute(update(Artifact).where(Artifact.id == 1).values(digest=home.store.put_bytes(b"new")))
    second = make(home, tmp_path / "b")
    after = {p: p.stat().st_mtime_ns for p in (tmp_path / "b" / "store").rglob("*") if p.is_file()}
    assert kept.items() < after.items()
    assert (len(after) - len(kept), second.artifacts - first.artifacts) == (1, 1)
    assert newest_in(tmp_path / "b").name == "2026-01-02T00-00-00Z"


def test_an_older_backup_of_a_folder_can_be_named(home: Home, other: Home, tmp_path: Path) -> None:
    before = home.rows()
    make(home, tmp_path / "b")
    first = newest_in(tmp_path / "b")
    (tmp_path / "b" / "2999-01-01T00-00-00Z").mkdir()  # unfinished: without a manifest
    with home.database.write() as session:
        session.add(AuditEntry(address="", action="later", detail={}))
    assert newest_in(tmp_path / "b") == first
    bring_back(other, first)
    assert other.rows() == before


def test_backup_while_others_write(home: Home, other: Home, tmp_path: Path) -> None:
    """Rows and artifacts appear all the time: what is restored is one moment of it, and lacks no artifact."""
    begun, stop = threading.Event(), threading.Event()

    def write() -> None:
        number = 0
        while not stop.wait(0.001):
            number += 1
            digest = home.store.put_bytes(b"%d" % number)
            with home.database.write() as session:
                session.execute(update(Artifact).values(digest=digest))
                session.add(AuditEntry(address="", action=digest[:20], detail={}))
            begun.set()

    writer = threading.Thread(target=write)
    writer.start()
    try:
        assert begun.wait(60)
        manifests = [make(home, tmp_path / f"{n}.tar") for n in range(5)]
    finally:
        stop.set()
        writer.join()
    assert [m.missing for m in manifests] == [()] * 5
    bring_back(other, tmp_path / "4.tar")
    rows = other.rows()
    digests = {row[4] for row in rows["artifacts"]}
    assert len(digests) == 1  # of one transaction
    assert rows["audit"][-1][4] == next(iter(digests))[:20]  # and of the same
    assert digests < other.digests()


def test_artifact_that_the_store_lost_is_named(home: Home, tmp_path: Path) -> None:
    lost = home.store.put_bytes(b"log")
    home.store.delete(lost)
    assert make(home, tmp_path / "b").missing == (lost,)


def test_damaged_artifact_of_the_farm_ends_the_backup(home: Home, tmp_path: Path) -> None:
    home.store.path(home.store.put_bytes(b"log")).write_bytes(b"lug")
    for target in (tmp_path / "b", tmp_path / "b.tar"):
        with pytest.raises(StoreError, match="damaged"):
            make(home, target)
        with pytest.raises((BackupError, FileNotFoundError)):
            newest_in(tmp_path / "b")
    assert [p.name for p in tmp_path.iterdir() if "tar" in p.name or p.name.startswith(".")] == []


def test_archive_is_not_overwritten(home: Home, tmp_path: Path) -> None:
    (tmp_path / "b.tar").write_text("precious")
    with pytest.raises(BackupError, match="is there already"):
        make(home, tmp_path / "b.tar")
    assert (tmp_path / "b.tar").read_text() == "precious"


def test_restore_into_what_is_not_empty_needs_a_word(home: Home, other: Home, tmp_path: Path) -> None:
    make(home, tmp_path / "b")
    fill(other.database, salt="other")
    before = other.rows()
    with pytest.raises(BackupError, match=r"not empty.*--replace"):
        bring_back(other, tmp_path / "b")
    assert other.rows() == before
    bring_back(other, tmp_path / "b", replace=True)
    assert other.rows() == home.rows()


def test_restore_below_a_node_that_works_is_refused(home: Home, other: Home, tmp_path: Path) -> None:
    make(home, tmp_path / "b")
    announce_node(other)
    with pytest.raises(BackupError, match="lab-7 worked on this database just now"):
        bring_back(other, tmp_path / "b", replace=True)
    with other.database.write() as session:
        session.execute(update(Node).values(last_seen=datetime.fromisoformat("2026-01-01T00:00:00+00:00")))
    bring_back(other, tmp_path / "b", replace=True)


def test_damaged_artifact_of_the_backup_changes_no_table(home: Home, other: Home, tmp_path: Path) -> None:
    digest = home.store.put_bytes(b"artifact")
    make(home, tmp_path / "b")
    (tmp_path / "b" / "store" / key_of(digest)).write_bytes(b"artifice")
    with pytest.raises(StoreError, match="damaged"):
        bring_back(other, tmp_path / "b")
    assert all(not rows for rows in other.rows().values())


def test_damaged_artifact_of_an_archive_changes_no_table(home: Home, other: Home, tmp_path: Path) -> None:
    make(home, tmp_path / "b.tar")
    data = (tmp_path / "b.tar").read_bytes()
    (tmp_path / "b.tar").write_bytes(data.replace(b"named in options", b"NAMED in options"))
    with pytest.raises(BackupError, match="is damaged"):
        bring_back(other, tmp_path / "b.tar")
    assert all(not rows for rows in other.rows().values())
    assert len(other.digests()) <= 3


@pytest.mark.parametrize("name", TARGETS[1:])
def test_archive_that_was_cut(home: Home, other: Home, tmp_path: Path, name: str) -> None:
    make(home, tmp_path / name)
    data = (tmp_path / name).read_bytes()
    for share in (0.05, 0.5, 0.9):
        (tmp_path / f"cut-{name}").write_bytes(data[: int(share * len(data))])
        with pytest.raises(BackupError):
            bring_back(other, tmp_path / f"cut-{name}")
    assert all(not rows for rows in other.rows().values())
    bring_back(other, tmp_path / name)
    assert other.rows() == home.rows()


def test_damaged_table(home: Home, other: Home, tmp_path: Path) -> None:
    make(home, tmp_path / "b")
    path = newest_in(tmp_path / "b") / "builds.jsonl"
    path.write_text(path.read_text().replace("plain", "plaid", 1))
    with pytest.raises(BackupError, match=r"builds\.jsonl of the backup is damaged"):
        bring_back(other, tmp_path / "b")
    assert all(not rows for rows in other.rows().values())


def test_artifact_under_another_name_leaves_what_the_store_holds(home: Home, other: Home, tmp_path: Path) -> None:
    """Its bytes are those of a content that others of this store need."""
    precious, claimed = other.store.put_bytes(b"named in options"), home.store.put_bytes(b"artifact")
    make(home, tmp_path / "b.tar")
    with tarfile.open(tmp_path / "b.tar") as tar, tarfile.open(tmp_path / "odd.tar", "w") as odd:
        for member in tar:
            file = tar.extractfile(member)
            assert file is not None
            content = b"named in options" if member.name.endswith(key_of(claimed)) else file.read()
            member.size = len(content)
            odd.addfile(member, io.BytesIO(content))
    with pytest.raises(BackupError, match=f"artifact {claimed[:12]} of the backup is damaged"):
        bring_back(other, tmp_path / "odd.tar")
    assert other.store.read(precious) == b"named in options"
    assert not other.store.exists(claimed)
    assert all(not rows for rows in other.rows().values())


@pytest.mark.parametrize("name", TARGETS[:2])
def test_artifact_that_is_damaged_where_it_goes_is_mended(home: Home, other: Home, tmp_path: Path, name: str) -> None:
    make(home, tmp_path / name)
    digest = other.store.put_bytes(b"artifact")
    other.store.path(digest).write_bytes(b"artifice")
    bring_back(other, tmp_path / name)
    assert other.store.read(digest) == b"artifact"


def test_what_is_written_while_artifacts_are_copied_is_not_mixed_with_the_backup(
    home: Home, other: Home, tmp_path: Path
) -> None:
    make(home, tmp_path / "b")

    def write(what: str, done: int, _total: int) -> None:
        if (what, done) == ("artifacts", 0):
            with other.database.write() as session:
                session.add(AuditEntry(id=99, address="", action="started too early", detail={}))

    with pytest.raises(BackupError, match="not empty"):
        restore(other.database, other.store, tmp_path / "b", replace=False, progress=write)
    assert [row[4] for row in other.rows()["audit"]] == ["started too early"]
    assert other.rows()["builds"] == []


def test_a_node_that_starts_while_artifacts_are_copied_keeps_its_tables(
    home: Home, other: Home, tmp_path: Path
) -> None:
    make(home, tmp_path / "b")

    def start(what: str, done: int, _total: int) -> None:
        if (what, done) == ("artifacts", 0):
            announce_node(other)

    with pytest.raises(BackupError, match="lab-7 worked on this database"):
        restore(other.database, other.store, tmp_path / "b", replace=True, progress=start)
    assert len(other.rows()["nodes"]) == 1


@pytest.mark.parametrize(("part", "says"), [("contents", "manifest is damaged"), ("builds", "lacks the table builds")])
def test_manifest_that_lacks_a_part(home: Home, other: Home, tmp_path: Path, part: str, says: str) -> None:
    make(home, tmp_path / "b")
    path = newest_in(tmp_path / "b") / MANIFEST
    found = json.loads(path.read_text())
    del found["parts"][part]
    path.write_text(json.dumps(found))
    with pytest.raises(BackupError, match=says):
        bring_back(other, tmp_path / "b")


def test_backup_of_a_newer_millrace_asks_for_that_one(home: Home, other: Home, tmp_path: Path) -> None:
    make(home, tmp_path / "b")
    path = newest_in(tmp_path / "b") / MANIFEST
    path.write_text(path.read_text().replace(f'"revision": "{HEAD}"', '"revision": "9999"'))
    with pytest.raises(BackupError, match=r"restore it with Millrace 0\.1\.0, which made it, or a later one"):
        bring_back(other, tmp_path / "b")


def test_backup_of_another_revision_says_what_to_do(home: Home, other: Home, tmp_path: Path) -> None:
    make(home, tmp_path / "b")
    path = newest_in(tmp_path / "b") / MANIFEST
    path.write_text(path.read_text().replace(f'"revision": "{HEAD}"', '"revision": "0001"'))
    with pytest.raises(BackupError, match=r"restore it with Millrace 0\.1\.0, then start this one"):
        bring_back(other, tmp_path / "b")


@pytest.mark.parametrize("text", ["", "[]", "{}", '{"format": 99}'])
def test_what_is_no_backup(other: Home, tmp_path: Path, text: str) -> None:
    (tmp_path / "b").mkdir()
    (tmp_path / "b" / MANIFEST).write_text(text)
    with pytest.raises(BackupError, match="format 99" if "99" in text else "no backup"):
        bring_back(other, tmp_path / "b")
    with pytest.raises(BackupError, match="no finished backup"):
        bring_back(other, tmp_path / "nothing")


def test_archive_with_a_path_that_leaves_it(other: Home, tmp_path: Path) -> None:
    (tmp_path / "evil").write_text("x")
    with tarfile.open(tmp_path / "b.tar", "w") as tar:
        tar.add(tmp_path / "evil", "../evil.jsonl")
    with pytest.raises(BackupError, match="no part of a backup"):
        bring_back(other, tmp_path / "b.tar")


def test_interrupted_restore_goes_on(home: Home, other: Home, tmp_path: Path) -> None:
    make(home, tmp_path / "b")

    class CutOffError(Exception):
        pass

    def interrupt(what: str, done: int, _total: int) -> None:
        if what == "artifacts" and done > 0:
            raise CutOffError

    with pytest.raises(CutOffError):
        restore(other.database, other.store, tmp_path / "b", replace=False, progress=interrupt)
    stored = set(other.store.digests())
    assert stored
    assert all(not rows for rows in other.rows().values())
    bring_back(other, tmp_path / "b")
    assert other.rows() == home.rows()
    assert stored < other.digests()


def test_time_of_a_backup_is_now(home: Home, tmp_path: Path) -> None:
    made = datetime.fromisoformat(make(home, tmp_path / "b").created_at)
    assert abs((utcnow() - made).total_seconds()) < 60


@pytest.mark.parametrize("name", TARGETS)
def test_a_backup_is_on_the_disk_before_it_counts(
    home: Home, tmp_path: Path, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Every file, and the folder that has its name, in this order."""
    synced: list[Path] = []
    fsync = os.fsync

    def watch(descriptor: int) -> None:
        synced.append(Path(f"/proc/self/fd/{descriptor}").readlink())
        fsync(descriptor)

    monkeypatch.setattr(os, "fsync", watch)
    target = tmp_path / name
    make(home, target)
    if name != "folder":
        assert synced[-2:] == [tmp_path / f"{name}.part", tmp_path]
        return
    folder = newest_in(target)
    assert {p for p in folder.iterdir() if p.name != MANIFEST} <= set(synced)
    assert synced[-3:] == [folder / f"{MANIFEST}.part", folder, target]
    assert set((target / "store").glob("sha256/*/*")) <= set(synced)


@pytest.mark.parametrize("name", TARGETS)
def test_what_does_not_read_back_is_no_backup(
    home: Home, tmp_path: Path, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A disk that changes a byte of what it is given."""
    written = make_module.write_part

    def write(folder: Path, part: str, values: Iterable[str]) -> Part:
        made = written(folder, part, values)
        if part == "audit":
            path = folder / "audit.jsonl"
            path.write_bytes(path.read_bytes().replace(b"a", b"b", 1))
        return made

    monkeypatch.setattr(make_module, "write_part", write)
    with pytest.raises(BackupError, match=r"audit\.jsonl of the backup is damaged"):
        make(home, tmp_path / name)
    assert not (tmp_path / name).is_file()
    with pytest.raises(BackupError):
        newest_in(tmp_path / name)


def test_a_damaged_copy_of_an_earlier_backup_is_mended(
    home: Home, other: Home, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    stamps = iter(["2026-01-01T00-00-00Z", "2026-01-02T00-00-00Z"])
    monkeypatch.setattr(make_module, "new_stamp", lambda: next(stamps))
    make(home, tmp_path / "b")
    (tmp_path / "b" / "store" / key_of(home.store.put_bytes(b"artifact"))).write_bytes(b"artifice")
    make(home, tmp_path / "b")
    bring_back(other, tmp_path / "b")
    assert other.rows() == home.rows()


def test_two_backups_at_once_are_one_too_many(home: Home, tmp_path: Path) -> None:
    def another(_what: str, _done: int, _total: int) -> None:
        with ThreadPoolExecutor(1) as pool:
            pool.submit(make, home, tmp_path / "c").result()

    with pytest.raises(BackupError, match="another backup is being made"):
        back_up(home.database, home.store, tmp_path / "b", another)
    make(home, tmp_path / "b.tar")  # the first has let go
