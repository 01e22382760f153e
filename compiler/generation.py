"""A whole network on a board: export it, compile a design of it, run that, compare with PyTorch."""

import json
import shutil
from collections.abc import Callable, Mapping, Sequence
from contextlib import closing
from dataclasses import asdict, dataclass
from hashlib import blake2b
from math import inf, isfinite
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from compiler.design_dir import OnStage, read_design
from compiler.errors import InvalidInputError, ToolError, Violation
from compiler.frontend.bundle import Bundle, import_model
from compiler.frontend.cached import make_once
from compiler.frontend.files import sources_digest
from compiler.frontend.graph_json import graph_from_json
from compiler.frontend.models.config import ModelSource, resolve_model
from compiler.frontend.models.inputs import cache_shape
from compiler.frontend.network import check_request, import_network
from compiler.frontend.network_request import NetworkRequest
from compiler.frontend.process import importing
from compiler.host.design import load_design
from compiler.host.network import DamagedError, Network
from compiler.host.session import OnLaunch, ended, generate
from compiler.metrics import Metric
from compiler.options import Knobs, Precision, Workload, context_of
from compiler.pipeline import compile_design
from compiler.platforms.platform import Platform
from compiler.proof.launches import GenerationChecks, Witness
from compiler.replies import whole_reply
from compiler.simulator.board.build import FOLDER as BOARD_FOLDER
from compiler.simulator.board.build import build_board
from compiler.simulator.csim.build import SHORT_ITERATIONS
from compiler.whole_token import Lengths, Reply, least_bytes, positions_of

# How far hidden states may be off after one layer, of their largest magnitude: more adds up like a random walk. Sums in
# another order change an activation of 8 bits by a step now and then; a part of a block that is wrong changes the
# states by tens of percent. Measured with float noise in PyTorch itself, w4a8: 0.018 after 2 layers, 0.049 after 24.
TOLERANCE: dict[Precision, float] = {"f32": 1e-3, "w8a8": 0.02, "w4a8": 0.02, "w8a8kv8": 0.02, "w4a8kv8": 0.02}
# What decides what a design is; not what was built of it, which may come later.
_SOURCES = ("**/*.py", "targets/support/*", "simulator/**/*.h", "simulator/**/*.cpp", "platforms/*.toml")


@dataclass(frozen=True)
class GenerateOptions:
    """What to generate: `tokens` after `prompt`, fewer where one of them is `end`, by the first `layers` layers (None:
    all), with a context of `length` (None: as much as is needed). `then`: what is said behind that, each followed by
    another reply.
    """

    prompt: tuple[int, ...]
    tokens: int
    layers: int | None = None
    length: int | None = None
    precision: Precision = "w4a8"
    end: int | None = None
    then: tuple[tuple[int, ...], ...] = ()


@dataclass(frozen=True)
class Prepared:
    """A network with its design, built for the simulated board; `end` is the token that ends a reply, if there is one:
    the design does not depend on it.
    """

    source: ModelSource
    request: NetworkRequest
    network: Path
    design: Path
    end: int | None = None


@dataclass(frozen=True)
class Generation:
    """What the board generated beside PyTorch's quantised reference.

    `hidden_error` is the largest difference of the hidden states that the tokens were chosen from, relative to their
    largest magnitude, up to the first token that differs: behind it both go on with another text. `margins` is by how
    much each of the reference's tokens was ahead of its next, in standard deviations of the logits. `metrics` are of
    the whole (first) reply (`compiler.whole_token`), without the host's copies, and rest on what is `assumed`.
    `launches` of kernels read what they should, up to the `wrong_launch`, if there is one. `exceeds` are the platform's
    budgets that the design is over: where there are some, no card runs it, and its metrics are of nothing that can be
    built. `one_launch` makes a reply, else each token takes one of every kernel.
    """

    tokens: tuple[int, ...]
    reference: tuple[int, ...]
    hidden_error: float
    margins: tuple[float, ...]
    metrics: tuple[Metric, ...]
    tolerance: float
    launches: int = 0
    wrong_launch: str | None = None
    assumed: str = ""
    exceeds: tuple[str, ...] = ()
    one_launch: bool = True

    @property
    def first_difference(self) -> int | None:
        """Index of the first token that is not the reference's."""
        pairs = enumerate(zip(self.tokens, self.reference, strict=False))  # one ends before the other by such a token
        return next((index for index, (got, expected) in pairs if got != expected), None)

    @property
    def equal(self) -> bool:
        return self.first_difference is None

    @property
    def within_rounding(self) -> bool:
        """Whether the hidden states differ by no more than rounding explains. A token may differ all the same."""
        return self.hidden_error <= self.tolerance

    @property
    def passed(self) -> bool:
        return self.equal and self.within_rounding and self.wrong_launch is None

    def to_json(self) -> dict[str, Any]:
        return {
            **asdict(self),
            "hidden_error": self.hidden_error if isfinite(self.hidden_error) else None,
            "equal": self.equal,
            "first_difference": self.first_difference,
            "within_rounding": self.within_rounding,
            "passed": self.passed,
            "metrics": [metric.to_json() for metric in self.metrics],
        }


