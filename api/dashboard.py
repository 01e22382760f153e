"""The dashboard's files: the built bundle, and its index for every address that the browser routes itself."""

from pathlib import Path

from fastapi import FastAPI
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import HTMLResponse, Response
from starlette.routing import Route
from starlette.staticfiles import StaticFiles
from starlette.types import Scope

_HASHED = "public, max-age=31536000, immutable"
_MISSING = """<!doctype html><title>Millrace</title><h1>Millrace</h1>
<p>The service runs; its dashboard is not built. Build it (<code>npm ci &amp;&amp; npm run build</code> in
<code>web/</code>), or use the <a href="/docs">REST interface</a>.</p>"""


def mount(app: FastAPI, folder: Path) -> None:
    """Serve the bundle in `folder` at /; mount last, it answers every other path."""
    if (folder / "index.html").is_file():
        app.mount("/", Dashboard(directory=folder, html=True))
    else:
        app.router.routes.append(Route("/", _missing))


def _missing(_request: Request) -> HTMLResponse:
    return HTMLResponse(_MISSING)


class Dashboard(StaticFiles):
    """Files under /assets carry a digest in their name and never change; everything else is asked for again."""

    async def get_response(self, path: str, scope: Scope) -> Response:
        try:
            response = await super().get_response(path, scope)
        except HTTPException as error:
            if error.status_code != 404 or not _is_page(path):
                raise
            response = await super().get_response("index.html", scope)
        hashed = path.startswith("assets/")
        response.headers["Cache-Control"] = _HASHED if hashed and response.status_code == 200 else "no-cache"
        return response


def _is_page(path: str) -> bool:
    """Whether the browser's router may know the path: not the API's, not a file's."""
    return not path.startswith(("v1/", "assets/")) and path != "v1" and "." not in path.rpartition("/")[2]
