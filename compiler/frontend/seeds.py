"""Values of what a network brings no weights or inputs for: drawn by name, so that they are the same everywhere."""

from collections.abc import Mapping
from hashlib import sha256

import numpy as np
from numpy.typing import NDArray

SEED = 0


def following(name: str, number: int) -> str:
    """What input `name` is drawn by where it is that of number `number` of a launch, which begins with 0."""
    return f"{number} {name}" if number else name


def batch_of(shapes: Mapping[str, tuple[int, ...]], count: int) -> list[dict[str, NDArray[np.float32]]]:
    """The inputs of a launch of `count`, each by name."""
    return [{n: seeded(following(n, number), shape) for n, shape in shapes.items()} for number in range(count)]


def seeded(name: str, shape: tuple[int, ...], spread: float = 1.0, mean: float = 0.0) -> NDArray[np.float32]:
    """Normal values that depend on `name` and SEED only."""
    digest = sha256(f"{SEED}:{name}".encode()).digest()
    generator = np.random.default_rng(int.from_bytes(digest[:16], "little"))
    return (generator.standard_normal(shape, np.float32) * np.float32(spread) + np.float32(mean)).astype(np.float32)