def request_of(source: ModelSource, options: GenerateOptions) -> NetworkRequest:
    """The request with lengths filled in. Raises InvalidInputError where they do not fit each other or the model."""
    turns = (options.prompt, *options.then)
    if not all(turns) or options.tokens < 1:
        raise InvalidInputError("there must be at least one token in the prompt, and one to generate")
    words = source.config.vocab_size
    if options.end is not None and not 0 <= options.end < words:
        raise InvalidInputError(f"end is {options.end}; {source.name} has tokens 0 to {words - 1}")
    given, made = sum(map(len, turns)), len(turns) * options.tokens
    needed = given + made - 1  # the last token is not fed back
    if options.length is not None and options.length < needed:
        raise InvalidInputError(
            f"length is {options.length}; {given} tokens of the prompt and {made} new ones need {needed}"
        )
    length = options.length or context_of(needed)
    layers = source.config.layers if options.layers is None else options.layers
    end = options.end if options.then else None  # else it only leaves out the rest of the reference
    request = NetworkRequest(options.precision, layers, options.prompt, options.tokens, length, options.then, end)
    check_request(source, request)
    return request


def prepare(
    model: str | Path,
    options: GenerateOptions,
    knobs: Knobs,
    platform: Platform,
    cache: Path,
    say: OnStage,
    look: Callable[[Bundle], None] | None = None,
) -> Prepared:
    """Export the network, compile and build its design; all from `cache` where it is there. `look` is shown what the
    design is made of before that is compiled.

    Raises InvalidInputError, UnsupportedError, ToolError, and what `look` raises.
    """
    source = resolve_model(model)
    request = request_of(source, options)
    workload = Workload(source.name, "token", request.length, request.precision, layers=request.layers)
    with importing(source, cache) as importer:
        network = import_network(source, request, cache, importer, say)
        bundle = import_model(model, workload, cache, say, importer=importer)
    if look is not None:
        look(bundle)
    return Prepared(source, request, network, _design(bundle, knobs, platform, cache, say), options.end)


def run(prepared: Prepared, on_launch: OnLaunch, on_token: Callable[[int], None]) -> Generation:
    """Generate on the simulated board. Raises DeadlockError and the other errors of C simulation, RunError, and
    InvalidInputError where a file of the network is not as it was exported.
    """
    try:
        return _run(prepared, on_launch, on_token)
    except DamagedError as error:
        raise InvalidInputError(str(error)) from error


def _run(prepared: Prepared, on_launch: OnLaunch, on_token: Callable[[int], None]) -> Generation:
    network, design = Network(prepared.network), load_design(prepared.design)
    board = Witness()
    device = board.device(0)
    tokens: list[int] = []
    states: list[Any] = []
    asked, end = prepared.request.tokens, prepared.end
    with closing(device):
        for step in generate(board, device, network, design, prepared.design, asked, on_launch, end):
            tokens.append(step.token)
            states.append(step.hidden)
            on_token(step.token)
    reference = network.reference()
    if not prepared.request.then:
        reference = {name: array[: ended(reference["tokens"].tolist(), end)] for name, array in reference.items()}
    checks = GenerationChecks(network, design, kept_shape(prepared), board.launches, asked, end)
    wrong = checks.run(tokens)
    reply = replied(prepared, len(prepared.request.prompt), ended(tokens[:asked], end) - 1)
    return Generation(
        tuple(tokens),
        tuple(int(token) for token in reference["tokens"]),
        hidden_error(tokens, np.stack(states), reference),
        tuple(float(margin) for margin in reference["margin"]),
        reply.metrics,
        tolerance_of(prepared.request),
        checks.checked,
        wrong,
        reply.assumed,
        exceeded(prepared.design),
        reply.one_launch,
    )


