"""Names of stored files: safe relative paths, media types, digests."""

import mimetypes
from pathlib import PurePosixPath

from worker.errors import StoreError, UnsafePathError

_TEXT_SUFFIXES = {".mlir", ".cpp", ".h", ".tcl", ".cfg", ".log", ".py", ".toml", ".ini"}
_HEX = frozenset("0123456789abcdef")


def safe_path(path: str) -> str:
    """`path` if it is a plain relative path inside a design directory, else UnsafePathError."""
    parts = PurePosixPath(path).parts
    odd = not parts or path.startswith("/") or "\\" in path or any(ord(c) < 32 for c in path) or len(path) > 500
    if odd or ".." in parts or str(PurePosixPath(path)) != path:
        raise UnsafePathError(f"{path!r} is not a path inside the design directory")
    return path


def media_type(path: str) -> str:
    """Media type by suffix; sources and IR are plain text, so that a browser shows them."""
    suffix = PurePosixPath(path).suffix
    if suffix in _TEXT_SUFFIXES:
        return "text/plain; charset=utf-8"
    if suffix == ".md":
        return "text/markdown; charset=utf-8"
    return mimetypes.guess_type(path)[0] or "application/octet-stream"


def key_of(digest: str) -> str:
    """Where the content lies below a store's root: `sha256/ab/cdef...`. Raises StoreError for what is no digest."""
    if not is_digest(digest):
        raise StoreError(f"{digest!r} is not a SHA-256 digest")
    return f"sha256/{digest[:2]}/{digest[2:]}"


def digest_at(key: str) -> str | None:
    """The digest that `key_of` puts there, None for other keys."""
    parts = key.split("/")
    digest = "".join(parts[1:])
    return digest if len(parts) == 3 and is_digest(digest) and key == key_of(digest) else None


def is_digest(text: str) -> bool:
    return len(text) == 64 and _HEX.issuperset(text)
