"""Writes the binary tables that `compiler.toolchain.link.xutil` reads."""

Cells = tuple[str | int, ...]
Row = tuple[Cells, tuple["Row", ...]]


def xutil(columns: tuple[str, ...], rows: tuple[Row, ...]) -> bytes:
    """A file with these columns and rows; each row is its cells and the rows below it."""
    heads = b"".join(
        message(100, number(100, i) + text(400, name) + text(600, "Hierarchical Table"))
        for i, name in enumerate(columns)
    )
    table = message(300, message(100, heads) + b"".join(message(200, _row(row)) for row in rows))
    body = message(100, table) + text(200, "kernel_util_routed")
    return len(body).to_bytes(4, "little") + body


def _row(row: Row) -> bytes:
    cells, below = row
    return b"".join(message(200, message(200, _cell(cell))) for cell in cells) + b"".join(
        message(300, _row(inner)) for inner in below
    )


def _cell(cell: str | int) -> bytes:
    return text(1000, cell) if isinstance(cell, str) else number(600, cell) + number(1100, 2 * cell)


def text(field: int, value: str) -> bytes:
    return message(field, value.encode())


def message(field: int, body: bytes) -> bytes:
    return varint(field << 3 | 2) + varint(len(body)) + body


def number(field: int, value: int) -> bytes:
    return varint(field << 3) + varint(value)


def varint(value: int) -> bytes:
    low = [value >> shift & 127 for shift in range(0, max(value.bit_length(), 1), 7)]
    return bytes([*(part | 128 for part in low[:-1]), low[-1]])
