"""Mistakes in what is computed: constants, operators, scales, rounding, clamps, signs."""

import re
from collections.abc import Callable, Iterator

from bench.mutants.edits import Place, become, near
from bench.mutants.source import Function, Value

_FLOAT = re.compile(r"(?<![\w.])\d+(?:\.\d*)?(?:e[+-]?\d+)?f\b")
_CLAMP = re.compile(r"hls::(?:fmax|fmin)\((?P<value>[\w\[\]# +*]+), (?P<limit>-?[\d.]+f)\)")
_CLAMP_INT = re.compile(r"(?P<value>[\w\[\]#()]+) (?P<order>[<>]) (?P<limit>-?\d+) \? (?P=value) : (?P=limit)(?!\d)")
_SHIFT = re.compile(r" >> (?P<bits>\d+)LL")
_ROUND = re.compile(r"hls::rint\(([^()]*)\)")
_INEXACT = re.compile(r"hls::(?:exp|log|tanh|erf|rsqrt|pow)\b")
_OPERATOR = re.compile(r" ([+\-*/]) ")
_CALL = re.compile(r"\b(?:fmax|fmin|rsqrt)\b|(?<=reduce_tree<)\w+")
_OPERAND = re.compile(
    r"(?<![\w.<:\[#])(?:reduce_tree<\w+>\(\w+\)|[A-Za-z_]\w*(?:\[#*\])*|\d[\d.]*(?:e[+-]?\d+)?f)(?![\w.<:\[(])"
)
_SCALE = re.compile(r"\w*(?:scale|rstd|reciprocal|inverse_root)\w*(?:\[#*\])*|[\d.]+(?:e[+-]?\d+)?f")
_TOKEN = re.compile(r"\w+_token")
_CAST = re.compile(r"(?<![\w:<])(?P<type>int|float)\((?P<of>(?P<name>\w+)[^()]*)\)")

_OTHER_OPERATOR = {"+": "-", "-": "+", "*": "+", "/": "*"}
_OTHER_CALL = {
    "fmax": ("fmin",),
    "fmin": ("fmax",),
    "rsqrt": ("sqrt",),
    "Add": ("Maximum", "Multiply"),
    "Maximum": ("Add", "Minimum"),
    "Minimum": ("Add", "Maximum"),
    "Multiply": ("Add", "Maximum"),
}


def computed(function: Function) -> Iterator[Value]:
    """What a task computes; those that only move tokens compute nothing."""
    return function.values if function.kind == "compute" else iter(())


def constant(factor: float) -> Callable[[Function], Iterator[Place]]:
    """Literals that are too large by `factor`."""

    def places(function: Function) -> Iterator[Place]:
        for value in computed(function):
            clamps = [match.span("limit") for match in _CLAMP.finditer(value.plain)]
            for match in _FLOAT.finditer(value.plain):
                clamp = any(start <= match.start() < end for start, end in clamps)
                number = float(match[0][:-1])
                if number and not (clamp and factor < 1.005):  # whole numbers are clamped: less than one changes none
                    yield become(value.part(match), (_literal(number * factor),))

    return places


def _literal(number: float) -> str:
    text = f"{number:.9g}"
    return f"{text}f" if "." in text or "e" in text else f"{text}.0f"


def operator(function: Function) -> Iterator[Place]:
    """Another operator, function or way to reduce."""
    for value in computed(function):
        for match in _OPERATOR.finditer(value.plain):
            yield become(value.part(match, 1), (_OTHER_OPERATOR[match[1]],))
        for match in _CALL.finditer(value.plain):
            yield become(value.part(match), _OTHER_CALL[match[0]])


def scale(function: Function) -> Iterator[Place]:
    """A factor that is dropped, inverted, doubled, or that of something else."""
    products = [(value, match) for value in computed(function) if (match := _product(value))]
    factors = {value.piece.text[match.end() :] for value, match in products}
    for value, match in products:
        left, right = value.piece.text[: match.start()], value.piece.text[match.end() :]
        others = sorted(factors - {right})
        news = (left, f"{left} / {right}", f"{left} * (2.0f * {right})", *(f"{left} * {other}" for other in others))
        yield become(value.piece, news)


def _product(value: Value) -> re.Match[str] | None:
    """The operator of a lone product by what is a scale by its name, or a literal."""
    found = list(_OPERATOR.finditer(value.plain))
    if len(found) != 1 or found[0][1] != "*" or not _SCALE.fullmatch(value.plain[found[0].end() :]):
        return None
    return found[0]


def rounding(function: Function) -> Iterator[Place]:
    """Another way to round: down, up, to zero; where a number can be known to be a tie, ties away from zero or up. In
    fixed point, a bit more or less.
    """
    ties = not _INEXACT.search(function.text)
    for value in computed(function):
        for match in _SHIFT.finditer(value.plain):
            bits = value.part(match, "bits")
            yield become(bits, map(str, near(int(bits.text))))
        for match in _ROUND.finditer(value.plain):
            of = value.part(match, 1).text
            others = [f"hls::{name}({of})" for name in ("floor", "ceil", "trunc")]
            yield become(
                value.part(match), (*others, *([f"hls::round({of})", f"hls::floor({of} + 0.5f)"] if ties else []))
            )


def saturation(function: Function) -> Iterator[Place]:
    """A clamp that is one off, or none."""
    for value in computed(function):
        for match in _CLAMP.finditer(value.plain):
            limit = value.part(match, "limit")
            clamped = value.part(match, "value").text
            limits = (_literal(float(limit.text[:-1]) + by) for by in (-1, 1))
            yield become(limit, limits)
            yield become(value.part(match), (clamped,))
        code = value.line.code  # a value is what is selected, without the condition
        for match in _CLAMP_INT.finditer(code.text):
            clamped, order = match["value"], match["order"]
            others = (f"{clamped} {order} {other} ? {clamped} : {other}" for other in near(int(match["limit"])))
            yield become(code.part(match), (*others, clamped))


def sign(function: Function) -> Iterator[Place]:
    """A negated operand, literal or cast; a narrow integer that is taken as unsigned."""
    for value in computed(function):
        if _TOKEN.fullmatch(value.plain):
            continue  # several elements, that were computed before
        for match in _OPERAND.finditer(value.plain):
            if not value.plain[: match.start()].endswith(("int(", "float(")):  # a cast is a place of its own
                yield _negated(value, match)
        for match in _CAST.finditer(value.plain):
            cast, of = value.part(match), value.part(match, "of")
            bits = _bits(function, match["name"]) if match["type"] == "int" else None
            yield become(cast, (f"-{cast.text}", *([f"int(ap_uint<{bits}>({of.text}))"] if bits else [])))


def _negated(value: Value, match: re.Match[str]) -> Place:
    operand = value.part(match)
    if value.plain[: match.start()].endswith("-"):  # of a negative literal; a binary minus has a blank behind it
        return become(value.piece.cut(match.start() - 1, match.end()), (operand.text,))
    return become(operand, (f"-{operand.text}",))


def _bits(function: Function, name: str) -> int | None:
    """Of the integers in the token `name`, where those are narrow."""
    found = re.search(rf"\bi(\d)x\d+ {name}\b|\bap_int<(\d)> {name}\b", function.text)
    return int(found[1] or found[2]) if found else None
