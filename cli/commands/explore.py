"""`millrace explore`: search the design space of a model."""

from dataclasses import fields
from math import isfinite, nan
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any
from uuid import uuid4

import typer
from rich.markup import escape

from cli import complete, options
from cli.commands.model import default_name, require_model
from cli.errors import DONE, FAILED, NO, InterruptedExplorationError
from cli.front import print_front, print_reply
from cli.grouped import grouped
from cli.output import console, emit_json, errors
from cli.replies import Reader, by_objectives
from cli.service import Connection, announce_all, connect
from cli.watch import follow
from compiler.errors import InvalidInputError
from compiler.frontend.inputs.source import format_of
from millrace.states import ENDED
from worker.program import program

if TYPE_CHECKING:
    from millrace.client import Client
    from millrace.wire import AtMost, Exploration

Model = Annotated[
    str | None,
    typer.Argument(
        help="Built-in name, stored model, or path to a config.json, .onnx or .mlir.",
        metavar="MODEL",
        autocompletion=complete.models,
    ),
]


@grouped
def explore(
    *,
    model: Model = None,
    network: options.Network,
    platform: options.Platform = "u55c",
    budget: Annotated[int, typer.Option(min=1, help="Designs to evaluate.")] = 200,
    seed: Annotated[int, typer.Option(min=0, help="Seed of the sampler.")] = 0,
    sampler: Annotated[str, typer.Option(help="front, nsga2, tpe, qmc or random.")] = "front",
    islands: Annotated[
        int, typer.Option(min=1, help="Searches side by side that share the budget, on as many nodes as are free.")
    ] = 1,
    objectives: Annotated[
        str | None,
        typer.Option(
            help="What the search makes small, two or three: latency, energy, area (the largest share of a resource), "
            "power, lut, dsp, hbm_ports, mean_latency (of all positions), prompt_time, time_per_token, input_interval "
            "and others.",
            metavar="NAME,NAME",
            show_default="latency,energy; of whole replies prompt_time, too",
        ),
    ] = None,
    at_most: Annotated[
        list[str] | None,
        typer.Option(
            help="What a design may have: lut, ff, dsp, bram36 or uram in percent of the board, hbm_ports, dies=1, "
            "latency (us), energy (uJ), power (W), area (%) and other objectives; may be repeated.",
            metavar="NAME=MOST",
            show_default="all of the board",
        ),
    ] = None,
    samples: options.Samples = None,
    depth: options.Depth,
    priority: options.Priority = "normal",
    label: options.Label,
    require_nodes: Annotated[
        bool, typer.Option("--require-nodes", help="Refuse stages that no node of the farm would run now.")
    ] = False,
    resume: Annotated[
        str | None,
        typer.Option(help="Go on with this exploration.", metavar="EXPLORATION", autocompletion=complete.explorations),
    ] = None,
    detach: Annotated[bool, typer.Option("--detach/--follow", help="Print the id and leave.")] = False,
    url: options.Url = None,
    as_json: options.Json = False,
) -> None:
    """Search for designs of MODEL that trade latency against energy, or what --objectives names, simulate the best, and
    verify some of these.

    Uses the service that runs, or starts one for the duration. Exit code 1: no feasible design, or a verified one
    differs from the reference. Examples:

        millrace explore gpt2 --context 64 --budget 500

        millrace explore gpt2 --objectives latency,energy,area

        millrace explore gpt2 --at-most lut=40% --at-most hbm_ports=8

        millrace explore gpt2 --at-most dies=1 --at-most energy=400

        millrace explore ./config.json --phase prefill --seq 128 --precision f32 --detach

        millrace explore gpt2 --csynth 8 --cosim 2 --vitis 2023.2 --priority high --name gpt2-on-vitis --tag paper

        millrace explore gpt2 --budget 4000 --islands 8

        millrace explore net.onnx --precision w8a8 --samples inputs.npz

        millrace explore --resume latest
    """
    if (model is None) == (resume is None):
        raise InvalidInputError("name a MODEL to explore, or an exploration to go on with: --resume EXPLORATION")
    from millrace.wire import NewExploration

    workload, bounds = network.request(), _bounds(at_most or [])
    with connect(url) as connection:
        if detach and connection.temporary:
            raise InvalidInputError("--detach needs a service that stays: start one with `millrace up` first")
        client = connection.client
        if resume is not None:
            started = client.exploration(resume)
            client.resume(started.id)
        else:
            request: dict[str, Any] = {
                "model": model_reference(client, model or "", samples),
                "workload": workload,
                "platform": platform,
                "budget": budget,
                "seed": seed,
                "sampler": sampler,
                "islands": islands,
                "objectives": None if objectives is None else [name.strip() for name in objectives.split(",")],
                "at_most": bounds,
                "priority": priority,
                "require_nodes": require_nodes,
                **depth.request(),
                **label.request(),
            }
            started = client.start_exploration(NewExploration(**request), str(uuid4()))
        announce_all(started.warnings)
        if detach:
            _show_detached(client, started.id, as_json)
            return
        exploration = follow_to_end(connection, started.id, quiet=as_json)
        code = print_result(client, exploration, as_json)
    raise typer.Exit(code)


