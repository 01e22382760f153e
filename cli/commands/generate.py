"""`millrace generate`: tokens from the whole network on a board, compared with PyTorch."""

from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, cast

import typer
from rich.markup import escape
from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn

from cli import complete, options
from cli.commands.compile import Assignments, KnobsFile, advice_on, read_knobs
from cli.errors import DONE, NO
from cli.output import console, emit_json, errors
from cli.prompts import Tokenizer, read_prompt
from cli.service import announce_all, look
from cli.sources import source_of
from cli.stages import Stages
from compiler.errors import InvalidInputError
from compiler.frontend.models.config import BUILT_IN
from millrace.numbers import number
from worker.program import program

if TYPE_CHECKING:
    from compiler.frontend.bundle import Bundle
    from compiler.generation import Generation, Prepared
    from compiler.options import Precision


Model = Annotated[
    str | None,
    typer.Argument(
        help=f"Built-in name ({', '.join(BUILT_IN)}), stored model, or path to a config.json.",
        autocompletion=complete.models,
    ),
]


class BoardName(StrEnum):
    """What runs the kernels."""

    SIMULATED = "simulated"


def generate(
    model: Model = None,
    design: Annotated[
        str | None,
        typer.Option(
            help="A design of an exploration (latest#915): its knobs, and its model, precision and board where these "
            "are not given.",
            metavar="DESIGN",
            autocompletion=complete.designs,
        ),
    ] = None,
    tokens: Annotated[int, typer.Option(min=1, help="How many to generate.")] = 16,
    end: Annotated[
        int | None,
        typer.Option(
            help="Id of the token that ends the reply before: behind it the card makes none.",
            metavar="ID",
            show_default="none",
        ),
    ] = None,
    layers: Annotated[int | None, typer.Option(min=1, help="Only the first layers.", show_default="all")] = None,
    board: Annotated[BoardName, typer.Option(help="What runs the kernels.")] = BoardName.SIMULATED,
    prompt: Annotated[
        str | None,
        typer.Option(
            help="Token ids as 1,2,3; or text, if the model's folder has a tokenizer.json.", show_default="8 drawn ids"
        ),
    ] = None,
    then: Annotated[
        list[str] | None,
        typer.Option(
            help="What is said behind the reply, which gets another one; may be given several times.", metavar="PROMPT"
        ),
    ] = None,
    seed: Annotated[int, typer.Option(help="Of the prompt that is drawn without --prompt.")] = 0,
    length: Annotated[
        int | None, typer.Option(min=2, help="Context of the design.", show_default="what is needed")
    ] = None,
    precision: Annotated[
        options.PrecisionName | None,
        typer.Option(help="Number formats of weights and activations.", show_default="w4a8, or the design's"),
    ] = None,
    platform: Annotated[
        str | None,
        typer.Option(help="The board, or a .toml file that describes one.", show_default="u55c, or the design's"),
    ] = None,
    knobs_file: KnobsFile = None,
    assignments: Assignments = None,
    out: Annotated[
        Path | None, typer.Option("--out", "-o", help="Also write what a real board needs.", metavar="DIR")
    ] = None,
    url: options.Url = None,
    as_json: options.Json = False,
) -> None:
    """Generate tokens with MODEL, by a design with the whole network in it: one launch makes the whole reply.

    The simulated board computes what the emitted C++ does, through the host program that a real board runs. Its tokens
    are compared with those of the quantised PyTorch network. Times are simulated cycles, never seconds of this machine.

    Exit code 1: a token differs from PyTorch's, or the hidden states differ by more than rounding explains.

    Examples:

        millrace generate gpt2-medium --layers 2 --tokens 16 --board simulated

        millrace generate ./my-llama --prompt "Once upon a time" --layers 4

        millrace generate gpt2 --layers 1 --prompt 464,3290 --precision f32 --json

        millrace generate gpt2 --layers 1 --tokens 100 --end 50256 --then 464,3290

        millrace generate --design latest#915 --layers 2
    """
    from compiler.frontend.models.config import resolve_model
    from compiler.generation import GenerateOptions, copy_for_board, prepare
    from compiler.platforms.platform import named_platform
    from worker.settings import Settings

    asked = _asked(design, url, knobs_file)
    if (model := model or asked.model) is None:
        raise InvalidInputError("name a MODEL, or a design of an exploration with --design")
    knobs, settings = read_knobs(knobs_file, assignments or [], asked.knobs), Settings()
    target = named_platform(platform or asked.platform)

    def advise(bundle: "Bundle") -> None:
        announce_all(advice_on(bundle, knobs, assignments or [], target))

    with source_of(model, settings) as source:
        tokenizer = Tokenizer.find(source)
        ids = read_prompt(prompt, seed, resolve_model(source).config.vocab_size, tokenizer)
        behind = tuple(read_prompt(text, seed, 0, tokenizer) for text in then or ())
        form = asked.precision if precision is None else precision.value
        wanted = GenerateOptions(ids, tokens, layers, length, form, end, behind)
        with Stages(quiet=as_json) as stages:
            prepared = prepare(source, wanted, knobs, target, settings.bundle_dir, stages.start, advise)
    generation = run_on(board, prepared, as_json)
    if out is not None:
        copy_for_board(prepared, out)
    if as_json:
        facts = {"model": prepared.source.name, "board": board.value, **prepared.request.to_json(), "end": prepared.end}
        emit_json({"request": facts, **generation.to_json()})
    else:
        show(generation, prepared, tokenizer, out)
    raise typer.Exit(DONE if generation.passed else NO)


