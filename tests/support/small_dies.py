"""A board of small dies, on which small designs spread."""

from dataclasses import replace

from compiler.platforms.platform import Platform, Slr, load_platform

RESOURCES = ("lut", "ff", "dsp", "bram36", "uram")


def small_dies(share: float, sll: int = 17690) -> Platform:
    """The U55C with only a share of the resources of each die."""
    board = load_platform("u55c")

    def shrunk(slr: Slr) -> Slr:
        return replace(slr, **{r: int(share * getattr(slr, r)) for r in RESOURCES})

    return replace(board, dies=replace(board.dies, slrs=tuple(map(shrunk, board.dies.slrs)), sll=(sll, sll)))
