"""What the head of a request says about its caller: address and key."""

from collections.abc import Iterable
from ipaddress import IPv6Network, ip_address, ip_network
from urllib.parse import urlsplit

from starlette.datastructures import Headers
from starlette.types import Scope

from worker.settings import Settings

COOKIE = "millrace_key"
_FORWARDED = ("x-forwarded-for", "x-forwarded-host", "x-forwarded-proto", "forwarded", "x-real-ip", "via")
_MOST_ADDRESS = 64  # of what a trusted proxy says; the audit has no room for more


def address_of(scope: Scope) -> str:
    """The caller's address; that of the proxy unless the operator trusts it (MILLRACE_TRUSTED_PROXIES)."""
    client = scope.get("client")
    return client[0][:_MOST_ADDRESS] if client else "unknown"


def counted_as(address: str) -> str:
    """What requests without a key are counted by: of an IPv6 address its /64, all of which one machine has."""
    try:
        found = ip_address(address)
    except ValueError:
        return address
    return address if found.version == 4 else str(IPv6Network((int(found) >> 64 << 64, 64)))


class Proxies:
    """The addresses, and networks of them, whose `X-Forwarded-*` headers are believed; `*` is all."""

    def __init__(self, given: Iterable[str]) -> None:
        names = frozenset(given)
        self._all = "*" in names
        self._networks = [ip_network(name, strict=False) for name in names if _is_network(name)]

    def __contains__(self, host: str) -> bool:
        try:
            address = ip_address(host)
        except ValueError:
            return self._all
        return self._all or any(address in network for network in self._networks)


def _is_network(text: str) -> bool:
    try:
        ip_network(text, strict=False)
    except ValueError:
        return False
    return True


def token_of(scope: Scope) -> str | None:
    """The text of the key, from the header, else from the dashboard's cookie."""
    headers = Headers(scope=scope)
    scheme, _, value = headers.get("authorization", "").partition(" ")
    if scheme.lower() == "bearer":
        return value.strip()
    return _cookie(headers.get("cookie", ""))


def _cookie(header: str) -> str | None:
    """Read by hand: nobody is known yet, and `http.cookies` takes seconds for a quoted value that was made for it."""
    pairs = (pair.strip().partition("=") for pair in header.split(";"))
    return next((value for name, _, value in pairs if name == COOKIE), None)


def was_forwarded(scope: Scope) -> bool:
    """Whether a proxy says that it asks for somebody else."""
    headers = Headers(scope=scope)
    return any(name in headers for name in _FORWARDED)


def is_loopback(host: str) -> bool:
    """Whether a name or address is this machine's own."""
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


def keys_wanted(settings: Settings) -> bool:
    """Whether the service asks for keys: where others than this machine reach it, unless the operator decides."""
    return settings.access == "on" or (settings.access == "auto" and _is_reached_by_others(settings))


def _is_reached_by_others(settings: Settings) -> bool:
    """It listens to them, or a proxy on this machine does: then it has a name for them, or trusts the proxy."""
    names = (settings.host, *settings.allowed_hosts, urlsplit(settings.public_url or "//localhost").hostname or "")
    return bool(settings.trusted_proxies) or not all(map(is_loopback, names))
