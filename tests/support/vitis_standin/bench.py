"""The adapter at work on a small design with the stand-in."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from vitis_standin.install import U55C, control, install

from compiler.graph.task_graph import TaskGraph
from compiler.toolchain.vitis.commands import LinkOptions
from compiler.toolchain.vitis.cosim import CosimOptions, cosim
from compiler.toolchain.vitis.csynth import CsynthOptions, csynth
from compiler.toolchain.vitis.installation import Installation, find_installations
from compiler.toolchain.vitis.limits import Limits
from compiler.toolchain.vitis.link import link
from compiler.toolchain.vitis.process import Sampling
from compiler.toolchain.vitis.result import ToolResult

VERSIONS = ("2022.2", "2023.2", "2024.2", "2025.1")
QUICK = Sampling(0.05, 0.1)
ENOUGH = Limits(60, 8, 1)


def quiet(_line: str) -> None: ...


@dataclass(frozen=True)
class Bench:
    """The stand-in, a design, and a folder for results."""

    root: Path
    design: Path
    tasks: TaskGraph
    out: Path

    def installation(self, version: str) -> Installation:
        return next(i for i in find_installations([self.root]) if i.version == version)

    def tell(self, **settings: object) -> None:
        control(self.root, **settings)

    def csynth(
        self,
        version: str = "2023.2",
        limits: Limits = ENOUGH,
        on_line: Callable[[str], None] = quiet,
        kernels: tuple[str, ...] = (),
    ) -> ToolResult:
        options = CsynthOptions(kernels)
        return csynth(self.design, self.installation(version), options, self.out / "csynth", limits, on_line, QUICK)

    def cosim(self, version: str = "2023.2", limits: Limits = ENOUGH, kernels: tuple[str, ...] = ()) -> ToolResult:
        options = CosimOptions(kernels)
        return cosim(self.design, self.installation(version), options, self.out / "cosim", limits, quiet, QUICK)

    def link(self, version: str = "2023.2", options: LinkOptions | None = None, limits: Limits = ENOUGH) -> ToolResult:
        options = options or LinkOptions(U55C)
        place = self.out / "link"
        return link(self.design, self.xos(), self.installation(version), options, place, limits, quiet, QUICK)

    def xos(self) -> list[Path]:
        """Of all kernels; made once for the design, by a tool that is told nothing."""
        folder = self.design.parent / "xos"
        if not folder.is_dir():
            tool = next(iter(find_installations([install(self.design.parent / "Xilinx", "2023.2")])))
            assert csynth(self.design, tool, CsynthOptions(), folder, ENOUGH, quiet, QUICK).passed
        return sorted(folder.glob("*.xo"))


def make_bench(folder: Path, design: Path, tasks: TaskGraph) -> Bench:
    """With the stand-in for all of `VERSIONS` in `folder`."""
    for version in VERSIONS:
        install(folder / "Xilinx", version)
    return Bench(folder / "Xilinx", design, tasks, folder / "out")
