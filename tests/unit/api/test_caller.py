import time

import pytest

from api.addresses import counted_as
from api.caller import address_of, token_of


def scope(**headers: bytes) -> dict[str, object]:
    return {"type": "http", "headers": [(name.encode(), value) for name, value in headers.items()]}


@pytest.mark.parametrize(
    ("cookie", "token"),
    [
        (b"millrace_key=mlr_1", "mlr_1"),
        (b"theme=dark; millrace_key=mlr_1; other=2", "mlr_1"),
        (b"theme=dark;millrace_key=a=b", "a=b"),
        (b"xmillrace_key=mlr_1; millrace_key", ""),
        (b"theme=dark", None),
        (b"", None),
    ],
)
def test_the_cookie_among_others(cookie: bytes, token: str | None) -> None:
    assert token_of(scope(cookie=cookie)) == token


def test_the_header_comes_first() -> None:
    assert token_of(scope(cookie=b"millrace_key=a", authorization=b"Bearer b ")) == "b"
    assert token_of(scope(cookie=b"millrace_key=a", authorization=b"Basic b")) == "a"


def test_a_cookie_that_was_made_to_take_long() -> None:
    """A quoted value of as many backslashes as a head may have takes seconds where it is unquoted."""
    since = time.thread_time()
    token_of(scope(cookie=b'millrace_key="' + b"\\1" * 30_000 + b'"'))
    assert time.thread_time() - since < 1


@pytest.mark.parametrize(
    ("address", "counted"),
    [
        ("203.0.113.9", "203.0.113.9"),
        ("2001:db8:1:2:3:4:5:6", "2001:db8:1:2::/64"),
        ("2001:db8:1:2:ffff::", "2001:db8:1:2::/64"),
        ("::ffff:203.0.113.9", "203.0.113.9"),
        ("unknown", "unknown"),
    ],
)
def test_what_requests_are_counted_by(address: str, counted: str) -> None:
    assert counted_as(address) == counted


def test_an_address_has_room_in_the_audit() -> None:
    assert len(address_of({"client": ("x" * 1000, 1)})) == 64
    assert address_of({}) == "unknown"
