"""The service a command talks to: the one named, the one that runs, or one of our own for as long as it takes."""

from collections.abc import Generator, Iterable
from contextlib import closing, contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING

from rich.markup import escape

from cli.output import errors
from cli.replies import Operator, Reader
from millrace.errors import ProblemError, ServiceUnavailableError, UnauthorizedError

if TYPE_CHECKING:
    from millrace.client import Client


@dataclass(frozen=True, slots=True)
class Connection:
    """A client, and whether the service ends with this command."""

    client: "Client"
    temporary: bool


@contextmanager
def connect(url: str | None) -> Generator[Connection]:
    """A service that explores: at `url`, else the one of `millrace up`, else started here and stopped at the end."""
    from millrace.client import Client
    from worker.settings import Settings
    from worker.supervisor import services

    if url is not None:
        with Client(url) as client:
            client.health()
            yield Connection(client, temporary=False)
        return
    with services(Settings(), announce) as running, Client(running.address) as client:
        yield Connection(client, temporary=running.started)


@contextmanager
def look(url: str | None) -> Generator[Reader]:
    """Something to read results from: the service at `url`, else the one of `millrace up`, else the database."""
    from worker.holder import find_running
    from worker.settings import Settings

    settings = Settings()
    running = None if url is not None else find_running(settings)
    address = url or (running and running.address)
    if address is not None:
        from millrace.client import Client

        with Client(address) as client:
            # Who can read the database of this machine needs no key to look at it.
            if url is not None or not _lacks_key(client):
                yield client
                return
    from cli.stored import Stored

    with closing(Stored(settings)) as stored:
        yield stored


def _lacks_key(client: "Client") -> bool:
    """Whether the service asks for a key and this one has none that it takes."""
    try:
        client.me()
    except UnauthorizedError:
        return True
    except ProblemError:
        return False
    return False


@contextmanager
def attach(url: str | None) -> Generator["Client"]:
    """A service that stays when the command ends: at `url`, else that of `millrace up` on this machine.

    Raises ServiceUnavailableError where there is none.
    """
    from millrace.client import Client
    from worker.holder import find_running
    from worker.settings import Settings

    running = None if url is not None else find_running(Settings())
    address = url or (running and running.address)
    if address is None:
        raise ServiceUnavailableError(
            "no service runs on this machine; start one with `millrace up`, or name another: --server URL"
        )
    with Client(address) as client:
        yield client


@contextmanager
def operate(url: str | None) -> Generator[Operator]:
    """The service at `url`; without one the database of this machine, which needs neither a service nor a key."""
    if url is not None:
        from millrace.client import Client

        with Client(url) as client:
            yield client
        return
    from cli.operator import LocalOperator
    from worker.settings import Settings

    with closing(LocalOperator(Settings())) as operator:
        yield operator


def announce(text: str) -> None:
    """Tell a person what was done, or what will become of it, beside the result."""
    errors.print(f"[yellow]note:[/] {escape(text)}")


def announce_all(texts: Iterable[str]) -> None:
    for text in texts:
        announce(text)
