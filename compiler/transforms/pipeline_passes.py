"""The passes of one design, in order. `compiler.pipeline` splices them between import and emission."""

from xdsl.passes import ModulePass

from compiler.options import Knobs
from compiler.platforms.platform import Platform
from compiler.transforms.bind_multipliers import BindMultipliersPass
from compiler.transforms.expand_tasks import ExpandTasksPass
from compiler.transforms.fold_adapters import FoldAdaptersPass
from compiler.transforms.fuse_kernels import FuseKernelsPass
from compiler.transforms.insert_forks import InsertForksPass
from compiler.transforms.linalg_to_dataflow import LinalgToDataflowPass
from compiler.transforms.lower_to_streams import LowerToStreamsPass
from compiler.transforms.materialize_dmas import MaterializeDmasPass
from compiler.transforms.pack_widen import PackWidenPass
from compiler.transforms.pad_dimensions import PadDimensionsPass
from compiler.transforms.plan_loads import PlanLoadsPass
from compiler.transforms.set_fifo_depths import SetFifoDepthsPass
from compiler.transforms.share_converters import ShareConvertersPass
from compiler.transforms.size_fifos import SizeFifosPass
from compiler.transforms.tile_tasks import TileTasksPass

DESIGN_PASSES: tuple[type[ModulePass], ...] = (
    PadDimensionsPass,
    TileTasksPass,
    LinalgToDataflowPass,
    FuseKernelsPass,
    PlanLoadsPass,
    ShareConvertersPass,
    InsertForksPass,
    BindMultipliersPass,
    PackWidenPass,
    MaterializeDmasPass,
    LowerToStreamsPass,
    SizeFifosPass,
)


# Passes that knobs do not ask for: what comes after `read_back`, and what is for people and tests.
OTHER_PASSES: tuple[type[ModulePass], ...] = (SetFifoDepthsPass, ExpandTasksPass, FoldAdaptersPass)


def design_passes(knobs: Knobs, platform: Platform) -> tuple[ModulePass, ...]:
    """What takes an imported module (`import_linalg`) to the one that `read_back` reads."""
    port_bits = platform.hbm.port_bits
    return (
        PadDimensionsPass.of(knobs),  # before anything that plans on the extents of loops
        TileTasksPass.of(knobs),
        LinalgToDataflowPass(),
        FuseKernelsPass(knobs.fusion_budget, knobs.fusion_plan, platform.on_chip_bytes, knobs.converters),
        PlanLoadsPass(port_bits, knobs.converters),  # before forks: it leaves several readers on one load
        ShareConvertersPass(),  # between the last pass that makes converters and the one that copies
        InsertForksPass(),
        BindMultipliersPass(knobs.multiplier),
        PackWidenPass(knobs.hbm_channels, port_bits),  # the loads are settled, and no DMA is there to pack for yet
        MaterializeDmasPass(),  # after fusion: what stays on chip needs no DMA
        LowerToStreamsPass(),  # last use of layouts: they are settled and stripped here
        SizeFifosPass(knobs.fifo, knobs.prefetch_kib, platform.name),
    )
