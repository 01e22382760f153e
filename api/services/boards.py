"""Which boards a design may be measured on."""

from compiler.errors import InvalidInputError
from compiler.platforms.platform import load_platform
from worker.ladder.table import SIMULATED


def check_board(board: str | None, platform: str) -> None:
    """Raise InvalidInputError for a board that designs of the platform are not linked for."""
    shell = load_platform(platform).shell
    if board not in (None, SIMULATED, shell):
        raise InvalidInputError(f"board is {board!r}; designs for {platform} run on {SIMULATED!r} or {shell!r}")
