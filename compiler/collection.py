"""Few walks of the garbage collector, where many objects are made that stay.

Python walks everything there is each time that a quarter more was made, and what a network is converted with, a design
is planned in, or a search keeps, is large and has few cycles. Those still go, a little later.
"""

import gc
from collections.abc import Generator
from contextlib import contextmanager

YOUNG = 100_000
"""Containers more than there were, before the collector walks the young ones."""
_OLDER = (50, 100)  # walks of the younger, before one of the older


def collect_rarely(young: int = YOUNG) -> None:
    """From now on in this process, which is nobody else's: what is there already stays, and is walked no more."""
    gc.freeze()
    gc.set_threshold(young, *_OLDER)


@contextmanager
def rare_collection(young: int = YOUNG) -> Generator[None]:
    """While something is done in a process that does other things too."""
    before = gc.get_threshold()
    gc.set_threshold(young, *_OLDER)
    try:
        yield
    finally:
        gc.set_threshold(*before)


@contextmanager
def imports_that_stay() -> Generator[None]:
    """While a process imports what it runs for the rest of its life: a walk then takes longer than most modules."""
    with rare_collection():
        yield
        gc.freeze()
