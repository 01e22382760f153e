"""Random networks of convolutions and poolings, by a seed: every part that `docs/models.md` says fits."""

import random
from typing import Any

import numpy as np
from convolutional_models import Network
from onnx import ModelProto

from compiler.options import Knobs


class _Drawn:
    """A network that grows behind `last`, whose dimensions are `shape`: channels, then lines and pixels, or samples."""

    def __init__(self, rng: random.Random) -> None:
        self.rng = rng
        dims = rng.choice((1, 2, 2))
        self.shape = (rng.randint(1, 4), *(rng.randint(5, 16 if dims == 1 else 10) for _ in range(dims)))
        self.net, self.last, self.nodes = Network(x=(1, *self.shape)), "x", 0

    def add(self, kind: str, *others: str, **attributes: Any) -> None:
        """A node that reads the last one's result first."""
        self.nodes += 1
        self.last = self.net.node(kind, f"n{self.nodes}", self.last, *others, **attributes)

    def spatial(self, kernel: list[int], stride: list[int], dilation: list[int], pads: list[int]) -> tuple[int, ...]:
        """Of what windows make, without the channels."""
        low, high = pads[: len(kernel)], pads[len(kernel) :]
        sides = zip(self.shape[1:], kernel, stride, dilation, low, high, strict=True)
        return tuple((n + a + b - (k - 1) * apart - 1) // every + 1 for n, k, every, apart, a, b in sides)

    def conv(self, keeps: bool = False) -> None:
        """With groups, one a channel too; `keeps` the shape, so that it can be added to what was before."""
        rng, of, dims = self.rng, self.shape[0], len(self.shape) - 1
        groups = rng.choice([g for g in range(1, of + 1) if of % g == 0])
        to = of if keeps else groups * rng.randint(1, max(1, 6 // groups))
        kernel, stride, dilation, pads = [1] * dims, [1] * dims, [1] * dims, [0] * 2 * dims
        for dim, lines in enumerate(self.shape[1:]):
            if keeps:
                kernel[dim], dilation[dim] = rng.choice((1, 3)), rng.choice((1, 1, 2))
                pads[dim] = pads[dims + dim] = kernel[dim] // 2 * dilation[dim]
                continue
            kernel[dim], stride[dim], dilation[dim] = rng.randint(1, 4), rng.randint(1, 3), rng.randint(1, 2)
            span = (kernel[dim] - 1) * dilation[dim] + 1
            pads[dim], pads[dims + dim] = (rng.randint(0, span // 2) for _ in range(2))
            if span > lines + pads[dim] + pads[dims + dim]:
                kernel[dim], pads[dim], pads[dims + dim] = 1, 0, 0
        weight = self.net.stores(f"w{self.nodes}", to, of // groups, *kernel)
        bias = [self.net.stores(f"b{self.nodes}", to)] if rng.random() < 0.7 else []
        made = self.spatial(kernel, stride, dilation, pads)
        self.add("Conv", weight, *bias, group=groups, strides=stride, dilations=dilation, pads=pads)
        self.shape = (to, *made)
        if rng.random() < 0.4:
            self.last = self.net.norm(f"norm{self.nodes}", self.last, to)

    def bound(self) -> None:
        """ReLU or ReLU6."""
        if self.rng.random() < 0.7:
            return self.add("Relu")
        self.net.stored |= {"low": np.float32(0), "high": np.float32(6)}
        return self.add("Clip", "low", "high")

    def pool(self) -> None:
        """Of maxima or averages. onnx's own evaluator fails for some maxima of windows that are padded."""
        rng, dims = self.rng, len(self.shape) - 1
        kernel = [rng.randint(1, min(3, lines)) for lines in self.shape[1:]]
        stride, pads = [rng.randint(1, 2) for _ in kernel], [0] * 2 * dims
        if rng.random() < 0.5:
            self.shape = (self.shape[0], *self.spatial(kernel, stride, [1] * dims, pads))
            return self.add("MaxPool", kernel_shape=kernel, strides=stride)
        pads = [rng.randint(0, (k - 1) // 2) for k in kernel] * 2
        self.shape = (self.shape[0], *self.spatial(kernel, stride, [1] * dims, pads))
        included = rng.randint(0, 1)
        return self.add("AveragePool", kernel_shape=kernel, strides=stride, pads=pads, count_include_pad=included)

    def residual(self) -> None:
        before = self.last
        self.conv(keeps=True)
        if self.rng.random() < 0.5:
            self.bound()
            self.conv(keeps=True)
        self.add("Add", before)

    def beside(self) -> None:
        """Two convolutions of the same, one after the other along the channels."""
        before, channels = self.last, self.shape[0]
        self.conv(keeps=True)
        self.add("Concat", before, axis=1)
        self.shape = (2 * channels, *self.shape[1:])

    def larger(self) -> None:
        times = [self.rng.randint(1, 2) for _ in self.shape[1:]]
        if max(times) > 1 and min(self.shape[1:]) > 1 and max(self.shape[1:]) < 10:
            self.net.stored[f"by{self.nodes}"] = np.array([1, 1, *times], np.float32)
            self.add("Resize", "", f"by{self.nodes}")
            self.shape = (self.shape[0], *(n * by for n, by in zip(self.shape[1:], times, strict=True)))

    def head(self) -> None:
        """Classes: of the mean, or of everything."""
        if self.rng.random() < 0.5:
            self.add("GlobalAveragePool")
            self.shape = (self.shape[0], *(1 for _ in self.shape[1:]))
        self.add("Flatten")
        of, to = int(np.prod(self.shape)), self.rng.randint(2, 6)
        self.last = self.net.linear("classes", self.last, of, to)
        self.shape = (to,)


def random_network(seed: int) -> ModelProto:
    """A convolution, two to five parts behind it, half of them with a head; every convolution has its bound or none."""
    drawn = _Drawn(rng := random.Random(seed))
    drawn.conv()
    for _ in range(rng.randint(2, 5)):
        rng.choice((drawn.conv, drawn.bound, drawn.pool, drawn.residual, drawn.beside, drawn.larger))()
    if rng.random() < 0.5:
        drawn.head()
    elif drawn.last == "x":
        drawn.bound()
    return drawn.net.made(1, *drawn.shape)


def random_knobs(seed: int) -> Knobs:
    """What windows take part in."""
    rng = random.Random(seed)
    return Knobs(
        default_tile_size=rng.choice((1, 4, 16, 64)),
        overall_unroll=rng.choice((1, 16, 64, 256)),
        order=rng.choice(("reduction-inner", "reduction-outer")),
        stream_width=rng.choice((32, 512)),
        multiplier=rng.choice(("fabric", "dsp", "dsp_packed")),
        fusion_budget=rng.choice((0, 1 << 20)),
        weights=rng.choice(("streamed", "resident")),
        unrolling=rng.choice(("slowest", "worth")),
    )
