"""What linalg text declares: whether it is text with one function @main, and how much there is when its aliases are
written out. Everything takes linear time, most of it inside `re`: the text may be 16 MiB of anything.
"""

import os
import re
from collections.abc import Iterable
from math import prod

from compiler.errors import InvalidInputError, UnsupportedError
from compiler.frontend.scan.bounds import (
    MAX_ALIAS_DEPTH,
    MAX_ALIASES,
    MAX_ARGUMENTS,
    MAX_DIGITS,
    MAX_ELEMENTS,
    MAX_EXPANDED,
    MAX_FUNCTIONS,
    MAX_INTEGER_BITS,
    MAX_MAP,
    MAX_MLIR_BYTES,
    MAX_NESTING,
    MAX_OPERATIONS,
    MAX_TEXT_RANK,
)
from compiler.frontend.scan.nesting import nests_too_deep

# Quantifiers are possessive, and a string that is not closed ends with its line: nothing is looked at twice.
_COMMENT = re.compile(rb'("(?:[^"\\\n]++|\\.)*+"?)|//[^\n]*+')
_STRING = re.compile(rb'"(?:[^"\\\n]++|\\.)*+"?')
_BLANKS = re.compile(rb"  ++")
_AS_SPACES = bytes.maketrans(b"\t\r\n", b"   ")
_MAIN = re.compile(rb'@main\b|"main"|@"main"')
_ALIAS = re.compile(rb"([#!][\w$-]++) ?=")
_OPERATION = re.compile(rb'%|"\x01*+" ?\(|(?<![\w@.$-])(?:(?:builtin\.)?module ?(?:[@{]|attributes)|func\.func ?[@pn])')
_REFERENCE = re.compile(rb"%[\w.$-]++(?:#\d++)?|([#!][\w$-]++)")
_MAP = re.compile(rb"affine_(?:map|set) ?<([^<>]{0,%d})" % (MAX_MAP + 1))
_RESULT = re.compile(rb"%[\w.$-]++(?::\d++)? ?=")
_ARGUMENT = re.compile(rb"(%[\w.$-]++ ?:)|[\^=]|\bfunc\b")
_SHAPE = re.compile(rb"< ?((?:\d++x)++)")
_WIDTH = re.compile(rb"(?:(?<=[\d?]x)|(?<![\w%@#!^$.-]))[su]?i(\d{2,}+)\b")
_NUMBER = re.compile(rb"(?<![\w%%@#!^$.-])(?:0x)?\d[\da-fA-F.]{%d}" % MAX_DIGITS)
_ARROW = b"~"  # for what has a `>` or `<` that is no bracket


def scan_mlir(descriptor: int, name: str) -> None:
    """Raise InvalidInputError for what is no text or too much of it, or has no function @main; UnsupportedError for
    integers that are too wide.
    """
    content = os.pread(descriptor, MAX_MLIR_BYTES + 1, 0)
    _check_text(content, name)
    plain = _COMMENT.sub(rb"\1", content) if b"//" in content else content
    if b"func.func" not in plain or not _MAIN.search(plain):
        raise InvalidInputError(f"{name} has no function @main (func.func @main), which is what would be compiled")
    if (functions := plain.count(b"func.func")) > MAX_FUNCTIONS:
        raise InvalidInputError(f"{name} has {functions} functions; it must hold one, @main")
    bare = _BLANKS.sub(b" ", _STRING.sub(_blotted, plain).translate(_AS_SPACES))
    for arrow in (b"->", b">=", b"<="):
        bare = bare.replace(arrow, _ARROW)
    if nests_too_deep(bare):
        raise InvalidInputError(
            f"{name} nests more than {MAX_NESTING} brackets, or does not close them; write it flatter"
        )
    if why := _sizes(bare) or _arguments(bare) or _aliases(bare):
        raise InvalidInputError(f"{name} {why}")
    for width in set(_WIDTH.findall(bare)):
        if len(width) > MAX_DIGITS or int(width) > MAX_INTEGER_BITS:
            raise UnsupportedError(
                f"{name} has integers of {width[:20].decode()} bits; at most {MAX_INTEGER_BITS} are accepted"
            )


