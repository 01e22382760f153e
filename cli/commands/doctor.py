"""`millrace doctor`: can this machine run Millrace?"""

import typer

from cli import options
from cli.checks import State, run_checks
from cli.errors import DONE, NO
from cli.output import console, emit_json, table

_MARKS = {State.OK: "[green]ok[/]", State.WARN: "[yellow]warn[/]", State.FAIL: "[red]FAIL[/]"}


def doctor(as_json: options.Json = False) -> None:
    """Check tools, memory, disk, port and vendor software, and say what to do about each.

    Exit code 1: something that Millrace needs is missing. Examples:

        millrace doctor

        millrace doctor --json
    """
    from worker.settings import Settings

    settings = Settings()
    checks = run_checks(settings.home, settings.port)
    if as_json:
        emit_json([check.to_json() for check in checks])
    else:
        rows = [(_MARKS[c.state], c.name, c.found, f"[dim]{c.advice}[/]") for c in checks]
        console.print(table("", ("", "check", "found", "what to do"), rows))
    raise typer.Exit(NO if any(c.state is State.FAIL for c in checks) else DONE)
