"""What is told to probes in front of the API is what the API would tell them, and told to nobody else."""

import json
from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import dataclass

import pytest
from api_keys import add_key
from fastapi.testclient import TestClient

from api.app import create_app
from api.caller import keys_wanted, names_of
from api.channel import Keys, Plan, Told
from api.door import Bounds
from api.middleware import HEADERS
from api.probes import HEALTH, LIVE, PROBES, READY, STALE_SECONDS, USED_SECONDS, Probes
from db.repositories import api_keys
from worker.farm import Farm
from worker.settings import Settings

NOW = 100.0
MODES = {
    "open": {},
    "keys": {"access": "on"},
    "off": {"access": "off", "host": "0.0.0.0"},
    "network": {"host": "0.0.0.0"},
    "name": {"host": "10.0.0.1", "allowed_hosts": ("farm.example",)},
}
HEADS = [
    {},
    {"Host": "127.0.0.1"},
    {"host": "LOCALHOST:8642"},
    {"Host": "evil.example"},
    {"Host": "farm.example"},
    {"Host": "10.1.2.3"},
    {"Host": ""},
    {"Host": "[::1"},
    {"Authorization": "Bearer KEY"},
    {"Authorization": "bearer   KEY "},
    {"Authorization": "Basic KEY"},
    {"Authorization": "Bearer REVOKED"},
    {"Authorization": "Bearer mlr_00000000_" + "x" * 43},
    {"Cookie": "millrace_key=KEY"},
    {"X-Forwarded-For": "1.2.3.4"},
    {"Via": "1.1 proxy"},
    {"Origin": "http://evil.example"},
    {"Content-Length": "5"},
    {"User-Agent": "kube-probe/1.30", "Accept": "*/*", "Connection": "close"},
    {"X-Name": "caf\xe9"},
]


@dataclass
class Clock:
    now: float = NOW

    def __call__(self) -> float:
        return self.now


@contextmanager
def service(settings: Settings) -> Generator[tuple[TestClient, str, str, Keys]]:
    """The application, a valid key, one that was revoked, and what is said of them."""
    app = create_app(settings, lambda _: None)
    with TestClient(app, base_url="http://127.0.0.1:8642") as client:
        farm: Farm = app.state.farm
        key, revoked = add_key(farm, "probe", "viewer"), add_key(farm, "gone", "admin")
        with farm.database.write() as session:
            api_keys.revoke(session, "gone")
            valid = Keys(tuple(api_keys.valid_hashes(session, 10)))
        yield client, key, revoked, valid


def probes_of(settings: Settings, used: list[str] | None = None, clock: Clock | None = None) -> Probes:
    names = names_of(settings)
    plan = Plan(Bounds(), (), tuple(names.hosts), names.others, keys_wanted(settings), "", "", HEADERS)
    return Probes(plan, ([] if used is None else used).append, clock or Clock())


def request(path: str, headers: dict[str, str], method: str = "GET") -> bytes:
    lines = [f"{method} {path} HTTP/1.1", *(f"{name}: {value}" for name, value in headers.items())]
    return "\r\n".join([*lines, "", ""]).encode("latin-1")


def read(answer: bytes) -> tuple[int, dict[str, str], str]:
    head, _, body = answer.decode().partition("\r\n\r\n")
    first, *lines = head.split("\r\n")
    headers = dict(line.split(": ", 1) for line in lines)
    assert int(headers.pop("content-length")) == len(body.encode())
    assert headers.pop("connection") == "close"
    assert headers.pop("date").endswith(" GMT")
    return int(first.split(" ")[1]), headers, body


