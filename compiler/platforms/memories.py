"""On-chip memories of a part: which there are and what they hold. Data of a platform file."""

from collections.abc import Mapping
from typing import Any, NamedTuple


class Memories(NamedTuple):
    """Primitives, those with a geometry as (words, bits of a word).

    `bram18`: of half a block RAM, which has several; `uram`: None where the part has none. A LUT holds `lutram_depth`
    bits as memory or `srl_depth` bits as shift register; memory of LUTs reaches the clock up to `lutram_limit` words.
    Of the part, one block RAM is as large a share as `luts_per_bram36` LUTs, one URAM as `bram36_per_uram` block RAMs.
    """

    bram18: tuple[tuple[int, int], ...]
    uram: tuple[int, int] | None
    lutram_depth: int
    lutram_limit: int
    srl_depth: int
    luts_per_bram36: float
    bram36_per_uram: float

    @property
    def bram36_bytes(self) -> int:
        """What a block RAM holds at most, parity bits included."""
        return 2 * max(words * bits for words, bits in self.bram18) // 8

    @property
    def uram_bytes(self) -> int:
        return self.uram[0] * self.uram[1] // 8 if self.uram is not None else 0


def memories_from(data: Mapping[str, Any], part: Mapping[str, int]) -> Memories:
    """From the `[memories]` table of a platform file; `part` is how many of each resource the whole part has."""
    uram = data.get("uram")
    return Memories(
        bram18=tuple((words, bits) for words, bits in data["bram18"]),
        uram=(uram[0], uram[1]) if uram is not None else None,
        **{name: data[name] for name in ("lutram_depth", "lutram_limit", "srl_depth")},
        luts_per_bram36=part["lut"] / part["bram36"],
        bram36_per_uram=part["bram36"] / part["uram"] if uram is not None else 0.0,
    )
