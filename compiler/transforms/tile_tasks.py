"""tile-tasks: decide every task's loop nest (level 1 of the design space)."""

from dataclasses import dataclass
from typing import cast

from typing_extensions import override
from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.passes import ModulePass

from compiler.analysis.read_back import linalg_of, tasks_of
from compiler.analysis.tiling import plan_nests
from compiler.dialects.dataflow_attributes import NestAttr
from compiler.errors import InvalidInputError
from compiler.options import Knobs, LoopOrder, TaskOverride


def override_text(override: TaskOverride) -> str:
    """An override as a pass option: `fc1 tile=32 unroll=8 order=1/0`."""
    tile = f" tile={override.tile}" if override.tile is not None else ""
    unroll = f" unroll={override.unroll}" if override.unroll is not None else ""
    order = f" order={'/'.join(map(str, override.order))}" if override.order is not None else ""
    return f"{override.op}{tile}{unroll}{order}"


def parse_override(text: str) -> TaskOverride:
    """The inverse of `override_text`."""
    op, *fields = text.split(" ")
    values = dict(field.split("=", 1) for field in fields if "=" in field)
    if len(values) != len(fields) or not values.keys() <= {"tile", "unroll", "order"}:
        raise InvalidInputError(f"override {text!r} is not `OP [tile=N] [unroll=N] [order=G/G/...]`")
    order = tuple(int(group) for group in values["order"].split("/")) if "order" in values else None
    tile, unroll = (int(values[key]) if key in values else None for key in ("tile", "unroll"))
    return TaskOverride(op, tile, unroll, order)


def tile_tasks(module: ModuleOp, knobs: Knobs) -> None:
    nests = plan_nests(linalg_of(module), knobs)
    for task in tasks_of(module):
        task.nest = NestAttr(nests[task.process_name])


@dataclass(frozen=True)
class TileTasksPass(ModulePass):
    """Set `nest` of every task by `compiler.analysis.tiling`. Assumes tasks on tensors; options as in `Knobs`."""

    name = "tile-tasks"

    default_tile_size: int = 16
    overall_unroll: int = 256
    order: str = "reduction-inner"
    hbm_channels: int = 1
    stream_width: int = 512
    overrides: tuple[str, ...] = ()

    @staticmethod
    def of(knobs: Knobs) -> "TileTasksPass":
        return TileTasksPass(
            knobs.default_tile_size,
            knobs.overall_unroll,
            knobs.order,
            knobs.hbm_channels,
            knobs.stream_width,
            tuple(override_text(override) for override in knobs.overrides),
        )

    @property
    def knobs(self) -> Knobs:
        return Knobs(
            default_tile_size=self.default_tile_size,
            overall_unroll=self.overall_unroll,
            order=cast(LoopOrder, self.order),  # Knobs checks it
            hbm_channels=self.hbm_channels,
            stream_width=self.stream_width,
            overrides=tuple(parse_override(text) for text in self.overrides),
        )

    @override
    def apply(self, ctx: Context, op: ModuleOp) -> None:
        tile_tasks(op, self.knobs)
