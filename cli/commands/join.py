"""`millrace farm join`: this machine works for a farm, until it is stopped."""

import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.markup import escape

from cli import options, secrets
from cli.output import console, emit_json, errors

if TYPE_CHECKING:
    from worker.node.membership import Membership
    from worker.settings import Settings

URL_VARIABLE, KEY_VARIABLE = "MILLRACE_SERVER", secrets.KEY_VARIABLE

Url = Annotated[
    str | None,
    typer.Argument(
        help="Address of the farm's service; without it, the farm joined last.", metavar="[URL]", envvar=URL_VARIABLE
    ),
]
Name = Annotated[str | None, typer.Option(help="Name of this node in the farm.", show_default="the host name")]
Capability = Annotated[
    list[str] | None,
    typer.Option(help="Serve only these queues, by name or by what is before the @; may be repeated. csynth, link ..."),
]
OnceFile = Annotated[
    Path | None,
    typer.Option(
        help=f"File with the lines {URL_VARIABLE}=... and {KEY_VARIABLE}=..., deleted once this machine has joined; "
        "when it is not there, the farm joined last is meant. For systemd.",
        dir_okay=False,
    ),
]
Check = Annotated[bool, typer.Option("--check", help="Only say whether all would be well.")]


def join(
    url: Url = None,
    key_file: secrets.KeyFile = None,
    name: Name = None,
    capability: Capability = None,
    once_file: OnceFile = None,
    check: Check = False,
    as_json: options.Json = False,
) -> None:
    """Join a farm and work for it until Ctrl-C or SIGTERM, which give back what was not finished.

    The farm tells where its database, broker and store are; that is kept in the state directory (MILLRACE_HOME), so
    that a later start needs neither URL nor key. The key is asked for where neither MILLRACE_API_KEY nor a file has it.
    Exit code 1: something is in the way; each line says what. Examples:

        millrace farm join http://farm.example:8642

        millrace farm join http://farm.example:8642 --key-file node.key

        millrace farm join --check
    """
    from worker.node import membership

    _choose(name, capability)
    once = _read_once(once_file)
    found, settings = _membership(url or once.get(URL_VARIABLE), once.get(KEY_VARIABLE), key_file)
    wrong = membership.problems(found, settings)
    _report(found, settings, wrong, as_json and check)
    if wrong:
        raise typer.Exit(1)
    membership.save(found, settings.home)
    if once_file is not None:
        once_file.unlink(missing_ok=True)
    if not check:
        _work(settings)


def _choose(name: str | None, capability: list[str] | None) -> None:
    """What this machine is to the farm, as the variables that say so."""
    if name:
        os.environ["MILLRACE_NODE"] = name
    if capability:
        os.environ["MILLRACE_CAPABILITIES"] = ",".join(capability)


def _read_once(path: Path | None) -> dict[str, str]:
    if path is None or not path.is_file():
        return {}
    lines = (line.strip().partition("=") for line in path.read_text().splitlines())
    return {name.strip(): value.strip().strip("\"'") for name, equals, value in lines if equals}


def _membership(url: str | None, key: str | None, key_file: Path | None) -> tuple["Membership", "Settings"]:
    """The farm at the URL, else the one joined last, and the settings of our worker in it."""
    from dataclasses import replace

    from worker.node import membership
    from worker.settings import Settings

    own = Settings()
    chosen = {n: os.environ[n] for n in ("MILLRACE_NODE", "MILLRACE_CAPABILITIES") if os.environ.get(n)}
    found = membership.ask(url, key or secrets.key(key_file), own.node) if url else membership.load(own.home)
    if url and membership.is_readable_on_the_way(url):
        errors.print(
            f"[yellow]note:[/] the key, and the farm's passwords in its answer, crossed the network unencrypted; where "
            f"others can listen, join with https: {escape(url)}"
        )
    found = replace(found, environment={**found.environment, **chosen})
    return found, membership.apply(found)


def _report(found: "Membership", settings: "Settings", wrong: list[str], as_json: bool) -> None:
    from worker.node.nodes import describe

    info = describe(settings)
    if as_json:
        ours = {"node": info.name, "offers": sorted(info.capabilities), "missing": dict(info.missing)}
        emit_json({"farm": found.url, "version": found.version, "problems": wrong, **ours})
        return
    for problem in wrong:
        errors.print(f"[red]problem:[/] {escape(problem)}")
    console.print(f"node [bold]{escape(info.name)}[/] offers {', '.join(sorted(info.capabilities)) or 'nothing'}")
    for what, why in sorted(info.missing.items()):
        console.print(f"  not {what}: {why}", style="dim", markup=False)
    if not wrong:
        console.print(f"joins the farm at {found.url} (Millrace {found.version})", markup=False)


def _work(settings: "Settings") -> None:
    """Become the worker: what supervises us supervises it. It has no use for the key."""
    sys.stdout.flush()
    environment = {name: value for name, value in settings.environment().items() if name != KEY_VARIABLE}
    os.execve(sys.executable, [sys.executable, "-m", "worker"], environment)
