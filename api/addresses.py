"""Addresses and names: by which a caller is counted, who is a trusted proxy, what the service is called."""

from collections.abc import Iterable
from dataclasses import dataclass
from ipaddress import IPv4Address, IPv6Address, IPv6Network, ip_address, ip_network
from typing import Literal
from urllib.parse import urlsplit

LOOPBACK = frozenset({"127.0.0.1", "localhost", "::1"})
Hosts = Literal["none", "addresses", "all"]
FORWARDED = ("x-forwarded-for", "x-forwarded-host", "x-forwarded-proto", "forwarded", "x-real-ip", "via")
"""Headers of a request that a proxy makes for somebody else."""


@dataclass(frozen=True, slots=True)
class Names:
    """What the service may be called: `hosts`, and of `others` none, addresses (no names, which alone can be bound
    anew), or all, for a service that asks for keys, of which a foreign page has none.
    """

    hosts: frozenset[str]
    others: Hosts

    def __contains__(self, host: str) -> bool:
        """Whether `host`, a `Host` header, is the service; the loopback's names always are."""
        name = _hostname(f"//{host}")
        if self.others == "all" or name in self.hosts or name in LOOPBACK:
            return True
        return self.others == "addresses" and name is not None and _is_address(name)


class Proxies:
    """The addresses, and networks of them, whose `X-Forwarded-*` headers are believed; `*` is all."""

    def __init__(self, given: Iterable[str]) -> None:
        names = frozenset(given)
        self._all = "*" in names
        self._networks = [ip_network(name, strict=False) for name in names if _is_network(name)]

    def __contains__(self, host: str) -> bool:
        try:
            address = _read(host)
        except ValueError:
            return self._all
        return self._all or any(address in network for network in self._networks)


def plain(address: str) -> str:
    """The address; an IPv4 one as such where a socket for both kinds says `::ffff:10.0.0.1`."""
    try:
        return str(_read(address))
    except ValueError:
        return address


def counted_as(address: str) -> str:
    """What requests without a key are counted by: of an IPv6 address its /64, all of which one machine has."""
    try:
        found = _read(address)
    except ValueError:
        return address
    return str(found) if found.version == 4 else str(IPv6Network((int(found) >> 64 << 64, 64)))


def is_loopback(host: str) -> bool:
    """Whether a name or address is this machine's own."""
    try:
        return _read(host).is_loopback
    except ValueError:
        return host == "localhost"


def _read(address: str) -> IPv4Address | IPv6Address:
    found = ip_address(address)
    mapped = found.ipv4_mapped if isinstance(found, IPv6Address) else None
    return found if mapped is None else mapped


def _hostname(url: str) -> str | None:
    try:
        return urlsplit(url).hostname
    except ValueError:
        return None


def _is_address(host: str) -> bool:
    try:
        ip_address(host)
    except ValueError:
        return False
    return True


def _is_network(text: str) -> bool:
    try:
        ip_network(text, strict=False)
    except ValueError:
        return False
    return True
