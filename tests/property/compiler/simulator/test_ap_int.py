"""ap_int against Python's integers: every operation, on random and extreme values, narrow, wide and mixed.

Both sets of headers are held to the same: our stand-ins, and the ones that AMD publishes.

One compiled program checks batches of cases that hypothesis draws.
"""

import operator
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NamedTuple

import pytest
from examples import examples
from hypothesis import given, settings
from hypothesis import strategies as st
from public_hls import PUBLIC

from compiler.simulator.csim.build import FLAGS, INCLUDE_DIR, RUNTIME_SOURCE

pytestmark = pytest.mark.slow


class Type(NamedTuple):
    width: int
    signed: bool


def i(width: int) -> Type:
    return Type(width, signed=True)


def u(width: int) -> Type:
    return Type(width, signed=False)


# The table of ap_int_cases.cpp.
PAIRS = [
    *((u(1), u(1)), (i(4), i(8)), (u(4), i(4)), (i(8), i(8)), (u(8), i(12)), (i(12), u(17)), (i(16), u(16))),
    *((i(32), i(16)), (u(32), i(32)), (i(33), u(31)), (u(63), i(5)), (i(64), u(64)), (u(64), u(3)), (i(32), i(32))),
    *((u(8), i(32)), (i(8), u(8)), (i(20), i(64)), (u(7), u(1)), (i(65), i(8)), (u(100), i(100)), (i(128), u(64))),
    *((u(512), u(512)), (i(512), i(32)), (i(40), u(130))),
]


class Case(NamedTuple):
    pair: int
    a: int
    b: int
    shift: int
    hi: int
    lo: int
    eighths: int


def wrap(value: int, type: Type) -> int:
    value &= (1 << type.width) - 1
    return value - (1 << type.width) if type.signed and value >> (type.width - 1) else value


