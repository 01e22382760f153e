"""Real convolutional networks through the whole way: import, compile, C simulation task by task, simulated time.

python -m bench.networks
python -m bench.networks lenet5 convnext --format onnx
python -m bench.networks --unroll 256 --json

They are written in PyTorch with seeded weights, in the proportions of the originals and small enough to be simulated as
C++. Each is exported to ONNX and as a `.pt2`. A row says whether the emitted C++ computes what the reference does and
how many tasks were compared one by one, the cycles that the design is simulated to take with FIFOs as certified, and
its area by estimate; or in what words the network was refused. Ends with status 1 where one was refused, or differs.
"""

import argparse
import json
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path

import torch
from rich.console import Console
from rich.table import Table
from torch import Tensor, nn
from torch.nn import functional

from compiler.errors import MillraceError
from compiler.frontend.bundle import import_model
from compiler.frontend.inputs.source import FileFormat, FileSource, whole_network
from compiler.metrics import Metric
from compiler.options import Knobs
from compiler.pipeline import compile_design
from compiler.platforms.platform import load_platform
from compiler.proof.csim import csim
from compiler.simulator.timing.simulate import simulate_directory

AREA = ("lut", "dsp", "bram36", "uram")


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


NETWORKS: dict[str, tuple[Callable[[], nn.Module], tuple[int, ...]]] = {
    "lenet5": (lenet5, (1, 28, 28)),
    "mnist": (mnist, (1, 28, 28)),
    "resnet-stem": (resnet_stem, (3, 23, 23)),
    "resnet-basic": (resnet_basic, (8, 8, 8)),
    "resnet-basic-2": (lambda: resnet_basic(2), (8, 9, 9)),
    "resnet-bottleneck": (resnet_bottleneck, (16, 8, 8)),
    "mobilenetv2": (mobilenetv2, (4, 8, 8)),
    "convnext": (convnext, (8, 8, 8)),
    "unet": (UNet, (1, 8, 8)),
    "speech": (speech, (2, 101)),
}


@dataclass(frozen=True)
class Row:
    """A network from a file of that format; without a design, `verdict` says why."""

    network: str
    format: str
    parameters: int
    passed: bool
    verdict: str
    tasks: str = ""
    estimate: float = 0
    cycles: int = 0
    us: float = 0
    area: tuple[float, ...] = ()
    seconds: float = 0


def seeded(name: str) -> nn.Module:
    """The network in evaluation, with statistics of its norms that are not those of a new one."""
    torch.manual_seed(0)
    network = NETWORKS[name][0]().eval()
    for module in network.modules():
        if isinstance(module, nn.BatchNorm2d):
            for tensor, least in ((module.running_mean, -1.0), (module.running_var, 0.5), (module.weight, 0.5)):
                assert tensor is not None
                nn.init.uniform_(tensor, least, 1.5)
    return network


def exported(name: str, form: FileFormat, folder: Path) -> FileSource:
    """The network in a file."""
    path, inputs = folder / f"{name}.{form}", (torch.zeros(1, *NETWORKS[name][1]),)
    if form == "pt2":
        torch.export.save(torch.export.export(seeded(name), inputs), path)
    else:
        torch.onnx.export(seeded(name), inputs, str(path), dynamo=False)
    return FileSource(name, path, form)


def run(name: str, form: FileFormat, knobs: Knobs, folder: Path) -> Row:
    """The whole way of one network, in a folder of its own."""
    begun, design = time.monotonic(), folder / "design"
    parameters = sum(p.numel() for p in seeded(name).parameters())
    try:
        source = exported(name, form, folder)
        bundle = import_model(source, whole_network(name), folder / "cache")
        made = compile_design(bundle, knobs, load_platform("u55c"), design)
        verdict, timed = csim(design), simulate_directory(design)
    except MillraceError as error:
        return Row(name, form, parameters, False, f"{type(error).__name__}: {error}", seconds=time.monotonic() - begun)
    found: dict[str, Metric] = {metric.name: metric for metric in made.metrics}
    passed = verdict.passed and timed.deadlock is None
    word = "passes" if passed else verdict.message or "deadlock"
    return Row(
        name,
        form,
        parameters,
        passed,
        word if made.feasible else f"{word}; not feasible",
        f"{verdict.tasks_checked} of {verdict.tasks}",
        found["cycles"].value,
        timed.cycles,
        timed.cycles / found["clock"].value,
        tuple(found[kind].value if kind in found else 0 for kind in AREA),
        time.monotonic() - begun,
    )


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("networks", nargs="*", help=f"default: {' '.join(NETWORKS)}")
    parser.add_argument("--format", choices=("onnx", "pt2"), action="append", dest="formats")
    parser.add_argument("--unroll", type=int, default=Knobs().overall_unroll, help="lanes (default: %(default)s)")
    parser.add_argument("--json", action="store_true")
    arguments = parser.parse_args()
    console = Console(stderr=arguments.json)
    knobs, rows = Knobs(overall_unroll=arguments.unroll), list[Row]()
    for name in arguments.networks or NETWORKS:
        for form in arguments.formats or ("onnx", "pt2"):
            with console.status(f"{name}.{form}"), tempfile.TemporaryDirectory() as folder:
                rows.append(run(name, form, knobs, Path(folder)))
            console.print(f"{name}.{form}: {rows[-1].verdict} ({rows[-1].seconds:.0f} s)")
    console.print(_table(rows))
    if arguments.json:
        print(json.dumps([asdict(row) for row in rows]))
    return 0 if all(row.passed for row in rows) else 1


def _table(rows: list[Row]) -> Table:
    table = Table(title=f"{sum(row.passed for row in rows)} of {len(rows)} pass")
    for column in ("network", "from", "parameters", "tasks compared", "estimate", "cycles", "us", *AREA):
        table.add_column(column, justify="left" if column in ("network", "from") else "right")
    for row in rows:
        area = (f"{kind:,.0f}" for kind in row.area)
        times = (f"{row.estimate:,.0f}", f"{row.cycles:,}", f"{row.us:.1f}") if row.area else ("refused",)
        table.add_row(row.network, row.format, f"{row.parameters:,}", row.tasks, *times, *area)
    return table


if __name__ == "__main__":
    sys.exit(main())
