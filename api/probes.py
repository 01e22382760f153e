"""Health, as it is told to probes while the API itself is busy: what it said last, or that it has said nothing."""

import json
import re
import time
from collections.abc import Callable
from email.utils import formatdate
from http import HTTPStatus

from api.addresses import FORWARDED, Names
from api.channel import Keys, Message, Plan, Told
from api.tokens import parse

LIVE, READY, HEALTH = PROBES = ("/v1/health/live", "/v1/health/ready", "/v1/health")
STALE_SECONDS = 10.0
"""After so long without a word of the API it is said not to answer."""
USED_SECONDS = 60.0
"""How often it is said of a key that it is used."""
_FOR_THE_API = frozenset({*FORWARDED, "cookie", "expect", "content-length", "transfer-encoding"})
"""A request with one of these is not as plain as a probe's."""
_PLAIN = re.compile(r"[A-Za-z0-9-]+:[ -~]*")
"""A header of which no other reading is possible."""


class Probes:
    """Answers what asks for health and may. `use` is called now and then with a key that has asked."""

    def __init__(self, plan: Plan, use: Callable[[str], None], clock: Callable[[], float] = time.monotonic) -> None:
        self._names = Names(frozenset(plan.hosts), plan.others)
        self._needs_key = plan.needs_key
        self._headers = "".join(f"{name.lower()}: {value}\r\n" for name, value in plan.headers.items())
        self._use = use
        self._clock = clock
        self._told: dict[str, tuple[Told, float]] = {}
        self._used: dict[str, float] = {}
        """When it was last said that a key is used, by the digest of each that is valid."""

    def hear(self, message: Message) -> None:
        """Take what the API says."""
        if isinstance(message, Told):
            self._told[message.path] = message, self._clock()
        elif isinstance(message, Keys):
            self._used = {digest: self._used.get(digest, 0.0) for digest in message.digests}

    def answer(self, request: bytes) -> bytes | None:
        """The whole answer; None where the API is to look at the request itself."""
        head, _, more = request.partition(b"\r\n\r\n")
        line, *lines = head.decode("latin-1").split("\r\n")
        path = line.removeprefix("GET ").removesuffix(" HTTP/1.1")
        if path not in self._told or line != f"GET {path} HTTP/1.1" or more or not all(map(_PLAIN.fullmatch, lines)):
            return None
        headers = dict(_header(line) for line in lines)
        if len(headers) < len(lines) or "host" not in headers or not _FOR_THE_API.isdisjoint(headers):
            return None
        if headers["host"] not in self._names:
            return None
        if path == HEALTH and self._needs_key and not self._is_known(headers.get("authorization", "")):
            return None
        told, since = self._told[path]
        age = self._clock() - since
        if age >= STALE_SECONDS:
            return self._compose(503, "application/problem+json", _silent(age))
        return self._compose(told.status, "application/json", told.body)

    def _is_known(self, authorization: str) -> bool:
        scheme, _, value = authorization.partition(" ")
        token = parse(value.strip()) if scheme.lower() == "bearer" else None
        if token is None or token.digest not in self._used:
            return False
        if self._clock() - self._used[token.digest] >= USED_SECONDS:
            self._used[token.digest] = self._clock()
            self._use(str(token))
        return True

    def _compose(self, status: int, kind: str, body: str) -> bytes:
        head = (
            f"HTTP/1.1 {status} {HTTPStatus(status).phrase}\r\ndate: {formatdate(usegmt=True)}\r\n"
            f"content-type: {kind}\r\ncontent-length: {len(body.encode())}\r\n{self._headers}connection: close\r\n\r\n"
        )
        return (head + body).encode()


def _header(line: str) -> tuple[str, str]:
    name, _, value = line.partition(":")
    return name.lower(), value.strip()


def _silent(seconds: float) -> str:
    detail = f"the API's process has not said for {seconds:.0f} s how it is; its log may tell why"
    found = {"type": "urn:millrace:problem:silent", "title": "The API is silent", "status": 503, "detail": detail}
    return json.dumps(found)
