"""`millrace farm retain | retention`: what is stored expires by policy."""

from typing import TYPE_CHECKING, Annotated

import typer

from cli import options
from cli.output import console, emit_json, errors, table
from cli.service import operate
from compiler.errors import InvalidInputError

if TYPE_CHECKING:
    from worker.retention.retaining import Retained

DryRun = Annotated[bool, typer.Option("--dry-run", help="Only say what would go, and how many bytes.")]
Set = Annotated[
    list[str] | None,
    typer.Option("--set", help="Days after which it expires, or never; may be repeated.", metavar="WHAT=DAYS"),
]
_WHAT = ("events", "audit", "logs", "files")
_ROWS = {
    "events": "events of explorations that have ended",
    "audit": "entries of the audit",
    "answers": "answers kept for Idempotency-Key",
    "logs": "builds that lose their log",
    "files": "builds that lose their files",
    "contents": "contents of the store that nothing names then",
}


def retain(dry_run: DryRun = False, as_json: options.Json = False) -> None:
    """Take away what has expired, as a worker does once a day: see `millrace farm retention`.

    Works on the database and the store of this machine's settings. Nothing goes that an exploration or design names
    which is pinned, archived or under way, or that a sweep compares with. Interrupted, it goes on when started again.
    Examples:

        millrace farm retain --dry-run

        millrace farm retain
    """
    from db.migrate import upgrade
    from worker.farm import open_farm
    from worker.retention.retaining import retain as run
    from worker.settings import Settings

    settings = Settings()
    upgrade(settings.database)
    farm = open_farm(settings)
    try:
        found = run(farm, dry_run=dry_run)
    finally:
        farm.close()
    if as_json:
        emit_json({"dry_run": dry_run, **found.to_json()})
    else:
        _print(found, dry_run)


def _print(found: "Retained", dry_run: bool) -> None:
    amounts = {name: getattr(found, name) for name in _ROWS}
    rows = [(text, f"{amounts[name].number:,}", _bytes(amounts[name].bytes)) for name, text in _ROWS.items()]
    console.print(table("", ("what would go" if dry_run else "what went", ">number", ">bytes"), rows))
    if found.deferred:
        errors.print(f"note: {found.deferred}", markup=False)


def _bytes(size: int) -> str:
    return f"{size:,}" if size else ""


def retention(change: Set = None, url: options.Url = None, as_json: options.Json = False) -> None:
    """After how many days what expires, for the whole farm; --set changes it.

    events: of explorations that have ended, but for how they did. audit: who changed what. logs: of builds that have
    ended. files: of designs that nobody has built or read for so long; they can be made again. Examples:

        millrace farm retention

        millrace farm retention --set files=90 --set audit=never
    """
    from millrace.wire import RetentionChange

    with operate(url) as operator:
        if change:
            found = operator.change_retention(RetentionChange(**dict(map(_parsed, change))))
        else:
            found = operator.retention()
    if as_json:
        emit_json(found)
        return
    days = {what: getattr(found, what) for what in _WHAT}
    rows = [(what, "never" if after is None else f"{after} days") for what, after in days.items()]
    console.print(table("", ("what", "expires after"), rows))


def _parsed(text: str) -> tuple[str, int | None]:
    """WHAT and DAYS. Raises InvalidInputError."""
    what, _, after = text.partition("=")
    if what not in _WHAT or not (after == "never" or after.isdigit()):
        raise InvalidInputError(f"--set {text!r}: write one of {', '.join(_WHAT)}, then = and days or never")
    return what, None if after == "never" else int(after)
