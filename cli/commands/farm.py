"""`millrace farm`: nodes, queues, licences, keys."""

from time import sleep
from typing import TYPE_CHECKING, Annotated

import typer
from rich.live import Live

from cli import options
from cli.commands import backup, join, key, retain
from cli.farm_view import farm_view
from cli.output import console, emit_json, emit_list, table
from cli.service import look, operate

if TYPE_CHECKING:
    from millrace.wire import AuditEntry

app = typer.Typer(
    help="Watch and operate the farm. Without --server the commands work on the database of this machine's settings.",
    no_args_is_help=True,
)
licence = typer.Typer(help="Licence tokens of the farm.", no_args_is_help=True)
app.add_typer(licence, name="licence")
app.add_typer(key.app, name="key")
app.command("join")(join.join)
app.command("backup")(backup.backup)
app.command("restore")(backup.restore)
app.command("collect")(backup.collect)
app.command("upgrade")(backup.upgrade)
app.command("retain")(retain.retain)
app.command("retention")(retain.retention)

NodeName = Annotated[str, typer.Argument(help="Its name, from `millrace farm status`.", metavar="NODE")]
_WATCH_S = 2


@app.command("status")
def status(
    watch: Annotated[
        bool, typer.Option("--watch", "-w", help="Show it again every two seconds, until Ctrl-C.")
    ] = False,
    missing: Annotated[bool, typer.Option("--missing", help="Say what each node can not do, and why.")] = False,
    url: options.Url = None,
    as_json: options.Json = False,
) -> None:
    """Nodes with what they can do and how busy they are, queues, licences, and what runs.

    Examples:

        millrace farm status

        millrace farm status --watch --server https://farm.example

        millrace farm status --json | jq '.queues[] | select(.nodes == 0)'
    """
    with look(url) as reader:
        if as_json:
            emit_json(reader.farm())
        elif watch and console.is_terminal:
            with Live(farm_view(reader.farm(), missing), console=console, auto_refresh=False, screen=True) as live:
                while True:
                    sleep(_WATCH_S)
                    live.update(farm_view(reader.farm(), missing), refresh=True)
        else:
            console.print(farm_view(reader.farm(), missing))


@app.command("drain")
def drain(node: NodeName, url: options.Url = None, as_json: options.Json = False) -> None:
    """Have a node finish what it runs and take nothing more.

    Examples:

        millrace farm drain lab1
    """
    _set_state(node, "draining", url, as_json)


@app.command("pause")
def pause(node: NodeName, url: options.Url = None, as_json: options.Json = False) -> None:
    """Have a node give back what it runs, for others to take, and take nothing more.

    Examples:

        millrace farm pause lab1
    """
    _set_state(node, "paused", url, as_json)


@app.command("resume")
def resume(node: NodeName, url: options.Url = None, as_json: options.Json = False) -> None:
    """Have a node take work again.

    Examples:

        millrace farm resume lab1
    """
    _set_state(node, "active", url, as_json)


def _set_state(node: str, state: str, url: str | None, as_json: bool) -> None:
    with operate(url) as operator:
        found = operator.set_node_state(node, state)
    if as_json:
        emit_json(found)
    else:
        console.print(f"{found.name} is {found.state}; {found.running} builds run there", markup=False)


@app.command("forget")
def forget(node: NodeName, url: options.Url = None, as_json: options.Json = False) -> None:
    """Take a node that is gone off the list. One that still runs comes back by itself.

    Examples:

        millrace farm forget lab1
    """
    with operate(url) as operator:
        operator.forget_node(node)
    _done({"forgotten": node}, f"{node} is forgotten", as_json)


@licence.command("set")
def set_licence(
    feature: Annotated[str, typer.Argument(help="Like vitis_hls or vivado.", metavar="FEATURE")],
    tokens: Annotated[int, typer.Argument(min=0, help="How many builds that need it may run at once.")],
    url: options.Url = None,
    as_json: options.Json = False,
) -> None:
    """Say how many tokens of a licence the farm may use. Builds that run already go on.

    Examples:

        millrace farm licence set vitis_hls 2
    """
    with operate(url) as operator:
        found = operator.put_licence(feature, tokens)
    text = f"{feature}: {found.used} of {found.tokens} tokens in use"
    _done(found, text, as_json)


@licence.command("list")
def list_licences(url: options.Url = None, as_json: options.Json = False, as_csv: options.Csv = False) -> None:
    """Tokens of every licence, and how many are in use. A licence that is not listed is not counted.

    Examples:

        millrace farm licence list
    """
    with look(url) as reader:
        found = reader.farm().licences
    if not emit_list(found, as_json, as_csv):
        rows = [(x.feature, str(x.used), str(x.tokens)) for x in found]
        console.print(table("", ("licence", ">in use", ">tokens"), rows))


@app.command("audit")
def audit(
    limit: Annotated[int, typer.Option(min=1, max=100_000, help="At most so many.")] = 50,
    url: options.Url = None,
    as_json: options.Json = False,
    as_csv: options.Csv = False,
) -> None:
    """Who changed what, and who was not allowed to; newest first.

    Examples:

        millrace farm audit --limit 200

        millrace farm audit --json | jq '.[] | select(.detail.refused)'
    """
    with operate(url) as operator:
        found = operator.audit(limit)
    if emit_list(found, as_json, as_csv):
        return
    rows = [
        (f"{e.at:%Y-%m-%d %H:%M:%S}", e.who or "-", e.address, e.action, e.target or "", _refused(e)) for e in found
    ]
    console.print(table("", ("at (UTC)", "who", "from", "action", "target", ""), rows))


def _refused(entry: "AuditEntry") -> str:
    return "[red]refused[/]" if entry.detail.get("refused") else ""


def _done(document: object, text: str, as_json: bool) -> None:
    if as_json:
        emit_json(document)
    else:
        console.print(text, markup=False)
