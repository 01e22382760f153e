"""Names of the files of a bundle, their digests, and the files of a checkpoint."""

import json
from collections.abc import Sequence
from hashlib import blake2b, file_digest
from pathlib import Path
from typing import cast

import compiler
from compiler.errors import InvalidInputError

GRAPH = "graph.json"
LINALG = "linalg.mlir"
TENSORS = "tensors.npz"
EXPECTED = "expected.npz"
META = "meta.json"

MAX_INDEX_BYTES = 16 << 20
MAX_SHARDS = 256


def digest_of(path: Path) -> str:
    """BLAKE2b-128 of a file's content, in hex."""
    with path.open("rb") as file:
        return file_digest(file, lambda: blake2b(digest_size=16)).hexdigest()


def sources_digest(patterns: Sequence[str]) -> str:
    """BLAKE2b-64 of the files of this package that the patterns name, in hex."""
    root = Path(compiler.__path__[0])
    digest = blake2b(digest_size=8)
    for pattern in patterns:
        for path in sorted(p for p in root.glob(pattern) if p.is_file()):
            digest.update(path.read_bytes())
    return digest.hexdigest()


def weight_files(path: Path) -> tuple[Path, ...]:
    """The safetensors files of a checkpoint: `path` itself, or those that a JSON index names, which lie beside it.

    Raises InvalidInputError where the index is none, or names what is not a file beside it.
    """
    if path.suffix != ".json":
        return (path,)
    if (size := path.stat().st_size) > MAX_INDEX_BYTES:
        raise InvalidInputError(f"{path} has {size} bytes; an index has at most {MAX_INDEX_BYTES}")
    names = _shards(path)
    for name in names:
        if name != Path(name).name or not name.endswith(".safetensors") or not (path.parent / name).is_file():
            raise InvalidInputError(f"{path} names {name[:80]!r}; it must be a safetensors file beside the index")
    return tuple(path.parent / name for name in names)


def _shards(path: Path) -> list[str]:
    """Names of the files in the index, in order."""
    try:
        data: object = json.loads(path.read_bytes())
    except (ValueError, RecursionError) as error:
        raise InvalidInputError(f"{path} is not JSON ({error}); pass the model's own index") from error
    found = cast(dict[str, object], data).get("weight_map") if isinstance(data, dict) else None
    files = set(cast(dict[str, object], found).values()) if isinstance(found, dict) else set[object]()
    names = sorted(name for name in files if isinstance(name, str))
    if not names or len(names) != len(files) or len(names) > MAX_SHARDS:
        raise InvalidInputError(f"{path} has no weight_map that names the file of each tensor")
    return names
