"""`millrace farm backup | restore | collect | upgrade`: for the operator, on a machine with the farm's settings."""

from collections.abc import Callable, Generator
from contextlib import contextmanager
from datetime import timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.markup import escape

from cli import options
from cli.output import console, emit_json, errors

if TYPE_CHECKING:
    from db.engine import Database
    from worker.backup.files import Manifest
    from worker.store.artifacts import ArtifactStore

Target = Annotated[
    Path, typer.Argument(help="A folder, which may hold many backups, or a new .tar, .tar.gz or .tar.zst.")
]
Source = Annotated[Path, typer.Argument(help="A folder of backups, one backup in it, or an archive.", exists=True)]
Replace = Annotated[bool, typer.Option("--replace", help="Delete all that the database holds first.")]
Delete = Annotated[bool, typer.Option("--delete", help="Delete it; without this it is only counted.")]
Days = Annotated[float, typer.Option(min=1, help="Leave what was stored within so many days.")]


def backup(target: Target, as_json: options.Json = False) -> None:
    """Back up the farm's database and the artifacts that it names, while the farm runs.

    Reads the database and the store of this machine's settings (MILLRACE_HOME, or MILLRACE_DATABASE_URL and
    MILLRACE_STORE_URL). In a folder each artifact is kept once however many backups there are. Examples:

        millrace farm backup /backups/millrace

        millrace farm backup farm.tar.zst
    """
    from worker.backup.make import back_up

    with _opened() as (database, store), _progress() as progress:
        manifest = back_up(database, store, target, progress)
    _report(manifest, as_json, f"backed up to {target}")
    for digest in () if as_json else manifest.missing[:5]:
        errors.print(f"[yellow]note:[/] artifact {digest[:12]} is named by a build, but was not in the store")


def restore(source: Source, replace: Replace = False, as_json: options.Json = False) -> None:
    """Restore a backup into this machine's database and store, which may be other kinds than those backed up.

    Every artifact is checked; the tables change last and all at once. Interrupted, it goes on when started again. Stop
    Millrace first. Examples:

        MILLRACE_HOME=/tmp/copy millrace farm restore /backups/millrace

        MILLRACE_DATABASE_URL=postgresql+psycopg://millrace@db/millrace millrace farm restore farm.tar.zst
    """
    from worker.backup.restore import restore as bring_back
    from worker.settings import Settings
    from worker.sweeps.webhook_secrets import WebhookSecrets

    secrets = WebhookSecrets(Settings().secret_key)
    with _opened() as (database, store), _progress() as progress:
        manifest = bring_back(database, store, source, replace=replace, progress=progress, seal=secrets.seal)
        unread = list(secrets.unread(database))
    _report(manifest, as_json, f"restored from {source}")
    for name, problem in unread:
        errors.print(f"[yellow]note:[/] sweep {escape(name)}: {escape(problem)}")


def collect(delete: Delete = False, older_than: Days = 1, as_json: options.Json = False) -> None:
    """Find contents of the store that no row of the database names, and delete them.

    millrace farm collect            # counts

    millrace farm collect --delete
    """
    from worker.backup.collecting import collect as find

    with _opened() as (database, store):
        found = find(database, store, delete=delete, age=timedelta(days=older_than))
    if as_json:
        emit_json({"contents": found.contents, "bytes": found.bytes, "deleted": delete})
        return
    if found.deferred:
        errors.print(f"note: {found.deferred}", markup=False)
    done = "deleted" if delete else "could be deleted with --delete"
    console.print(f"{found.contents} contents, {found.bytes / 1e6:,.1f} MB, that nothing names: {done}")


def upgrade() -> None:
    """Bring the farm's database to this version's revision, as every start of the service does."""
    from db.migrate import HEAD
    from db.migrate import upgrade as run
    from worker.settings import Settings
    from worker.sweeps.webhook_secrets import WebhookSecrets

    settings = Settings()
    run(settings.database, WebhookSecrets(settings.secret_key).seal)
    console.print(f"the database has revision {HEAD}")


@contextmanager
def _opened() -> Generator[tuple["Database", "ArtifactStore"]]:
    from db.engine import Database
    from worker.settings import Settings
    from worker.store.opening import open_store

    settings = Settings()
    database = Database(settings.database)
    try:
        yield database, open_store(settings)
    finally:
        database.close()


@contextmanager
def _progress() -> Generator[Callable[[str, int, int], None]]:
    """Bars on stderr, one for the tables and one for the artifacts."""
    from rich.progress import BarColumn, Progress, TaskProgressColumn, TextColumn, TimeElapsedColumn

    columns = (TextColumn("{task.description:<10}"), BarColumn(), TaskProgressColumn(), TimeElapsedColumn())
    with Progress(*columns, console=errors, disable=not errors.is_terminal) as bars:
        tasks: dict[str, Any] = {}

        def show(what: str, done: int, total: int) -> None:
            if what not in tasks:
                tasks[what] = bars.add_task(what)
            bars.update(tasks[what], completed=done, total=total or None)

        yield show


def _report(manifest: "Manifest", as_json: bool, done: str) -> None:
    if as_json:
        emit_json(
            {
                "rows": manifest.rows,
                "artifacts": manifest.artifacts,
                "bytes": manifest.artifact_bytes,
                "missing": list(manifest.missing),
                "version": manifest.version,
                "created_at": manifest.created_at,
            }
        )
        return
    size = f"{manifest.artifact_bytes / 1e6:,.1f} MB"
    console.print(f"{done}: {manifest.rows} rows, {manifest.artifacts} artifacts, {size}", markup=False)
