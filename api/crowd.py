"""Requests in progress: so many of one key, one address and in all, so that health and admins are always answered."""

from collections import Counter

from starlette.types import ASGIApp, Receive, Scope, Send

from api.addresses import counted_as
from api.door import KEPT
from api.errors import BusyError, RateError
from api.middleware import HEALTH
from api.principal import Principal
from api.problems import problem_of

_RETRY_SECONDS = 2


class Crowd:
    """Answers 429 to one too many of a key or an address, 503 to one too many of all.

    `KEPT` of `most`, and of those of an address, are left for health and for admins with a key.
    """

    def __init__(self, app: ASGIApp, most: int, of_address: int, of_key: int) -> None:
        self._app = app
        self._most = most - KEPT
        self._of_address = of_address - KEPT
        self._of_key = of_key
        self.open: Counter[str] = Counter()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        principal: Principal = scope["state"]["principal"]
        bounds = self._bounds(principal)
        is_free = scope["path"].startswith(HEALTH) or (principal.role == "admin" and principal.name is not None)
        full = None if is_free else next((who for who, most in bounds.items() if self.open[who] >= most), None)
        if full is not None:
            await problem_of(_refusal(full, bounds[full]))(scope, receive, send)
            return
        self.open.update(bounds.keys())
        try:
            await self._app(scope, receive, send)
        finally:
            self._leave(bounds)

    def _bounds(self, principal: Principal) -> dict[str, int]:
        """Whom a request counts for, and how many each may have."""
        found = {"": self._most, f"address {counted_as(principal.address)}": self._of_address}
        return found if principal.name is None else found | {f"key {principal.name!r}": self._of_key}

    def _leave(self, bounds: dict[str, int]) -> None:
        for who in bounds:
            self.open[who] -= 1
            if not self.open[who]:
                del self.open[who]


def _refusal(who: str, most: int) -> RateError:
    if not who:
        return BusyError("the service has as many requests in progress as it takes; come again soon", _RETRY_SECONDS)
    return RateError(f"{who} has {most} requests in progress; wait for one to end", _RETRY_SECONDS)
