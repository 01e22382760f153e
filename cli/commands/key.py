"""`millrace farm key`: who may use the service."""

from datetime import datetime
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from cli import options
from cli.output import console, emit_json, emit_list, errors, table
from cli.service import operate

if TYPE_CHECKING:
    from millrace.wire import ApiKey, Quotas

app = typer.Typer(help="API keys of the service.", no_args_is_help=True)

Key = Annotated[str, typer.Argument(help="Name of its holder, or its id.", metavar="KEY")]
Explorations = Annotated[
    int | None, typer.Option(min=0, help="Explorations under way at most.", show_default="no bound")
]
Builds = Annotated[int | None, typer.Option(min=0, help="Unfinished builds at most.", show_default="no bound")]
Running = Annotated[
    int | None, typer.Option(min=0, help="Builds that run at once at most; others wait.", show_default="no bound")
]
Designs = Annotated[
    int | None,
    typer.Option(min=0, help="Designs at most, those still to be found included.", show_default="no bound"),
]
StoredMb = Annotated[
    int | None,
    typer.Option(min=0, help="Models and files of builds at most, in MB.", show_default="no bound"),
]
UploadMb = Annotated[
    int | None, typer.Option(min=0, help="Size of one upload at most, in MB.", show_default="the service's")
]
RoleName = Literal["viewer", "user", "node", "admin"]


@app.command("add")
def add(
    name: Annotated[str, typer.Argument(help="What ownership and audit call its holder.", metavar="NAME")],
    role: Annotated[
        RoleName,
        typer.Option(
            help="viewer reads; user also starts, and cancels its own; node joins the farm; admin may do everything."
        ),
    ] = "user",
    days: Annotated[
        int | None, typer.Option(min=1, max=3650, help="Days that it is valid.", show_default="for ever")
    ] = None,
    explorations: Explorations = None,
    builds: Builds = None,
    running: Running = None,
    designs: Designs = None,
    stored_mb: StoredMb = None,
    upload_mb: UploadMb = None,
    url: options.Url = None,
    as_json: options.Json = False,
) -> None:
    """Make a key and print it, this once: only a digest of it is stored.

    On the machine of the service this needs no key and no running service; so the first one is made. Examples:

        millrace farm key add alice --role admin

        millrace farm key add lab1 --role node --days 365

        millrace farm key add bob --explorations 4 --builds 100 --server https://farm.example
    """
    from millrace.wire import NewApiKey

    quotas = _quotas(explorations, builds, running, designs, stored_mb, upload_mb)
    with operate(url) as operator:
        made = operator.add_key(NewApiKey(name=name, role=role, days=days, quotas=quotas))
    if as_json:
        emit_json(made)
        return
    errors.print(f"key of {name}, role {role}; it is shown this once:", markup=False)
    console.print(made.key, markup=False)
    errors.print("use it: export MILLRACE_API_KEY=...; the dashboard asks for it", style="dim")


@app.command("quota")
def quota(
    key: Key,
    explorations: Explorations = None,
    builds: Builds = None,
    running: Running = None,
    designs: Designs = None,
    stored_mb: StoredMb = None,
    upload_mb: UploadMb = None,
    url: options.Url = None,
    as_json: options.Json = False,
) -> None:
    """Set all bounds of a key: one that is not given is none. A running service knows them within seconds.

    Examples:

        millrace farm key quota bob --explorations 8 --designs 100000 --stored-mb 20000

        millrace farm key quota bob     # no bounds any more
    """
    from millrace.wire import KeyChange

    quotas = _quotas(explorations, builds, running, designs, stored_mb, upload_mb)
    with operate(url) as operator:
        found = operator.change_key(key, KeyChange(quotas=quotas))
    if as_json:
        emit_json(found)
    else:
        console.print(f"bounds of {found.name}: {_bounds(found) or 'none'}", markup=False)


def _quotas(
    explorations: int | None,
    builds: int | None,
    running: int | None,
    designs: int | None,
    stored_mb: int | None,
    upload_mb: int | None,
) -> "Quotas":
    from millrace.wire import Quotas

    return Quotas(
        active_explorations=explorations,
        open_builds=builds,
        running_builds=running,
        designs=designs,
        stored_bytes=None if stored_mb is None else stored_mb * 1_000_000,
        upload_bytes=None if upload_mb is None else upload_mb * 1_000_000,
    )


@app.command("list")
def list_keys(url: options.Url = None, as_json: options.Json = False, as_csv: options.Csv = False) -> None:
    """All keys, without their secrets.

    Examples:

        millrace farm key list
    """
    with operate(url) as operator:
        found = operator.keys()
    if emit_list(found, as_json, as_csv):
        return
    rows = [(k.name, k.role, f"mlr_{k.prefix}_…", _state(k), _day(k.last_used_at), _bounds(k)) for k in found]
    console.print(table("", ("name", "role", "key", "state", "last used", "bounds"), rows))


def _state(key: "ApiKey") -> str:
    if key.revoked_at:
        return f"[red]revoked {_day(key.revoked_at)}[/]"
    return f"until {_day(key.expires_at)}" if key.expires_at else "valid"


def _day(time: datetime | None) -> str:
    return "" if time is None else f"{time:%Y-%m-%d}"


def _bounds(key: "ApiKey") -> str:
    return ", ".join(f"{name} {value}" for name, value in key.quotas.items())


@app.command("revoke")
def revoke(
    key: Key,
    url: options.Url = None,
    as_json: options.Json = False,
) -> None:
    """End a key. A running service refuses it within seconds; what its holder started goes on.

    Examples:

        millrace farm key revoke bob
    """
    with operate(url) as operator:
        operator.revoke_key(key)
    if as_json:
        emit_json({"revoked": key})
    else:
        console.print(f"the key of {key} is revoked", markup=False)
