"""millrace-opt: apply passes to a file of IR, as the filechecks do.

python -m compiler.ir.opt -p tile-tasks,linalg-to-dataflow --knobs '{"default_tile_size": 8}' design.mlir
"""

import argparse
import json
from functools import partial
from typing import ClassVar

from typing_extensions import override
from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.passes import ModulePass
from xdsl.targets import get_all_targets
from xdsl.utils.exceptions import PassFailedException
from xdsl.xdsl_opt_main import xDSLOptMain

from compiler.dialects.context import DIALECTS
from compiler.errors import MillraceError
from compiler.ir.expand_tasks import ExpandTasksPass
from compiler.ir.read import read_design
from compiler.ir.write import write_design
from compiler.options import Knobs
from compiler.passes.design_passes import DESIGN_PASSES, passes_of
from compiler.platforms.platform import named_platform


class MillraceOpt(xDSLOptMain):
    """xDSL's optimizer driver, with the dialects and passes of a design and no others."""

    @override
    def register_all_arguments(self, arg_parser: argparse.ArgumentParser) -> None:
        super().register_all_arguments(arg_parser)
        arg_parser.add_argument("--knobs", default="{}", help="JSON, as `millrace compile --knobs` takes it")
        arg_parser.add_argument("--platform", default="u55c", help="a name or a TOML file (default: %(default)s)")

    def register_all_dialects(self) -> None:
        for dialect in DIALECTS:
            self.ctx.load_dialect(dialect)

    def register_all_passes(self) -> None:
        self.register_pass(ExpandTasksPass.name, lambda: ExpandTasksPass)
        for number, pass_ in enumerate(DESIGN_PASSES):
            self.register_pass(pass_.name, partial(self._on_modules, number))

    def register_all_targets(self) -> None:
        self.available_targets["mlir"] = get_all_targets()["mlir"]

    def apply_passes(self, prog: ModuleOp) -> None:
        try:
            super().apply_passes(prog)
        except MillraceError as error:
            raise PassFailedException(str(error)) from error

    def _on_modules(self, number: int) -> type[ModulePass]:
        """A pass over designs, by its number, as one over their modules."""
        knobs, platform = Knobs.from_json(json.loads(self.args.knobs)), named_platform(self.args.platform)

        class OnModules(ModulePass):
            name: ClassVar[str] = DESIGN_PASSES[number].name

            @override
            def apply(self, ctx: Context, op: ModuleOp) -> None:
                design = read_design(op, platform)
                made = write_design(passes_of(design.graph, knobs)[number].run(design))
                for old in list(op.ops):
                    old.detach()
                    old.erase()
                for new in list(made.ops):
                    new.detach()
                    op.body.block.add_op(new)

        return OnModules


if __name__ == "__main__":
    MillraceOpt().run()
