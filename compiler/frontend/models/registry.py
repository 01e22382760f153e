"""Network families by `model_type`. A new family adds its configuration to models/config.py and its blocks here."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, cast

from torch import Tensor, nn

from compiler.frontend.models import decoder, gpt2
from compiler.frontend.models.config import ModelConfig
from compiler.frontend.models.decoder_config import DECODERS, DecoderConfig
from compiler.frontend.models.gpt2_config import Gpt2Config
from compiler.frontend.models.parts import Add, Given
from compiler.host.network import PROMPT

# One layer: `block(hidden, mask, rotary or None, (past K, past V) or None)` gives hidden [1, rows, hidden] and the new
# K and V [1, kv_heads, rows, head_dim]. `mask` is [rows, length], the past [1, kv_heads, length - rows, head_dim].
Block = nn.Module
NetworkInputs = tuple[Tensor, ...]


@dataclass(frozen=True, slots=True)
class Stored:
    """Where a parameter lies in a checkpoint: under `name`, there transposed, or smaller by `offset`."""

    name: str
    transposed: bool = False
    offset: float = 0.0


@dataclass(frozen=True)
class Family:
    """What the importer and the language model need to know of a family.

    `block` makes one layer. `initialise` gives the standard deviation and mean of a parameter's seeded values, `stored`
    where it lies in a checkpoint, below one of `prefixes`. Parameters of layer i are named `h<i>.<name in the block>`,
    others `embedding`, `positions`, `norm.weight`, `norm.bias`, `head`.
    """

    block: Callable[[Any, int], Block]
    initialise: Callable[[Any, str], tuple[float, float]]
    stored: Callable[[Any, str], Stored]
    prefixes: tuple[str, ...]


def family_of(config: ModelConfig) -> Family:
    return FAMILIES[config.model_type]


def cache_names(layers: int) -> tuple[str, ...]:
    """K and V of each layer, in the order of a network's past and results."""
    return tuple(f"h{layer}.{part}" for layer in range(layers) for part in ("k", "v"))


# Seeded networks as a whole. A residual stream that starts with the tokens alone, or a tied head behind a norm of ones,
# chooses the last token again and again, whatever the blocks do; and what the blocks add holds the rounding flips. So
# the stream starts as strong as is needed for many tokens to have a chance, compared with what two blocks add. Tied
# heads score symmetrically, this after that as that after this: only positions or blocks lead out of a pair of tokens.
_STREAM, _TIED_STREAM = 2.0, 0.7
_FINAL_NORM = (1.0, 0.0)  # no token is like itself behind weights of either sign


def _gpt2_initialise(config: Gpt2Config, name: str) -> tuple[float, float]:
    spread = config.initializer_range
    if name in {"embedding", "positions"}:
        added = spread**2 * (config.n_embd * config.n_inner / (2 * config.n_layer)) ** 0.5
        return _STREAM * added / 2**0.5, 0.0
    if name == "norm.weight":
        return _FINAL_NORM
    if name.endswith("proj.weight"):
        return spread / (2 * config.n_layer) ** 0.5, 0.0  # GPT-2 scales what enters the residual stream
    return spread, 1.0 if _is_norm(name) and name.endswith("weight") else 0.0


def _decoder_initialise(config: DecoderConfig, name: str) -> tuple[float, float]:
    spread = config.initializer_range
    if name == "embedding":
        gated = 1.2 * spread**3 * config.hidden * config.intermediate_size**0.5
        added = 2.0 if config.traits.outer_norms else gated
        stream = (_TIED_STREAM if config.tie_word_embeddings else _STREAM) * added
        return stream / (config.hidden**0.5 if config.traits.scaled_embedding else 1.0), 0.0
    if name == "norm.weight":
        return _FINAL_NORM
    return spread, 1.0 if _is_norm(name) else 0.0


def _is_norm(name: str) -> bool:
    return ".ln_" in name or "norm." in name


