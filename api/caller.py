"""What the head of a request says about its caller: address and key."""

from urllib.parse import urlsplit

from starlette.datastructures import Headers
from starlette.types import Scope

from api.addresses import FORWARDED, LOOPBACK, Names, is_loopback
from worker.settings import Settings

COOKIE = "millrace_key"
_MOST_ADDRESS = 64  # of what a trusted proxy says; the audit has no room for more


def address_of(scope: Scope) -> str:
    """The caller's address; that of the proxy unless the operator trusts it (MILLRACE_TRUSTED_PROXIES)."""
    client = scope.get("client")
    return client[0][:_MOST_ADDRESS] if client else "unknown"


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
    return any(name in headers for name in FORWARDED)


def keys_wanted(settings: Settings) -> bool:
    """Whether the service asks for keys: where others than this machine reach it, unless the operator decides."""
    return settings.access == "on" or (settings.access == "auto" and _is_reached_by_others(settings))


def _is_reached_by_others(settings: Settings) -> bool:
    """It listens to them, or a proxy on this machine does: then it has a name for them, or trusts the proxy."""
    names = (settings.host, *settings.allowed_hosts, urlsplit(settings.public_url or "//localhost").hostname or "")
    return bool(settings.trusted_proxies) or not all(map(is_loopback, names))


def names_of(settings: Settings) -> Names:
    """What the service may be called: the names that the operator lists, and where that is safe others."""
    hosts = frozenset(settings.allowed_hosts)
    if hosts or settings.host in LOOPBACK:
        return Names(hosts, "none")
    return Names(hosts, "all" if keys_wanted(settings) and not is_loopback(settings.host) else "addresses")
