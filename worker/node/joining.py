"""What a machine is told that joins the farm: where database, broker and store are, as it can reach them."""

import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from urllib.parse import SplitResult, urlsplit

from db.migrate import HEAD
from worker.errors import JoinError
from worker.ladder.versions import millrace_version
from worker.settings import Settings
from worker.store.artifacts import ArtifactStore

HERE = frozenset({"", "localhost", "127.0.0.1", "::1"})
_SHARED = ("lease_seconds", "reap_seconds", "requests")
"""Settings that all workers of a farm must agree on."""
_STORE_VARIABLES = (
    "AWS_ENDPOINT_URL", "AWS_ENDPOINT_URL_S3", "AWS_REGION", "AWS_DEFAULT_REGION", "AWS_ACCESS_KEY_ID",
    "AWS_SECRET_ACCESS_KEY",
)  # fmt: skip
VARIABLES = frozenset(
    f"MILLRACE_{name.upper()}" for name in ("database_url", "redis_url", "store_url", "schedule", *_SHARED)
) | frozenset(_STORE_VARIABLES)
"""All that a farm may set in the environment of a node's worker."""
_PROBE = b"A node that can read this has the farm's artifact store.\n"


@dataclass(frozen=True, slots=True)
class NodeSettings:
    """The answer to a node that joins.

    `environment`: variables for its worker, secrets among them; `probe` the digest of a content that the store has;
    `version` is the farm's, `revision` that of its database.
    """

    version: str
    revision: str
    environment: Mapping[str, str] = field(repr=False)
    probe: str


def settings_for_node(settings: Settings, store: ArtifactStore, host: str) -> NodeSettings:
    """What a node needs that reached this service as `host`. Raises JoinError where no other machine can take part."""
    given = settings.join_urls
    shared = {name: settings.environment()[_variable(name)] for name in _SHARED if name in settings.model_fields_set}
    environment = {
        _variable("database_url"): given.get("database") or _database(settings, host),
        _variable("redis_url"): given.get("redis") or _redis(settings, host),
        _variable("store_url"): given.get("store") or store.url,
        _variable("schedule"): "false",  # the clock calls webhooks, whose secrets are for the farm's own machines
        **{_variable(name): value for name, value in shared.items()},
    }
    if environment[_variable("store_url")].startswith("s3://"):
        environment |= _store_access(host)
    return NodeSettings(millrace_version(), HEAD, environment, store.put_bytes(_PROBE))


def _variable(setting: str) -> str:
    return f"MILLRACE_{setting.upper()}"


def _database(settings: Settings, host: str) -> str:
    parts = urlsplit(settings.database)
    if parts.scheme.startswith("sqlite"):
        raise JoinError(
            _alone("keeps its tables in a SQLite file", "Postgres, and its address in MILLRACE_DATABASE_URL")
        )
    if not parts.hostname:
        raise JoinError(_alone("reaches Postgres through a socket", "that of Postgres in MILLRACE_JOIN_URLS"))
    return _as_seen_from(parts, host)


def _redis(settings: Settings, host: str) -> str:
    parts = urlsplit(settings.redis)
    if not parts.hostname:
        raise JoinError(
            _alone("uses a private Redis", "a Redis that listens on TCP, its address in MILLRACE_REDIS_URL")
        )
    return _as_seen_from(parts, host)


def _alone(why: str, what: str) -> str:
    return f"no other machine can join: this farm {why}. Give it {what}; docs/running.md says how"


def _store_access(host: str) -> dict[str, str]:
    """Our own access to the bucket, unless it is a role's, which nodes do not have."""
    if "AWS_SESSION_TOKEN" in os.environ:
        return {}
    found = {name: os.environ[name] for name in _STORE_VARIABLES if os.environ.get(name)}
    return {name: _as_seen_from(urlsplit(v), host) if "ENDPOINT" in name else v for name, v in found.items()}


def _as_seen_from(parts: SplitResult, host: str) -> str:
    """The address, with this machine called as the node called it."""
    if (parts.hostname or "") not in HERE:
        return parts.geturl()
    user, at, _ = parts.netloc.rpartition("@")
    port = f":{parts.port}" if parts.port else ""
    return parts._replace(netloc=f"{user}{at}{f'[{host}]' if ':' in host else host}{port}").geturl()
