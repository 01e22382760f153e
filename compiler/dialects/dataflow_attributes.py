"""Attributes of the dataflow dialect: the loops of an operation, how they are tiled, what a port accesses.

    space<parallel 64 : 0, parallel 768 : 1, reduction 3072 : 2>   three loops in three groups
    nest<[d1 12 x 64, d2 768 x 4, d1 16 x 4], unroll: [1, 4, 4]>

is the loop nest

    for d1 in 0, 64, ..., 704:  for d2 in 0, 4, ..., 3068:  for d1 in 0, 4, ..., 60:
        the 1 x 4 x 4 points from (d0, d1, d2) on, side by side in space

and a port `"w"[d2, d1]` accesses value w at row d2, column d1. Where loops are padded,

    valid<[64, 761, 3072], masked: []>      the loops' true extents, and the reduction loops that skip the rest
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import get_args

from xdsl.irdl import irdl_attr_definition
from xdsl.parser import AttrParser
from xdsl.printer import Printer
from xdsl.utils.exceptions import VerifyException

from compiler.dialects.plain_data import PlainData, parse_dim, parse_dims, parse_field, parse_naturals
from compiler.graph.design import Packing
from compiler.graph.linalg_graph import Iterator, Operand, Output, Row, ValueRole
from compiler.graph.nest import Nest, NestLoop
from compiler.graph.windows import Windows


@dataclass(frozen=True, slots=True)
class Space:
    """The loops of a `LinalgOp`: extents, iterator types, and the group in which each is tiled."""

    loops: tuple[int, ...]
    iterators: tuple[Iterator, ...]
    groups: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class ValueInfo:
    """What a function argument is: a `Value` without what its type says."""

    name: str
    role: ValueRole
    source: str
    valid: tuple[int, ...] = ()
    sources: tuple[str, ...] = ()
    row: Row | None = None


@dataclass(frozen=True, slots=True)
class Valid:
    """`LinalgOp.valid` and `LinalgOp.masked` of an operation that is padded."""

    extents: tuple[int, ...]
    masked: tuple[int, ...]


def _print_row(printer: Printer, row: Row | None) -> None:
    if row is not None:
        printer.print_string(" row ")
        printer.print_string_literal(row.argument)
        printer.print_string(f" of {row.count}")


def _parse_row(parser: AttrParser) -> Row | None:
    if not parser.parse_optional_keyword("row"):
        return None
    argument = parser.parse_str_literal()
    parser.parse_keyword("of")
    return Row(argument, parser.parse_integer(allow_boolean=False, allow_negative=False))


def _dims(dims: Sequence[int]) -> str:
    return f"[{', '.join(f'd{d}' for d in dims)}]"


@irdl_attr_definition
class SpaceAttr(PlainData[Space]):
    """`#dataflow.space<parallel 64 : 0, reduction 768 : 1>`: iterator, extent, group of each loop."""

    name = "dataflow.space"

    def verify(self) -> None:
        if any(extent < 1 for extent in self.data.loops):
            raise VerifyException(f"loop extents {list(self.data.loops)} must be at least 1")

    def print_plain(self, printer: Printer) -> None:
        loops = zip(self.data.iterators, self.data.loops, self.data.groups, strict=True)
        printer.print_list(loops, lambda loop: printer.print_string(f"{loop[0]} {loop[1]} : {loop[2]}"))

    @classmethod
    def parse_plain(cls, parser: AttrParser) -> Space:
        iterators: list[Iterator] = []
        loops: list[int] = []
        groups: list[int] = []
        while (word := parser.parse_optional_keyword_in(get_args(Iterator))) is not None:
            iterators.append("parallel" if word == "parallel" else "reduction")
            loops.append(parser.parse_integer())
            parser.parse_punctuation(":")
            groups.append(parser.parse_integer())
            if parser.parse_optional_punctuation(",") is None:
                break
        return Space(tuple(loops), tuple(iterators), tuple(groups))


@irdl_attr_definition
class ValidAttr(PlainData[Valid]):
    """`#dataflow.valid<[97, 193], masked: [d1]>`: true extents of padded loops; a reduction skips those masked."""

    name = "dataflow.valid"

    def print_plain(self, printer: Printer) -> None:
        printer.print_string(f"{list(self.data.extents)}, masked: {_dims(self.data.masked)}")

    @classmethod
    def parse_plain(cls, parser: AttrParser) -> Valid:
        extents = parse_naturals(parser)
        parser.parse_punctuation(",")
        parser.parse_keyword("masked")
        parser.parse_punctuation(":")
        return Valid(extents, parse_dims(parser))


_WINDOW_NUMBERS = ("stride", "dilation", "padding", "repeat")


@irdl_attr_definition
class WindowsAttr(PlainData[Windows]):
    """`#dataflow.windows<[d4], stride: 2, dilation: 1, padding: 1, repeat: 1, fill: "0.0">`: the loop over taps, `[]`
    where there is one tap, and where they lie.
    """

    name = "dataflow.windows"

    def print_plain(self, printer: Printer) -> None:
        windows = self.data
        taps = [] if windows.loop is None else [windows.loop]
        numbers = ", ".join(f"{name}: {getattr(windows, name)}" for name in _WINDOW_NUMBERS)
        printer.print_string(f"{_dims(taps)}, {numbers}, fill: ")
        printer.print_string_literal(repr(windows.fill))

    @classmethod
    def parse_plain(cls, parser: AttrParser) -> Windows:
        taps = parse_dims(parser)
        numbers: dict[str, int] = {}
        for name in _WINDOW_NUMBERS:
            parser.parse_punctuation(",")
            numbers[name] = parse_field(parser, name)
        parser.parse_punctuation(",")
        parser.parse_keyword("fill")
        parser.parse_punctuation(":")
        at, text = parser.pos, parser.parse_str_literal()
        try:
            fill = float(text) if set(text) & set(".einf") else int(text)
        except ValueError:
            parser.raise_error('expected a number in quotes, like "0.0" or "-inf"', at)
        if len(taps) > 1:
            parser.raise_error("windows have one loop over taps", at)
        return Windows(taps[0] if taps else None, fill=fill, **numbers)


@irdl_attr_definition
class NestAttr(PlainData[Nest]):
    """`#dataflow.nest<[d1 192 x 4, d0 16 x 1], unroll: [1, 4]>`: loops in time as trips x step, points in space."""

    name = "dataflow.nest"

    def verify(self) -> None:
        rank = len(self.data.unroll)
        if any(loop.dim >= rank or loop.trip < 1 or loop.step < 1 for loop in self.data.loops):
            raise VerifyException(f"a loop of the nest is over a dimension that unroll {list(self.data.unroll)} lacks")

    def print_plain(self, printer: Printer) -> None:
        loops = ", ".join(f"d{loop.dim} {loop.trip} x {loop.step}" for loop in self.data.loops)
        printer.print_string(f"[{loops}], unroll: {list(self.data.unroll)}")

    @classmethod
    def parse_plain(cls, parser: AttrParser) -> Nest:
        def loop() -> NestLoop:
            dim, trip = parse_dim(parser), parser.parse_integer()
            parser.parse_keyword("x")
            return NestLoop(dim, trip, parser.parse_integer())

        loops = parser.parse_comma_separated_list(parser.Delimiter.SQUARE, loop)
        parser.parse_punctuation(",")
        parser.parse_keyword("unroll")
        parser.parse_punctuation(":")
        return Nest(tuple(loops), parse_naturals(parser))


@irdl_attr_definition
class MapAttr(PlainData[Operand]):
    """`#dataflow.map<"w"[d2, d1]>`: the value that a port accesses, and the loop that walks each of its dimensions."""

    name = "dataflow.map"

    def print_plain(self, printer: Printer) -> None:
        printer.print_string_literal(self.data.value)
        printer.print_string(_dims(self.data.dims))

    @classmethod
    def parse_plain(cls, parser: AttrParser) -> Operand:
        return Operand(parser.parse_str_literal(), parse_dims(parser))


@irdl_attr_definition
class ValueAttr(PlainData[ValueInfo]):
    """`#dataflow.value<"w", param from "mlp.weight" valid [97, 193]>`: name, role, the tensor of the workload's bundle,
    and its true shape where that is padded; `from ["h0.w", "h1.w"]`, where each layer has one of its own; with
    `row "position" of 64` behind it, one row of that tensor, of which a launch is told the number.
    """

    name = "dataflow.value"

    def print_plain(self, printer: Printer) -> None:
        printer.print_string_literal(self.data.name)
        printer.print_string(f", {self.data.role} from ")
        if self.data.sources:
            with printer.in_square_brackets():
                printer.print_list(self.data.sources, printer.print_string_literal)
        else:
            printer.print_string_literal(self.data.source)
        if self.data.valid:
            printer.print_string(f" valid {list(self.data.valid)}")
        _print_row(printer, self.data.row)

    @classmethod
    def parse_plain(cls, parser: AttrParser) -> ValueInfo:
        name = parser.parse_str_literal()
        parser.parse_punctuation(",")
        word = parser.parse_keyword_in(get_args(ValueRole))
        role: ValueRole = next(r for r in get_args(ValueRole) if r == word)
        parser.parse_keyword("from")
        source = parser.parse_optional_str_literal()
        sources = (
            ()
            if source is not None
            else parser.parse_comma_separated_list(parser.Delimiter.SQUARE, parser.parse_str_literal)
        )
        valid = parse_naturals(parser) if parser.parse_optional_keyword("valid") else ()
        return ValueInfo(name, role, source or "", valid, tuple(sources), _parse_row(parser))


@irdl_attr_definition
class OutputAttr(PlainData[Output]):
    """`#dataflow.output<"y" = "h4"[d1, d0] as [8, 768]>`: a result of the network, a value permuted and reshaped; with
    `of layer 1` behind it, what that layer makes; with `row "position" of 64`, a row of the state that it joins.
    """

    name = "dataflow.output"

    def print_plain(self, printer: Printer) -> None:
        printer.print_string_literal(self.data.name)
        printer.print_string(" = ")
        printer.print_string_literal(self.data.value)
        printer.print_string(f"{_dims(self.data.permutation)} as {list(self.data.shape)}")
        if self.data.layer is not None:
            printer.print_string(f" of layer {self.data.layer}")
        _print_row(printer, self.data.row)

    @classmethod
    def parse_plain(cls, parser: AttrParser) -> Output:
        name = parser.parse_str_literal()
        parser.parse_punctuation("=")
        value, permutation = parser.parse_str_literal(), parse_dims(parser)
        parser.parse_keyword("as")
        shape, layer = parse_naturals(parser), None
        if parser.parse_optional_keyword("of"):
            parser.parse_keyword("layer")
            layer = parser.parse_integer(allow_boolean=False, allow_negative=False)
        return Output(name, value, permutation, shape, layer, _parse_row(parser))


@irdl_attr_definition
class PackingAttr(PlainData[Packing]):
    """`#dataflow.packing<channels: 2, tokens_per_word: 4, words_per_token: 1>`: tokens in words of two ports."""

    name = "dataflow.packing"

    def verify(self) -> None:
        packing = self.data
        if packing.channels < 1 or packing.tokens_per_word < 1 or packing.words_per_token < 1:
            raise VerifyException(f"{self}: channels, tokens and words must be at least 1")
        if packing.tokens_per_word > 1 and packing.words_per_token > 1:
            raise VerifyException(f"{self}: either a word holds tokens or a token takes words, not both")

    def print_plain(self, printer: Printer) -> None:
        packing = self.data
        printer.print_string(
            f"channels: {packing.channels}, tokens_per_word: {packing.tokens_per_word}, "
            f"words_per_token: {packing.words_per_token}"
        )

    @classmethod
    def parse_plain(cls, parser: AttrParser) -> Packing:
        channels = parse_field(parser, "channels")
        parser.parse_punctuation(",")
        tokens = parse_field(parser, "tokens_per_word")
        parser.parse_punctuation(",")
        return Packing(channels, tokens, parse_field(parser, "words_per_token"))
