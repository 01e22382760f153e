"""The service's REST interface and its event stream, typed (the routes are described at `/docs` of the service)."""

import json
import os
from collections.abc import Iterator, Mapping
from itertools import islice
from pathlib import Path
from time import monotonic, sleep
from types import TracebackType
from typing import Any, TypeVar
from urllib.parse import quote

import httpx
from pydantic import ValidationError

from api.schemas.access import ApiKey, AuditEntry, MadeApiKey
from api.schemas.builds import Build
from api.schemas.catalog import Model
from api.schemas.common import Item, Page, Reply
from api.schemas.designs import Artifact, Design, DesignSummary
from api.schemas.explorations import Exploration, Scatter
from api.schemas.farm import Farm, Health, Licence, Node
from api.schemas.sweeps import Sweep, SweepRun, SweepRunSummary
from cli.errors import OtherVersionError, RefusedError, ServiceUnavailableError
from cli.replies import ENDED, Event, by_latency
from compiler.errors import InvalidInputError

_TIMEOUT_S = httpx.Timeout(30, connect=5)
_STREAM_TIMEOUT_S = httpx.Timeout(60, connect=5)  # the service sends a comment at least every 15 s
_UPLOAD_TIMEOUT_S = httpx.Timeout(600, connect=5)
_RECONNECT_S = 1
_PATIENCE_S = 120  # so long in all a request waits for its turn where the service says that there were too many
KEY_VARIABLE = "MILLRACE_API_KEY"

Answer = TypeVar("Answer", bound=Reply)