def _blotted(string: re.Match[bytes]) -> bytes:
    """A string of the same length that says nothing."""
    return b'"' + b"\x01" * (len(string[0]) - 2) + b'"'


def _check_text(content: bytes, name: str) -> None:
    try:
        content.decode()
    except UnicodeDecodeError as error:
        raise InvalidInputError(f"{name} is not text: byte {error.start} is none of UTF-8's") from error
    if b"\0" in content:
        raise InvalidInputError(f"{name} is not text: it holds a NUL; .mlir is taken as text, not as bytecode")


def _sizes(bare: bytes) -> str | None:
    """What is large in itself: tensors, numbers, maps, the number of operations."""
    for shape in set(_SHAPE.findall(bare)):
        if (rank := shape.count(b"x")) > MAX_TEXT_RANK:
            return f"has a tensor of {rank} dimensions; at most {MAX_TEXT_RANK} are accepted"
        if (elements := prod(int(extent[:MAX_DIGITS]) for extent in shape.split(b"x")[:-1])) > MAX_ELEMENTS:
            return f"has a tensor of {elements} elements; at most {MAX_ELEMENTS} are accepted"
    if any(len(found.group(1)) > MAX_MAP for found in _MAP.finditer(bare)):
        return f"has an affine map of more than {MAX_MAP} bytes; simplify it"
    if _more_than(MAX_OPERATIONS, _RESULT.finditer(bare)):
        return f"has more than {MAX_OPERATIONS} operations; split it"
    if _NUMBER.search(bare):
        return f"has a number of more than {MAX_DIGITS} digits; round it"
    return None


def _arguments(bare: bytes) -> str | None:
    """Names with a type, one after the other, are the arguments of one function or region."""
    run = 0
    for found in _ARGUMENT.finditer(bare):
        run = run + 1 if found.group(1) else 0
        if run > MAX_ARGUMENTS:
            return f"has a function or region of more than {MAX_ARGUMENTS} arguments; split it"
    return None


def _aliases(bare: bytes) -> str | None:
    """An alias may name others, twice each: thirty lines are a gigabyte when written out."""
    size: dict[bytes, int] = {}
    depth: dict[bytes, int] = {}
    begins = list(_ALIAS.finditer(bare))
    if len(begins) > MAX_ALIASES:
        return f"has {len(begins)} aliases; at most {MAX_ALIASES} are accepted"
    if not begins:
        return None
    ends = [*(alias.start() for alias in begins[1:]), len(bare)]
    rest = [bare[: begins[0].start()]]
    for alias, end in zip(begins, ends, strict=True):
        operation = _OPERATION.search(bare, alias.end(), end)
        after = operation.start() if operation else end
        rest.append(bare[after:end])
        name, text = alias.group(1), bare[alias.end() : after]
        named = [n for n in _REFERENCE.findall(text) if n in size]
        size[name] = min(MAX_EXPANDED, len(text) + sum(size[n] for n in named))
        depth[name] = 1 + max((depth[n] for n in named), default=0)
    if max(depth.values()) > MAX_ALIAS_DEPTH:
        return f"nests aliases more than {MAX_ALIAS_DEPTH} deep; write it flatter"
    if sum(size.values()) + sum(_used(rest, size)) > MAX_EXPANDED:
        return f"has more than {MAX_EXPANDED >> 20} MiB when its aliases are written out; simplify them"
    return None


def _used(texts: Iterable[bytes], size: dict[bytes, int]) -> Iterable[int]:
    """The size of each alias that the texts name, as often as they do."""
    for text in texts:
        for found in _REFERENCE.finditer(text):
            yield size.get(found.group(1), 0)


def _more_than(most: int, found: Iterable[object]) -> bool:
    return any(count > most for count, _ in enumerate(found, 1))
