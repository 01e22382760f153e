"""Names of the files of a bundle, and their digests."""

from hashlib import blake2b
from pathlib import Path

GRAPH = "graph.json"
LINALG = "linalg.mlir"
TENSORS = "tensors.npz"
EXPECTED = "expected.npz"
META = "meta.json"


def digest_of(path: Path) -> str:
    """BLAKE2b-128 of a file's content, in hex."""
    digest = blake2b(digest_size=16)
    with path.open("rb") as file:
        while block := file.read(1 << 20):
            digest.update(block)
    return digest.hexdigest()