@dataclass(frozen=True)
class _Asked:
    """What holds where no option says otherwise: of a design, or the usual."""

    model: str | None = None
    knobs: dict[str, Any] | None = None
    precision: "Precision" = "w4a8"
    platform: str = "u55c"


def _asked(design: str | None, url: str | None, knobs_file: Path | None) -> _Asked:
    if design is None:
        return _Asked()
    if knobs_file is not None:
        raise InvalidInputError("a design has its knobs: leave out --knobs, or --design")
    with look(url) as reader:
        found = reader.design(design)
        of = reader.exploration(found.exploration_id)
    return _Asked(of.model.name, found.knobs, cast("Precision", of.workload.precision), of.platform)


def run_on(board: BoardName, prepared: "Prepared", quiet: bool) -> "Generation":
    """Generate with a progress bar of tokens, which are printed as they come."""
    from compiler.generation import run

    columns = (TextColumn("{task.description}"), BarColumn(), TextColumn("{task.completed}/{task.total} tokens"))
    with Progress(*columns, TimeElapsedColumn(), console=errors, disable=quiet, transient=True) as progress:
        most = prepared.request.tokens * len(prepared.request.turns)
        task = progress.add_task(f"{board.value} board", total=most)
        made: list[int] = []

        def on_launch(phase: str) -> None:
            progress.update(task, completed=len(made), description=f"{phase}, token {len(made) + 1}")

        def on_token(token: int) -> None:
            made.append(token)
            if not quiet:
                console.print(f"token {len(made):>3}  {token}")

        return run(prepared, on_launch, on_token)


def show(
    generation: "Generation", prepared: "Prepared", tokenizer: Tokenizer | None = None, out: Path | None = None
) -> None:
    """Print what was made, whether it is PyTorch's, and what it takes."""
    from compiler.generation import said

    if tokenizer is not None:
        console.print(tokenizer.decode(said(prepared, generation.tokens)), markup=False)
    for line in _verdict(generation, ends=generation.tokens[-1] == prepared.end):
        console.print(line)
    for metric in generation.metrics:
        name = metric.name.replace("_", " ")
        console.print(f"{name}: {number(metric.value)} {metric.unit} [dim]{metric.fidelity}[/]")
    console.print(f"[dim]assumed: {generation.assumed}; the host's copies are not in it[/]")
    for over in generation.exceeds:
        console.print(f"[yellow]exceeds the platform, so no card runs it:[/] {over}")
    if out is not None:
        console.print(f"written to {out}; on the machine with the board: python3 {out}/design/host/generate.py --help")


def _verdict(generation: "Generation", *, ends: bool) -> list[str]:
    """Whether the tokens are PyTorch's, by how much they were decided, and what a difference means."""
    wrong = generation.first_difference
    kinds = len(set(generation.reference))
    if wrong is None:
        head = f"[green]equal[/] to the quantised PyTorch reference: all {len(generation.tokens)} tokens"
        lines = [f"{head}, {kinds} distinct{', the last of which ends the reply' if ends else ''}"]
    else:
        what = f"{generation.tokens[wrong]} for {generation.reference[wrong]}"
        ahead = f"which was ahead by {generation.margins[wrong]:.2g} standard deviations"
        lines = [f"[red]DIFFERENT[/] from PyTorch from token {wrong + 1} on: {what}, {ahead}"]
    lines.append(f"smallest margin of the reference: {min(generation.margins):.2g} standard deviations of its logits")
    lines.append(
        f"largest difference of hidden states: {generation.hidden_error:.2g} of their largest magnitude, "
        f"{generation.tolerance:g} allowed"
    )
    if generation.wrong_launch is None:
        lines.append(f"all {generation.launches} launches of kernels read what they should: weights, position, cache")
    else:
        lines.append(f"[red]the host program is wrong[/]: {escape(generation.wrong_launch)}")
    if not generation.one_launch:
        lines.append(
            "[yellow]a launch of every kernel for each token[/]: only a design of one kernel makes a reply in one"
        )
    if not generation.within_rounding:
        lines.append(f"[red]more than rounding explains[/]: check each block with `{program()} csim`")
    elif wrong is not None:
        lines.append("within rounding: two tokens were nearly tied. Another --prompt or --seed is another check")
    return lines
