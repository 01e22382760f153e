"""Settings of every Millrace process, from `MILLRACE_*` environment variables."""

import hashlib
import json
import os
from pathlib import Path
from typing import Annotated, Any, Self

from pydantic import Field, ModelWrapValidatorHandler, ValidationError, field_validator, model_validator
from pydantic_settings import BaseSettings, NoDecode, SettingsConfigDict

from worker.errors import SettingsError

_PREFIX = "MILLRACE_"
_REPOSITORY = Path(__file__).parent.parent


def _default_home() -> Path:
    data = os.environ.get("XDG_DATA_HOME")
    return (Path(data) if data else Path.home() / ".local" / "share") / "millrace"


def _default_web_dist() -> Path:
    checkout = _REPOSITORY / "web" / "dist"
    return checkout if checkout.is_dir() else _REPOSITORY / "api" / "static"


class Settings(BaseSettings):
    """One value object for the worker, the API and the supervisor.

    `home` holds the database, artifacts, imported bundles and the run directory. Without `database_url` the database is
    SQLite in `home`; without `redis_url` the supervisor starts a private Redis there. `max_upload_bytes` bounds models
    in files, `max_body_bytes` all other requests; `allow_pt2` takes .pt2 archives, whose loading runs code that they
    name. `allowed_hosts` are the names, besides this machine's, that the API answers to: a comma list, or a JSON one.
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
    stages: str = "worker.compiler_stages:STAGES"
    web_dist: Path = Field(default_factory=_default_web_dist)

    @model_validator(mode="wrap")
    @classmethod
    def _explain(cls, data: Any, handler: ModelWrapValidatorHandler[Self]) -> Self:
        try:
            return handler(data)
        except ValidationError as error:
            wrong = (f"{_PREFIX}{str(e['loc'][0]).upper()} is {e['input']!r}: {e['msg']}" for e in error.errors())
            raise SettingsError("; ".join(wrong) + ". Set another value, or unset it") from error

    @field_validator("allowed_hosts", mode="before")
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
    def bundle_dir(self) -> Path:
        return self.home.absolute() / "bundles"

    @property
    def model_dir(self) -> Path:
        return self.home.absolute() / "models"

    def environment(self) -> dict[str, str]:
        """This process's environment with the settings in it, for a child process."""
        values = {
            "HOME": str(self.home.absolute()),
            "DATABASE_URL": self.database_url,
            "REDIS_URL": self.redis_url,
            "HOST": self.host,
            "PORT": str(self.port),
            "ALLOWED_HOSTS": ",".join(self.allowed_hosts),
            "CONCURRENCY": str(self.concurrency),
            "LEASE_SECONDS": str(self.lease_seconds),
            "REAP_SECONDS": str(self.reap_seconds),
            "MAX_BODY_BYTES": str(self.max_body_bytes),
            "MAX_UPLOAD_BYTES": str(self.max_upload_bytes),
            "ALLOW_PT2": str(self.allow_pt2),
            "STAGES": self.stages,
            "WEB_DIST": str(self.web_dist.absolute()),
        }
        ours = {f"MILLRACE_{name}": value for name, value in values.items() if value is not None}
        path = os.pathsep.join(filter(None, (str(_REPOSITORY), os.environ.get("PYTHONPATH"))))
        return {**os.environ, **ours, "PYTHONPATH": path}


def _short_run_dir(home: Path) -> Path:

    digest = hashlib.sha256(os.fsencode(home.absolute())).hexdigest()[:12]
    return Path("/tmp") / f"millrace-{os.getuid()}-{digest}"
