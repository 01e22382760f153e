"""`millrace build`: the stages that the farm runs."""

from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer
from rich.markup import escape

from cli import options
from cli.build_view import build_table, print_build, state_text
from cli.errors import DONE, FAILED, NO
from cli.output import console, emit_json, emit_list, errors, write_log
from cli.service import attach, look
from compiler.errors import InvalidInputError

if TYPE_CHECKING:
    from api.schemas.builds import Build

app = typer.Typer(help="Look at builds, their logs, and run them again.", no_args_is_help=True)

State = Literal["blocked", "queued", "running", "done", "failed", "cancelled"]
Stage = Literal["lower", "search", "simulate", "csim", "csynth", "cosim", "link", "measure", "calibrate"]
BuildId = Annotated[str, typer.Argument(help="Its id or the beginning of it.", metavar="BUILD")]


@app.command("list")
def list_builds(
    state: Annotated[State | None, typer.Option(help="Only those in this state.")] = None,
    stage: Annotated[Stage | None, typer.Option(help="Only this stage.")] = None,
    queue: Annotated[str | None, typer.Option(help="Only of this queue, like csynth@2023.2.")] = None,
    exploration: Annotated[str | None, typer.Option(help="Only of this exploration: id, name or latest.")] = None,
    design: Annotated[str | None, typer.Option(help="Only of this design: id, number, EXPLORATION#NUMBER.")] = None,
    node: Annotated[str | None, typer.Option(help="Only what this node runs or ran.")] = None,
    limit: Annotated[int, typer.Option(min=1, max=10_000, help="At most so many.")] = 30,
    url: options.Url = None,
    as_json: options.Json = False,
    as_csv: options.Csv = False,
) -> None:
    """The builds, newest first, with why the waiting ones wait.

    Examples:

        millrace build list --state running

        millrace build list --stage link --exploration latest

        millrace build list --state failed --limit 1000 --json | jq '.[].error'
    """
    given = {"state": state, "stage": stage, "queue": queue, "exploration": exploration, "design": design, "node": node}
    with look(url) as reader:
        if exploration is not None:
            given["exploration"] = reader.exploration(exploration).id
        if design is not None:
            given["design"] = reader.design(design).id
        found = reader.builds(limit, **{name: value for name, value in given.items() if value is not None})
    if emit_list(found, as_json, as_csv):
        return
    if found:
        console.print(build_table(found))
    else:
        console.print("there are no such builds")


@app.command("show")
def show(build: BuildId, url: options.Url = None, as_json: options.Json = False) -> None:
    """One build: state, node, attempts, options, tools, verdict.

    Examples:

        millrace build show bld_0abc
    """
    with look(url) as reader:
        found = reader.build(build)
    if as_json:
        emit_json(found)
    else:
        print_build(found)


@app.command("log")
def log(
    build: BuildId,
    follow: Annotated[bool, typer.Option("--follow", "-f", help="Go on until the build has ended.")] = False,
    attempt: Annotated[int | None, typer.Option(min=0, help="Of this failed attempt, see `build show`.")] = None,
    url: options.Url = None,
    as_json: options.Json = False,
) -> None:
    """What the tools of a build have printed, so far where it still runs.

    With --follow the exit code is that of the build: 0 done, 1 its design is infeasible or wrong or it was cancelled,
    3 a tool or node failed. Examples:

        millrace build log bld_0abc

        millrace build log bld_0abc --follow

        millrace build log bld_0abc --attempt 1
    """
    if follow:
        if as_json or attempt is not None:
            raise InvalidInputError("--follow prints text as it comes; leave out --json and --attempt")
        raise typer.Exit(_follow(build, url))
    with look(url) as reader:
        build = reader.build(build).id
        text = reader.build_log(build, attempt)
    if as_json:
        emit_json({"build": build, "attempt": attempt, "log": text})
    else:
        write_log(text)


def _follow(build: str, url: str | None) -> int:
    with attach(url) as client:
        build = client.build(build).id
        for text in client.follow_log(build):
            write_log(text)
        found = client.build(build)
    errors.print(f"{found.stage} {found.id}: {state_text(found)} {escape(found.error or '')}".rstrip())
    return exit_code(found)


def exit_code(build: "Build") -> int:
    """The exit code that an ended build means."""
    if build.state == "done":
        verdict = build.verdict or {}
        return NO if verdict.get("passed") is False else DONE
    return FAILED if build.state == "failed" and build.failure != "infeasible" else NO


@app.command("retry")
def retry(build: BuildId, url: options.Url = None, as_json: options.Json = False) -> None:
    """Run a failed or cancelled build again, with what was cancelled behind it.

    Examples:

        millrace build retry bld_0abc && millrace build log bld_0abc --follow
    """
    with attach(url) as client:
        _tell(client.retry_build(client.build(build).id), as_json)


@app.command("cancel")
def cancel(build: BuildId, url: options.Url = None, as_json: options.Json = False) -> None:
    """Stop a build, and what waits for it. Its tools are killed.

    Examples:

        millrace build cancel bld_0abc
    """
    with attach(url) as client:
        _tell(client.cancel_build(client.build(build).id), as_json)


@app.command("clone")
def clone(
    build: BuildId,
    vitis: options.Vitis = None,
    clock_mhz: Annotated[float | None, typer.Option("--clock", min=1, help="Target clock of a link in MHz.")] = None,
    target: Annotated[Literal["hw", "hw_emu"] | None, typer.Option(help="Of a link: bitstream or emulation.")] = None,
    board: options.Board = None,
    url: options.Url = None,
    as_json: options.Json = False,
) -> None:
    """Run the same stage of the same design with other options; the build that there is stays.

    Stages that the changes do not touch are not run again. Examples:

        millrace build clone bld_0abc --vitis 2024.1

        millrace build clone bld_0abc --clock 200     (of a link)
    """
    given: dict[str, Any] = {"vitis": vitis, "clock_mhz": clock_mhz, "target": target, "board": board}
    changes = {name: value for name, value in given.items() if value is not None}
    if not changes:
        raise InvalidInputError("say what is to be different: --vitis, --clock, --target or --board")
    with attach(url) as client:
        _tell(client.clone_build(client.build(build).id, changes), as_json)


def _tell(build: "Build", as_json: bool) -> None:
    if as_json:
        emit_json(build)
        return
    console.print(f"{build.stage} [bold]{build.id}[/]: {state_text(build)}")
    if build.waiting:
        console.print(f"it waits: {build.waiting}", markup=False, style="dim")
