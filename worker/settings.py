"""Settings of every Millrace process, from `MILLRACE_*` environment variables."""

import hashlib
import json
import os
import socket
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal, Self, cast

from pydantic import Field, ModelWrapValidatorHandler, ValidationError, field_validator, model_validator
from pydantic_settings import BaseSettings, NoDecode, SettingsConfigDict
from pydantic_settings import SettingsError as NotParsedError

from worker.errors import SettingsError

_PREFIX = "MILLRACE_"
_REPOSITORY = Path(__file__).parent.parent


def _default_home() -> Path:
    data = os.environ.get("XDG_DATA_HOME")
    return (Path(data) if data else Path.home() / ".local" / "share") / "millrace"


def _by_name(error: ValidationError) -> Iterator[tuple[str, Any]]:
    return ((str(detail["loc"][0]), detail) for detail in error.errors())


def _shown(name: str, value: object) -> str:
    """The value, unless it may hold a password."""
    return "not usable" if name.endswith(("_url", "_urls")) else repr(value)


class Settings(BaseSettings):
    """One value object for the worker, the API and the supervisor.

    `home` holds the database, artifacts, imported bundles and the run directory. Without `database_url` the database is
    SQLite in `home`; without `redis_url` the supervisor starts a private Redis there. `max_upload_bytes` bounds models
    in files, `max_body_bytes` all other requests; `allow_pt2` takes .pt2 archives, whose loading runs code that they
    name. `allowed_hosts` are the names, besides this machine's, that the API answers to: a comma list, or a JSON one.
    `node` names this machine in the farm; `capabilities`, where given, are the only queues that its worker serves
    (names, or what is before their "@"), and `autoscaled` those for which nodes start when something waits; `cpus` and
    `memory_gb` what it may use (default: all); `requests` overrides what a stage asks of a node: {"link":
    {"memory_gb": 32}}; without `cgroups` builds are held to that by looking at them, not by control groups; `licences`
    counts of licence tokens of the farm. `store_url` is where artifacts are, an s3:// or file:// URL, default the
    folder below home; `store_cache_gb` bounds this machine's copies of those in S3; `join_urls` the addresses of
    database, redis and store as other nodes reach them. `access` "auto" asks for API keys as soon as the API listens
    elsewhere than on the loopback, or `allowed_hosts`, `trusted_proxies` or `public_url` say that it is reached from
    elsewhere. `trusted_proxies` are the addresses whose `X-Forwarded-*` headers are believed. `connections` bounds the
    API's connections, and `address_connections` those of one address that is no trusted proxy's; `key_connections` the
    requests in progress of one key. `webhook_hosts` are the hosts that sweeps may call, `public_url` the address of the
    API that they are told, `secret_key_file` the key that their secrets are sealed with (default: secret.key in home),
    `schedule` whether this worker starts sweeps. A log of the services in the run directory has about `log_bytes`, and
    `log_files` files with the older ones. Dictionaries are JSON.

    A variable that is empty counts as unset. Raises SettingsError for a value that can not be used.
    """

    model_config = SettingsConfigDict(env_prefix=_PREFIX, env_ignore_empty=True, frozen=True, extra="ignore")

    home: Path = Field(default_factory=_default_home)
    database_url: str | None = None
    redis_url: str | None = None
    host: str = "127.0.0.1"
    port: int = Field(default=8642, ge=0, le=65535)
    allowed_hosts: Annotated[tuple[str, ...], NoDecode] = ()
    concurrency: int = Field(default_factory=lambda: max(2, os.cpu_count() or 1), ge=1)
    lease_seconds: float = Field(default=60, gt=0)
    reap_seconds: float = Field(default=15, gt=0)
    max_body_bytes: int = Field(default=1 << 20, ge=1)
    max_upload_bytes: int = Field(default=512 << 20, ge=1)
    allow_pt2: bool = False
    stages: str = "worker.stages.functions:STAGES"
    node: str = Field(default_factory=socket.gethostname, max_length=100)
    capabilities: Annotated[tuple[str, ...], NoDecode] = ()
    autoscaled: Annotated[tuple[str, ...], NoDecode] = ()
    cpus: float | None = Field(default=None, gt=0)
    memory_gb: float | None = Field(default=None, gt=0)
    requests: dict[str, dict[str, float]] = {}
    cgroups: bool = True
    licences: dict[str, int] = {}
    vitis_roots: str | None = None
    allow_device_reset: bool = False
    store_url: str | None = None
    store_cache_gb: float = Field(default=20, gt=0)
    join_urls: dict[str, str] = {}
    access: Literal["auto", "on", "off"] = "auto"
    trusted_proxies: Annotated[tuple[str, ...], NoDecode] = ()
    rate_limit: str = "600/minute"
    connections: int = Field(default=4000, ge=200)
    address_connections: int = Field(default=2000, ge=100)
    key_connections: int = Field(default=200, ge=1)
    webhook_hosts: Annotated[tuple[str, ...], NoDecode] = ()
    public_url: str | None = None
    secret_key_file: Path | None = None
    schedule: bool = True
    log_format: Literal["text", "json"] = "text"
    log_bytes: int = Field(default=10 << 20, ge=1 << 10)
    log_files: int = Field(default=5, ge=1, le=1000)
    web_dist: Path = _REPOSITORY / "web" / "dist"

    if not TYPE_CHECKING:  # checkers know the fields' types from the class

        def __init__(self, **values: Any) -> None:
            try:
                super().__init__(**values)
            except NotParsedError as error:  # its text names the field
                name = str(error).partition('"')[2].partition('"')[0]
                raise SettingsError(f"{_PREFIX}{name.upper()} is not JSON; set another value, or unset it") from error

    @model_validator(mode="wrap")
    @classmethod
    def _explain(cls, data: Any, handler: ModelWrapValidatorHandler[Self]) -> Self:
        try:
            return handler(data)
        except ValidationError as error:
            wrong = (
                f"{_PREFIX}{name.upper()} is {_shown(name, e['input'])}: {e['msg']}" for name, e in _by_name(error)
            )
            raise SettingsError("; ".join(wrong) + ". Set another value, or unset it") from error

    @field_validator("allowed_hosts", "autoscaled", "capabilities", "trusted_proxies", "webhook_hosts", mode="before")
    @classmethod
    def _split(cls, value: Any) -> Any:
        """A comma list is what people write; JSON is what the variable took at first."""
        if not isinstance(value, str):
            return value
        if value.lstrip().startswith("["):
            return json.loads(value)
        return tuple(filter(None, (name.strip() for name in value.split(","))))

    @property
    def database(self) -> str:
        """SQLAlchemy URL."""
        return self.database_url or f"sqlite:///{self.home.absolute()}/millrace.db"

    @property
    def redis(self) -> str:
        """redis-py URL: the given one, or the embedded server's socket."""
        return self.redis_url or f"unix://{self.redis_socket}"

    @property
    def redis_socket(self) -> Path:
        """Socket of the embedded server, short enough for the kernel (107 bytes)."""
        socket = self.run_dir / "redis.sock"
        return socket if len(os.fsencode(socket)) <= 100 else _short_run_dir(self.home) / "redis.sock"

    @property
    def run_dir(self) -> Path:
        return self.home.absolute() / "run"

    @property
    def log_dir(self) -> Path:
        return self.run_dir / "logs"

    @property
    def store_dir(self) -> Path:
        return self.home.absolute() / "store"

    @property
    def cache_dir(self) -> Path:
        """This machine's copies of artifacts that are kept elsewhere."""
        return self.home.absolute() / "cache"

    @property
    def bundle_dir(self) -> Path:
        return self.home.absolute() / "bundles"

    @property
    def secret_key(self) -> Path:
        """The key that webhooks' secrets are sealed with."""
        return (self.secret_key_file or self.home / "secret.key").absolute()

    @property
    def model_dir(self) -> Path:
        return self.home.absolute() / "models"

    def environment(self) -> dict[str, str]:
        """This process's environment with the settings in it, for a child process."""
        values = {
            name: _as_text(getattr(self, name))
            for name in type(self).model_fields
            if getattr(self, name) not in (None, (), {})
        }
        values |= {"home": str(self.home.absolute()), "web_dist": str(self.web_dist.absolute())}
        ours = {f"{_PREFIX}{name.upper()}": value for name, value in values.items()}
        path = os.pathsep.join(filter(None, (str(_REPOSITORY), os.environ.get("PYTHONPATH"))))
        return {**os.environ, **ours, "PYTHONPATH": path}


def _as_text(value: Any) -> str:
    """A setting as the variable that gives it."""
    if isinstance(value, tuple):
        return ",".join(map(str, cast(tuple[Any, ...], value)))
    return json.dumps(value) if isinstance(value, dict) else str(value)


def _short_run_dir(home: Path) -> Path:
    digest = hashlib.sha256(os.fsencode(home.absolute())).hexdigest()[:12]
    return Path("/tmp") / f"millrace-{os.getuid()}-{digest}"