def _layer_and_name(name: str) -> tuple[str, str] | None:
    """`h3.mlp.proj.weight` as ("3", "mlp.proj.weight"); None for a parameter of no layer."""
    layer, dot, tensor = name.partition(".")
    return (layer[1:], tensor) if dot and layer[0] == "h" and layer[1:].isdigit() else None


_GPT2_OUTSIDE = {
    "embedding": "wte.weight",
    "positions": "wpe.weight",
    "norm.weight": "ln_f.weight",
    "norm.bias": "ln_f.bias",
    "head": "lm_head.weight",
}


def _gpt2_stored(_config: Gpt2Config, name: str) -> Stored:
    found = _layer_and_name(name)
    return Stored(f"h.{found[0]}.{gpt2.CHECKPOINT_NAMES[found[1]]}" if found else _GPT2_OUTSIDE[name])


def _decoder_stored(config: DecoderConfig, name: str) -> Stored:
    """Norms of a family with `unit_offset` are stored as differences from one; products are stored transposed."""
    found = _layer_and_name(name)
    stored = decoder.checkpoint_name(config, found[1]) if found else decoder.OUTSIDE_NAMES[name]
    offset = 1.0 if _is_norm(name) and config.traits.unit_offset else 0.0
    transposed = found is not None and not _is_norm(name) and name.endswith("weight")
    return Stored(f"layers.{found[0]}.{stored}" if found else stored, transposed, offset)


_DECODER = Family(decoder.DecoderBlock, _decoder_initialise, _decoder_stored, ("model.", ""))
FAMILIES: Mapping[str, Family] = {
    "gpt2": Family(gpt2.Gpt2Block, _gpt2_initialise, _gpt2_stored, ("", "transformer.")),
    **dict.fromkeys(DECODERS, _DECODER),
}


class Network(nn.Module):
    """The first `layers` blocks as one function of tensors: what is exported.

    Takes hidden, the inputs named `inputs` (see `models.inputs.network_inputs`), then the past K and V of each layer or
    none; gives hidden, then the new K and V of each layer.
    """

    def __init__(self, blocks: list[Block], inputs: tuple[str, ...], suffixes: list[str]) -> None:
        super().__init__()
        self.inputs = inputs
        self.suffixes = suffixes
        for layer, block in enumerate(blocks):
            self.add_module(f"h{layer}", block)

    def forward(self, hidden: Tensor, *rest: Tensor) -> tuple[Tensor, ...]:
        named = dict(zip(self.inputs, rest, strict=False))
        past = rest[len(self.inputs) :]
        new: list[Tensor] = []
        for layer, suffix in enumerate(self.suffixes):
            cache = past[2 * layer : 2 * layer + 2] or None
            block = self.get_submodule(f"h{layer}")
            made = block(hidden, named[f"mask{suffix}"], named.get(f"rotary{suffix}"), cache)
            hidden, key, value = cast(tuple[Tensor, Tensor, Tensor], made)
            new += [key, value]
        return (hidden, *new)


class WholeNetwork(Network):
    """The same between embedding and `last`, which gives the token that follows.

    Takes a row of the embedding, then what is named `inputs`, one of the positions' first where the model has these,
    and of the prompt, then the past; gives the token, which is the prompt's where that has one, then what the blocks
    give.
    """

    def __init__(self, blocks: list[Block], inputs: tuple[str, ...], suffixes: list[str], last: nn.Module) -> None:
        super().__init__(blocks, inputs, suffixes)
        self.embed = Add() if "positions" in inputs else None
        self.last = last
        self.next_token = Given()

    def forward(self, hidden: Tensor, *rest: Tensor) -> tuple[Tensor, ...]:
        states = hidden if self.embed is None else self.embed(hidden, rest[0])
        made = super().forward(states, *rest)
        return (self.next_token(rest[self.inputs.index(PROMPT)], self.last(made[0])), *made)
