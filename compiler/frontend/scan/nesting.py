"""How deep brackets nest, in linear time: readers of nested text recurse, and a stack ends."""

from compiler.frontend.scan.bounds import MAX_NESTING

_NOT_BRACKETS = bytes(set(range(256)) - set(b"()[]{}<>"))
_PAIRS = (b"()", b"[]", b"{}", b"<>")


def nests_too_deep(text: bytes) -> bool:
    """Whether brackets nest deeper than MAX_NESTING, or are not closed.

    Pairs with nothing between them are taken out, the innermost first, as often as is allowed.
    """
    left = text.translate(None, _NOT_BRACKETS)
    for _ in range(MAX_NESTING):
        before = len(left)
        for pair in _PAIRS:
            left = left.replace(pair, b"")
        if len(left) == before:
            break
    return bool(left)
