"""What all bodies share: their bases, pages, problem documents."""

from typing import Annotated, Any, Generic, Self, TypeVar

from pydantic import BaseModel, ConfigDict, Field

Item = TypeVar("Item")
Name = Annotated[str, Field(min_length=1, max_length=100, pattern=r"^[A-Za-z0-9][A-Za-z0-9 ._+-]*$")]

Tag = Annotated[str, Field(min_length=1, max_length=40, pattern=r"^[^\s,]+$")]
Tags = Annotated[list[Tag], Field(max_length=20)]
Notes = Annotated[str, Field(max_length=10_000)]


class Reply(BaseModel):
    """Base of replies. The text below a field is its description in the OpenAPI document, with its unit."""

    model_config = ConfigDict(use_attribute_docstrings=True)

    @classmethod
    def of(cls, row: object, **more: Any) -> Self:
        """With the fields of the same name of a row, but those that are given."""
        return cls.model_validate({name: getattr(row, name) for name in cls.model_fields if name not in more} | more)


class Request(BaseModel):
    """Base of requests: unknown fields are mistakes, numbers are not strings."""

    model_config = ConfigDict(extra="forbid", strict=True, use_attribute_docstrings=True)


class Page(Reply, Generic[Item]):
    """One page of a list."""

    model_config = ConfigDict(json_schema_extra={"description": "One page of a list."})  # else lost with the type

    items: list[Item]
    """What is on this page."""
    next_cursor: str | None = None
    """What to send as `cursor` for the next page; null on the last."""


class FieldProblem(Reply):
    """What is wrong with one field."""

    pointer: str
    """Its place in the body (#/a/b), or the parameter (query.a)."""
    detail: str
    """What is wrong with it."""


class Problem(Reply):
    """An RFC 9457 problem document, the body of every answer from 400 on."""

    type: str
    """urn:millrace:problem: and the kind of problem; programs tell problems apart by it."""
    title: str
    """The kind, in words."""
    status: int
    """The HTTP status."""
    detail: str
    """What was wrong this time, and what to do."""
    errors: list[FieldProblem] = []
    """Single fields that were wrong."""
