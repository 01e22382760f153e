"""What the head of a request says about its caller: address and key."""

from http.cookies import CookieError, SimpleCookie
from ipaddress import ip_address

from starlette.datastructures import Headers
from starlette.types import Scope

from worker.settings import Settings

COOKIE = "millrace_key"
_FORWARDED = ("x-forwarded-for", "forwarded", "x-real-ip")


def address_of(scope: Scope) -> str:
    """The caller's address; that of the proxy unless the operator trusts it (MILLRACE_TRUSTED_PROXIES)."""
    client = scope.get("client")
    return client[0] if client else "unknown"


def token_of(scope: Scope) -> str | None:
    """The text of the key, from the header, else from the dashboard's cookie."""
    headers = Headers(scope=scope)
    scheme, _, value = headers.get("authorization", "").partition(" ")
    if scheme.lower() == "bearer":
        return value.strip()
    return _cookie(headers.get("cookie", ""))


def _cookie(header: str) -> str | None:
    try:
        found = SimpleCookie(header).get(COOKIE)
    except CookieError:
        return None
    return None if found is None else found.value


def comes_from_here(scope: Scope) -> bool:
    """Whether a process of this machine asks for itself: a proxy on it says in a header that it asks for others."""
    headers = Headers(scope=scope)
    return is_loopback(address_of(scope)) and not any(name in headers for name in _FORWARDED)


def is_loopback(host: str) -> bool:
    """Whether a name or address is this machine's own."""
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


def keys_wanted(settings: Settings) -> bool:
    """Whether the service asks for keys: where it listens to others than this machine, unless the operator decides."""
    return settings.access == "on" or (settings.access == "auto" and not is_loopback(settings.host))
