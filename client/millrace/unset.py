"""What a request does not say: the service then takes its default, or leaves what it has. `None` is sent, as null."""

from enum import Enum
from typing import Final, Literal


class _Unset(Enum):
    UNSET = "not given"

    def __bool__(self) -> Literal[False]:
        return False


UNSET: Final = _Unset.UNSET
Unset = Literal[_Unset.UNSET]
