"""Text of nested code from context-managed blocks, and names that are unique and legal in C++."""

import re
import textwrap
from collections.abc import Generator, Iterable
from contextlib import contextmanager

# What a name may not be: keywords, and the few names of libraries that emitted code uses without a qualifier.
RESERVED = frozenset(
    re.findall(
        r"\w+",
        """
        alignas alignof and asm auto bitand bitor bool break case catch char class compl const constexpr continue
        decltype default delete do double else enum explicit export extern false float for friend goto if inline int
        long mutable namespace new noexcept not nullptr operator or private protected public register return short
        signed sizeof static struct switch template this throw true try typedef typeid typename union unsigned using
        virtual void volatile while xor hls ap_int ap_uint main token word slot pack unpack
        unpack_elements pack_elements reduce_tree mul2
        """,
    )
)
INDENT = "  "
WIDTH = 118


def identifier(text: str) -> str:
    """`text` as a legal C++ identifier."""
    name = re.sub(r"\W", "_", text)
    return f"v{name}" if not name or name[0].isdigit() else name


class Namer:
    """Gives each hint a name that no other has in one scope."""

    def __init__(self, taken: Iterable[str] = ()):
        self._taken = {*RESERVED, *taken}

    def name(self, hint: str) -> str:
        base = identifier(hint)
        name, number = base, 0
        while name in self._taken:
            number += 1
            name = f"{base}_{number}"
        self._taken.add(name)
        return name


class CppWriter:
    """Lines of C++ at the depth of the open blocks."""

    def __init__(self) -> None:
        self._lines: list[str] = []
        self._depth = 0

    def line(self, text: str = "") -> None:
        self._lines.append(f"{INDENT * self._depth}{text}" if text else "")

    def pragma(self, text: str) -> None:
        """An HLS directive of the enclosing block, at the margin so that it stands out."""
        self._lines.append(f"#pragma HLS {text}")

    def comment(self, text: str) -> None:
        for line in textwrap.wrap(text, WIDTH - 3 - len(INDENT) * self._depth, break_long_words=False):
            self.line(f"// {line}")

    @contextmanager
    def block(self, head: str, close: str = "}") -> Generator[None]:
        self.line(f"{head} {{" if head else "{")
        with self.indented():
            yield
        self.line(close)

    @contextmanager
    def protocol(self, head: str = "") -> Generator[None]:
        """A block that runs behind all that comes before it, and before all behind it: where no data leads from one to
        the other, nothing else keeps HLS from scheduling them across each other (AMD UG1399, pragma HLS protocol).
        """
        with self.block(head):
            self.pragma("protocol mode=fixed")
            self.line("ap_wait();")
            yield
            self.line("ap_wait();")

    @contextmanager
    def indented(self) -> Generator[None]:
        self._depth += 1
        yield
        self._depth -= 1

    def statement(self, head: str, arguments: Iterable[str], end: str) -> None:
        """`head(arguments)end` on one line where it fits, else broken between arguments."""
        self.listed(f"{head}(", arguments, f"){end}")

    def listed(self, head: str, items: Iterable[str], end: str) -> None:
        """`head`, the items with commas between them, and `end`; broken between items where one line is too short."""
        items = list(items)
        whole = f"{head}{', '.join(items)}{end}"
        if len(whole) + len(INDENT) * self._depth <= WIDTH:
            self.line(whole)
            return
        self.line(head)
        row = ""
        for item in (*(f"{i}, " for i in items[:-1]), items[-1] + end):
            if row and len(row) + len(item) + len(INDENT) * (self._depth + 2) > WIDTH:
                self.line(INDENT * 2 + row.rstrip())
                row = ""
            row += item
        self.line(INDENT * 2 + row)

    def text(self) -> str:
        return "\n".join(self._lines) + "\n"
