"""What all bodies share: their bases, pages, problem documents."""

import re
from typing import Annotated, Any, Generic, Self, TypeVar

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, model_validator
from pydantic_core import PydanticCustomError

from api.text import WHAT, body_flaw

Item = TypeVar("Item")
Name = Annotated[str, Field(min_length=1, max_length=100, pattern=r"^[A-Za-z0-9][A-Za-z0-9 ._+-]*$")]

# Not in what people write: control characters, which databases refuse and terminals obey; in tags, which stand beside
# each other, neither what turns the direction of the text behind it.
_TAG = r"[^\s,\x00-\x1f\x7f-\x9f\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]+"
_NOTES = r"[^\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f]*"


def _written_as(pattern: str, text: str) -> AfterValidator:
    """Refuses other strings with a text for people, where pydantic's own shows the pattern."""
    whole = re.compile(pattern)

    def check(value: str) -> str:
        if not whole.fullmatch(value):
            raise PydanticCustomError("string_pattern_mismatch", "{text}", {"text": text})
        return value

    return AfterValidator(check)


Tag = Annotated[
    str,
    Field(min_length=1, max_length=40, json_schema_extra={"pattern": f"^{_TAG}$"}),
    _written_as(_TAG, "a tag is one word, without commas and control characters"),
]
Tags = Annotated[list[Tag], Field(max_length=20)]
Notes = Annotated[
    str,
    Field(max_length=10_000, json_schema_extra={"pattern": f"^{_NOTES}$"}),
    _written_as(_NOTES, "notes are plain text, without control characters"),
]


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

    @model_validator(mode="before")
    @classmethod
    def _check_texts(cls, values: Any) -> Any:
        where = body_flaw(values)
        if where is not None:
            raise PydanticCustomError("text", "{where} holds {what}", {"where": where, "what": WHAT})
        return values


class Page(BaseModel, Generic[Item]):
    """One page of a list."""

    # No Reply: for each kind of item, pydantic would look in vain for a text below its fields, in the module of
    # everything that is being imported just then.
    model_config = ConfigDict(json_schema_extra={"description": "One page of a list."})  # else lost with the type

    items: list[Item] = Field(description="What is on this page.")
    next_cursor: str | None = Field(
        default=None, description="What to send as `cursor` for the next page; null on the last."
    )


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


class Deletion(Reply):
    """What would be deleted with something, and why it can not be now."""

    id: str
    """Identifier of what would be deleted."""
    name: str
    """What it is called."""
    needed: list[str]
    """What still needs it, in words: it can be deleted when nothing does."""
    designs: int
    """Designs that go with it, itself among them."""
    builds: int
    """Builds that go with it."""
    events: int
    """Events that go with it."""
    files: int
    """Different stored files that go with it, as nothing else names them; their bytes are given back by retention."""
    bytes: int
    """Bytes of these files."""
