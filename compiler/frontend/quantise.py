"""Quantised reference networks: integer products in groups along K, everything else in f32.

Weights are symmetric int4 or int8 with one f32 scale per (group, output); activations symmetric int8 with one static
scale per linear layer, rounded half to even and clamped to [-127, 127]; accumulators int32. The modules compute
exactly what the hardware computes, so that its integers must match bit for bit.
"""

from dataclasses import dataclass

import torch
from torch import Tensor, nn

from compiler.frontend.models.parts import Linear
from compiler.frontend.models.registry import NetworkInputs
from compiler.frontend.torch_types import modules_of

GROUP_SIZE = 128
ACTIVATION_MAX = 127.0
WEIGHT_BITS = {"w8a8": 8, "w4a8": 4}


def group_size(inputs: int, granule: int, target: int = GROUP_SIZE) -> int:
    """The largest divisor of `inputs`, at most `target`, that holds whole granules or divides one."""
    return max(
        g for g in range(1, min(inputs, target) + 1) if inputs % g == 0 and (g % granule == 0 or granule % g == 0)
    )


@dataclass(frozen=True)
class QuantisedWeight:
    """Integers [groups, size, outputs] and their scales [groups, outputs]: weight = integer * scale."""

    integers: Tensor
    scales: Tensor


def quantise_weight(weight: Tensor, size: int, bits: int) -> QuantisedWeight:
    """Symmetric rounding of `weight` [inputs, outputs] in groups of `size` inputs; a group of zeros gets scale 1."""
    top = 2 ** (bits - 1) - 1
    groups = weight.reshape(-1, size, weight.shape[1])
    peak = groups.abs().amax(1)
    scales = torch.where(peak > 0, peak / top, torch.ones_like(peak))
    integers = torch.clamp(torch.round(groups / scales.unsqueeze(1)), -top, top).to(torch.int8)
    return QuantisedWeight(integers, scales)


class Quantise(nn.Module):
    """f32 to int8: round(x / scale), half to even."""

    def __init__(self) -> None:
        super().__init__()
        self.register_buffer("inv_scale", torch.ones(()))
        self.inv_scale: Tensor

    def forward(self, x: Tensor) -> Tensor:
        return torch.clamp(torch.round(x * self.inv_scale), -ACTIVATION_MAX, ACTIVATION_MAX).to(torch.int8)


class Dequantise(nn.Module):
    """Sum over the groups of int32 accumulators [groups, rows, outputs], each times its scale."""

    def forward(self, accumulators: Tensor, scales: Tensor) -> Tensor:
        return (accumulators.to(torch.float32) * scales.unsqueeze(1)).sum(0)


class QuantisedLinear(nn.Module):
    """A Linear with integer products. `scale` is the activation's; `weight_scale` is [groups, outputs]."""

    def __init__(self, inputs: int, outputs: int, size: int) -> None:
        super().__init__()
        self.size = size
        self.register_buffer("weight", torch.zeros(inputs // size, size, outputs, dtype=torch.int8))
        self.register_buffer("weight_scale", torch.ones(inputs // size, outputs))
        self.register_buffer("scale", torch.ones(()))
        self.bias = nn.Parameter(torch.zeros(outputs))
        self.quantise = Quantise()
        self.dequantise = Dequantise()
        self.weight: Tensor
        self.weight_scale: Tensor
        self.scale: Tensor

    def forward(self, x: Tensor) -> Tensor:
        rows = self.quantise(x).view(-1, x.shape[-1] // self.size, self.size).transpose(0, 1)
        accumulators = torch.bmm(rows.to(torch.int32), self.weight.to(torch.int32))
        y = self.dequantise(accumulators, self.weight_scale) * self.scale + self.bias
        return y.view(1, -1, y.shape[-1])


def calibrate(network: nn.Module, inputs: NetworkInputs) -> dict[str, float]:
    """Largest magnitude that enters each Linear of `network` in one forward, divided by ACTIVATION_MAX."""
    scales: dict[str, float] = {}

    def watch(name: str) -> torch.utils.hooks.RemovableHandle:
        def see(_module: nn.Module, args: tuple[Tensor, ...]) -> None:
            scales[name] = max(float(args[0].abs().max()), 1e-6) / ACTIVATION_MAX

        return network.get_submodule(name).register_forward_pre_hook(see)

    handles = [watch(name) for name in modules_of(network, Linear)]
    with torch.no_grad():
        network(*inputs)
    for handle in handles:
        handle.remove()
    return scales


def quantised(network: nn.Module, scales: dict[str, float], bits: int) -> nn.Module:
    """`network` with every Linear replaced in place by its quantised form."""
    for name, linear in modules_of(network, Linear).items():
        inputs, outputs = linear.weight.shape
        size = group_size(inputs, linear.granule)
        made = QuantisedLinear(inputs, outputs, size)
        weight = quantise_weight(linear.weight.detach(), size, bits)
        made.weight = weight.integers
        made.weight_scale = weight.scales
        made.scale = torch.tensor(scales[name], dtype=torch.float32)
        made.quantise.inv_scale = 1.0 / made.scale
        made.bias = linear.bias
        parent, _, leaf = name.rpartition(".")
        setattr(network.get_submodule(parent), leaf, made)
    return network
