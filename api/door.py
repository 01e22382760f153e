"""Room for connections: those that bring nothing, take nothing, or are too many of one address make room for others.

A connection of which something is expected stands in a line, in the order in which each last brought something. Whoever
is at the front for too long is sent away, and where there are too many the front goes first: an honest client sends the
head of its request at once, and its body piece by piece, so it is never near the front for long.
"""

import logging
import resource
import time
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:  # the process in front goes without
    from worker.settings import Settings

PROXY = "a trusted proxy"
"""The host of connections that bring the requests of others: bounded only by what all may have."""
PIECE = 16 << 10
"""Bytes of a body, or of an answer, that count as progress."""
KEPT = 64
"""Connections that requests for health and of admins find free when all others have one."""
_OTHER_FILES = 256
"""Files that the process opens besides connections, at most."""
_GRACE_SECONDS = 1.0
_LOG_SECONDS = 10.0
_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Bounds:
    """`most` connections in all, `of_host` of one host that is no proxy.

    `patience` is for how many seconds the head of a request, the next `PIECE` of its body, or a reader of its answer is
    waited for; `idle` for how many a connection may stay between two requests. Of `expected` of the connections
    something may be expected for all of that time, of half of them in their first second.
    """

    most: int = 4000
    of_host: int = 2000
    patience: float = 10.0
    idle: float = 15.0
    expected: float = 1 / 8


class Visitor(Protocol):
    """A connection, as the door sees it."""

    @property
    def host(self) -> str:
        """Whose it is: an address, the network of one, or `PROXY`."""
        ...

    def is_held(self) -> bool:
        """Whether it is we who do not let it bring more."""
        ...

    def took_some(self) -> bool:
        """Whether it has taken a piece of its answer since it was asked last."""
        ...

    def send_away(self, *, late: bool) -> None:
        """End it; one that is `late` is told so."""
        ...


class Line:
    """Visitors in the order in which they last came to its end: all of them, and those of each host."""

    def __init__(self) -> None:
        self._all: dict[Visitor, float] = {}
        self._of: dict[str, dict[Visitor, float]] = {}

    def stand(self, visitor: Visitor, now: float) -> None:
        """Go to the end of the line."""
        self.leave(visitor)
        self._all[visitor] = self._of.setdefault(visitor.host, {})[visitor] = now

    def leave(self, visitor: Visitor) -> None:
        """Stand in it no more; nothing happens to one that does not."""
        if self._all.pop(visitor, None) is None:
            return
        of_host = self._of[visitor.host]
        del of_host[visitor]
        if not of_host:
            del self._of[visitor.host]

    def count(self, host: str | None = None) -> int:
        """How many stand in it, of all or of one host."""
        return len(self._chosen(host))

    def first(self, host: str | None = None) -> tuple[Visitor, float] | None:
        """The one at the front, of all or of one host, and since when it stands."""
        return next(iter(self._chosen(host).items()), None)

    def _chosen(self, host: str | None) -> dict[Visitor, float]:
        return self._all if host is None else self._of.get(host, {})


class Door:
    """The connections of one process. For one thread: that of the event loop."""

    def __init__(self, bounds: Bounds, clock: Callable[[], float] = time.monotonic) -> None:
        self._bounds = bounds
        self._clock = clock
        self._inside: set[Visitor] = set()
        self._of_host: Counter[str] = Counter()
        self._expected, self._idle, self._unread = Line(), Line(), Line()
        self._ended: Counter[str] = Counter()
        self._logged = -_LOG_SECONDS

    def enter(self, visitor: Visitor) -> None:
        """Let it in. Where there is no room another one goes, or itself where all others are served."""
        self._inside.add(visitor)
        self._of_host[visitor.host] += 1
        self.expect(visitor)
        if visitor.host != PROXY and self._of_host[visitor.host] > self._bounds.of_host:
            self._make_room(visitor.host)
        if len(self._inside) > self._bounds.most:
            self._make_room(None)

    def leave(self, visitor: Visitor) -> None:
        """It ends, or has ended."""
        if visitor not in self._inside:
            return
        self._inside.remove(visitor)
        for line in (self._expected, self._idle, self._unread):
            line.leave(visitor)
        self._of_host[visitor.host] -= 1
        if not self._of_host[visitor.host]:
            del self._of_host[visitor.host]

    def expect(self, visitor: Visitor) -> None:
        """It has brought something, and is to bring more."""
        if visitor not in self._inside:
            return
        self._idle.leave(visitor)
        self._expected.stand(visitor, self._clock())
        if visitor.host != PROXY:
            self._thin(visitor.host, self._bounds.of_host)
        self._thin(None, self._bounds.most)

    def serve(self, visitor: Visitor) -> None:
        """It has brought all of its request."""
        self._expected.leave(visitor)
        self._idle.leave(visitor)

    def rest(self, visitor: Visitor) -> None:
        """Its request is answered."""
        if visitor in self._inside:
            self._expected.leave(visitor)
            self._idle.stand(visitor, self._clock())

    def stall(self, visitor: Visitor) -> None:
        """It does not take its answer as fast as it is given."""
        if visitor in self._inside:
            self._unread.stand(visitor, self._clock())

    def flow(self, visitor: Visitor) -> None:
        """It takes its answer again."""
        self._unread.leave(visitor)

    async def sweep(self) -> None:
        """Send away whose time is over; to be called every second or so."""
        bounds = self._bounds
        self._sweep(self._expected, bounds.patience, "brought too little", lambda visitor: visitor.is_held())
        self._sweep(self._unread, bounds.patience, "took too little", lambda visitor: visitor.took_some())
        self._sweep(self._idle, bounds.idle, "asked for nothing more", lambda _: False)
        now = self._clock()
        if self._ended and now - self._logged >= _LOG_SECONDS:
            _log.warning("connections ended: %s", ", ".join(f"{n} {why}" for why, n in self._ended.most_common()))
            self._ended.clear()
            self._logged = now

    def _sweep(self, line: Line, seconds: float, why: str, is_excused: Callable[[Visitor], bool]) -> None:
        now = self._clock()
        while (front := line.first()) is not None and now - front[1] >= seconds:
            if is_excused(front[0]):
                line.stand(front[0], now)
            else:
                self._end(front[0], why, late=line is self._expected)

    def _thin(self, host: str | None, bound: int) -> None:
        """Of one host, or of all, expect something of no more than may be."""
        lasting = int(bound * self._bounds.expected)
        while (count := self._expected.count(host)) > lasting:
            visitor, since = self._expected.first(host) or (None, 0.0)
            if visitor is None or (count <= bound // 2 and self._clock() - since < _GRACE_SECONDS):
                return
            self._end(visitor, "made room for others", late=False)

    def _make_room(self, host: str | None) -> None:
        """End the connection that has brought nothing for longest, of one host or of all."""
        fronts = [front for line in (self._expected, self._idle) if (front := line.first(host)) is not None]
        if fronts:
            self._end(min(fronts, key=lambda front: front[1])[0], "made room for others", late=False)

    def _end(self, visitor: Visitor, why: str, *, late: bool) -> None:
        self.leave(visitor)
        self._ended[why] += 1
        visitor.send_away(late=late)


def most_connections(settings: "Settings") -> int:
    """Connections that this process may have: what the operator says, as far as it may open so many files."""
    files, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    return settings.connections if files == resource.RLIM_INFINITY else min(settings.connections, files - _OTHER_FILES)


def open_many_files() -> None:
    """Let this process open as many files as the system allows it: many shells allow 1024 unless asked."""
    _, most = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))
