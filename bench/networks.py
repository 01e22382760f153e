"""Real networks through the whole way: import, compile, C simulation task by task, simulated time.

python -m bench.networks
python -m bench.networks lenet5 convnext --format onnx
python -m bench.networks --group mlperf-tiny
python -m bench.networks jets --precision w8a8 --knobs knobs.json --json    # of a design: `knobs` of its design.json
python -m bench.networks lenet5 --batch 8    # inputs of a launch
python -m bench.networks resnet18 --batch 3    # in w8a8, with knobs of its own, as every network of `cifar`, `triggers`

They are written in PyTorch with seeded weights. Blocks have the proportions of the originals, and are small enough to
be simulated as C++ quickly; the four of MLPerf Tiny have the layers of its reference, and pad as PyTorch does; those of
Stream-HLS have the sizes of its artifact. Parameters count the statistics of norms, as Keras does; products are those
of matrix products and convolutions. Each is exported to ONNX and as a `.pt2`. A row says whether the emitted C++
computes what the reference does and how many tasks were compared one by one, the cycles that the design is simulated to
take with FIFOs as certified, the time of that launch and, of one kernel, that from the first word which comes in at a
port to the last one which leaves, after how long one input follows another, in a launch of several or in launches in a
row, and its area by estimate; or in what words the network was refused. Ends with status 1 where one was refused, or
differs.
"""

import argparse
import json
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass, replace
from functools import reduce
from itertools import pairwise
from pathlib import Path
from typing import NamedTuple, get_args

import torch
from rich.console import Console
from rich.table import Table
from torch import Tensor, nn
from torch.nn import functional

from bench.workload import knobs_in
from compiler.errors import MillraceError
from compiler.frontend.bundle import import_model
from compiler.frontend.inputs.source import FileFormat, FileSource, whole_network
from compiler.graph.program import COUNT
from compiler.metrics import Metric
from compiler.options import Knobs, Ports, Precision, TaskOverride
from compiler.pipeline import compile_design
from compiler.platforms.platform import named_platform
from compiler.proof.csim import csim
from compiler.simulator.timing.simulate import read_directory, simulate_design, simulate_directory

AREA = ("lut", "dsp", "bram36", "uram", "hbm_ports")


