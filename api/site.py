"""/learn: the documentation, as docs/build.py has built it; files that hold nothing of anybody."""

from pathlib import Path

from fastapi import FastAPI
from starlette.responses import RedirectResponse, Response
from starlette.routing import Route
from starlette.staticfiles import StaticFiles
from starlette.types import Scope

FOLDER = Path(__file__).resolve().parents[1] / "docs" / "site"


def mount(app: FastAPI) -> None:
    """Serve the site at /learn/, where it is there; mount before the dashboard, which answers every other path."""
    if (FOLDER / "index.html").is_file():
        app.router.routes.append(Route("/learn", _begin, include_in_schema=False))
        app.mount("/learn/", Site(directory=FOLDER, html=True))


def _begin(_request: object) -> Response:
    return RedirectResponse("/learn/")  # links inside are relative to it


class Site(StaticFiles):
    """Pages that change with the version: a browser asks again, and is told where nothing did."""

    async def get_response(self, path: str, scope: Scope) -> Response:
        response = await super().get_response(path, scope)
        response.headers["Cache-Control"] = "no-cache"
        return response