def tolerance_of(request: NetworkRequest) -> float:
    """How far its hidden states may be off, of their largest magnitude."""
    return TOLERANCE[request.precision] * request.layers**0.5


def replied(prepared: Prepared, prompt: int, steps: int) -> Reply:
    """What a reply of so many tokens behind the first takes, after a prompt of so many."""
    graph = graph_from_json(json.loads((prepared.design / "tb" / "graph.json").read_text()))
    lengths = Lengths(prompt, steps)
    return whole_reply(prepared.design, lengths, least_bytes(graph, lengths.later))


def said(prepared: Prepared, tokens: Sequence[int]) -> list[int]:
    """All prompts, each with its part of the `tokens` behind it."""
    ids = list[int]()
    for prompt in prepared.request.turns:
        made = ended(tokens[: prepared.request.tokens], prepared.end)
        ids += [*prompt, *tokens[:made]]
        tokens = tokens[made:]
    return ids


def exceeded(design: Path) -> tuple[str, ...]:
    """Budgets of its platform that the design in this directory is over, in words: "hbm_ports 46 of 32"."""
    return tuple(Violation(**found).text for found in read_design(design)["violations"])


def kept_shape(prepared: Prepared) -> tuple[int, ...]:
    """Of the keys of one layer that stay on the board, and of its values."""
    return cache_shape(prepared.source.config, prepared.request.length)


def hidden_error(tokens: Sequence[int], states: NDArray[Any], reference: Mapping[str, NDArray[Any]]) -> float:
    """Largest difference of `states` [tokens, hidden] from the reference's, relative to their largest magnitude, up to
    the first token that differs. Infinite where a state is not finite.
    """
    both = min(len(tokens), len(reference["tokens"]))
    differing = np.flatnonzero(np.asarray(tokens[:both]) != reference["tokens"][:both])
    count = int(differing[0]) + 1 if len(differing) else both
    expected = reference["hidden"][:count]
    error = float(np.abs(states[:count] - expected).max() / np.abs(expected).max())
    return error if isfinite(error) else inf


def copy_for_board(prepared: Prepared, out: Path) -> None:
    """Write network/ and design/ into `out`: all that `host/generate.py` needs on a board's machine.

    Raises InvalidInputError where `out` holds something, ToolError where there is no room for it: nothing is left then.
    """
    if out.exists() and (not out.is_dir() or any(out.iterdir())):
        raise InvalidInputError(f"{out} exists and is not empty; name another directory")
    sources = {"network": prepared.network, "design": prepared.design}
    try:
        for name, source in sources.items():
            shutil.copytree(source, out / name, ignore=shutil.ignore_patterns(BOARD_FOLDER))
    except shutil.Error as error:  # of several files: (from, to, why) of each
        for name in sources:
            shutil.rmtree(out / name, ignore_errors=True)
        _, file, why = error.args[0][0]
        raise ToolError(
            f"cannot write {file}: {why}; free space, or name another directory, and run it again"
        ) from error


def _design(bundle: Bundle, knobs: Knobs, platform: Platform, cache: Path, say: OnStage) -> Path:
    """The design directory of a bundle, compiled and built for the simulated board where that was not done before."""
    parts = [bundle.directory.name, knobs.to_json(), platform.text or platform.name, _compiler_version()]
    key = blake2b(json.dumps(parts, sort_keys=True).encode(), digest_size=16).hexdigest()

    def make(folder: Path) -> None:
        compile_design(bundle, knobs, platform, folder, say)
        say("build with g++")
        iterations = bundle.graph.iterations * (positions_of(bundle.graph) or 1)
        build_board(folder, is_short=iterations < SHORT_ITERATIONS)

    return make_once(cache, f"design-{key}", make)


def _compiler_version() -> str:
    """Digest of the compiler's sources: a changed compiler never serves an old design."""
    return sources_digest(_SOURCES)