def _bounds(given: list[str]) -> "AtMost":
    """What a design may have, of `NAME=MOST`. Raises InvalidInputError."""
    from millrace.wire import AtMost

    known, most = [field.name for field in fields(AtMost)], dict[str, Any]()
    for text in given:
        name, _, value = text.partition("=")
        try:
            most[name] = int(value) if name in ("hbm_ports", "dies") else float(value.removesuffix("%"))
        except ValueError:
            most[name] = nan
        if name not in known or not isfinite(most[name]):
            raise InvalidInputError(
                f"--at-most {text!r}: write one of {', '.join(known)}, then = and how much: lut=40%, hbm_ports=8 "
                "or energy=400"
            )
    return AtMost(**most)


def model_reference(client: "Client", model: str, samples: Path | None = None) -> str:
    """What the service calls `model`; a path to a config.json or a network is stored first, with its samples. Raises
    InvalidInputError for samples of what is stored already.
    """
    path = Path(model)
    if path.suffix != ".json" and format_of(model) is None and not path.exists():
        if samples is not None:
            raise InvalidInputError(f"--samples comes with a network's file: millrace model add FILE --name {model}")
        return model
    return client.add_model(require_model(path), default_name(path), samples).id


def follow_to_end(connection: Connection, exploration: str, quiet: bool) -> "Exploration":
    """Watch until the exploration has ended. Ctrl-C says how it goes on."""
    client = connection.client
    found = client.exploration(exploration)
    try:
        follow(client.events(exploration), found, quiet)
    except KeyboardInterrupt:
        raise InterruptedExplorationError(found.name, None if connection.temporary else client.address) from None
    return client.exploration(exploration)


def print_result(reader: Reader, exploration: "Exploration", as_json: bool, every: bool = False) -> int:
    """Print the front of an exploration, so far where it still runs, a group as one design or `every` design; the exit
    code that it means.
    """
    front, groups = by_objectives(reader.front(exploration.id)), reader.groups(exploration.id)
    running = exploration.state not in ENDED
    if as_json:
        emit_json({"exploration": exploration, "front": front, "groups": groups})
    elif front:
        print_front(exploration, reader.scatter(exploration.id), front, groups, every)
        if exploration.workload.phase == "token" and exploration.picks:
            print_reply(reader.design(exploration.picks[0].design_id))
    elif exploration.state == "done":
        console.print(f"none of the {exploration.evaluated} designs evaluated fits the platform")
    elif exploration.state != "failed":
        progress = f"{exploration.evaluated} of {exploration.budget} designs evaluated"
        console.print(f"the front is empty so far: {exploration.state}, {progress}")
    if running:
        errors.print(f"{exploration.name} still runs ({exploration.state}): this is what it has found so far")
        return DONE
    if exploration.state == "failed":
        errors.print(f"[red]the exploration failed:[/] {exploration.error}")
        return FAILED
    refuted = any(design.csim and design.csim.passed is False for design in front)
    broken = [design for design in front if design.csim and design.csim.state == "failed"]
    for design in broken:
        named, why = escape(f"{exploration.name}#{design.number}"), escape(_csim_error(reader, design.id))
        errors.print(f"[red]the C simulation of {named} could not run:[/] {why}")
    if refuted or not front:
        return NO
    return FAILED if broken else DONE


def _csim_error(reader: Reader, design: str) -> str:
    builds = [build for build in reader.design(design).builds if build.stage == "csim"]
    return (builds[0].error if builds else None) or "see its log"  # the newest build comes first


def _show_detached(client: "Client", exploration: str, as_json: bool) -> None:
    found = client.exploration(exploration)
    if as_json:
        emit_json(found)
        return
    how = f"watch it at {client.address} or with: {program()} explore --resume {found.name}"
    console.print(f"{found.name} ({found.id}) is queued; {how}", markup=False)
