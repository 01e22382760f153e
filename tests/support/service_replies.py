"""Replies of the service in tests: what is not given is null, empty or 0."""

from datetime import UTC, datetime
from types import NoneType
from typing import Any, Literal, TypeVar, get_args, get_origin

from api.schemas.common import Reply

Made = TypeVar("Made", bound=Reply)

MADE_AT = datetime(2026, 7, 1, tzinfo=UTC)


def reply(kind: type[Made], /, **values: Any) -> Made:
    """A reply of that kind with these values, which may be JSON."""
    needed = {name: field.annotation for name, field in kind.model_fields.items() if field.is_required()}
    return kind.model_validate({name: _nothing(of) for name, of in needed.items() if name not in values} | values)


def _nothing(kind: Any) -> Any:
    if NoneType in get_args(kind):
        return None
    if get_origin(kind) is Literal:
        return get_args(kind)[0]
    if kind is datetime:
        return MADE_AT
    kind = get_origin(kind) or kind
    return reply(kind) if issubclass(kind, Reply) else kind()
