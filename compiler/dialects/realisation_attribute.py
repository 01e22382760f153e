"""How a converter is realised, as its operation says it:

    circular<dim: 1, length: 24, delay: 1, steps: 64, columns: 4, fill: [0, 64, 1], drain: [0, 64, 4]>

is a buffer of 24 elements along d1; a row has 64 steps of 4 iterations, in each of which one token fills and four
drain; a round is drained one row after it was filled (`compiler.graph.realisation`).
"""

from typing import get_args

from xdsl.irdl import irdl_attr_definition
from xdsl.parser import AttrParser
from xdsl.printer import Printer

from compiler.dialects.plain_data import PlainData, parse_field, parse_naturals
from compiler.graph.realisation import Realisation, RealisationKind, Window

# By their words in the text.
KINDS: dict[str, RealisationKind] = {kind.replace("-", "_"): kind for kind in get_args(RealisationKind)}


@irdl_attr_definition
class RealisationAttr(PlainData[Realisation]):
    """`#itensor.realisation<single<dim: 0, length: 8, ...>>`; operations print what is inside."""

    name = "itensor.realisation"

    def print_plain(self, printer: Printer) -> None:
        chosen = self.data
        numbers = {name: getattr(chosen, name) for name in ("dim", "length", "delay", "steps", "columns")}
        windows = {
            name: [window.start, window.steps, window.each]
            for name, window in (("fill", chosen.fill), ("drain", chosen.drain))
        }
        fields = ", ".join(f"{name}: {value}" for name, value in {**numbers, **windows}.items())
        printer.print_string(f"{chosen.kind.replace('-', '_')}<{fields}>")

    @classmethod
    def parse_plain(cls, parser: AttrParser) -> Realisation:
        at = parser.pos
        word = parser.parse_identifier(f" for a realisation, one of {', '.join(KINDS)}")
        if word not in KINDS:
            parser.raise_error(f"expected one of {', '.join(KINDS)}", at)
        with parser.in_angle_brackets():
            dim, length, delay = (_field(parser, name) for name in ("dim", "length", "delay"))
            steps, columns = (_field(parser, name) for name in ("steps", "columns"))
            fill = _window(parser, "fill")
            parser.parse_punctuation(",")
            drain = _window(parser, "drain")
        return Realisation(KINDS[word], dim, length, delay, steps, columns, fill, drain)


def _field(parser: AttrParser, name: str) -> int:
    value = parse_field(parser, name)
    parser.parse_punctuation(",")
    return value


def _window(parser: AttrParser, name: str) -> Window:
    """`fill: [start, steps, each]`."""
    parser.parse_keyword(name)
    parser.parse_punctuation(":")
    at = parser.pos
    numbers = parse_naturals(parser)
    if len(numbers) != 3 or not numbers[2]:
        parser.raise_error("expected [start, steps, each] with at least one token in each step", at)
    return Window(numbers[0], numbers[1], numbers[2])
