"""Cursors: opaque strings that say where the next page begins."""

import base64
import binascii
from collections.abc import Callable, Sequence
from typing import Annotated, TypeVar

from fastapi import Query

from api.errors import BadRequestError
from api.schemas.common import Page

Row = TypeVar("Row")
Item = TypeVar("Item")

Cursor = Annotated[str | None, Query(max_length=200, description="`next_cursor` of the page before")]
Limit = Annotated[int, Query(ge=1, le=500, description="items per page")]


def encode(position: str) -> str:
    return base64.urlsafe_b64encode(position.encode()).decode().rstrip("=")


def decode(cursor: str | None) -> str | None:
    """The position in `cursor`, None for the first page. Raises BadRequestError."""
    if cursor is None:
        return None
    try:
        position = base64.urlsafe_b64decode(cursor + "=" * (-len(cursor) % 4)).decode("ascii")
    except (binascii.Error, ValueError):
        position = ""
    if not position.replace("_", "").isalnum():
        raise BadRequestError(f"{cursor!r} is not a cursor; send the next_cursor of the page before")
    return position


def decode_number(cursor: str | None) -> int | None:
    """Like `decode`, for lists in order of a number."""
    position = decode(cursor)
    if position is None or (position.isascii() and position.isdigit() and len(position) < 10):
        return None if position is None else int(position)
    raise BadRequestError(f"{cursor!r} is not a cursor of this list; send the next_cursor of the page before")


def page(rows: Sequence[Row], limit: int, position: Callable[[Row], str], shape: Callable[[Row], Item]) -> Page[Item]:
    """The first `limit` of `rows`, of which one more was read to know whether there is a next page."""
    shown = rows[:limit]
    more = len(rows) > limit
    return Page(items=[shape(r) for r in shown], next_cursor=encode(position(shown[-1])) if more else None)
