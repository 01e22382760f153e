"""Columns as an Arrow IPC stream. The one module that knows nanoarrow."""

import io
from collections.abc import Mapping, Sequence
from typing import Any, cast

import nanoarrow  # pyright: ignore[reportMissingTypeStubs]
from nanoarrow import ipc  # pyright: ignore[reportMissingTypeStubs]

_arrow, _StreamWriter = cast(Any, nanoarrow), cast(Any, ipc.StreamWriter)

Column = tuple[str, Sequence[Any], Mapping[str, str]]
"""Name, values (bool, int, float or str, one type a column, or None), metadata."""


def arrow_stream(columns: Sequence[Column], rows: int) -> bytes:
    """All columns as one batch of `rows` rows."""
    types = [_type_of(values) for _, values, _ in columns]
    arrays = [_arrow.c_array(values, kind) for (_, values, _), kind in zip(columns, types, strict=True)]
    fields = {name: _arrow.Schema(kind, metadata=about) for (name, _, about), kind in zip(columns, types, strict=True)}
    batch = _arrow.c_array_from_buffers(_arrow.struct(fields, nullable=False), rows, [None], children=arrays)
    out = io.BytesIO()
    with _StreamWriter.from_writable(out) as writer:
        writer.write_array(batch)
    return out.getvalue()


def _type_of(values: Sequence[Any]) -> Any:
    kinds: set[type[Any]] = {type(value) for value in values if value is not None}
    if kinds == {bool}:
        return _arrow.bool_()
    if kinds == {int}:
        return _arrow.int64()
    return _arrow.float64() if kinds and kinds <= {int, float} else _arrow.string()
