"""Attributes that hold a frozen value of the compiler, so that IR and graphs share it and its mathematics."""

from abc import abstractmethod
from typing import Generic, TypeVar

from xdsl.ir import Data
from xdsl.parser import AttrParser
from xdsl.printer import Printer

T = TypeVar("T")


class PlainData(Data[T], Generic[T]):
    """`#dialect.name<text>`; operations print the same text without `#dialect.name<>` around it."""

    @classmethod
    @abstractmethod
    def parse_plain(cls, parser: AttrParser) -> T:
        """Read the value from what `print_plain` printed."""

    @abstractmethod
    def print_plain(self, printer: Printer) -> None:
        """Print the value without brackets."""

    @classmethod
    def parse_parameter(cls, parser: AttrParser) -> T:
        with parser.in_angle_brackets():
            return cls.parse_plain(parser)

    def print_parameter(self, printer: Printer) -> None:
        with printer.in_angle_brackets():
            self.print_plain(printer)


def parse_dim(parser: AttrParser) -> int:
    """A loop by its number: `d3`."""
    at = parser.pos
    name = parser.parse_identifier(" for a loop, like d0")
    if not (name.startswith("d") and name[1:].isdecimal()):
        parser.raise_error("expected a loop like d0", at)
    return int(name[1:])


def parse_dims(parser: AttrParser) -> tuple[int, ...]:
    """Loops in brackets: `[d0, d3]`."""
    return tuple(parser.parse_comma_separated_list(parser.Delimiter.SQUARE, lambda: parse_dim(parser)))


def parse_naturals(parser: AttrParser) -> tuple[int, ...]:
    """Numbers in brackets: `[4, 2]`."""
    return tuple(
        parser.parse_comma_separated_list(
            parser.Delimiter.SQUARE, lambda: parser.parse_integer(allow_boolean=False, allow_negative=False)
        )
    )


def parse_field(parser: AttrParser, name: str) -> int:
    """`name: 4`."""
    parser.parse_keyword(name)
    parser.parse_punctuation(":")
    return parser.parse_integer(allow_boolean=False, allow_negative=False)
