"""IR as a person edits it."""

import re


def with_depth(text: str, stream: str, depth: int) -> str:
    """Another depth of one FIFO: where it is declared and where it is used."""
    edited, count = re.subn(rf"((?:@{stream} carries|%{stream} :)[^\n]*?depth: )\d+", rf"\g<1>{depth}", text)
    assert count >= 3
    return edited
