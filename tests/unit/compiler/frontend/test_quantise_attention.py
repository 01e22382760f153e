"""Attention over integers: what it computes, against loops over numbers, and how far that is from floats."""

from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from numpy.typing import NDArray
from tiny_models import TINY_MODELS

if TYPE_CHECKING:
    from torch import Tensor

    from compiler.frontend.models.parts import AttentionOverCache

Array = NDArray[Any]
HEADS, GROUP, ROWS, PAST, FEATURES = 2, 3, 2, 5, 8
SCALES = 0.021, 0.017, 0.013


def drawn(seed: int, *shape: int) -> "Tensor":
    import torch

    return torch.randn(shape, generator=torch.Generator().manual_seed(seed))


def attention(cap: float | None) -> "AttentionOverCache":
    from compiler.frontend.models.parts import AttentionOverCache
    from compiler.frontend.quantise_attention import AttentionScales, quantised_attention

    made = AttentionOverCache(FEATURES**-0.5, cap)
    quantised_attention(made, {"": AttentionScales(*SCALES)})
    return made


def given(cap: float | None) -> tuple[Array, tuple[Array, ...]]:
    """The context, and queries, keys, values and mask that it is of; the last slots of the cache are masked."""
    import torch

    query, key = drawn(0, 1, ROWS, HEADS, GROUP, FEATURES), drawn(1, 1, HEADS, ROWS, FEATURES)
    value, made = drawn(2, 1, HEADS, ROWS, FEATURES), attention(cap)
    past = tuple((torch.randint(-127, 128, (1, HEADS, PAST, FEATURES), dtype=torch.int8)) for _ in range(2))
    mask = torch.zeros(ROWS, PAST + ROWS)
    mask[:, PAST - 2 : PAST] = float(np.finfo(np.float32).min) / 2
    mask[0, -1] = mask[0, PAST - 1]
    context, new_key, new_value = made.attend(query, key, value, mask, (past[0], past[1]))
    keys, values = torch.cat((past[0], new_key), 2), torch.cat((past[1], new_value), 2)
    return context.numpy(), tuple(t.numpy() for t in (query, keys, values, mask))


@pytest.mark.parametrize("cap", [None, 2.0])
def test_integers_are_those_of_loops_over_numbers(cap: float | None) -> None:
    context, (query, keys, values, mask) = given(cap)
    assert keys.dtype == values.dtype == np.int8
    query_scale, key_scale, value_scale = SCALES
    queries = np.clip(np.round(query.astype(np.float64) / query_scale), -127, 127).astype(int)
    for row in range(ROWS):
        expected: list[float] = []
        for head in range(HEADS):
            for member in range(GROUP):
                sums = [
                    sum(int(queries[0, row, head, member, f]) * int(keys[0, head, p, f]) for f in range(FEATURES))
                    for p in range(PAST + ROWS)
                ]
                scores = np.array(sums) * query_scale * key_scale * FEATURES**-0.5
                scores = (scores if cap is None else np.tanh(scores / cap) * cap) + mask[row]
                weights = [round(127 * float(np.exp(score - scores.max()))) for score in scores]
                assert max(weights) == 127
                for f in range(FEATURES):
                    total = sum(w * int(values[0, head, p, f]) for p, w in enumerate(weights))
                    expected.append(total * value_scale / sum(weights))
        np.testing.assert_allclose(context[0, row], expected, rtol=1e-5, atol=1e-6)


def test_weights_that_are_alike_give_the_mean_however_long_a_row_is() -> None:
    """Rounded shares of 1 / 1,000 would all be zero."""
    import torch

    from compiler.frontend.quantise_attention import IntegerContext, IntegerWeights

    length = 1000
    values = torch.randint(-127, 128, (1, 1, length, FEATURES), dtype=torch.int8)
    weights = IntegerWeights()(torch.full((1, 1, 1, 1, length), 3.0))
    context = IntegerContext(0.5)(weights, values)
    np.testing.assert_allclose(context.flatten(), 0.5 * values.float().mean((0, 1, 2)), rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("family", ["gpt2", "llama", "gemma3"])
def test_a_network_over_integers_is_near_its_floats_and_keeps_integers(family: str) -> None:
    import torch

    from compiler.frontend.models.config import config_from_fields
    from compiler.frontend.models.parts import AttentionOverCache
    from compiler.frontend.network_export import Prefill, run_layers
    from compiler.frontend.quantise_attention import calibrate_attention, quantised_attention
    from compiler.frontend.torch_types import modules_of
    from compiler.frontend.weights import fill_seeded

    config = config_from_fields(TINY_MODELS[family])
    model, tokens = Prefill(config, 2).eval(), torch.arange(12) % config.vocab_size
    fill_seeded(model, config)
    with torch.no_grad():
        exact, _ = run_layers(model, tokens, None)
        scales = calibrate_attention(model, (tokens,))
        assert scales.keys() == modules_of(model, AttentionOverCache).keys()
        quantised_attention(model, scales)
        found, cache = run_layers(model, tokens, None)
        first, kept = run_layers(model, tokens[:7], None)
        later, _ = run_layers(model, tokens[7:], kept)
    assert all(part.dtype == torch.int8 and int(part.abs().max()) == 127 for layer in cache for part in layer)
    off = float((found - exact).abs().max() / exact.abs().max())
    assert 0 < off < 0.02
    np.testing.assert_allclose(torch.cat((first, later), 1), found, rtol=1e-4, atol=1e-5)
