"""The passes of one design, in order. `compiler.pipeline` splices them between import and emission."""

from xdsl.passes import ModulePass

from compiler.options import Knobs
from compiler.platforms.platform import Platform
from compiler.transforms.bind_multipliers import BindMultipliersPass
from compiler.transforms.fuse_kernels import FuseKernelsPass
from compiler.transforms.insert_forks import InsertForksPass
from compiler.transforms.linalg_to_dataflow import LinalgToDataflowPass
from compiler.transforms.lower_to_streams import LowerToStreamsPass
from compiler.transforms.materialize_dmas import MaterializeDmasPass
from compiler.transforms.plan_loads import PlanLoadsPass
from compiler.transforms.size_fifos import SizeFifosPass
from compiler.transforms.tile_tasks import TileTasksPass

DESIGN_PASSES: tuple[type[ModulePass], ...] = (
    TileTasksPass,
    LinalgToDataflowPass,
    FuseKernelsPass,
    PlanLoadsPass,
    InsertForksPass,
    BindMultipliersPass,
    MaterializeDmasPass,
    LowerToStreamsPass,
    SizeFifosPass,
)


def design_passes(knobs: Knobs, platform: Platform) -> tuple[ModulePass, ...]:
    """What takes an imported module (`import_linalg`) to the one that `read_back` reads."""
    port_bits = platform.hbm.port_bits
    return (
        TileTasksPass.of(knobs),
        LinalgToDataflowPass(),
        FuseKernelsPass(knobs.fusion_budget),
        PlanLoadsPass(port_bits),  # before forks: it leaves several readers on one load
        InsertForksPass(),
        BindMultipliersPass(knobs.multiplier),
        MaterializeDmasPass(knobs.hbm_channels, port_bits),  # after fusion: what stays on chip needs no DMA
        LowerToStreamsPass(),  # last use of layouts: they are settled and stripped here
        SizeFifosPass(knobs.fifo),
    )
