"""`millrace demo`: the whole way once, on a real network: search, front, a reply that is proved against PyTorch."""

from typing import TYPE_CHECKING, Any, cast
from uuid import uuid4

import typer

from cli import options
from cli.commands.explore import follow_to_end, print_result
from cli.commands.generate import BoardName, run_on, show
from cli.errors import DONE, NO
from cli.output import console, errors
from cli.replies import Reader, by_objectives
from cli.service import Connection, connect, look
from cli.stages import Stages
from worker.program import program

if TYPE_CHECKING:
    from compiler.options import Precision
    from millrace.wire import Exploration

_REQUEST: dict[str, Any] = {
    "model": "gpt2",
    "workload": {"phase": "token", "length": 255, "precision": "w4a8", "batch": 1, "layers": 12},
    "platform": "u55c",
    "budget": 250,
    "seed": 0,
    "sampler": "front",
    "objectives": ["latency", "area"],  # what makes it fast saves energy too, for weights come from memory all the same
    "simulate": 3,  # the fastest, the smallest and the knee
    "calibration": 0,
    "verify": 0,
}
_PROMPT, _TOKENS = (464, 3290, 318, 257), 4  # few: the simulated board computes each of 124M weights
_LENGTH, _MORE = 128, 127  # tokens of a prompt, and behind the first of the reply: as many as the design has room for
_THEIRS = "StreamTensor measured 224 tokens/s with GPT-2 medium (355M) on a U55C (MICRO 2025, table 4)"


def demo(as_json: options.Json = False) -> None:
    """Explore designs of all of GPT-2 (124M) for the U55C and let the fastest reply, token by token as PyTorch does.

    It takes a few minutes. A second run shows what is stored. Exit code 1: a token differs from PyTorch's. Examples:

        millrace demo
    """
    with look(None) as reader:
        stored = next((e for e in reader.explorations() if _is_the_demo(e)), None)
        if stored is not None and stored.state == "done":
            when = f"{stored.created_at:%Y-%m-%d %H:%M} UTC"
            errors.print(f"this was done before ({when}): what is stored is shown, nothing is done again")
            raise typer.Exit(_show(reader, stored, reader.address, as_json))
    with connect(None) as connection:
        exploration = _explore(connection, stored, as_json)
        staying = None if connection.temporary else connection.client.address
        code = _show(connection.client, exploration, staying, as_json)
        code = code or _reply(connection.client, exploration, as_json)
    raise typer.Exit(code)


def _show(reader: Reader, exploration: "Exploration", address: str | None, as_json: bool) -> int:
    code = print_result(reader, exploration, as_json)
    front = by_objectives(reader.front(exploration.id))
    if front and not as_json:
        _print_address(address)
    return code


def _is_the_demo(exploration: "Exploration") -> bool:
    from millrace.encoding import to_json

    names = [objective.name for objective in exploration.objectives]
    found = {**to_json(exploration), "model": exploration.model.name, "objectives": names}
    return all(found[name] == value for name, value in _REQUEST.items())


def _explore(connection: Connection, stored: "Exploration | None", quiet: bool) -> "Exploration":
    from millrace.wire import NewExploration

    errors.print(
        "exploring GPT-2 (124M), from a token to the next: 12 layers, head, W4A8, Alveo U55C; Ctrl-C keeps what is done"
    )
    errors.print(f"watch it in the dashboard meanwhile: {connection.client.address}")
    if stored is None:
        identifier = connection.client.start_exploration(NewExploration(**_REQUEST), str(uuid4())).id
    else:
        identifier = stored.id
        connection.client.resume(identifier)
        errors.print(f"going on where it stopped: {stored.evaluated} designs are stored")
    return follow_to_end(connection, identifier, quiet)


def _reply(reader: Reader, exploration: "Exploration", as_json: bool) -> int:
    """Tokens by the fastest design, and what a longer reply takes."""
    from compiler.generation import GenerateOptions, prepare, replied
    from compiler.options import Knobs
    from compiler.platforms.platform import load_platform
    from worker.settings import Settings

    fastest = reader.design(exploration.picks[0].design_id)
    shape = exploration.workload
    options = GenerateOptions(_PROMPT, _TOKENS, shape.layers, shape.length, cast("Precision", shape.precision))
    errors.print(f"compiling design {fastest.number}, the fastest, for the simulated board, with seeded weights")
    with Stages(quiet=as_json) as stages:
        prepared = prepare(
            exploration.model.name,
            options,
            Knobs.from_json(fastest.knobs),
            load_platform(exploration.platform),
            Settings().bundle_dir,
            stages.start,
        )
    generation = run_on(BoardName.SIMULATED, prepared, as_json)
    if not as_json:
        show(generation, prepared)
        long = {metric.name: metric.value for metric in replied(prepared, _LENGTH, _MORE).metrics}
        console.print(
            f"{_LENGTH} tokens of prompt, {_MORE + 1} of reply: [bold]{long['tokens_per_second']:,.0f} tokens/s[/], "
            f"the first after {long['first_token_time']:.1f} ms [dim]simulate[/]"
        )
        console.print(f"[dim]{_THEIRS}[/]")
    return DONE if generation.passed else NO


def _print_address(address: str | None) -> None:
    from worker.settings import Settings

    if address is not None:
        console.print(f"The dashboard is at [bold]{address}[/]")
        return
    settings = Settings()
    console.print(f"See it all in the dashboard: [bold]{program()} up[/], then http://{settings.host}:{settings.port}")
