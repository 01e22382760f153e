"""Quantised reference networks: integer products in groups along K, everything else in f32.

Weights are symmetric int4 or int8 with one f32 scale per (group, output); activations symmetric int8 with one static
scale per tensor that linear layers read, rounded half to even and clamped to [-127, 127]; accumulators int32. The
modules compute exactly what the hardware computes, so that its integers must match bit for bit.

A head keeps 8 bits. Beside layers of 4 bits its weights are two digits of 4 bits each, so that the same lanes multiply
by them: 16 * high + low, with low from -8 to 7, each with its own scale. So they are -119 to 119.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import cast

import torch
from torch import Tensor, nn

from compiler.frontend.models.parts import HeadLinear, Linear, Linears
from compiler.frontend.torch_types import modules_of

GROUP_SIZE = 128
ACTIVATION_MAX = 127.0
WEIGHT_BITS = {"w8a8": 8, "w4a8": 4, "w8a8kv8": 8, "w4a8kv8": 4}
HEAD_BITS = 8
DIGIT = 16


def group_size(inputs: int, granules: tuple[int, ...] = (), target: int = GROUP_SIZE) -> int:
    """The largest divisor of `inputs`, at most `target`, that holds whole granules of each size or divides one."""
    return max(
        g
        for g in range(1, min(inputs, target) + 1)
        if inputs % g == 0 and all(g % granule == 0 or granule % g == 0 for granule in granules)
    )


@dataclass(frozen=True)
class QuantisedWeight:
    """Integers [groups, size, outputs] of `bits`, and their scales [groups, outputs]: weight = integer * scale. Of
    digits integers [groups, size, digits, outputs] and scales [digits, groups, outputs], whose products are added up.
    """

    integers: Tensor
    scales: Tensor
    bits: int

    @cached_property
    def floats(self) -> Tensor:
        """The integers [groups, size, outputs of all digits] as f32."""
        groups, size = self.integers.shape[:2]
        return self.integers.reshape(groups, size, -1).to(torch.float32)


def quantise_weight(weight: Tensor, size: int, bits: int, top: int | None = None) -> QuantisedWeight:
    """Symmetric rounding of `weight` [inputs, outputs] in groups of `size` inputs, to `top` at most (None: all that so
    many bits hold); a group of zeros gets scale 1.
    """
    most = 2 ** (bits - 1) - 1 if top is None else top
    groups = weight.reshape(-1, size, weight.shape[1])
    peak = groups.abs().amax(1)
    scales = torch.where(peak > 0, peak / most, torch.ones_like(peak))
    integers = torch.clamp(torch.round(groups / scales.unsqueeze(1)), -most, most).to(torch.int8)
    return QuantisedWeight(integers, scales, bits)


def quantise_in_digits(weight: Tensor, size: int) -> QuantisedWeight:
    """The same to 8 bits, as two digits of 4."""
    half = DIGIT // 2
    whole = quantise_weight(weight, size, 8, (half - 1) * (DIGIT + 1))
    low = (whole.integers + half) % DIGIT - half
    digits = torch.stack([(whole.integers - low) // DIGIT, low], 2)
    return QuantisedWeight(digits, torch.stack([whole.scales * DIGIT, whole.scales]), 4)


def quantise_head(weight: Tensor, size: int, beside: int) -> QuantisedWeight:
    """The weights of a head, to 8 bits, as they are beside layers of so many."""
    return quantise_weight(weight, size, HEAD_BITS) if beside == HEAD_BITS else quantise_in_digits(weight, size)


class Quantise(nn.Module):
    """f32 to int8: round(x / scale), half to even."""

    def __init__(self, scale: float) -> None:
        super().__init__()
        self.register_buffer("inv_scale", 1.0 / torch.tensor(scale, dtype=torch.float32))
        self.inv_scale: Tensor

    def forward(self, x: Tensor) -> Tensor:
        return torch.clamp(torch.round(x * self.inv_scale), -ACTIVATION_MAX, ACTIVATION_MAX).to(torch.int8)


class Dequantise(nn.Module):
    """Sum over digits, if there are any, and groups of int32 accumulators [digits, groups, rows, outputs], each times
    its scale [digits, groups, outputs].
    """

    def forward(self, accumulators: Tensor, scales: Tensor) -> Tensor:
        return (accumulators.to(torch.float32) * scales.unsqueeze(-2)).sum(tuple(range(accumulators.dim() - 2)))


class IntegerProduct(nn.Module):
    """Products of quantised rows with one layer's weight.

    `weight_scale`, as of `QuantisedWeight`, is the weight's scale times the activation's: one factor, known beforehand.
    """

    def __init__(self, weight: QuantisedWeight, activation_scale: float, bias: nn.Parameter | None) -> None:
        super().__init__()
        self.register_buffer("weight", weight.integers)
        self.register_buffer("weight_scale", weight.scales * torch.tensor(activation_scale, dtype=torch.float32))
        self.bits = weight.bits
        self.bias = bias
        self.dequantise = Dequantise()
        self.weight: Tensor
        self.weight_scale: Tensor
        self._rounded, self._floats = weight, None

    def multiply_floats(self) -> None:
        """From now on: see `in_floats`."""
        self._floats = self._rounded.floats

    def forward(self, rows: Tensor) -> Tensor:
        """`rows` [1, rows, inputs] int8; f32 [1, rows, outputs]."""
        groups, size, *digits, outputs = self.weight.shape
        grouped = rows.view(-1, groups, size).transpose(0, 1)
        if self._floats is None:
            products = torch.bmm(grouped.to(torch.int32), self.weight.view(groups, size, -1).to(torch.int32))
        else:
            products = torch.bmm(grouped.to(torch.float32), self._floats)
        accumulators = products.view(groups, -1, *digits, outputs).permute(2, 0, 1, 3) if digits else products
        y = self.dequantise(accumulators, self.weight_scale)
        return (y if self.bias is None else y + self.bias).view(1, -1, y.shape[-1])


class QuantisedLinear(IntegerProduct):
    """A Linear with integer products."""

    def __init__(self, weight: QuantisedWeight, activation_scale: float, bias: nn.Parameter | None) -> None:
        super().__init__(weight, activation_scale, bias)
        self.quantise = Quantise(activation_scale)

    def forward(self, rows: Tensor) -> Tensor:
        """`rows` [1, rows, inputs] f32."""
        return super().forward(self.quantise(rows))


class QuantisedLinears(nn.Module):
    """Linears with integer products: their input is quantised once."""

    def __init__(self, products: dict[str, IntegerProduct], activation_scale: float) -> None:
        super().__init__()
        self.parts = tuple(products)
        self.quantise = Quantise(activation_scale)
        for name, product in products.items():
            self.add_module(name, product)

    def forward(self, x: Tensor) -> tuple[Tensor, ...]:
        rows = self.quantise(x)
        return tuple(self.get_submodule(name)(rows) for name in self.parts)


def calibrate(network: nn.Module, inputs: Sequence[object]) -> dict[str, float]:
    """Largest magnitude that enters each Linear, or Linears, in `network(*inputs)`, divided by ACTIVATION_MAX."""
    return {name: found[0] / ACTIVATION_MAX for name, found in peaks(network, inputs, _readers(network)).items()}


def peaks(network: nn.Module, inputs: Sequence[object], names: Iterable[str]) -> dict[str, tuple[float, ...]]:
    """Largest magnitude, 1e-6 at least, of each tensor that enters the modules of these names in `network(*inputs)`."""
    found: dict[str, tuple[float, ...]] = {}

    def watch(name: str) -> torch.utils.hooks.RemovableHandle:
        def see(_module: nn.Module, args: tuple[Tensor, ...]) -> None:
            found[name] = tuple(max(float(tensor.abs().max()), 1e-6) for tensor in args)

        return network.get_submodule(name).register_forward_pre_hook(see)

    handles = [watch(name) for name in names]
    with torch.no_grad():
        network(*inputs)
    for handle in handles:
        handle.remove()
    return found


def linear_weight(linear: Linear, bits: int) -> QuantisedWeight:
    """The weights of a layer, those of a head to 8 bits."""
    quantise = quantise_head if isinstance(linear, HeadLinear) else quantise_weight
    return quantise(linear.weight.detach(), group_size(linear.weight.shape[0], linear.granules), bits)


WeightOf = Callable[[Linear, int], QuantisedWeight]


def quantised(
    network: nn.Module, scales: dict[str, float], precision: str, weight_of: WeightOf = linear_weight
) -> nn.Module:
    """`network` with every Linear and Linears replaced in place by its quantised form; `scales` as of `calibrate`."""
    bits = WEIGHT_BITS[precision]
    for name, reader in _readers(network).items():
        scale = scales[name]
        if isinstance(reader, Linear):
            made: nn.Module = QuantisedLinear(weight_of(reader, bits), scale, reader.bias)
        else:
            layers = {part: cast(Linear, reader.get_submodule(part)) for part in reader.parts}
            products = {
                part: IntegerProduct(weight_of(layer, bits), scale, layer.bias) for part, layer in layers.items()
            }
            made = QuantisedLinears(products, scale)
        parent, _, leaf = name.rpartition(".")
        setattr(network.get_submodule(parent), leaf, made)
    return network


def in_floats(network: nn.Module) -> None:
    """Have a quantised network that is only run multiply its integers as f32, which is exact as long as sums stay below
    2^24: of 1,040 products of 8 bits, and groups are of `GROUP_SIZE` at most. A CPU is five to ten times as fast at
    that as at integers; it takes four bytes a weight more.
    """
    for product in modules_of(network, IntegerProduct).values():
        product.multiply_floats()


def int4_weights(network: nn.Module) -> tuple[str, ...]:
    """Names of the weights of a quantised network that fit four bits."""
    return tuple(f"{name}.weight" for name, product in modules_of(network, IntegerProduct).items() if product.bits == 4)


def _readers(network: nn.Module) -> dict[str, Linear | Linears]:
    """What reads an activation to quantise, by path: sets of linear layers, and those in none."""
    sets = modules_of(network, Linears)
    alone = {name: m for name, m in modules_of(network, Linear).items() if name.rpartition(".")[0] not in sets}
    return {**sets, **alone}
