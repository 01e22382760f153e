"""`millrace doctor`: can this machine run Millrace, and what can it do on a farm?"""

from dataclasses import asdict
from typing import TYPE_CHECKING

import typer
from rich.markup import escape

from cli import options
from cli.checks import State, run_checks
from cli.errors import DONE, NO
from cli.output import console, emit_json, table

if TYPE_CHECKING:
    from worker.node.nodes import NodeInfo

_MARKS = {State.OK: "[green]ok[/]", State.WARN: "[yellow]warn[/]", State.FAIL: "[red]FAIL[/]"}


def doctor(as_json: options.Json = False) -> None:
    """Check tools, memory, disk, port and vendor software, and say what to do about each; then which stages this
    machine can do as a node of a farm, with which tools, and what it can not do, and why.

    Exit code 1: something that Millrace needs is missing. Examples:

        millrace doctor

        millrace doctor --json
    """
    from worker.node.nodes import describe
    from worker.settings import Settings

    settings = Settings()
    checks = run_checks(settings.home, settings.port)
    node = describe(settings)
    if as_json:
        emit_json({"checks": [check.to_json() for check in checks], "node": asdict(node)})
    else:
        rows = [(_MARKS[c.state], c.name, c.found, f"[dim]{c.advice}[/]") for c in checks]
        console.print(table("", ("", "check", "found", "what to do"), rows))
        print_node(node)
    raise typer.Exit(NO if any(c.state is State.FAIL for c in checks) else DONE)


def print_node(node: "NodeInfo") -> None:
    """What the machine can do on a farm and with which tools, and what it can not do."""
    size = f"{node.cpus:g} CPUs, {node.memory_gb:.3g} GB of memory"
    console.print(f"\n[bold]{escape(node.name)}[/] as a node of a farm: {size}")
    can = [
        ("[green]can[/]", escape(queue), escape(", ".join(f"{tool} {version}" for tool, version in tools.items())))
        for queue, tools in sorted(node.capabilities.items())
    ]
    can_not = [
        ("[yellow]can not[/]", escape(what), f"[dim]{escape(why)}[/]") for what, why in sorted(node.missing.items())
    ]
    console.print(table("", ("", "stage", "with, or why not"), [*can, *can_not]))
