"""/client/: the Python client of this very release, for pip. It holds no data, so it is for everybody."""

from html import escape

from fastapi import APIRouter, Request, Response
from fastapi.responses import HTMLResponse

from api.services.client_wheel import client_wheel
from db.errors import NotFoundError

router = APIRouter(prefix="/client", include_in_schema=False)


@router.get("/")
def get_index(request: Request) -> HTMLResponse:
    """A page for people, and for `pip install --find-links`."""
    wheel = client_wheel()
    link = f'<a href="{wheel.name}#sha256={wheel.digest}">{wheel.name}</a>'
    command = escape(f"pip install 'millrace-fpga[pandas] @ {request.url.replace(query='')}{wheel.name}'")
    return HTMLResponse(
        f"<!doctype html><html lang=en><meta charset=utf-8><title>Python client</title><h1>Python client</h1>"
        f"<p>{link} ({len(wheel.content) / 1000:.0f} kB)</p><pre>{command}</pre>"
    )


@router.get("/{name}")
def get_wheel(name: str) -> Response:
    wheel = client_wheel()
    if name != wheel.name:
        raise NotFoundError("client", name, f"this service has {wheel.name}")
    headers = {"ETag": f'"{wheel.digest}"', "Cache-Control": "no-cache"}
    return Response(wheel.content, media_type="application/octet-stream", headers=headers)
