"""`millrace sweep`: explorations that are repeated on a schedule and compared with the last good run."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from time import sleep
from typing import TYPE_CHECKING, Annotated, Any, Literal
from uuid import uuid4

import typer
from rich.markup import escape

from cli import complete, options, secrets
from cli.commands.explore import model_reference
from cli.errors import DONE, FAILED, NO
from cli.grouped import grouped
from cli.output import console, emit_json, emit_list, errors
from cli.service import announce_all, connect, look
from cli.sweep_files import junit as junit_of
from cli.sweep_files import summary as summary_of
from cli.sweep_view import history_view, local_time, mark, run_view, sweeps_table
from compiler.errors import InvalidInputError
from dse.objectives import DEFAULT
from worker.program import program

if TYPE_CHECKING:
    from millrace.client import Client
    from millrace.wire import SweepRun

app = typer.Typer(
    help="Repeat explorations on a schedule and compare them with the last good run.", no_args_is_help=True
)

_BY_HAND = "0 3 * * *"  # of a sweep without a schedule: stored, but it never fires
_POLL_SECONDS = 1.0
_RUN_ID = re.compile(r"run_[0-9a-z]{18}")
_CODES = {"same": DONE, "changed": DONE, "regressed": NO, "failed": FAILED, "cancelled": FAILED}

Name = Annotated[str, typer.Argument(help="Name or id of the sweep.", metavar="NAME", autocompletion=complete.sweeps)]
Run = Annotated[str, typer.Argument(help="Id of a run.", metavar="RUN")]


@dataclass(frozen=True)
class Matrix:
    """What varies: an exploration for every combination."""

    model: Annotated[
        list[str], typer.Option(help="Built-in name, stored model, or a file; give several.", metavar="MODEL")
    ]
    phase: Annotated[list[options.PhaseName] | None, typer.Option(help="Phases.", show_default="decode")] = None
    length: Annotated[
        list[int] | None, typer.Option(help="Lengths: tokens of a prefill, context of a decode.", show_default="64")
    ] = None
    precision: Annotated[
        list[options.PrecisionName] | None, typer.Option(help="Number formats.", show_default="w4a8")
    ] = None
    layers: Annotated[
        list[int] | None, typer.Option(help="Layers that a launch runs, one after the other.", show_default="1")
    ] = None
    platform: Annotated[list[str] | None, typer.Option(help="Boards.", show_default="u55c")] = None
    seed: Annotated[list[int] | None, typer.Option(help="Seeds of the sampler.", show_default="0")] = None
    sampler: Annotated[
        list[str] | None, typer.Option(help="front, nsga2, tpe, qmc or random.", show_default="front")
    ] = None

    def request(self, client: "Client") -> dict[str, Any]:
        """As the service takes it; what is not given is left to it."""
        axes: dict[str, Sequence[Any] | None] = {
            "phases": self.phase,
            "lengths": self.length,
            "precisions": self.precision,
            "layers": self.layers,
            "platforms": self.platform,
            "seeds": self.seed,
            "samplers": self.sampler,
        }
        models = [model_reference(client, model) for model in self.model]
        return {"models": models, **{axis: values for axis, values in axes.items() if values}}


@app.command("add")
@grouped
def add(
    *,
    name: Annotated[str, typer.Argument(help="What the sweep is called.", metavar="NAME")],
    matrix: Matrix,
    cron: Annotated[
        str | None,
        typer.Option(help="When: minute hour day-of-month month day-of-week.", show_default="only by `sweep run`"),
    ] = None,
    zone: Annotated[str, typer.Option(help="Time zone of the schedule, like Europe/Berlin.")] = "UTC",
    budget: Annotated[int, typer.Option(min=1, help="Designs to evaluate in each exploration.")] = 200,
    objectives: Annotated[
        str, typer.Option(help="What each search makes small, two or three, as of explore.", metavar="NAME,NAME")
    ] = ",".join(DEFAULT),
    depth: options.Depth,
    priority: options.Priority = "low",
    tolerance: Annotated[str, typer.Option(help="Relative differences up to this count as none: 2% or 0.02.")] = "2%",
    misfire: Annotated[
        Literal["skip", "run-once"], typer.Option(help="What becomes of runs that were due while the farm was away.")
    ] = "skip",
    webhook: Annotated[str | None, typer.Option(help="Address to call when a run has ended.", metavar="URL")] = None,
    webhook_secret_file: secrets.WebhookSecretFile = None,
    url: options.Url = None,
    as_json: options.Json = False,
) -> None:
    """Store a sweep: one exploration for every combination of models, phases, lengths, precisions, boards, seeds.

    Its first run is the baseline. Examples:

        millrace sweep add nightly --cron "0 3 * * *" --zone Europe/Berlin --model gpt2 --budget 500

        millrace sweep add weekly --cron "0 22 * * 5" --model gpt2 --model llama --phase prefill --phase decode \\
            --length 64 --length 128 --csynth 4 --webhook https://hooks.example.org/millrace

        millrace sweep add before-release --model ./config.json --tolerance 0.5%
    """
    from millrace.wire import NewSweep, SweepMatrix

    request: dict[str, Any] = {
        "name": name,
        "cron": cron or _BY_HAND,
        "zone": zone,
        "misfire": misfire.replace("-", "_"),
        "enabled": cron is not None,
        "options": {
            "budget": budget,
            "objectives": [name.strip() for name in objectives.split(",")],
            "priority": priority,
            "tolerance": parse_tolerance(tolerance),
            **depth.request(),
        },
        "webhook": webhook,
        "webhook_secret": secrets.webhook_secret(webhook_secret_file),
    }
    with connect(url) as connection:
        client = connection.client
        made = client.add_sweep(NewSweep(**request, matrix=SweepMatrix(**matrix.request(client))), str(uuid4()))
    announce_all(made.warnings)
    if as_json:
        emit_json(made)
        return
    when = f"next run {local_time(made.next_at, made.zone)}" if made.enabled else "it runs by hand only"
    count = made.explorations
    console.print(f"stored [bold]{escape(name)}[/] as {made.id}: {count} exploration{'s' * (count != 1)}; {when}")
    console.print(f"the first run is the baseline: {program()} sweep run {escape(name)}", style="dim")


@app.command("list")
def list_sweeps(url: options.Url = None, as_json: options.Json = False, as_csv: options.Csv = False) -> None:
    """All sweeps with how their last run went and when the next one is.

    Examples:

        millrace sweep list
    """
    with look(url) as reader:
        found = reader.sweeps()
    if emit_list(found, as_json, as_csv):
        return
    if found:
        console.print(sweeps_table(found))
    else:
        example = f'{program()} sweep add nightly --cron "0 3 * * *" --model gpt2'
        console.print(f"there are no sweeps yet; make one: {example}")


@app.command("show")
def show(
    name: Annotated[str, typer.Argument(help="Name or id of a sweep, or id of a run.", metavar="NAME|RUN")],
    runs: Annotated[int, typer.Option(min=1, max=500, help="Runs to show.")] = 20,
    url: options.Url = None,
    as_json: options.Json = False,
) -> None:
    """The history of a sweep, or how one of its runs compares with its baseline.

    Examples:

        millrace sweep show nightly

        millrace sweep show run_0abc
    """
    with look(url) as reader:
        if is_run(name):
            _print_run(reader.sweep_run(name), as_json)
            return
        sweep, history = reader.sweep(name), reader.sweep_runs(name, runs)
    if as_json:
        emit_json({"sweep": sweep, "runs": history})
    else:
        console.print(history_view(sweep, history))


def is_run(key: str) -> bool:
    """Whether this is the id of a run, not the name of a sweep."""
    return _RUN_ID.fullmatch(key) is not None


@app.command("run")
def run(
    name: Name,
    wait: Annotated[bool, typer.Option("--wait/--no-wait", help="Wait for its end and print the comparison.")] = False,
    junit: Annotated[
        Path | None, typer.Option(help="With --wait: write JUnit's XML here, a case an exploration.", metavar="FILE")
    ] = None,
    summary: Annotated[
        Path | None, typer.Option(help="With --wait: write the comparison here as Markdown.", metavar="FILE")
    ] = None,
    url: options.Url = None,
    as_json: options.Json = False,
) -> None:
    """Run a sweep now, beside its schedule or from a cron of your own.

    Uses the service that runs, or starts one for the duration and waits. With --wait exit code 1: something got worse;
    3: it could not be finished. Examples:

        millrace sweep run nightly --wait

        millrace sweep run nightly --wait --junit sweep.xml --summary sweep.md

        0 3 * * * millrace sweep run nightly --wait --json > /var/log/millrace-sweep.json
    """
    if (junit or summary) and not wait:
        raise InvalidInputError("--junit and --summary are of a run that has ended: give --wait too")
    with connect(url) as connection:
        client = connection.client
        started = client.run_sweep(name, str(uuid4()))
        announce_all(started.warnings)
        if not (wait or connection.temporary):
            if as_json:
                emit_json(started)
            else:
                console.print(f"{started.id} has started; look at it with: {program()} sweep show {started.id}")
            return
        ended = _follow(client, started)
    if junit is not None:
        junit.write_text(junit_of(ended), encoding="utf-8")
    if summary is not None:
        summary.write_text(summary_of(ended), encoding="utf-8")
    _print_run(ended, as_json)
    raise typer.Exit(_CODES[ended.state])


def _follow(client: "Client", run: "SweepRun") -> "SweepRun":
    """The run once it has ended. What it is doing goes to stderr."""
    told = -1
    while run.state == "running":
        if run.ended != told:
            told = run.ended
            errors.print(f"  {run.id}: {told} of {run.explorations} explorations have ended")
        sleep(_POLL_SECONDS)
        run = client.sweep_run(run.id)
    return run


def _print_run(run: "SweepRun", as_json: bool) -> None:
    if as_json:
        emit_json(run)
    else:
        console.print(run_view(run))


@app.command("accept")
def accept(run: Run, url: options.Url = None, as_json: options.Json = False) -> None:
    """Take a run that regressed as the new baseline: what it lost was given up on purpose.

    Examples:

        millrace sweep accept run_0abc
    """
    with connect(url) as connection:
        found = connection.client.accept_run(run)
    _tell(found, as_json, f"{run} is the baseline of {found.sweep} now")


@app.command("cancel")
def cancel(run: Run, url: options.Url = None, as_json: options.Json = False) -> None:
    """Stop a run with its explorations.

    Examples:

        millrace sweep cancel run_0abc
    """
    with connect(url) as connection:
        found = connection.client.cancel_run(run)
    _tell(found, as_json, f"{run}: {mark(found.state)}")


@app.command("enable")
def enable(name: Name, url: options.Url = None, as_json: options.Json = False) -> None:
    """Run a sweep on its schedule again.

    Examples:

        millrace sweep enable nightly
    """
    _switch(name, True, url, as_json)


@app.command("disable")
def disable(name: Name, url: options.Url = None, as_json: options.Json = False) -> None:
    """Run a sweep by hand only; its runs are kept.

    Examples:

        millrace sweep disable nightly
    """
    _switch(name, False, url, as_json)


def _switch(name: str, enabled: bool, url: str | None, as_json: bool) -> None:
    from millrace.wire import SweepChange

    with connect(url) as connection:
        found = connection.client.change_sweep(name, SweepChange(enabled=enabled))
    when = f"next run {local_time(found.next_at, found.zone)}" if enabled else "runs by hand only"
    _tell(found, as_json, f"[bold]{escape(found.name)}[/]: {when}")


@app.command("remove")
def remove(name: Name, url: options.Url = None, as_json: options.Json = False) -> None:
    """Remove a sweep and its runs; the explorations stay.

    Examples:

        millrace sweep remove nightly
    """
    with connect(url) as connection:
        connection.client.remove_sweep(name)
    _tell({"removed": name}, as_json, f"removed [bold]{escape(name)}[/]; its explorations are kept")


def _tell(found: Any, as_json: bool, text: str) -> None:
    if as_json:
        emit_json(found)
    else:
        console.print(text)


def parse_tolerance(text: str) -> float:
    """`2%` or `0.02` as 0.02. Raises InvalidInputError."""
    try:
        value = float(text.removesuffix("%")) / (100 if text.endswith("%") else 1)
    except ValueError:
        value = -1.0
    if not 0 <= value < 1:
        raise InvalidInputError(f"--tolerance is {text!r}; write a share like 2% or 0.02, below 100%")
    return value
