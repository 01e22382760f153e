"""Looking at bytes as if they were an uploaded file."""

import os
from collections.abc import Generator
from contextlib import contextmanager

from compiler.errors import MillraceError
from compiler.frontend.scan.scan import scan


@contextmanager
def in_memory(content: bytes) -> Generator[int]:
    """The descriptor of a file with this content."""
    descriptor = os.memfd_create("upload")
    try:
        os.write(descriptor, content)
        yield descriptor
    finally:
        os.close(descriptor)


def refusal(content: bytes, filename: str) -> str:
    """Why a look refuses it; empty where it does not."""
    with in_memory(content) as descriptor:
        try:
            scan(descriptor, filename.rpartition(".")[2], filename)
        except MillraceError as error:
            return str(error)
    return ""