def normed(of: int, to: int, kernel: int, stride: int = 1, groups: int = 1) -> nn.Sequential:
    """A convolution without a bias and its norm."""
    conv = nn.Conv2d(of, to, kernel, stride, kernel // 2, groups=groups, bias=False)
    return nn.Sequential(conv, nn.BatchNorm2d(to))


class Residual(nn.Module):
    """Something, and the input or a 1x1 convolution of it."""

    def __init__(self, inside: nn.Module, beside: nn.Module | None = None, last: nn.Module | None = None) -> None:
        super().__init__()
        self.inside, self.beside, self.last = inside, beside or nn.Identity(), last or nn.Identity()

    def forward(self, x: Tensor) -> Tensor:
        return self.last(self.inside(x) + self.beside(x))


def lenet5() -> nn.Module:
    """LeCun's of 1998, with ReLU and maxima; 28 x 28."""
    return nn.Sequential(
        nn.Conv2d(1, 6, 5, padding=2), nn.ReLU(), nn.MaxPool2d(2),
        nn.Conv2d(6, 16, 5), nn.ReLU(), nn.MaxPool2d(2), nn.Flatten(),
        nn.Linear(400, 120), nn.ReLU(), nn.Linear(120, 84), nn.ReLU(), nn.Linear(84, 10),
    )  # fmt: skip


def mnist() -> nn.Module:
    """Of two 3x3 convolutions, as tutorials have it; 28 x 28, whose second pooling leaves a row over."""
    return nn.Sequential(
        nn.Conv2d(1, 8, 3), nn.ReLU(), nn.MaxPool2d(2), nn.Conv2d(8, 16, 3), nn.ReLU(), nn.MaxPool2d(2),
        nn.Flatten(), nn.Linear(400, 10),
    )  # fmt: skip


def resnet_basic(stride: int = 1) -> nn.Module:
    """Two 3x3 convolutions; where it strides, a 1x1 convolution beside them."""
    to = 8 * stride
    inside = nn.Sequential(normed(8, to, 3, stride), nn.ReLU(), normed(to, to, 3))
    return Residual(inside, normed(8, to, 1, stride) if stride > 1 else None, nn.ReLU())


def resnet_bottleneck() -> nn.Module:
    """1x1, 3x3 and 1x1."""
    inside = nn.Sequential(normed(16, 4, 1), nn.ReLU(), normed(4, 4, 3), nn.ReLU(), normed(4, 16, 1))
    return Residual(inside, None, nn.ReLU())


def resnet_stem() -> nn.Module:
    """7x7 with a stride of two, and a padded maximum."""
    return nn.Sequential(normed(3, 8, 7, 2), nn.ReLU(), nn.MaxPool2d(3, 2, 1))


def mobilenetv2() -> nn.Module:
    """The inverted residual: 1x1, depthwise 3x3, 1x1, ReLU6."""
    inside = nn.Sequential(
        normed(4, 24, 1), nn.ReLU6(), normed(24, 24, 3, groups=24), nn.ReLU6(), normed(24, 4, 1)
    )  # fmt: skip
    return Residual(inside)


class Channels(nn.Module):
    """What is inside, with channels behind rows and columns."""

    def __init__(self, *inside: nn.Module) -> None:
        super().__init__()
        self.inside = nn.Sequential(*inside)

    def forward(self, x: Tensor) -> Tensor:
        return self.inside(x.permute(0, 2, 3, 1)).permute(0, 3, 1, 2)


def convnext() -> nn.Module:
    """Depthwise 7x7, LayerNorm over channels, two products with GELU between."""
    inside = Channels(nn.LayerNorm(8), nn.Linear(8, 32), nn.GELU(), nn.Linear(32, 8))
    return Residual(nn.Sequential(nn.Conv2d(8, 8, 7, padding=3, groups=8), inside))


class UNet(nn.Module):
    """Down once, up once by nearest neighbours, and what was before beside it."""

    def __init__(self) -> None:
        super().__init__()
        self.down, self.deep = nn.Conv2d(1, 4, 3, padding=1), nn.Conv2d(4, 8, 3, padding=1)
        self.up, self.out = nn.Conv2d(12, 4, 3, padding=1), nn.Conv2d(4, 2, 1)

    def forward(self, x: Tensor) -> Tensor:
        high = functional.relu(self.down(x))
        low = functional.relu(self.deep(functional.max_pool2d(high, 2)))
        both = torch.cat([high, functional.interpolate(low, scale_factor=2.0, mode="nearest")], dim=1)
        return self.out(functional.relu(self.up(both)))


def speech() -> nn.Module:
    """One dimension: a strided convolution, a dilated one, the mean over time."""
    return nn.Sequential(
        nn.Conv1d(2, 8, 9, stride=2, padding=4), nn.ReLU(), nn.Conv1d(8, 8, 3, padding=2, dilation=2), nn.ReLU(),
        nn.AdaptiveAvgPool1d(1), nn.Flatten(), nn.Linear(8, 4),
    )  # fmt: skip


class Detection(nn.Module):
    """Features of two sizes, the smaller one enlarged and added to the larger one, and one head for both: classes and
    boxes of two anchors a place.
    """

    def __init__(self) -> None:
        super().__init__()
        self.stem, self.deep = normed(3, 8, 3, 2), normed(8, 8, 3, 2)
        self.beside = nn.Conv2d(8, 8, 1)
        self.tower = nn.Sequential(nn.Conv2d(8, 8, 3, padding=1), nn.ReLU())
        self.classes, self.boxes = nn.Conv2d(8, 2 * 3, 3, padding=1), nn.Conv2d(8, 2 * 4, 3, padding=1)

    def forward(self, x: Tensor) -> tuple[Tensor, ...]:
        high = functional.relu(self.stem(x))
        low = functional.relu(self.deep(high))
        high = self.beside(high) + functional.interpolate(low, scale_factor=2.0, mode="nearest")
        towers = [self.tower(features) for features in (high, low)]
        classes = [torch.sigmoid(self.classes(tower)).permute(0, 2, 3, 1).reshape(1, -1, 3) for tower in towers]
        return *classes, *(self.boxes(tower).permute(0, 2, 3, 1).reshape(1, -1, 4) for tower in towers)


def perceptron(*widths: int, inside: Callable[[int], nn.Module] = lambda _: nn.ReLU()) -> nn.Sequential:
    """Layers of all to all, with `inside` of their widths between them."""
    layers: list[nn.Module] = []
    for of, to in pairwise(widths):
        layers += (nn.Linear(of, to), inside(to))
    return nn.Sequential(*layers[:-1])


def jets() -> nn.Module:
    """16-64-32-32-5: jets of particles, five classes."""
    return perceptron(16, 64, 32, 32, 5)


def keras_conv(of: int, to: int, kernel: int, stride: int = 1, groups: int = 1) -> nn.Sequential:
    """A convolution with a bias, and its norm."""
    return nn.Sequential(nn.Conv2d(of, to, kernel, stride, kernel // 2, groups=groups), nn.BatchNorm2d(to))


def resnet8() -> nn.Module:
    """Image classification of MLPerf Tiny: three basic blocks of 16, 32 and 64 channels; 32 x 32."""
    stacks: list[nn.Module] = []
    for of, to in ((16, 16), (16, 32), (32, 64)):
        stride = to // of
        inside = nn.Sequential(keras_conv(of, to, 3, stride), nn.ReLU(), keras_conv(to, to, 3))
        stacks.append(Residual(inside, nn.Conv2d(of, to, 1, stride) if stride > 1 else None, nn.ReLU()))
    head = nn.Sequential(nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(64, 10))
    return nn.Sequential(keras_conv(3, 16, 3), nn.ReLU(), *stacks, head)


def resnet18() -> nn.Module:
    """Of He et al., in the form for CIFAR-10: a 3x3 stem without a stride, no maximum, ten classes; 32 x 32."""
    stacks: list[nn.Module] = []
    for of, to in pairwise((64, 64, 128, 256, 512)):
        for before, stride in ((of, to // of), (to, 1)):
            inside = nn.Sequential(normed(before, to, 3, stride), nn.ReLU(), normed(to, to, 3))
            stacks.append(Residual(inside, normed(before, to, 1, stride) if before != to else None, nn.ReLU()))
    head = nn.Sequential(nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(512, 10))
    return nn.Sequential(normed(3, 64, 3), nn.ReLU(), *stacks, head)


def separable(of: int, to: int, stride: int = 1) -> nn.Sequential:
    """Depthwise 3x3, then 1x1, each with norm and ReLU."""
    return nn.Sequential(keras_conv(of, of, 3, stride, of), nn.ReLU(), keras_conv(of, to, 1), nn.ReLU())


def ds_cnn() -> nn.Module:
    """Keyword spotting of MLPerf Tiny: 49 windows of ten coefficients, 64 channels, twelve words."""
    stem = nn.Sequential(nn.Conv2d(1, 64, (10, 4), 2, (5, 1)), nn.BatchNorm2d(64), nn.ReLU())
    head = nn.Sequential(nn.AvgPool2d((25, 5)), nn.Flatten(), nn.Linear(64, 12))
    return nn.Sequential(stem, *(separable(64, 64) for _ in range(4)), head)


def mobilenetv1() -> nn.Module:
    """Visual wake words of MLPerf Tiny: MobileNetV1 at a quarter of its width; 96 x 96."""
    widths = (8, 16, 32, 32, 64, 64, 128, 128, 128, 128, 128, 128, 256, 256)
    strides = (1, 2, 1, 2, 1, 2, 1, 1, 1, 1, 1, 2, 1)
    blocks = (separable(of, to, stride) for (of, to), stride in zip(pairwise(widths), strides, strict=True))
    head = nn.Sequential(nn.AvgPool2d(3), nn.Flatten(), nn.Linear(256, 2))
    return nn.Sequential(keras_conv(3, 8, 3, 2), nn.ReLU(), *blocks, head)


def anomalies() -> nn.Module:
    """Anomaly detection of MLPerf Tiny: an autoencoder of 640 values."""
    widths = (640, *(128,) * 4, 8, *(128,) * 4, 640)
    return perceptron(*widths, inside=lambda width: nn.Sequential(nn.BatchNorm1d(width), nn.ReLU()))


class Formula(nn.Module):
    """What a function makes of its inputs."""

    def __init__(self, made: Callable[..., Tensor | tuple[Tensor, ...]]) -> None:
        super().__init__()
        self.made = made

    def forward(self, *given: Tensor) -> Tensor | tuple[Tensor, ...]:
        return self.made(*given)


def autoencoder() -> nn.Module:
    """Of Stream-HLS: 784 values in 64."""
    return nn.Sequential(perceptron(784, 256, 128, 64), perceptron(64, 128, 256, 784), nn.Sigmoid())


class ResMlp(nn.Module):
    """Of Stream-HLS: the second layer is added to the first."""

    def __init__(self) -> None:
        super().__init__()
        self.first, self.second = nn.Linear(1024, 512), nn.Linear(512, 512)
        self.last = nn.Sequential(nn.Linear(512, 256), nn.Linear(256, 10))

    def forward(self, x: Tensor) -> Tensor:
        first = self.first(x)
        return self.last(functional.relu(self.second(functional.relu(first)) + first))


class Attention(nn.Module):
    """Of one sequence to itself."""

    def __init__(self, width: int, heads: int) -> None:
        super().__init__()
        self.attention = nn.MultiheadAttention(width, heads, batch_first=True)

    def forward(self, x: Tensor) -> Tensor:
        return self.attention(x, x, x, need_weights=False)[0]


def residual_block() -> nn.Module:
    """Of Stream-HLS: two 3x3 convolutions of 16 channels."""
    return Residual(nn.Sequential(normed(16, 16, 3), nn.ReLU(), normed(16, 16, 3)), None, nn.ReLU())


def separable_block() -> nn.Module:
    """Of Stream-HLS: depthwise 3x3 and 1x1 of 8 channels, then norm and ReLU."""
    return nn.Sequential(nn.Conv2d(8, 8, 3, padding=1, groups=8, bias=False), normed(8, 8, 1), nn.ReLU())


class Network(NamedTuple):
    """How it is made, the shapes of its inputs, and with what it is compiled where nothing else is asked for."""

    make: Callable[[], nn.Module]
    shapes: tuple[tuple[int, ...], ...]
    precision: Precision = "f32"
    knobs: Knobs = Knobs()
    ports: Ports = "f32"


def _of(make: Callable[[], nn.Module], *shapes: tuple[int, ...]) -> Network:
    return Network(make, shapes)


def _formula(made: Callable[..., Tensor | tuple[Tensor, ...]], *shapes: tuple[int, ...]) -> Network:
    return Network(lambda: Formula(made), shapes)


SIDE_BY_SIDE = Knobs(default_tile_size=64, overall_unroll=16384, stream_width=16384, weights="resident")
ON_THREE_DIES = Knobs(
    default_tile_size=1024,
    overall_unroll=8448,
    overrides=(TaskOverride("n_0.0.0.conv.matmul", unroll=108),),
    stream_width=4096,
    multiplier="dsp_packed",
    weights="resident",
)
SQUARES, CHAIN = ((64, 64),) * 8, tuple(pairwise((64, 32, 64, 64, 128, 128, 64, 32, 16)))
GROUPS: dict[str, dict[str, Network]] = {
    "blocks": {
        "lenet5": _of(lenet5, (1, 1, 28, 28)),
        "mnist": _of(mnist, (1, 1, 28, 28)),
        "resnet-stem": _of(resnet_stem, (1, 3, 23, 23)),
        "resnet-basic": _of(resnet_basic, (1, 8, 8, 8)),
        "resnet-basic-2": _of(lambda: resnet_basic(2), (1, 8, 9, 9)),
        "resnet-bottleneck": _of(resnet_bottleneck, (1, 16, 8, 8)),
        "mobilenetv2": _of(mobilenetv2, (1, 4, 8, 8)),
        "convnext": _of(convnext, (1, 8, 8, 8)),
        "unet": _of(UNet, (1, 1, 8, 8)),
        "detection": _of(Detection, (1, 3, 16, 16)),
        "speech": _of(speech, (1, 2, 101)),
        "jets": _of(jets, (1, 16)),
    },
    "mlperf-tiny": {
        "resnet8": _of(resnet8, (1, 3, 32, 32)),
        "ds-cnn": _of(ds_cnn, (1, 1, 49, 10)),
        "mobilenetv1": _of(mobilenetv1, (1, 3, 96, 96)),
        "anomalies": _of(anomalies, (1, 640)),
    },
    "cifar": {"resnet18": Network(resnet18, ((1, 3, 32, 32),), "w8a8", ON_THREE_DIES)},
    "triggers": {
        "jets-side-by-side": Network(jets, ((1, 16),), "w8a8", SIDE_BY_SIDE),
        "jets-in-integers": Network(jets, ((1, 16),), "w8a8", SIDE_BY_SIDE, "i8"),
    },
    "stream-hls": {
        "gemm": _formula(lambda a, b, c: 1.5 * (a @ b) + 1.2 * c, (200, 240), (240, 220), (200, 220)),
        "2mm": _formula(lambda a, b, c, d: 1.5 * (a @ b) @ c + 1.2 * d, (180, 210), (210, 190), (190, 220), (180, 220)),
        "3mm": _formula(lambda a, b, c, d: (a @ b) @ (c @ d), (180, 200), (200, 190), (190, 220), (220, 210)),
        "atax": _formula(lambda a, x: a.T @ (a @ x), (390, 410), (410,)),
        "bicg": _formula(lambda a, b, r, p: (a.T @ r, b @ p), (410, 390), (410, 390), (410,), (390,)),
        "mvt": _formula(lambda a, b, y, z: (a @ y, b.T @ z), (400, 400), (400, 400), (400,), (400,)),
        "gesummv": _formula(lambda a, b, x: 1.5 * (a @ x) + 1.2 * (b @ x), (250, 250), (250, 250), (250,)),
        "7mm": _formula(lambda *given: reduce(torch.matmul, given), *SQUARES),
        "7mm-unbalanced": _formula(lambda *given: reduce(torch.matmul, given), *CHAIN),
        "autoencoder": _of(autoencoder, (32, 784)),
        "resmlp": _of(ResMlp, (8, 1024)),
        "separable": _of(separable_block, (1, 8, 112, 112)),
        "residual": _of(residual_block, (1, 16, 56, 56)),
        "feedforward": _of(lambda: perceptron(128, 256, 128), (1, 512, 128)),
        "attention": _of(lambda: Attention(128, 8), (1, 64, 128)),
    },
}
NETWORKS = {name: network for group in GROUPS.values() for name, network in group.items()}


@dataclass(frozen=True)
class Row:
    """A network from a file of that format; without a design, `verdict` says why."""

    network: str
    format: str
    parameters: int
    products: int
    passed: bool
    verdict: str
    tasks: str = ""
    estimate: float = 0
    cycles: int = 0
    us: float = 0
    ports_us: float = 0
    interval_us: float = 0
    area: tuple[float, ...] = ()
    seconds: float = 0
    reference: str = ""


def seeded(name: str) -> nn.Module:
    """The network in evaluation, with statistics of its norms that are not those of a new one."""
    torch.manual_seed(0)
    network = NETWORKS[name].make().eval()
    for module in network.modules():
        if isinstance(module, nn.BatchNorm1d | nn.BatchNorm2d):
            for tensor, least in ((module.running_mean, -1.0), (module.running_var, 0.5), (module.weight, 0.5)):
                assert tensor is not None
                nn.init.uniform_(tensor, least, 1.5)
    return network


def exported(name: str, form: FileFormat, folder: Path) -> FileSource:
    """The network in a file."""
    path, inputs = folder / f"{name}.{form}", tuple(torch.zeros(shape) for shape in NETWORKS[name].shapes)
    if form == "pt2":
        torch.export.save(torch.export.export(seeded(name), inputs), path)
    else:
        torch.onnx.export(seeded(name), inputs, str(path), dynamo=False)
    return FileSource(name, path, form)


def run(name: str, form: FileFormat, precision: Precision, batch: int, knobs: Knobs, folder: Path) -> Row:
    """The whole way of one network, in a folder of its own."""
    begun, design = time.monotonic(), folder / "design"
    parameters, products = sum(t.numel() for t in seeded(name).state_dict().values() if t.is_floating_point()), 0
    try:
        source = exported(name, form, folder)
        ports = NETWORKS[name].ports if precision != "f32" else "f32"
        asked = replace(whole_network(name), precision=precision, batch=batch, ports=ports)
        bundle = import_model(source, asked, folder / "cache")
        products = sum(op.iterations for op in bundle.graph.ops if op.is_contraction)
        platform = named_platform("u55c")
        made = compile_design(bundle, knobs, platform, design)
        verdict, timed = csim(design), simulate_directory(design)
    except MillraceError as error:
        refused = f"{type(error).__name__}: {error}"
        return Row(name, form, parameters, products, False, refused, seconds=time.monotonic() - begun)
    found: dict[str, Metric] = {metric.name: metric for metric in made.metrics}
    passed = verdict.passed and timed.deadlock is None
    memory = platform.hbm.read_latency_cycles + platform.hbm.write_response_cycles  # before the first, behind the last
    inside = timed.cycles - memory if len(timed.kernels) == 1 else 0
    stored = read_directory(design).design
    few, more, taken = ({},) * 2, ({},) * 3, batch
    if COUNT in stored.arguments:
        few, more, taken = ({COUNT: batch - 1},), ({COUNT: batch},), 1
    before, after = (simulate_design(stored, platform, launches=launches, buckets=0) for launches in (few, more))
    word = "passes" if passed else verdict.message or "deadlock"
    return Row(
        name,
        form,
        parameters,
        products,
        passed,
        "; exceeds ".join([word, *(str(violation.resource) for violation in made.violations)]),
        f"{verdict.tasks_checked} of {verdict.tasks}",
        found["cycles"].value,
        timed.cycles,
        timed.cycles / found["clock"].value,
        inside / found["clock"].value,
        (after.cycles - before.cycles) / taken / found["clock"].value,
        tuple(found[kind].value if kind in found else 0 for kind in AREA),
        time.monotonic() - begun,
        str(bundle.meta["reference"]),
    )


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("networks", nargs="*", help=f"default: all: {' '.join(NETWORKS)}")
    parser.add_argument("--group", choices=GROUPS, help="only these")
    parser.add_argument("--format", choices=("onnx", "pt2"), action="append", dest="formats")
    parser.add_argument("--precision", choices=get_args(Precision), help="default: what the network is for, or f32")
    parser.add_argument("--batch", type=int, default=1, help="inputs of a launch")
    parser.add_argument("--knobs", type=knobs_in, help="JSON of knobs (default: the network's own, or the usual ones)")
    parser.add_argument("--json", action="store_true")
    arguments = parser.parse_args()
    console = Console(stderr=arguments.json)
    rows = list[Row]()
    for name in arguments.networks or GROUPS.get(arguments.group, NETWORKS):
        for form in arguments.formats or ("onnx", "pt2"):
            network = NETWORKS[name]
            precision, knobs = arguments.precision or network.precision, arguments.knobs or network.knobs
            with console.status(f"{name}.{form}"), tempfile.TemporaryDirectory() as folder:
                rows.append(run(name, form, precision, arguments.batch, knobs, Path(folder)))
            row = rows[-1]
            console.print(f"{name}.{form}: {row.verdict} ({row.seconds:.0f} s), against {row.reference or 'nothing'}")
    console.print(_table(rows))
    if arguments.json:
        print(json.dumps([asdict(row) for row in rows]))
    return 0 if all(row.passed for row in rows) else 1


def _table(rows: list[Row]) -> Table:
    table = Table(title=f"{sum(row.passed for row in rows)} of {len(rows)} pass")
    times = ("estimate", "cycles", "us", "in to out", "interval")
    for column in ("network", "from", "parameters", "products", "tasks compared", *times, *AREA):
        table.add_column(column, justify="left" if column in ("network", "from") else "right")
    for row in rows:
        area = (f"{kind:,.0f}" for kind in row.area)
        microseconds = (f"{us:.2f}" for us in (row.us, row.ports_us, row.interval_us))
        took = (f"{row.estimate:,.0f}", f"{row.cycles:,}", *microseconds)
        found = took if row.area else ("refused",)
        table.add_row(row.network, row.format, f"{row.parameters:,}", f"{row.products:,}", row.tasks, *found, *area)
    return table


if __name__ == "__main__":
    sys.exit(main())
