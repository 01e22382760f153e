"""The API's process: `python -m api [PARENT SOCKET_FD]`.

Without arguments, as in a container, it migrates the database and listens on MILLRACE_HOST:MILLRACE_PORT.
"""

import gc
import logging
import socket
import sys

import uvicorn

from api.app import create_app
from db.migrate import upgrade
from worker.processes import die_with
from worker.settings import Settings
from worker.telemetry import configure_logging

_STOP_SECONDS = 3


def main() -> None:
    """Serve until SIGTERM."""
    settings = Settings()
    sockets = None
    if len(sys.argv) > 2:
        die_with(int(sys.argv[1]))
        sockets = [socket.socket(fileno=int(sys.argv[2]))]
    configure_logging(settings, logging.WARNING)
    upgrade(settings.database)
    config = uvicorn.Config(
        create_app(settings),
        host=settings.host,
        port=settings.port,
        log_config=None,
        access_log=False,
        timeout_graceful_shutdown=_STOP_SECONDS,
        server_header=False,
        proxy_headers=bool(settings.trusted_proxies),
        forwarded_allow_ips=list(settings.trusted_proxies),
        limit_concurrency=1000,
    )
    gc.collect()
    gc.freeze()  # what is there now stays: a full collection would look at all of it, 50 ms in the middle of answers
    uvicorn.Server(config).run(sockets=sockets)


if __name__ == "__main__":
    main()
