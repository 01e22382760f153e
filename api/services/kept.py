"""What is made once and kept for as long as what it was made of stays the same."""

from collections import OrderedDict
from collections.abc import Callable, Hashable
from threading import Lock
from typing import Generic, TypeVar

Made = TypeVar("Made")


class Kept(Generic[Made]):
    """The `most` that were made last, by key; each is made anew where its tag is another one. Safe to share between
    threads.
    """

    def __init__(self, most: int) -> None:
        self._most = most
        self._kept: OrderedDict[str, tuple[Hashable, Made]] = OrderedDict()
        self._lock = Lock()

    def get(self, key: str, tag: Hashable, make: Callable[[], Made]) -> Made:
        kept = self._kept.get(key)
        if kept is not None and kept[0] == tag:
            return kept[1]
        made = make()
        with self._lock:
            self._kept[key] = tag, made
            while len(self._kept) > self._most:
                self._kept.popitem(last=False)
        return made
