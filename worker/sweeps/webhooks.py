"""Calls to webhooks: where they may go, how they are signed and tried again.

A webhook is an address that a user gave, and the farm stands where users do not: so only the hosts that the operator
lists are called, or, where none is listed, any host whose addresses are all public. The name is resolved once and the
connection made to the address that was checked; redirects are not followed.
"""

import hashlib
import hmac
import json
import socket
import time
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from ipaddress import IPv4Address, IPv6Address, IPv6Network, ip_address
from typing import Any
from urllib.parse import SplitResult, urlsplit

import httpx

from compiler.errors import InvalidInputError
from worker.errors import ServiceError

SIGNATURE = "Millrace-Signature-256"
RUN = "Millrace-Run"
_PAUSES = (1.0, 5.0)  # seconds before the second and the third try
_TIMEOUT = httpx.Timeout(10, connect=5)
_AGAIN = frozenset({408, 425, 429})
_NAT64 = IPv6Network("64:ff9b::/96")

Resolve = Callable[[str, int], Sequence[str]]


class WebhookError(ServiceError):
    """A webhook could not be called, or did not take the call. `again`: another try may help."""

    def __init__(self, text: str, again: bool, status: int | None = None) -> None:
        super().__init__(text)
        self.again = again
        self.status = status


@dataclass(frozen=True, slots=True)
class Delivery:
    """How the calls of one webhook went. `error` is None where the last one was taken."""

    attempts: int
    status: int | None
    error: str | None

    @property
    def state(self) -> str:
        return "sent" if self.error is None else "failed"


def check_url(url: str, hosts: Collection[str]) -> SplitResult:
    """The parts of a webhook's address. Raises InvalidInputError for one that may not be called, as far as its text
    tells: names are resolved when it is called.
    """
    try:
        parts = urlsplit(url)
        host, port = parts.hostname, parts.port
    except ValueError as error:
        raise InvalidInputError(f"the webhook {url!r} is no address: {error}") from error
    if parts.scheme not in ("http", "https") or not host or port == 0 or not url.isascii() or not url.isprintable():
        raise InvalidInputError(f"the webhook {url!r} must be an address like https://host/path")
    if parts.username is not None or parts.password is not None:
        raise InvalidInputError("the webhook holds a user name or a password; sign the calls with a secret instead")
    if hosts and host not in hosts:
        raise InvalidInputError(
            f"webhooks may only call {', '.join(sorted(hosts))} (MILLRACE_WEBHOOK_HOSTS), not {host}"
        )
    if not hosts and (host == "localhost" or _is_private(host)):
        raise InvalidInputError(
            f"the webhook's host {host} is not public; the operator can allow it with MILLRACE_WEBHOOK_HOSTS={host}"
        )
    return parts


def _is_private(host: str) -> bool:
    """Of an address; a name is not known to be."""
    try:
        return not _is_public(host)
    except ValueError:
        return False


def _is_public(address: str) -> bool:
    found = ip_address(address.partition("%")[0])
    inner = _inner(found) if isinstance(found, IPv6Address) else None
    return _is_everybodys(found if inner is None else inner)


def _inner(address: IPv6Address) -> IPv4Address | None:
    """The IPv4 address that a gateway, or this machine, takes an IPv6 one for."""
    if address in _NAT64:
        return IPv4Address(int(address) & 0xFFFF_FFFF)
    return address.ipv4_mapped or address.sixtofour


def _is_everybodys(address: IPv4Address | IPv6Address) -> bool:
    site = isinstance(address, IPv6Address) and address.is_site_local
    return address.is_global and not (address.is_multicast or address.is_reserved or site)


def deliver(
    url: str,
    body: Mapping[str, Any],
    run_id: str,
    secret: str | None,
    hosts: Collection[str],
    *,
    transport: httpx.BaseTransport | None = None,
    resolve: Resolve | None = None,
    sleep: Callable[[float], None] = time.sleep,
) -> Delivery:
    """POST `body` as JSON; up to three tries. Whoever is called may get it twice, and tells by the header of the run.

    With a secret the call carries the HMAC-SHA256 of its body. `transport`, `resolve` and `sleep` are for tests.
    """
    data = json.dumps(body, separators=(",", ":")).encode()
    headers = {"Content-Type": "application/json", "User-Agent": "millrace", RUN: run_id}
    if secret is not None:
        headers[SIGNATURE] = sign(secret, data)
    for attempt, pause in enumerate((*_PAUSES, None), 1):
        try:
            status = _post(url, data, headers, hosts, transport, resolve or addresses)
        except WebhookError as error:
            if pause is None or not error.again:
                return Delivery(attempt, error.status, str(error))
            sleep(pause)
        else:
            return Delivery(attempt, status, None)
    raise AssertionError("the last try returns")


def sign(secret: str, data: bytes) -> str:
    """The value of the header `Millrace-Signature-256`."""
    return "sha256=" + hmac.new(secret.encode(), data, hashlib.sha256).hexdigest()


def addresses(host: str, port: int) -> list[str]:
    """IP addresses of a name. Raises OSError."""
    return list(dict.fromkeys(str(info[4][0]) for info in socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)))


def _post(
    url: str,
    data: bytes,
    headers: Mapping[str, str],
    hosts: Collection[str],
    transport: httpx.BaseTransport | None,
    resolve: Resolve,
) -> int:
    try:
        parts = check_url(url, hosts)
    except InvalidInputError as error:  # the operator has changed what is allowed since
        raise WebhookError(str(error), again=False) from error
    host = parts.hostname or ""
    address = _checked_address(host, parts, bool(hosts), resolve)
    try:
        pinned = httpx.URL(url).copy_with(host=address)
    except httpx.InvalidURL as error:
        raise WebhookError(f"{host} can not be called: {error}", again=False) from error
    sent = {**headers, "Host": parts.netloc}
    extensions = {"sni_hostname": host}
    try:
        with (
            httpx.Client(timeout=_TIMEOUT, trust_env=False, follow_redirects=False, transport=transport) as client,
            client.stream("POST", pinned, content=data, headers=sent, extensions=extensions) as reply,
        ):
            status = reply.status_code
    except httpx.HTTPError as error:
        raise WebhookError(f"{host} could not be called: {error or type(error).__name__}", again=True) from error
    if not 200 <= status < 300:
        raise WebhookError(f"{host} answered {status}", status >= 500 or status in _AGAIN, status)
    return status


def _checked_address(host: str, parts: SplitResult, any_address: bool, resolve: Resolve) -> str:
    try:
        found = resolve(host, parts.port or (443 if parts.scheme == "https" else 80))
    except (OSError, UnicodeError) as error:  # the latter for a label of more than 63 letters
        raise WebhookError(f"the name {host} can not be resolved: {error}", again=True) from error
    if not any_address and not all(map(_is_public, found)):
        # Which address it is would tell users how the farm's network is laid out.
        text = f"{host} has an address that is not public; the operator can allow it with MILLRACE_WEBHOOK_HOSTS"
        raise WebhookError(text, again=False)
    return found[0]
