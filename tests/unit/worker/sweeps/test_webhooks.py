import hashlib
import hmac
import json
from collections.abc import Callable
from typing import Any

import httpx
import pytest

from compiler.errors import InvalidInputError
from worker.sweeps.webhooks import Delivery, check_url, deliver

PUBLIC = "93.184.216.34"
URL = "https://hooks.example.org/millrace?team=fpga"
Answer = Callable[[httpx.Request], httpx.Response]


class Calls:
    """A network that answers as it is told, and what it was asked."""

    def __init__(self, *answers: int | Exception) -> None:
        self.requests: list[httpx.Request] = []
        self.slept: list[float] = []
        self._answers = list(answers)

    def __call__(self, request: httpx.Request) -> httpx.Response:
        self.requests.append(request)
        answer = self._answers.pop(0)
        if isinstance(answer, Exception):
            raise answer
        return httpx.Response(answer, headers={"Location": "http://169.254.169.254/"})

    def deliver(self, url: str = URL, address: str = PUBLIC, hosts: tuple[str, ...] = (), secret: str | None = None):
        return deliver(
            url,
            {"state": "regressed"},
            "run_1",
            secret,
            hosts,
            transport=httpx.MockTransport(self),
            resolve=lambda *_: [address],
            sleep=self.slept.append,
        )


def test_a_call_goes_to_the_address_that_was_checked() -> None:
    calls = Calls(204)
    assert calls.deliver() == Delivery(1, 204, None)
    [request] = calls.requests
    assert (request.url.host, request.url.raw_path) == (PUBLIC, b"/millrace?team=fpga")
    assert request.headers["Host"] == "hooks.example.org"
    assert request.extensions["sni_hostname"] == "hooks.example.org"
    assert (request.headers["Millrace-Run"], json.loads(request.content)) == ("run_1", {"state": "regressed"})
    assert "Millrace-Signature-256" not in request.headers


def test_a_secret_signs_the_body() -> None:
    calls = Calls(200)
    calls.deliver(secret="sixteen letters!")
    [request] = calls.requests
    expected = hmac.new(b"sixteen letters!", request.content, hashlib.sha256).hexdigest()
    assert request.headers["Millrace-Signature-256"] == f"sha256={expected}"


@pytest.mark.parametrize("first", [500, 503, 429, httpx.ConnectTimeout("slow"), httpx.ReadError("cut")])
def test_what_may_pass_is_tried_again(first: Any) -> None:
    calls = Calls(first, 200)
    assert calls.deliver() == Delivery(2, 200, None)
    assert calls.slept == [1.0]


def test_three_tries_are_all() -> None:
    calls = Calls(500, httpx.ConnectError("refused"), 502)
    assert calls.deliver() == Delivery(3, 502, "hooks.example.org answered 502")
    assert calls.slept == [1.0, 5.0]


@pytest.mark.parametrize("status", [301, 307, 400, 404, 410])
def test_redirects_and_refusals_are_final(status: int) -> None:
    calls = Calls(status)
    found = calls.deliver()
    assert (found.attempts, found.status, found.state) == (1, status, "failed")
    assert len(calls.requests) == 1


@pytest.mark.parametrize(
    "address",
    ["127.0.0.1", "10.0.0.8", "192.168.1.1", "169.254.169.254", "100.64.0.1", "0.0.0.0", "::1", "fe80::1%eth0",
     "fd00::1", "::ffff:127.0.0.1", "2002:7f00:1::", "224.0.0.1", "64:ff9b::a9fe:a9fe", "64:ff9b::7f00:1",
     "64:ff9b:1::1", "::7f00:1", "fec0::1"],
)  # fmt: skip
def test_addresses_that_are_not_public_are_never_called(address: str) -> None:
    calls = Calls(200)
    found = calls.deliver(address=address)
    assert calls.requests == []
    assert found.error is not None
    assert "not public" in found.error
    assert address not in found.error


@pytest.mark.parametrize("address", ["2606:4700::1111", "::ffff:8.8.8.8", "64:ff9b::808:808"])
def test_public_addresses_are_called_in_any_writing(address: str) -> None:
    assert Calls(200).deliver(address=address).error is None


@pytest.mark.parametrize("url", ["https://[v1.x]/hook", f"https://{'a' * 64}.example/hook", "https://a..example/hook"])
def test_what_nobody_can_call_fails(url: str) -> None:
    """An error that nobody expects would end the thread, and the call be made again and again."""
    transport = httpx.MockTransport(lambda _: httpx.Response(200))
    found = deliver(url, {}, "run_1", None, (), transport=transport, sleep=lambda _: None)
    assert found.state == "failed"


def test_an_address_that_can_not_be_written_fails() -> None:
    assert Calls(200).deliver("https://[v1.x]/hook").state == "failed"


def test_one_private_address_among_public_ones_is_enough() -> None:
    requests: list[httpx.Request] = []
    found = deliver(
        URL, {}, "run_1", None, (),
        transport=httpx.MockTransport(lambda request: requests.append(request) or httpx.Response(200)),
        resolve=lambda *_: [PUBLIC, "10.0.0.1"],
        sleep=lambda _: None,
    )  # fmt: skip
    assert (requests, found.attempts) == ([], 1)


def test_a_host_that_the_operator_lists_may_be_private() -> None:
    calls = Calls(200)
    assert calls.deliver("http://ci.lab:9000/hook", "10.0.0.8", ("ci.lab",)).error is None
    assert calls.requests[0].headers["Host"] == "ci.lab:9000"


def test_a_name_that_is_not_found_is_tried_again() -> None:
    def missing(host: str, port: int) -> list[str]:
        raise OSError("no such name")

    found = deliver(URL, {}, "run_1", None, (), resolve=missing, sleep=lambda _: None)
    assert (found.attempts, found.error) == (3, "the name hooks.example.org can not be resolved: no such name")


@pytest.mark.parametrize(
    "url",
    ["ftp://example.org/", "https://", "https:///path", "hooks.example.org", "http://[::1", "https://a.org:99999/",
     "https://user:pw@example.org/", "http://localhost/", "http://127.0.0.1:8642/", "http://[::1]/", "http://a\nb.org/"],
)  # fmt: skip
def test_addresses_that_can_not_be_webhooks(url: str) -> None:
    with pytest.raises(InvalidInputError):
        check_url(url, ())


def test_only_the_listed_hosts_are_called_where_some_are() -> None:
    assert check_url("http://ci.lab/x", {"ci.lab"}).hostname == "ci.lab"
    with pytest.raises(InvalidInputError, match=r"may only call ci\.lab \(MILLRACE_WEBHOOK_HOSTS\), not example\.org"):
        check_url("https://example.org/", {"ci.lab"})
    assert Calls().deliver(hosts=("ci.lab",)).error is not None