@pytest.mark.parametrize("mode", MODES)
def test_it_answers_as_the_api_does_or_not_at_all(settings: Settings, mode: str) -> None:
    settings = settings.model_copy(update=MODES[mode])
    probes, answered = probes_of(settings), set[str]()
    with service(settings) as (client, key, revoked, valid):
        probes.hear(valid)
        for path in PROBES:
            whole = client.get(path, headers={"Authorization": f"Bearer {key}", "Host": "localhost"})
            probes.hear(Told(path, whole.status_code, whole.text))
            for head in HEADS:
                filled = {name: value.replace("KEY", key).replace("REVOKED", revoked) for name, value in head.items()}
                sent = {"Host": "127.0.0.1:8642"} | filled if "host" not in head else filled
                answer = probes.answer(request(path, sent))
                if answer is None:
                    continue
                answered.add(f"{path} {next(iter(head.items()), '')}")
                reply = client.get(path, headers=list(sent.items()))
                headers = {name: value for name, value in reply.headers.items() if name != "content-length"}
                assert read(answer) == (reply.status_code, headers, reply.text), (path, head)
    probed = "('Host', 'farm.example')" if mode == "name" else ""
    known = "('Authorization', 'Bearer KEY')"
    assert {f"{path} {probed}" for path in (LIVE, READY)} <= answered
    assert f"{HEALTH} {known if keys_wanted(settings) else probed}" in answered


@pytest.mark.parametrize(
    "sent",
    [
        request(LIVE, {"Host": "localhost"}, "HEAD"),
        request(f"{LIVE}?x=1", {"Host": "localhost"}),
        request(f"/{LIVE}", {"Host": "localhost"}),
        request("/v1/models", {"Host": "localhost"}),
        request(LIVE, {}),
        request(LIVE, {"Host ": "localhost"}),
        request(LIVE, {"Host": "localhost", "host": "localhost"}),
        request(LIVE, {"Host": "localhost", "Expect": "100-continue"}),
        request(LIVE, {"Host": "localhost", "X": "a\x00"}),
        request(LIVE, {"Host": "localhost", "X": "1\r\n folded"}),
        request(LIVE, {"Host": "localhost"}) + b"GET / HTTP/1.1\r\n",
        request(LIVE, {"Host": "localhost"}).replace(b"1.1\r", b"1.0\r"),
        b"\xff" * 100,
    ],
)
def test_what_is_not_plain_is_the_apis(settings: Settings, sent: bytes) -> None:
    probes = probes_of(settings)
    probes.hear(Told(LIVE, 200, "{}"))
    assert probes.answer(sent) is None
    assert probes.answer(request(LIVE, {"Host": "localhost"})) is not None


def test_an_api_that_says_nothing_is_said_to_be_silent(settings: Settings) -> None:
    clock = Clock()
    probes, asked = probes_of(settings, clock=clock), request(LIVE, {"Host": "localhost"})
    assert probes.answer(asked) is None  # it has not begun
    probes.hear(Told(LIVE, 200, '{"status":"ok"}'))
    clock.now += STALE_SECONDS - 0.1
    assert read(probes.answer(asked) or b"")[0] == 200
    clock.now += 0.1
    status, headers, body = read(probes.answer(asked) or b"")
    assert (status, headers["content-type"]) == (503, "application/problem+json")
    assert "has not said for 10 s" in json.loads(body)["detail"]
    probes.hear(Told(LIVE, 200, '{"status":"ok"}'))
    assert read(probes.answer(asked) or b"")[0] == 200


def test_a_key_is_good_while_the_api_says_so_and_said_to_be_used(settings: Settings) -> None:
    settings = settings.model_copy(update={"access": "on"})
    used, clock = list[str](), Clock()
    probes = probes_of(settings, used, clock)
    with service(settings) as (_, key, _, valid):
        pass
    asked = request(HEALTH, {"Host": "localhost", "Authorization": f"Bearer {key}"})
    probes.hear(Told(HEALTH, 200, "{}"))
    assert probes.answer(asked) is None
    for _ in range(3):
        probes.hear(valid)
        assert probes.answer(asked) is not None
    assert used == [key]
    clock.now += USED_SECONDS
    assert probes.answer(asked) is not None
    assert used == [key, key]
    probes.hear(Keys(()))
    assert probes.answer(asked) is None
    assert probes.answer(request(HEALTH, {"Host": "localhost"})) is None
