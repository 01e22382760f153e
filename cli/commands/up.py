"""`millrace up`: the service and its dashboard, until Ctrl-C."""

from typing import Annotated

import typer

from cli import options
from cli.output import console, emit_json, errors
from cli.service import announce


def up(
    host: Annotated[str | None, typer.Option(help="Address to listen on.", show_default="127.0.0.1")] = None,
    port: Annotated[int | None, typer.Option(min=0, max=65535, help="0 takes a free one.", show_default="8642")] = None,
    as_json: options.Json = False,
) -> None:
    """Serve the dashboard and the REST interface until Ctrl-C; interrupted explorations go on.

    Starts a private Redis, one worker and the API, with SQLite in the state directory (MILLRACE_HOME). Examples:

        millrace up

        millrace up --port 9000
    """
    from worker.settings import Settings
    from worker.supervisor import Services
    from worker.supervisor import up as serve

    chosen = {"host": host, "port": port}
    settings = Settings().model_copy(update={name: value for name, value in chosen.items() if value is not None})

    def ready(services: Services) -> None:
        if as_json:
            emit_json({"address": services.address, "home": str(services.home)})
            return
        console.print(f"Millrace is up: [bold]{services.address}[/]  (REST: {services.address}/docs)")
        console.print(f"state in {services.home}; stop with Ctrl-C", style="dim")

    serve(settings, ready, announce)
    errors.print("stopped; what was not finished goes on at the next start")
