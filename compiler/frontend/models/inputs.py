"""What a block reads beside hidden states, weights and its cache: masks and rotary matrices, in numpy.

Slots: the keys and values of `length` positions, of which the last `rows` are those of the new rows. Of the
`length - rows` slots of the cache the first `cached` hold the positions directly before the first new one; the others
are empty, and masked.
"""

import math
from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from compiler.frontend.models.config import ModelConfig
from compiler.frontend.models.decoder_config import LayerKind
from compiler.frontend.models.gpt2_config import Gpt2Config
from compiler.frontend.models.rope import Rope, RopeScaling

FloatArray = NDArray[np.float32]
# Half of the lowest float: a score is added to it and the row's maximum subtracted, and neither may reach infinity.
MASKED = np.float32(np.finfo(np.float32).min / 2)


def layer_kind(config: ModelConfig, layer: int) -> LayerKind:
    """Whether layer `layer` sees every position, or a sliding window of them."""
    return "full" if isinstance(config, Gpt2Config) else config.kinds[layer]


def cache_shape(config: ModelConfig, rows: int) -> tuple[int, int, int, int]:
    """Of the keys of one layer, and of its values."""
    return (1, config.kv_heads, rows, config.head_dim)


def input_name(name: str, kind: LayerKind) -> str:
    """A network's input: layers of different kinds have their own `mask` and `rotary`."""
    return name if kind == "full" else f"{name}_{kind}"


def block_inputs(
    config: ModelConfig, layer: int, positions: Sequence[int], cached: int, length: int
) -> dict[str, FloatArray]:
    """The inputs of layer `layer` for new rows at `positions`, which follow each other: `mask` [rows, length], and
    `rotary` [rows, 2, 2, head_dim / 2] where the family has rotary positions.

    The names are those of one block; `input_name` gives those of a network. Raises ValueError where more slots are
    filled than there are.
    """
    return _inputs_of_kind(config, layer_kind(config, layer), positions, cached, length)


def network_inputs(
    config: ModelConfig, layers: int, positions: Sequence[int], cached: int, length: int
) -> dict[str, FloatArray]:
    """`block_inputs` of all kinds of layer among the first `layers`, by the network's names."""
    kinds: dict[LayerKind, None] = dict.fromkeys(layer_kind(config, layer) for layer in range(layers))
    return {
        input_name(name, kind): array
        for kind in kinds
        for name, array in _inputs_of_kind(config, kind, positions, cached, length).items()
    }


def network_tables(config: ModelConfig, layers: int, length: int) -> dict[str, FloatArray]:
    """`network_inputs` of one new row at each of `length` positions: [length, ...]. There is a slot for each position;
    those from the row's own on are masked.
    """
    rows = [
        newest_first(network_inputs(config, layers, [position], position, length + 1)) for position in range(length)
    ]
    return {name: np.stack([row[name] for row in rows]) for name in rows[0]}


def newest_first(inputs: Mapping[str, FloatArray]) -> dict[str, FloatArray]:
    """The inputs of one new row, whose slot leads those of the cache."""
    return {name: np.roll(array, 1, -1) if name.startswith("mask") else array for name, array in inputs.items()}


def _inputs_of_kind(
    config: ModelConfig, kind: LayerKind, positions: Sequence[int], cached: int, length: int
) -> dict[str, FloatArray]:
    if isinstance(config, Gpt2Config):
        return {"mask": mask(positions, cached, length, None)}
    rope, window = (config.rope, None) if kind == "full" else (config.sliding_rope, config.sliding_window)
    frequencies = inverse_frequencies(rope, config.head_dim)
    return {"mask": mask(positions, cached, length, window), "rotary": rotary(positions, frequencies)}


def mask(positions: Sequence[int], cached: int, length: int, window: int | None) -> FloatArray:
    """0 where a row sees a slot, MASKED elsewhere: [rows, length]. A row sees itself and what is before it, but no
    further back than `window` positions, itself included.
    """
    slots = length - len(positions)
    if not 0 <= cached <= slots:
        raise ValueError(f"{cached} slots are filled; the cache has {slots}")
    rows = np.asarray(positions)[:, None]
    held = np.concatenate([rows[0, 0] - cached + np.arange(slots), rows[:, 0]])[None, :]
    filled = np.concatenate([np.arange(slots) < cached, np.full(len(positions), True)])[None, :]
    seen = filled & (held <= rows) & (held > rows - (window or length + 1))
    return np.where(seen, np.float32(0), MASKED).astype(np.float32)


def inverse_frequencies(rope: Rope, features: int) -> FloatArray:
    """Radians a position for each of the features / 2 pairs of a head. Float32, as the networks were trained."""
    exponents = np.arange(0, features, 2, dtype=np.float32) / np.float32(features)
    plain = (np.float32(1.0) / np.float32(rope.theta) ** exponents).astype(np.float32)
    if rope.scaling is None:
        return plain
    slow = plain / np.float32(rope.scaling.factor)
    return slow if rope.scaling.rope_type == "linear" else _llama3(plain, slow, rope.scaling)


def _llama3(plain: FloatArray, slow: FloatArray, scaling: RopeScaling) -> FloatArray:
    """Short wavelengths keep their frequency, long ones get the slow one, between them it goes over smoothly."""
    original, low, high = scaling.original_max_position_embeddings, scaling.low_freq_factor, scaling.high_freq_factor
    assert original is not None
    assert low is not None
    assert high is not None
    turns = np.float32(original / (2 * math.pi)) * plain  # within the original context
    share = np.clip((turns - np.float32(low)) / np.float32(high - low), 0.0, 1.0)
    return ((1 - share) * slow + share * plain).astype(np.float32)


def rotary(positions: Sequence[int], frequencies: FloatArray) -> FloatArray:
    """Matrices that turn the pairs (feature i, feature i + half) of a head: [rows, to, from, half], to and from 2.

    Phases are rounded to float32 before the cosine, as the networks were trained.
    """
    phases = (np.asarray(positions, np.float32)[:, None] * frequencies).astype(np.float64)
    cos, sin = np.cos(phases), np.sin(phases)
    return np.stack([np.stack([cos, -sin], 1), np.stack([sin, cos], 1)], 1).astype(np.float32)
