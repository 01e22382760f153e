"""Names from uploaded files, made fit for C++, MLIR and file names."""

import re
from collections.abc import Iterable, Mapping

from compiler.errors import UnsupportedError

MAX_NAME = 64
# What numpy.savez, C++ and our own generated names already use.
_WORDS = """
file self args kwds allow_pickle main int float char bool void long short double auto const static inline struct class
union enum for while do if else switch case break continue return goto new delete this true false using namespace
template typename operator and or not xor default register signed unsigned volatile extern public private protected
friend virtual try catch throw linux unix errno assert stdin stdout stderr major minor std hls exp log max min abs sqrt
tanh erf pow floor kernel task top
"""
_RESERVED = frozenset(_WORDS.split())


def clean(name: str, otherwise: str) -> str:
    """`name` in lower-case letters, digits, `_` and `.`, starting with a letter; `otherwise` where nothing is left.

    Path separators (`/attn/MatMul`, `onnx::MatMul_3`) become dots.
    """
    text = re.sub(r"[^a-z0-9_.]", "_", re.sub(r"[/:]+", ".", name.lower()))
    text = re.sub(r"[._]*\.[._]*", ".", text).strip("._")[:MAX_NAME].rstrip("._")
    if not text:
        return otherwise
    if text in _RESERVED or not text[0].isalpha():
        return f"n_{text}"
    return text


def unique_names(names: Iterable[str], otherwise: str, taken: set[str]) -> list[str]:
    """Cleaned names, no two alike even where `.` is written `_`; `taken` holds those and is added to."""
    made: list[str] = []
    following: dict[str, int] = {}
    for position, name in enumerate(names):
        base = clean(name, f"{otherwise}{position}")[: MAX_NAME - 8].rstrip("._")
        candidate, number = base, following.get(base, 2)
        while candidate.replace(".", "_") in taken:
            candidate, number = f"{base}_{number}", number + 1
        following[base] = number
        taken.add(candidate.replace(".", "_"))
        made.append(candidate)
    return made


def explained(error: UnsupportedError, origins: Mapping[str, str]) -> UnsupportedError:
    """The error, saying also what the first path that it names stands for in the model that was given."""
    words = (word.strip(",;:()'\"") for word in str(error).split())
    origin = next((origins[word] for word in words if word in origins), None)
    return error if origin is None else UnsupportedError(f"{error} [{origin}]")
