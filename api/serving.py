"""The API's process: `python -m api [PARENT SOCKET_FD]`.

Without arguments, as in a container, it migrates the database and listens on MILLRACE_HOST:MILLRACE_PORT.
"""

import gc
import logging
import socket
import sys
from typing import cast

import uvicorn
from fastapi import FastAPI

from api.addresses import Proxies
from api.app import create_app
from api.connection import Connection, protocol_of
from api.door import Bounds, Door, most_connections, open_many_files
from api.handover import Handover
from db.migrate import upgrade
from worker.private import tighten
from worker.processes import die_with
from worker.settings import Settings
from worker.sweeps.webhook_secrets import WebhookSecrets
from worker.telemetry import configure_logging

_STOP_SECONDS = 3


class _Server(uvicorn.Server):
    """Gets its connections from the process in front of it."""

    def __init__(self, config: uvicorn.Config, app: FastAPI, listener: socket.socket, bounds: Bounds) -> None:
        super().__init__(config)
        self.is_alone = False
        """Whether the process in front has ended by itself."""
        self._app, self._listener, self._bounds = app, listener, bounds

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets or [])
        self._front = Handover(self._app, self._listener, self._bounds, self._greet, self._lose)

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        await self._front.stop()
        await super().shutdown(sockets)

    def _greet(self, brought: bytes) -> Connection:
        made = cast(type[Connection], self.config.http_protocol_class)(
            config=self.config, server_state=self.server_state, app_state=self.lifespan.state
        )
        made.brought = brought
        return made

    def _lose(self) -> None:
        self.is_alone = self.should_exit = True


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
    app = create_app(settings)
    bounds = Bounds(most_connections(settings), settings.address_connections)
    config = _config(app, settings, bounds)
    server = _Server(config, app, listener or config.bind_socket(), bounds)
    gc.collect()
    gc.freeze()  # what is there now stays: a full collection would look at all of it, 50 ms in the middle of answers
    server.run()
    if server.is_alone:
        sys.exit("the process in front of the API has ended, and the API with it")


def _config(app: FastAPI, settings: Settings, bounds: Bounds) -> uvicorn.Config:
    door = Door(bounds)
    return uvicorn.Config(
        app,
        http=protocol_of(door, Proxies(settings.trusted_proxies)),
        callback_notify=door.sweep,
        timeout_notify=0,
        ws="none",  # such a connection would leave the door
        host=settings.host,
        port=settings.port,
        log_config=None,
        access_log=False,
        timeout_graceful_shutdown=_STOP_SECONDS,
        server_header=False,
        proxy_headers=bool(settings.trusted_proxies),
        forwarded_allow_ips=list(settings.trusted_proxies),
    )
