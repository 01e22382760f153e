"""Exports a whole network for the host program: weights of every layer, its inputs, and PyTorch's own tokens.

The activations' scales come from one run of the f32 network on the prompt. The design is loaded with them, whatever it
was imported with, and the reference uses them, so the integers are the same everywhere. Runs in the worker.
"""

import json
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from compiler.errors import UnsupportedError
from compiler.frontend.models.config import ModelSource
from compiler.frontend.models.gpt2_config import Gpt2Config
from compiler.frontend.models.inputs import block_inputs, network_tables
from compiler.frontend.models.language_model import LanguageModel
from compiler.frontend.network_request import NetworkRequest
from compiler.frontend.quantise import WeightOf, in_floats, linear_weight
from compiler.frontend.quantise_attention import in_precision
from compiler.frontend.torch_types import tensor_of
from compiler.frontend.weights import fill_from_checkpoint, fill_seeded
from compiler.host.network import DESCRIPTION, DIGESTS, Description, digest

OnProgress = Callable[[str], None]
Cache = list[tuple[Tensor, Tensor]]


class Prefill(LanguageModel):
    """A language model as a function of a prompt."""

    def forward(self, tokens: Tensor) -> Tensor:
        """Scores [1, tokens, vocabulary] of what follows each token."""
        hidden, _ = run_layers(self, tokens, None)
        return self.logits(hidden)


@dataclass(frozen=True)
class Reference:
    """What the PyTorch network generates: `hidden` [tokens, hidden] is what each token was chosen from, `margin` how
    far its logit is above the next one, in standard deviations of the logits.
    """

    tokens: NDArray[np.int64]
    hidden: NDArray[np.float32]
    margin: NDArray[np.float32]


def export_network(source: ModelSource, request: NetworkRequest, folder: Path, on_progress: OnProgress) -> None:
    """Write what `compiler.host.network` reads into `folder`. Raises InvalidInputError where weights do not fit."""
    config = source.config
    if isinstance(config, Gpt2Config) and config.scale_attn_by_inverse_layer_idx and request.layers > 1:
        raise UnsupportedError(
            f"{source.name} scales attention differently in each layer (scale_attn_by_inverse_layer_idx), and one "
            "block design serves all layers: generate with --layers 1"
        )
    on_progress(f"building {request.layers} layer(s) of {source.name}")
    model = build_model(source, request)
    on_progress("generating with the PyTorch reference")
    reference = greedy(model, request)
    np.savez(folder / "reference.npz", allow_pickle=False, **asdict(reference))
    on_progress("writing the network")
    _write_outside(model, request, folder)
    for layer in range(request.layers):
        np.savez(folder / f"layer-{layer:02}.npz", allow_pickle=False, **_layer(model, layer))
    description = Description(source.name, min(request.length, config.positions), **asdict(request))
    digests = {file.name: digest(file) for file in sorted(folder.glob("*.np[yz]"))}
    (folder / DESCRIPTION).write_text(json.dumps({**asdict(description), DIGESTS: digests}, indent=1))


def build_model(source: ModelSource, request: NetworkRequest) -> Prefill:
    """The network with its weights; quantised, if that is asked for, with scales from a run of the prompt."""
    return quantised_for(float_model(source, request.layers), request)


def float_model(source: ModelSource, layers: int) -> Prefill:
    """The network with its weights."""
    model = Prefill(source.config, layers).eval()
    if source.weights is None:
        fill_seeded(model, source.config)
    else:
        fill_from_checkpoint(model, source.config, source.weights)
    return model


def quantised_for(model: Prefill, request: NetworkRequest, weight_of: WeightOf = linear_weight) -> Prefill:
    """The model itself, in the precision that is asked for."""
    in_precision(model, (torch.tensor(request.prompt),), request.precision, weight_of)
    in_floats(model)
    return model.eval()


def run_layers(model: LanguageModel, tokens: Tensor, cache: Cache | None) -> tuple[Tensor, Cache]:
    """Hidden states of `tokens`, which follow those in `cache`, after the last layer; and the cache with them in it."""
    past = cache[0][0].shape[2] if cache else 0
    positions = range(past, past + len(tokens))
    hidden = model.embed(tokens, torch.tensor(positions))
    filled: Cache = []
    for layer in range(model.layers):
        inputs = block_inputs(model.config, layer, positions, past, past + len(tokens))
        own = cache[layer] if cache else None
        hidden, *new = model.run_block(layer, hidden, {k: tensor_of(v) for k, v in inputs.items()}, own)
        keys, values = (torch.cat((old, rows), 2) for old, rows in zip(own, new, strict=True)) if own else new
        filled.append((keys, values))
    return hidden, filled


class Said(NamedTuple):
    """A token, the hidden state [hidden] that it was chosen from, and its margin: see `Reference`."""

    token: int
    hidden: Tensor
    margin: float


def says(model: LanguageModel, request: NetworkRequest, text: Sequence[int] = ()) -> Iterator[Said]:
    """`request.tokens` tokens in each turn, or up to the ending one, each the one of the largest logit: the prompt at
    once, then a token at a time. Where a `text` is given, its tokens are said in their place.
    """
    said = list[int]()
    cache: Cache | None = None
    for prompt in request.turns:
        new = torch.tensor([*said[-1:], *prompt])
        for _ in range(request.tokens):
            with torch.no_grad():
                hidden, cache = run_layers(model, new, cache)
                last = hidden[:, -1:]
                logits = model.logits(last)[0, 0]
                best = torch.topk(logits, min(2, len(logits)))
            margin = float((best.values[0] - best.values[-1]) / logits.std(correction=0).clamp_min(1e-30))
            token = int(best.indices[0])
            yield Said(token, last[0, 0], margin)
            said.append(text[len(said)] if text else token)
            new = torch.tensor(said[-1:])
            if said[-1] == request.end:
                break


def greedy(model: LanguageModel, request: NetworkRequest, text: Sequence[int] = ()) -> Reference:
    """All of what it `says`."""
    tokens, states, margins = zip(*says(model, request, text), strict=True)
    return Reference(np.array(tokens, np.int64), torch.stack(states).numpy(), np.array(margins, np.float32))


def _write_outside(model: LanguageModel, request: NetworkRequest, folder: Path) -> None:
    """What belongs to no layer: what follows the last one, and tables with a row of every token or position."""
    tables = {name: table.numpy() for name, table in model.tables(request.length).items()}
    np.save(folder / "embedding.npy", tables.pop("embedding"))
    last = {f"last.{name}": array for name, array in _state(model.last).items()}
    of_positions = network_tables(model.config, request.layers, request.length)
    np.savez(folder / "outside.npz", allow_pickle=False, **last, **tables, **of_positions)


def _layer(model: LanguageModel, layer: int) -> dict[str, NDArray[Any]]:
    """A layer's parameters by the names of the design."""
    return {f"h{layer}.{name}": array for name, array in _state(model.block(layer)).items()}


def _state(module: torch.nn.Module) -> dict[str, NDArray[Any]]:
    return {name: tensor.detach().numpy() for name, tensor in module.state_dict().items()}
