"""Short ids that sort by their time of creation: `exp_` + 10 characters of milliseconds + 8 of chance."""

import secrets
import time
from datetime import UTC, datetime

_ALPHABET = "0123456789abcdefghjkmnpqrstvwxyz"
_TIME_CHARS = 10
_RANDOM_CHARS = 8


def new_id(prefix: str) -> str:
    """A new id such as `dsg_01hv5k3m9qx7c2ad0e`."""
    milliseconds = time.time_ns() // 1_000_000
    return f"{prefix}_{_encode(milliseconds, _TIME_CHARS)}{_encode(secrets.randbits(40), _RANDOM_CHARS)}"


def _encode(value: int, length: int) -> str:
    return "".join(_ALPHABET[(value >> shift) & 31] for shift in range(5 * (length - 1), -1, -5))


def time_of(made: str) -> datetime:
    """When an id was made, to the millisecond."""
    milliseconds = 0
    for char in made.rpartition("_")[2][:_TIME_CHARS]:
        milliseconds = milliseconds * len(_ALPHABET) + _ALPHABET.index(char)
    return datetime.fromtimestamp(milliseconds / 1000, UTC)
