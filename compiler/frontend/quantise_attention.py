"""Attention over integers: keys, values and queries of 8 bits, so that a cache takes a quarter of the bytes.

Each of the three is rounded with one static scale a layer, that of a calibration run, as activations are
(`compiler.frontend.quantise`): a row of the cache is then integers alone, and what the sums are multiplied by is known
beforehand. Scores are int32 sums of products. Of a row of scores only exp(score - maximum), which is at most 1, is
rounded, in steps of 1/127; the context is an int32 sum of products with that, divided by the sum of the same integers:
weights of a row add up to 1 however coarse they are. SageAttention (arXiv:2410.02367) rounds them so, its keys with
scales of blocks.
"""

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from compiler.frontend.models.parts import AttentionOverCache, Context, Reciprocal, Scores
from compiler.frontend.quantise import ACTIVATION_MAX, Quantise, WeightOf, calibrate, linear_weight, peaks, quantised
from compiler.frontend.torch_types import modules_of, tensor_of
from compiler.options import INTEGER_CACHES, Precision


class AttentionScales(NamedTuple):
    """Of queries, keys and values: number = integer * scale."""

    query: float
    key: float
    value: float


class IntegerScores(Scores):
    """`Scores` of int8 queries and keys: `factor` is their scales' product, times that of the scores."""

    def __init__(self, scores: Scores, query_scale: float, key_scale: float) -> None:
        super().__init__(scores.scale, scores.cap)
        scale = scores.scale if scores.cap is None else scores.scale / scores.cap
        self.register_buffer("factor", torch.tensor(query_scale * key_scale * scale, dtype=torch.float32))
        self.factor: Tensor

    def forward(self, query: Tensor, key: Tensor, mask: Tensor) -> Tensor:
        _, rows, heads, group, features = query.shape
        flat = query.permute(0, 2, 3, 1, 4).reshape(heads, group * rows, features)
        sums = integer_products(flat, key.view(heads, -1, features).transpose(1, 2)).view(1, heads, group, rows, -1)
        products = sums.to(torch.float32) * self.factor
        return products + mask if self.cap is None else torch.tanh(products) * self.cap + mask


class IntegerWeights(nn.Module):
    """Weights of a row, not yet divided by their sum: exp(score - maximum) in steps of 1/127, int8."""

    def forward(self, x: Tensor) -> Tensor:
        exp = torch.exp(x - torch.amax(x, -1, keepdim=True))
        return torch.clamp(torch.round(exp * ACTIVATION_MAX), 0.0, ACTIVATION_MAX).to(torch.int8)


class IntegerContext(Context):
    """`Context` of int8 weights and values; the sum of the weights is at least 127, that of the largest."""

    def __init__(self, value_scale: float) -> None:
        super().__init__()
        self.register_buffer("value_scale", torch.tensor(value_scale, dtype=torch.float32))
        self.value_scale: Tensor
        self.reciprocal = Reciprocal()

    def forward(self, weights: Tensor, value: Tensor) -> Tensor:
        _, heads, group, rows, length = weights.shape
        sums = weights.to(torch.int32).sum(-1, keepdim=True, dtype=torch.int32)
        share = self.reciprocal(sums.to(torch.float32)) * self.value_scale
        flat = integer_products(weights.view(heads, group * rows, length), value.view(heads, length, -1))
        context = flat.view(1, heads, group, rows, -1).to(torch.float32) * share
        return context.permute(0, 3, 1, 2, 4).reshape(1, rows, -1)


def integer_products(left: Tensor, right: Tensor) -> Tensor:
    """Products of int8 matrices, [heads, rows, inner] and [heads, inner, columns], summed in int32."""
    return torch.bmm(left.to(torch.int32), right.to(torch.int32))


def in_precision(
    network: nn.Module, inputs: Sequence[object], precision: Precision, weight_of: WeightOf = linear_weight
) -> nn.Module:
    """`network` in place as `precision` asks for it, with scales from a run of `network(*inputs)`."""
    if precision == "f32":
        return network
    scales = calibrate(network, inputs)
    if precision in INTEGER_CACHES:
        quantised_attention(network, calibrate_attention(network, inputs))
    return quantised(network, scales, precision, weight_of)


def as_kept(network: nn.Module, past: Mapping[str, NDArray[Any]]) -> dict[str, NDArray[Any]]:
    """A network's past as its caches keep it, by the names of `models.registry.cache_names`, `_past` behind."""
    found = dict(past)
    for path, module in modules_of(network, AttentionOverCache).items():
        layer = path.partition(".")[0]
        for part, made in (("k", module.k_quantise), ("v", module.v_quantise)):
            if (name := f"{layer}.{part}_past") in found:
                found[name] = made(tensor_of(found[name])).numpy()
    return found


def calibrate_attention(network: nn.Module, inputs: Sequence[object]) -> dict[str, AttentionScales]:
    """Largest magnitude of queries, keys and values of each attention in `network(*inputs)`, those of its cache too,
    divided by ACTIVATION_MAX.
    """
    names = list(modules_of(network, AttentionOverCache))
    found = peaks(network, inputs, [f"{name}.{part}" for name in names for part in ("scores", "context")])
    scales: dict[str, AttentionScales] = {}
    for name in names:
        (query, key, *_), (_, value) = found[f"{name}.scores"], found[f"{name}.context"]
        scales[name] = AttentionScales(*(peak / ACTIVATION_MAX for peak in (query, key, value)))
    return scales


def quantised_attention(network: nn.Module, scales: Mapping[str, AttentionScales]) -> nn.Module:
    """`network` with attention in place over integers, wherever there are `scales`: as of `calibrate_attention`."""
    modules = modules_of(network, AttentionOverCache)
    for name, (query, key, value) in scales.items():
        module = modules[name]
        module.q_quantise, module.k_quantise, module.v_quantise = map(Quantise, (query, key, value))
        module.scores, module.softmax = IntegerScores(module.scores, query, key), IntegerWeights()
        module.context = IntegerContext(value)
    return network