class Client:
    """Talks to the service at `url`, with the key in MILLRACE_API_KEY if there is one.

    Raises RefusedError for what it refuses, ServiceUnavailableError where none is, OtherVersionError for a reply that
    this version does not understand.
    """

    def __init__(self, url: str, transport: httpx.BaseTransport | None = None) -> None:
        if not url.startswith(("http://", "https://")):
            raise InvalidInputError(f"{url!r} is not the address of a service; write it like http://127.0.0.1:8642")
        self._url = url.rstrip("/")
        key = os.environ.get(KEY_VARIABLE, "").strip()
        self._http = httpx.Client(
            base_url=f"{self._url}/v1",
            headers={"Authorization": f"Bearer {key}"} if key else None,
            timeout=_TIMEOUT_S,
            transport=transport,
            trust_env=False,
        )

    @property
    def address(self) -> str:
        return self._url

    def __enter__(self) -> "Client":
        return self

    def __exit__(
        self, _kind: type[BaseException] | None, _error: BaseException | None, _trace: TracebackType | None
    ) -> None:
        self._http.close()

    def health(self) -> Health:
        return self._get(Health, "/health")

    def lacks_key(self) -> bool:
        """Whether the service asks for a key and this one has none that it takes."""
        return self._request("GET", "/me").status_code == 401

    def models(self) -> list[Model]:
        return list(self._items(Page[Model], "/models"))

    def model(self, model: str) -> Model:
        return self._get(Model, f"/models/{model}")

    def add_model(self, path: Path, name: str) -> Model:
        """Store a network from its config.json, or from a file that holds it whole."""
        kind = "application/json" if path.suffix == ".json" else "application/octet-stream"
        with path.open("rb") as file:
            upload = {"file": (path.name, file, kind)}
            return self._send(Model, "POST", "/models", files=upload, data={"name": name}, timeout=_UPLOAD_TIMEOUT_S)

    def explorations(self) -> list[Exploration]:
        """Newest first."""
        return list(self._items(Page[Exploration], "/explorations"))

    def exploration(self, exploration: str) -> Exploration:
        """By its id or the beginning of it, its name, or `latest`; all else takes ids."""
        return self._get(Exploration, f"/explorations/{_in_path(exploration)}")

    def explore(self, request: Mapping[str, Any], key: str) -> Exploration:
        """Start an exploration; the same `key` starts it once."""
        return self._send(Exploration, "POST", "/explorations", json=dict(request), headers={"Idempotency-Key": key})

    def change_exploration(self, exploration: str, changes: Mapping[str, Any]) -> Exploration:
        """Set what is given of name, tags and notes."""
        return self._send(Exploration, "PATCH", f"/explorations/{exploration}", json=dict(changes))

    def delete_exploration(self, exploration: str) -> None:
        self._reply("DELETE", f"/explorations/{exploration}")

    def cancel(self, exploration: str) -> None:
        self._reply("POST", f"/explorations/{exploration}/cancel")

    def resume(self, exploration: str) -> None:
        self._reply("POST", f"/explorations/{exploration}/resume")

    def front(self, exploration: str) -> list[DesignSummary]:
        """The designs of the Pareto front, fastest first."""
        return by_latency(self._items(Page[DesignSummary], f"/explorations/{exploration}/designs", front="true"))

    def scatter(self, exploration: str) -> Scatter:
        return self._get(Scatter, f"/explorations/{exploration}/scatter")

    def design(self, design: str) -> Design:
        """By its id or the beginning of it, its number in the latest exploration, or EXPLORATION#NUMBER; all else takes
        ids.
        """
        return self._get(Design, f"/designs/{_in_path(design)}")

    def change_design(self, design: str, changes: Mapping[str, Any]) -> Design:
        """Set what is given of tags and notes."""
        return self._send(Design, "PATCH", f"/designs/{design}", json=dict(changes))

    def start_build(self, design: str, stage: str) -> str:
        """Queue a stage of a design; a finished one is not run again. The build's id."""
        return self._send(Build, "POST", f"/designs/{design}/builds", json={"stage": stage}).id

    def build(self, build: str) -> Build:
        """By its id or the beginning of it; all else takes ids."""
        return self._get(Build, f"/builds/{_in_path(build)}")

    def builds(self, limit: int, **filters: str) -> list[Build]:
        """Newest first, at most `limit`; the filters are those of GET /v1/builds."""
        return list(islice(self._items(Page[Build], "/builds", **filters), limit))

    def retry_build(self, build: str) -> Build:
        return self._send(Build, "POST", f"/builds/{build}/retry")

    def cancel_build(self, build: str) -> Build:
        return self._send(Build, "POST", f"/builds/{build}/cancel")

    def clone_build(self, build: str, changes: Mapping[str, Any]) -> Build:
        """The same stage of the same design with other options."""
        return self._send(Build, "POST", f"/builds/{build}/clone", json=dict(changes))

    def build_log(self, build: str, attempt: int | None = None) -> str:
        """What its tools have printed, so far where it runs; with `attempt` in one that failed."""
        query = {} if attempt is None else {"attempt": str(attempt)}
        return self._reply("GET", f"/builds/{build}/log", params=query).text

    def follow_log(self, build: str) -> Iterator[str]:
        """The log as it grows, until the build has ended; a lost connection is taken up again."""
        last = ""
        while True:
            try:
                for event in self._stream(f"/builds/{build}/log/stream", last):
                    if event.kind == "end":
                        return
                    last = event.id or last
                    yield event.data
            except httpx.TransportError:
                sleep(_RECONNECT_S)

    def farm(self) -> Farm:
        return self._get(Farm, "/farm")

    def set_node_state(self, node: str, state: str) -> Node:
        return self._send(Node, "POST", f"/farm/nodes/{node}", json={"state": state})

    def forget_node(self, node: str) -> None:
        self._reply("DELETE", f"/farm/nodes/{node}")

    def put_licence(self, feature: str, tokens: int) -> Licence:
        return self._send(Licence, "PUT", f"/farm/licences/{feature}", json={"tokens": tokens})

    def keys(self) -> list[ApiKey]:
        return list(self._items(Page[ApiKey], "/keys"))

    def add_key(self, request: Mapping[str, Any]) -> MadeApiKey:
        """A new key, with its text."""
        return self._send(MadeApiKey, "POST", "/keys", json=dict(request))

    def revoke_key(self, key: str) -> None:
        self._reply("DELETE", f"/keys/{key}")

    def audit(self, limit: int) -> list[AuditEntry]:
        """Newest first."""
        return list(islice(self._items(Page[AuditEntry], "/audit"), limit))

    def sweeps(self) -> list[Sweep]:
        """Newest first."""
        return list(self._items(Page[Sweep], "/sweeps"))

    def sweep(self, sweep: str) -> Sweep:
        return self._get(Sweep, f"/sweeps/{sweep}")

    def add_sweep(self, request: Mapping[str, Any], key: str) -> Sweep:
        return self._send(Sweep, "POST", "/sweeps", json=dict(request), headers={"Idempotency-Key": key})

    def change_sweep(self, sweep: str, changes: Mapping[str, Any]) -> Sweep:
        return self._send(Sweep, "PATCH", f"/sweeps/{sweep}", json=dict(changes))

    def remove_sweep(self, sweep: str) -> None:
        self._reply("DELETE", f"/sweeps/{sweep}")

    def run_sweep(self, sweep: str, key: str) -> SweepRun:
        """Start a run; the same `key` starts it once."""
        return self._send(SweepRun, "POST", f"/sweeps/{sweep}/run", headers={"Idempotency-Key": key})

    def sweep_runs(self, sweep: str, limit: int) -> list[SweepRunSummary]:
        """Newest first, at most `limit`."""
        return list(islice(self._items(Page[SweepRunSummary], f"/sweeps/{sweep}/runs"), limit))

    def sweep_run(self, run: str) -> SweepRun:
        return self._get(SweepRun, f"/sweep-runs/{run}")

    def accept_run(self, run: str) -> SweepRun:
        return self._send(SweepRun, "POST", f"/sweep-runs/{run}/accept")

    def cancel_run(self, run: str) -> SweepRun:
        return self._send(SweepRun, "POST", f"/sweep-runs/{run}/cancel")

    def artifacts(self, design: str) -> list[Artifact]:
        return list(self._items(Page[Artifact], f"/designs/{design}/artifacts"))

    def artifact(self, design: str, path: str) -> bytes:
        """The content of a file of the design directory."""
        return self._reply("GET", f"/designs/{design}/artifacts/{quote(path)}").content

    def archive(self, design: str) -> Iterator[bytes]:
        """The design directory as a tar.gz stream."""
        with self._http.stream("GET", f"/designs/{design}/archive") as reply:
            if reply.is_error:
                reply.read()
                raise _refusal(reply)
            yield from reply.iter_bytes()

    def events(self, exploration: str) -> Iterator[Event]:
        """All events from the first on, until the exploration has ended; a lost connection is taken up again."""
        last = ""
        while True:
            try:
                for event in self._stream(f"/explorations/{exploration}/events", last):
                    last = event.id or last
                    yield event
                    if event.kind == "state" and event.data["state"] in ENDED and self._has_ended(exploration):
                        return
            except httpx.TransportError:
                sleep(_RECONNECT_S)
            if self._has_ended(exploration):
                return

    def _has_ended(self, exploration: str) -> bool:
        """Now: among its events may be an earlier end, from before it was resumed."""
        return self.exploration(exploration).state in ENDED

    def _stream(self, path: str, last: str) -> Iterator[Event]:
        headers = {"Accept": "text/event-stream"} | ({"Last-Event-ID": last} if last else {})
        with self._http.stream("GET", path, headers=headers, timeout=_STREAM_TIMEOUT_S) as reply:
            if reply.is_error:
                reply.read()
                raise _refusal(reply)
            yield from parse_events(reply.iter_lines())

    def _items(self, kind: type[Page[Item]], path: str, **query: str) -> Iterator[Item]:
        cursor: str | None = None
        while True:
            page = self._get(kind, path, **query, **({"cursor": cursor} if cursor else {}))
            yield from page.items
            cursor = page.next_cursor
            if not cursor:
                return

    def _get(self, kind: type[Answer], path: str, **query: str) -> Answer:
        return self._send(kind, "GET", path, params=query)

    def _send(self, kind: type[Answer], method: str, path: str, **request: Any) -> Answer:
        reply = self._reply(method, path, **request)
        try:
            return kind.model_validate_json(reply.content)
        except ValidationError as error:
            raise OtherVersionError(self._url, error) from error

    def _reply(self, method: str, path: str, **request: Any) -> httpx.Response:
        deadline = monotonic() + _PATIENCE_S
        while True:
            reply = self._request(method, path, **request)
            wait = int(reply.headers.get("Retry-After", "0")) if reply.status_code == 429 else 0
            if not wait or monotonic() + wait > deadline:
                break
            sleep(wait)
        if reply.is_error:
            raise _refusal(reply)
        return reply

    def _request(self, method: str, path: str, **request: Any) -> httpx.Response:
        try:
            return self._http.request(method, path, **request)
        except httpx.TransportError as error:
            raise ServiceUnavailableError(
                f"no Millrace service answers at {self._url} ({error}); start one with `millrace up`"
            ) from error


def parse_events(lines: Iterator[str]) -> Iterator[Event]:
    """Events of a `text/event-stream`; comments and unknown fields are passed over."""
    fields: dict[str, list[str]] = {}
    for line in lines:
        if line:
            name, _, value = line.partition(":")
            fields.setdefault(name, []).append(value.removeprefix(" "))
            continue
        if "data" in fields:
            kind = fields.get("event", ["message"])[-1]
            yield Event(fields.get("id", [""])[-1], kind, json.loads("\n".join(fields["data"])))
        fields = {}


def _in_path(key: str) -> str:
    """What a person typed, as one segment of a path."""
    return quote(key, safe="")


def _refusal(reply: httpx.Response) -> RefusedError:
    """The problem document (RFC 9457) as an error."""
    try:
        problem: dict[str, Any] = reply.json()
    except ValueError:
        problem = {}
    text = problem.get("detail") or problem.get("title") or f"the service answered {reply.status_code}"
    return RefusedError(reply.status_code, str(text))
