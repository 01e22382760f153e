"""JSON as the wire's dataclasses, and back. Members that a later service adds are passed over; what is missing or of
another type is said with its place.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from dataclasses import MISSING, fields, is_dataclass
from datetime import datetime, timezone
from functools import cache
from types import NoneType, UnionType
from typing import Any, Literal, TypeVar, Union, cast, get_args, get_origin, get_type_hints

from millrace.unset import UNSET

T = TypeVar("T")
Reader = Callable[[Any, str], Any]

_SCALARS: dict[Any, tuple[type, ...]] = {str: (str,), int: (int,), float: (int, float), bool: (bool,)}
_TIME = re.compile(r"(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d)(?:\.(\d{1,6})\d*)?(Z|[+-]\d\d:\d\d)?")


class UnreadableError(Exception):
    """A text is no JSON, or not what it should be; the text says where."""


def parse(text: bytes | str) -> Any:
    """The JSON value. Raises UnreadableError."""
    try:
        return json.loads(text)
    except (ValueError, RecursionError) as error:
        raise UnreadableError(f"it is not JSON ({error})") from error


def read(kind: type[T], value: Any) -> T:
    """A JSON value as a dataclass of `millrace.wire`. Raises UnreadableError."""
    return _reader(kind)(value, kind.__name__)


def to_json(value: Any) -> Any:
    """Dataclasses as the JSON that goes over the wire; what is UNSET is left out."""
    if is_dataclass(value) and not isinstance(value, type):
        members = ((field.name, getattr(value, field.name)) for field in fields(value))
        return {name: to_json(member) for name, member in members if member is not UNSET}
    if isinstance(value, datetime):
        return value.isoformat().replace("+00:00", "Z")
    if isinstance(value, dict):
        return {str(name): to_json(member) for name, member in cast("dict[Any, Any]", value).items()}
    return [to_json(member) for member in cast("list[Any]", value)] if isinstance(value, list | tuple) else value


@cache
def _reader(kind: Any) -> Reader:
    """What reads a value of this type."""
    if kind is Any:
        return lambda value, _: value
    if kind is datetime:
        return _read_time
    if kind in _SCALARS:
        return _scalar_reader(kind)
    if is_dataclass(kind):
        return _object_reader(kind)
    origin, of = get_origin(kind), get_args(kind)
    if origin is Literal:
        return _choice_reader(of)
    if origin is list:
        return _list_reader(of[0])
    if origin is dict:
        return _dict_reader(of[1])
    if origin in (Union, UnionType):
        return _union_reader(of)
    raise TypeError(f"{kind} does not go over the wire")


def _scalar_reader(kind: type) -> Reader:
    taken = _SCALARS[kind]

    def scalar(value: Any, where: str) -> Any:
        if isinstance(value, taken) and (kind is bool or not isinstance(value, bool)):
            return kind(value)
        raise _wrong(where, kind.__name__, value)

    return scalar


def _read_time(value: Any, where: str) -> datetime:
    found = _TIME.fullmatch(value) if isinstance(value, str) else None
    if found is None:
        raise _wrong(where, "a time", value)
    to_second, fraction, zone = found.groups()
    zone = "+00:00" if zone in (None, "Z") else zone
    try:  # six digits are all that Python 3.10 reads
        return datetime.fromisoformat(f"{to_second}.{fraction or '':0<6}{zone}").astimezone(timezone.utc)
    except (ValueError, OverflowError):
        raise _wrong(where, "a time", value) from None


def _choice_reader(choices: tuple[Any, ...]) -> Reader:
    def choice(value: Any, where: str) -> Any:
        if value in choices:
            return value
        raise _wrong(where, " or ".join(map(repr, choices)), value)

    return choice


def _list_reader(of: Any) -> Reader:
    inner = _reader(of)

    def items(value: Any, where: str) -> Any:
        if not isinstance(value, list):
            raise _wrong(where, "a list", value)
        found = cast("list[Any]", value)
        return found if of is Any else [inner(item, f"{where}[{i}]") for i, item in enumerate(found)]

    return items


def _dict_reader(of: Any) -> Reader:
    inner = _reader(of)

    def members(value: Any, where: str) -> Any:
        if not isinstance(value, dict):
            raise _wrong(where, "an object", value)
        found = cast("dict[str, Any]", value)
        return {name: inner(member, f"{where}.{name}") for name, member in found.items()}

    return members


def _union_reader(of: tuple[Any, ...]) -> Reader:
    inners = [_reader(one) for one in of if one is not NoneType]

    def either(value: Any, where: str) -> Any:
        if value is None and NoneType in of:
            return None
        for inner in inners[:-1]:
            try:
                return inner(value, where)
            except UnreadableError:
                continue
        return inners[-1](value, where)

    return either


def _object_reader(kind: Any) -> Reader:
    hints = get_type_hints(kind)
    own = fields(kind)
    needed = {field.name for field in own if field.default is MISSING and field.default_factory is MISSING}
    readers: dict[str, Reader] = {}  # made when first needed: a type may hold itself

    def read_object(value: Any, where: str) -> Any:
        if not isinstance(value, dict):
            raise _wrong(where, "an object", value)
        if not readers:
            readers.update({field.name: _reader(hints[field.name]) for field in own})
        if missing := needed - value.keys():
            raise UnreadableError(f"{where} lacks {', '.join(sorted(missing))}")
        given = {name: reader(value[name], f"{where}.{name}") for name, reader in readers.items() if name in value}
        return kind(**given)

    return read_object


def _wrong(where: str, wanted: str, value: Any) -> UnreadableError:
    shown = repr(value)
    return UnreadableError(f"{where} should be {wanted}, and is {shown if len(shown) <= 60 else shown[:60] + '...'}")
