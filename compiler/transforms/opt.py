"""millrace-opt: apply passes to a file of IR, as the filechecks do.

python -m compiler.transforms.opt -p 'tile-tasks{default-tile-size=8},linalg-to-dataflow' design.mlir
"""

from xdsl.dialects.builtin import ModuleOp
from xdsl.targets import get_all_targets
from xdsl.utils.exceptions import PassFailedException
from xdsl.xdsl_opt_main import xDSLOptMain

from compiler.dialects.context import DIALECTS
from compiler.errors import MillraceError
from compiler.transforms.pipeline_passes import DESIGN_PASSES, OTHER_PASSES


class MillraceOpt(xDSLOptMain):
    """xDSL's optimizer driver, with the dialects and passes of a design and no others."""

    def register_all_dialects(self) -> None:
        for dialect in DIALECTS:
            self.ctx.load_dialect(dialect)

    def register_all_passes(self) -> None:
        for pass_ in (*DESIGN_PASSES, *OTHER_PASSES):
            self.register_pass(pass_.name, lambda pass_=pass_: pass_)

    def register_all_targets(self) -> None:
        self.available_targets["mlir"] = get_all_targets()["mlir"]

    def apply_passes(self, prog: ModuleOp) -> None:
        try:
            super().apply_passes(prog)
        except MillraceError as error:
            raise PassFailedException(str(error)) from error


if __name__ == "__main__":
    MillraceOpt().run()
