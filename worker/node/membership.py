"""This machine as a node of a farm: asking for its addresses, checking them, keeping them for the next start."""

import json
import os
import ssl
from collections.abc import Callable, Iterator, Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import httpx
import redis
from sqlalchemy import create_engine
from sqlalchemy.exc import SQLAlchemyError

from db.migrate import HEAD, current_revision
from worker.errors import JoinError, SettingsError, StoreError
from worker.ladder.versions import millrace_version
from worker.node.joining import HERE, VARIABLES
from worker.queue.bus import Bus
from worker.settings import Settings
from worker.store.opening import open_store

_FILE = "node.json"
_SECONDS = 5


@dataclass(frozen=True, slots=True)
class Membership:
    """The farm at `url`, its version and its database's revision; `environment` has the variables of our worker.

    `probe` is the digest of a content that the farm's store has.
    """

    url: str
    version: str
    revision: str
    probe: str
    environment: Mapping[str, str] = field(repr=False)


def ask(url: str, key: str, node: str) -> Membership:
    """Ask the farm's service at `url` for the addresses. Raises JoinError."""
    address = f"{url.rstrip('/')}/v1/farm/join"
    try:
        # The machine's own certificates, with those of the site; no proxy: the farm is near.
        with httpx.Client(timeout=30, trust_env=False, verify=ssl.create_default_context()) as client:
            headers = {"Authorization": f"Bearer {key}"} if key else {}
            reply = client.post(address, json={"name": node, "version": millrace_version()}, headers=headers)
    except (httpx.HTTPError, httpx.InvalidURL) as error:
        raise JoinError(f"no farm answers at {url}: {error}. Is that the address of its `millrace up`?") from error
    if reply.is_error:
        raise JoinError(_refusal(url, reply))
    return _parsed(url, reply)


def _refusal(url: str, reply: httpx.Response) -> str:
    if reply.status_code in (401, 403):
        return (
            f"the farm at {url} does not take this key. An administrator makes one for nodes: "
            "millrace farm key add NAME --role node"
        )
    try:
        return f"the farm at {url} refused: {reply.json()['detail']}"
    except (ValueError, KeyError, TypeError):
        return f"{url} answered {reply.status_code}, not as a Millrace service does; check the address"


def _parsed(url: str, reply: httpx.Response) -> Membership:
    try:
        found: dict[str, Any] = reply.json()
        version, revision, probe = (str(found[name]) for name in ("version", "revision", "probe"))
        given: dict[str, Any] = found["environment"]
        # Others choose what code runs here (PATH, LD_PRELOAD, MILLRACE_STAGES): a farm has no say in those.
        environment = {name: str(value) for name, value in given.items() if name in VARIABLES}
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise JoinError(
            f"{url} did not answer as a Millrace service of this version does; check the address"
        ) from error
    return Membership(url, version, revision, probe, environment)


def is_readable_on_the_way(url: str) -> bool:
    """Whether others on the network can read what the farm at `url` answers, passwords among it."""
    parts = urlsplit(url)
    return parts.scheme == "http" and (parts.hostname or "") not in HERE


def save(membership: Membership, home: Path) -> Path:
    """Keep it in the home for the next start; only this user can read it, as it holds passwords."""
    home.mkdir(parents=True, exist_ok=True)
    path = home / _FILE
    temporary = home / f"{_FILE}.{os.getpid()}"
    descriptor = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    with os.fdopen(descriptor, "w") as file:
        json.dump(asdict(membership), file, indent=2)
        file.flush()
        os.fsync(file.fileno())
    temporary.rename(path)
    return path


def load(home: Path) -> Membership:
    """The farm that this machine joined last. Raises JoinError when there is none."""
    path = home / _FILE
    try:
        return Membership(**json.loads(path.read_text()))
    except FileNotFoundError:
        raise JoinError(f"this machine has not joined a farm yet ({path} is absent): millrace farm join URL") from None
    except (ValueError, TypeError) as error:
        raise JoinError(f"{path} is damaged; delete it and join again: millrace farm join URL") from error


def apply(membership: Membership) -> Settings:
    """Take over its variables, except those that the operator of this machine set; the settings of our worker."""
    for name, value in membership.environment.items():
        if not os.environ.get(name):
            os.environ[name] = value
    return Settings()


def problems(membership: Membership, settings: Settings) -> list[str]:
    """What keeps this machine from taking part; each with what to do. Takes some seconds where something is away."""
    checks: tuple[Callable[[Membership, Settings], Iterator[str]], ...] = (_version, _database, _redis, _store)
    return [problem for check in checks for problem in check(membership, settings)]


def _version(membership: Membership, _settings: Settings) -> Iterator[str]:
    ours = millrace_version()
    if membership.version != ours:
        yield (
            f"the farm runs Millrace {membership.version}, this is {ours}; bring this checkout to the farm's version "
            f"(git fetch --tags && git checkout v{membership.version}) and join again"
        )


def _database(_membership: Membership, settings: Settings) -> Iterator[str]:
    try:
        engine = create_engine(settings.database, connect_args={"connect_timeout": _SECONDS})
        revision = current_revision(engine)
        engine.dispose()
    except SQLAlchemyError as error:
        yield _away("database", settings.database, error)
        return
    if revision != HEAD:
        yield (
            f"the database has revision {revision}, this Millrace works with {HEAD}; bring this checkout, or the farm, "
            "to the newer version of the two"
        )


def _redis(_membership: Membership, settings: Settings) -> Iterator[str]:
    try:
        bus = Bus(settings.redis)
        bus.ping()
        bus.close()
    except (redis.RedisError, ValueError) as error:
        yield _away("redis", settings.redis, error)


def _store(membership: Membership, settings: Settings) -> Iterator[str]:
    try:
        store = open_store(settings)
        store.read(membership.probe)
        store.put_bytes(f"{settings.node} can write to the farm's artifact store.\n".encode())
    except (StoreError, SettingsError, OSError) as error:
        hint = "" if settings.store_url and settings.store_url.startswith("s3:") else _FOLDER_HINT
        yield f"the artifact store {settings.store_url} can not be used from here: {error}.{hint}"


_FOLDER_HINT = (
    " A folder has to be the same one on all nodes (a network file system; MILLRACE_STORE_URL says where it is mounted "
    "here), else let the farm use S3"
)


def _away(what: str, url: str, error: Exception) -> str:
    parts = urlsplit(url)
    where = f"{parts.hostname or parts.path}" + (f":{parts.port}" if parts.port else "")
    reason = str(error).strip().partition("\n")[0]
    return (
        f"the {what} at {where} can not be used from here: {reason}. Have it listen for this machine, or tell the farm "
        f'where nodes reach it: MILLRACE_JOIN_URLS=\'{{"{what}": "..."}}\' for its API'
    )
