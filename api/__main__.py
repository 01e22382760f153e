"""The API's process: `python -m api [PARENT SOCKET_FD]`.

Without arguments, as in a container, it migrates the database and listens on MILLRACE_HOST:MILLRACE_PORT.
"""

import gc
import logging
import socket
import sys

import uvicorn

from api.app import create_app
from api.caller import Proxies
from api.connection import protocol_of
from api.door import Bounds, Door, most_connections, open_many_files
from db.migrate import upgrade
from worker.private import tighten
from worker.processes import die_with
from worker.settings import Settings
from worker.sweeps.webhook_secrets import WebhookSecrets
from worker.telemetry import configure_logging

_STOP_SECONDS = 3
_TAKEN_AT_ONCE = 64
"""Connections that are taken before those that are there have their turn."""
_WAITING = 4096
"""Connections that the kernel keeps until they are taken."""


class _Server(uvicorn.Server):
    """Has more connections wait than it takes at once, which for uvicorn is one number."""

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets)
        for listener in sockets or ():
            listener.listen(_WAITING)


def main() -> None:
    """Serve until SIGTERM."""
    settings = Settings()
    listener = None
    if len(sys.argv) > 2:
        die_with(int(sys.argv[1]))
        listener = socket.socket(fileno=int(sys.argv[2]))
    configure_logging(settings, logging.WARNING)
    tighten(settings)
    upgrade(settings.database, WebhookSecrets(settings.secret_key).seal)
    open_many_files()
    config = _config(settings)
    gc.collect()
    gc.freeze()  # what is there now stays: a full collection would look at all of it, 50 ms in the middle of answers
    _Server(config).run([listener or config.bind_socket()])


def _config(settings: Settings) -> uvicorn.Config:
    door = Door(Bounds(most_connections(settings), settings.address_connections))
    return uvicorn.Config(
        create_app(settings),
        http=protocol_of(door, Proxies(settings.trusted_proxies)),
        callback_notify=door.sweep,
        timeout_notify=0,
        host=settings.host,
        port=settings.port,
        backlog=_TAKEN_AT_ONCE,
        log_config=None,
        access_log=False,
        timeout_graceful_shutdown=_STOP_SECONDS,
        server_header=False,
        proxy_headers=bool(settings.trusted_proxies),
        forwarded_allow_ips=list(settings.trusted_proxies),
    )


if __name__ == "__main__":
    main()
