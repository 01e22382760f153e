"""`dataflow.engine`: tasks of a kernel that take turns at the same lanes."""

from collections.abc import Sequence

from xdsl.dialects.builtin import ArrayAttr, IntAttr, StringAttr, SymbolNameConstraint
from xdsl.irdl import IRDLOperation, irdl_op_definition, opt_prop_def, prop_def, traits_def
from xdsl.parser import Parser
from xdsl.printer import Printer
from xdsl.traits import SymbolOpInterface
from xdsl.utils.exceptions import VerifyException

from compiler.dialects.plain_data import parse_naturals


@irdl_op_definition
class EngineOp(IRDLOperation):
    """The tasks that it names are one process, which runs one after the other as it names them.

    ```
    dataflow.engine @engine0 serves [@fc1, @fc2] slices 2 joint [1] depths [2, 2, 2, 16, 2, 2, 2, 2, 2]
    dataflow.engine @engine1 serves [@fc1, @fc2] joint [1] rows 4
    ```

    With `slices` its lanes are dealt out to so many equal processes. Loads of inputs that are `joint` are one process,
    which reads what they read, in this order, from one image; the streams that they write are one FIFO. With `rows` so
    many of a prompt are computed side by side. `depths` are of the FIFOs between what brings it the tokens of whose
    turn it is and what takes them: those of each input of a task, and those of the results
    (`compiler.analysis.engines`). They are there when other streams are FIFOs.
    """

    name = "dataflow.engine"

    sym_name = prop_def(SymbolNameConstraint())
    turns = prop_def(ArrayAttr[StringAttr])
    slices = opt_prop_def(IntAttr)
    joint = opt_prop_def(ArrayAttr[IntAttr])
    rows = opt_prop_def(IntAttr)
    depths = opt_prop_def(ArrayAttr[IntAttr])

    traits = traits_def(SymbolOpInterface())

    def __init__(
        self,
        name: str,
        turns: Sequence[str],
        slices: int,
        joint: Sequence[int],
        rows: int,
        depths: Sequence[int],
    ) -> None:
        super().__init__(
            properties={
                "sym_name": StringAttr(name),
                "turns": ArrayAttr(map(StringAttr, turns)),
                "slices": IntAttr(slices) if slices != 1 else None,
                "joint": ArrayAttr(map(IntAttr, joint)) if joint else None,
                "rows": IntAttr(rows) if rows != 1 else None,
                "depths": ArrayAttr(map(IntAttr, depths)) if depths else None,
            }
        )

    @property
    def engine_name(self) -> str:
        return self.sym_name.data

    @property
    def served(self) -> tuple[str, ...]:
        return tuple(turn.data for turn in self.turns)

    @property
    def cut_into(self) -> int:
        """Equal processes."""
        return self.slices.data if self.slices is not None else 1

    @property
    def joint_inputs(self) -> tuple[int, ...]:
        return tuple(index.data for index in self.joint or ())

    @property
    def side_by_side(self) -> int:
        """Rows of a prompt."""
        return self.rows.data if self.rows is not None else 1

    @property
    def fifo_depths(self) -> tuple[int, ...]:
        return tuple(depth.data for depth in self.depths or ())

    def verify_(self) -> None:
        if len(self.turns) < 2 or len(set(self.served)) < len(self.turns):
            raise VerifyException(f"engine @{self.engine_name} serves at least two tasks, each in one turn")
        if self.slices is not None and self.cut_into < 2:
            raise VerifyException(f"engine @{self.engine_name} is cut into at least two slices, or not at all")
        if self.rows is not None and self.side_by_side < 2:
            raise VerifyException(f"engine @{self.engine_name} has at least two rows side by side, or says none")
        if list(self.joint_inputs) != sorted(set(self.joint_inputs)):
            raise VerifyException(f"engine @{self.engine_name} names each joint input once, in their order")
        if any(depth < 1 for depth in self.fifo_depths):
            raise VerifyException(f"a FIFO of engine @{self.engine_name} holds at least one token")

    def print(self, printer: Printer) -> None:
        printer.print_string(" ")
        printer.print_symbol_name(self.engine_name)
        printer.print_string(" serves ")
        with printer.in_square_brackets():
            printer.print_list(self.served, printer.print_symbol_name)
        if self.slices is not None:
            printer.print_string(f" slices {self.cut_into}")
        if self.joint_inputs:
            printer.print_string(f" joint {list(self.joint_inputs)}")
        if self.rows is not None:
            printer.print_string(f" rows {self.side_by_side}")
        if self.fifo_depths:
            printer.print_string(" depths ")
            with printer.in_square_brackets():
                printer.print_list(self.fifo_depths, lambda depth: printer.print_string(str(depth)))

    @classmethod
    def parse(cls, parser: Parser) -> "EngineOp":
        name = parser.parse_symbol_name().data
        parser.parse_keyword("serves")
        turns = _parse_names(parser)
        slices = 1
        if parser.parse_optional_keyword("slices"):
            slices = parser.parse_integer(allow_boolean=False, allow_negative=False)
        joint = parse_naturals(parser) if parser.parse_optional_keyword("joint") else ()
        rows = 1
        if parser.parse_optional_keyword("rows"):
            rows = parser.parse_integer(allow_boolean=False, allow_negative=False)
        depths = parse_naturals(parser) if parser.parse_optional_keyword("depths") else ()
        return cls(name, turns, slices, joint, rows, depths)


def _parse_names(parser: Parser) -> list[str]:
    return parser.parse_comma_separated_list(parser.Delimiter.SQUARE, lambda: parser.parse_symbol_name().data)
