"""What all bodies share: their bases, pages, problem documents."""

from typing import Annotated, Any, Generic, Self, TypeVar

from pydantic import BaseModel, ConfigDict, Field

Item = TypeVar("Item")
Name = Annotated[str, Field(min_length=1, max_length=100, pattern=r"^[A-Za-z0-9][A-Za-z0-9 ._+-]*$")]

Tag = Annotated[str, Field(min_length=1, max_length=40, pattern=r"^[^\s,]+$")]
Tags = Annotated[list[Tag], Field(max_length=20, description="words to find it by, without spaces and commas")]
Notes = Annotated[str, Field(max_length=10_000, description="what people write about it, plain text")]


class Reply(BaseModel):
    """Base of replies."""

    @classmethod
    def of(cls, row: object, **more: Any) -> Self:
        """With the fields of the same name of a row, but those that are given."""
        return cls.model_validate({name: getattr(row, name) for name in cls.model_fields if name not in more} | more)


class Request(BaseModel):
    """Base of requests: unknown fields are mistakes, numbers are not strings."""

    model_config = ConfigDict(extra="forbid", strict=True)


class Page(Reply, Generic[Item]):
    """One page of a list; `next_cursor` is null on the last."""

    items: list[Item]
    next_cursor: str | None = None


class FieldProblem(Reply):
    """What is wrong with one field; `pointer` is its place in the body, or the parameter."""

    pointer: str
    detail: str


class Problem(Reply):
    """An RFC 9457 problem document, the body of every answer from 400 on."""

    type: str
    title: str
    status: int
    detail: str
    errors: list[FieldProblem] = []