def values(type: Type) -> st.SearchStrategy[int]:
    low = -(1 << (type.width - 1)) if type.signed else 0
    high = low + (1 << type.width) - 1
    extremes = st.sampled_from(sorted({low, high, max(low, -1), 0, min(high, 1), high // 2}))
    return st.one_of(extremes, st.integers(low, high))


@st.composite
def cases(draw: st.DrawFn) -> Case:
    pair = draw(st.integers(0, len(PAIRS) - 1))
    a, b = PAIRS[pair]
    lo = draw(st.integers(0, a.width - 1))
    hi = draw(st.integers(lo, a.width - 1))
    shift = draw(st.integers(-3, a.width + 3))
    return Case(pair, draw(values(a)), draw(values(b)), shift, hi, lo, draw(st.integers(-(1 << 31), (1 << 31) - 1)))


def shifted(value: int, amount: int) -> int:
    return value << amount if amount >= 0 else value >> -amount


def truncated(operation: Callable[[int, int], int], a: int, b: int) -> int:
    """C++ division: towards zero, the remainder has the sign of the dividend."""
    quotient = abs(a) // abs(b) * (1 if (a < 0) == (b < 0) else -1)
    return quotient if operation is operator.floordiv else a - quotient * b


def expected(case: Case) -> Iterator[tuple[str, Type, int]]:
    """Name, type and value of each result, by the width rules of Vitis (UG1399, arbitrary precision types)."""
    (ta, tb), a, b = PAIRS[case.pair], case.a, case.b
    either = ta.signed or tb.signed
    common = max(ta.width + (tb.signed and not ta.signed), tb.width + (ta.signed and not tb.signed))
    yield "add", Type(common + 1, either), a + b
    yield "sub", i(common + 1), a - b
    yield "mul", Type(ta.width + tb.width, either), a * b
    for name, bitwise in (("and", operator.and_), ("or", operator.or_), ("xor", operator.xor)):
        yield name, Type(common, either), bitwise(a, b)
    yield "neg", i(ta.width + 1), -a
    yield "not", ta, ~a
    yield "shl", ta, shifted(a, case.shift)
    yield "shr", ta, shifted(a, -case.shift)
    for name in ("lt", "le", "gt", "ge", "eq", "ne"):
        yield name, u(1), int(getattr(operator, name)(a, b))
    yield "eqself", u(1), 1
    yield "assign", ta, b
    yield "addto", ta, a + b
    yield "shlto", ta, a << 3
    yield "inc", ta, a + 1
    yield "dec", ta, a - 1
    bits = case.hi - case.lo + 1
    mask = ((1 << bits) - 1) << case.lo
    yield "range", u(1024), (a & mask) >> case.lo
    yield "bit", u(1), a >> case.hi & 1
    yield "setrange", ta, a & ~mask | (b << case.lo) & mask
    yield "copyrange", ta, a & ~mask | b & mask
    yield "flip", ta, a ^ 1 << case.lo
    for name in ("concat", "concatmember"):
        yield name, u(ta.width + 7), (a % (1 << ta.width) << 7) | b % 128
    yield "int64", i(64), a
    if ta.width <= 64:
        yield "fromfloat", ta, abs(case.eighths) // 8 * (-1 if case.eighths < 0 else 1)
        yield "native", i(64), a
        yield "floats", u(1), 1
        if tb.width <= 64 and b != 0:
            yield "div", Type(ta.width + tb.signed, either), truncated(operator.floordiv, a, b)
            yield (
                "mod",
                Type(min(ta.width, tb.width + (not tb.signed and ta.signed)), ta.signed),
                truncated(operator.mod, a, b),
            )


def ours(source: Path) -> list[str]:
    return ["g++", *FLAGS, "-Wall", "-Wextra", "-Werror", f"-I{INCLUDE_DIR}", str(source), str(RUNTIME_SOURCE)]


def public(source: Path) -> list[str]:
    # Their warnings are theirs, and their templates take long enough to compile as they are.
    return [*PUBLIC, "-std=c++17", "-O0", "-w", "-DPUBLIC_HEADERS", str(source)]


@pytest.fixture(scope="module", params=[ours, public], ids=["ours", "public"])
def program(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("ap_int") / request.param.__name__
    command = request.param(Path(__file__).parent / "ap_int_cases.cpp")
    subprocess.run([*command, "-o", str(path)], check=True)
    return path


# Where one operand is signed and the other is not, AMD's own simulation departs from the values at some widths: it
# compares and divides native integers, by the conversions of C. A float makes 1 of what lies between 0 and -1.
# Emitted code does none of it: floats become integers through int.
VALUES_OF_MIXED_SIGN = {"lt", "le", "gt", "ge", "eq", "ne", "div", "mod"}


def compared(program: Path, case: Case, name: str) -> bool:
    ta, tb = PAIRS[case.pair]
    if program.name == "ours":
        return True
    if name == "fromfloat":
        return ta.width > 1 and not -8 < case.eighths < 0
    return ta.signed == tb.signed or name not in VALUES_OF_MIXED_SIGN


def check(program: Path, batch: list[Case]) -> None:
    # Values are passed sign-extended to the 1024 bits of the program's Raw.
    lines = "".join(
        f"{c.pair} {c.a % (1 << 1024):x} {c.b % (1 << 1024):x} {c.shift} {c.hi} {c.lo} {c.eighths}\n" for c in batch
    )
    output = subprocess.run([program], input=lines, capture_output=True, text=True, check=True).stdout.splitlines()
    assert len(output) == len(batch)
    for case, line in zip(batch, output, strict=True):
        results = (item.split("=") for item in line.split())
        got = {name: value for name, value in results if compared(program, case, name)}
        want = {
            name: f"{t.width}{'s' if t.signed else 'u'}{wrap(v, t) % (1 << t.width):0{(t.width + 3) // 4}x}"
            for name, t, v in expected(case)
            if compared(program, case, name)
        }
        assert got == want, case


@given(batch=st.lists(cases(), min_size=1, max_size=40))
@settings(max_examples=examples(100), deadline=None)
def test_every_operation_agrees_with_python(program: Path, batch: list[Case]) -> None:
    check(program, batch)


def test_all_pairs_of_extremes(program: Path) -> None:
    batch: list[Case] = []
    for pair, (ta, tb) in enumerate(PAIRS):
        for a in {wrap(v, ta) for v in (0, 1, -1, 1 << (ta.width - 1), (1 << (ta.width - 1)) - 1)}:
            for b in {wrap(v, tb) for v in (0, 1, -1, 1 << (tb.width - 1), (1 << (tb.width - 1)) - 1)}:
                batch.extend(Case(pair, a, b, s, ta.width - 1, 0, -9) for s in (0, ta.width - 1, ta.width, -ta.width))
    check(program, batch)
