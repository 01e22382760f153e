"""The stand-in's farm: nodes, queues, licences; and who may change them."""

import re
from http.cookies import SimpleCookie
from typing import TYPE_CHECKING, Any

from fake_builds import SHELL, ago

if TYPE_CHECKING:
    from fake_api import Handler

Json = dict[str, Any]
COOKIE = "millrace_key"
_OWN = {name: {"millrace": "0.1.0", "g++": "12.2.0"} for name in ("lower", "search", "simulate", "csim", "calibrate")}
_NO_VITIS = "no Vitis found in PATH, /tools/Xilinx, /opt/xilinx; install it, or name its folder in MILLRACE_VITIS_ROOTS"


def _node(name: str, cpus: float, memory: float, more: Json, missing: Json, **values: Any) -> Json:
    return {
        "name": name,
        "state": "active",
        "present": True,
        "capabilities": {**_OWN, "measure@simulated": {"millrace": "0.1.0"}, **more},
        "missing": missing,
        "cpus": cpus,
        "memory_gb": memory,
        "used_cpus": 0.0,
        "used_memory_gb": 0.0,
        "disk": {"store": 3 << 30, "bundles": 700 << 20},
        "running": 0,
        "version": "0.1.0",
        "first_seen": ago(900_000),
        "last_seen": ago(3),
        **values,
    }


def _vitis(*versions: str) -> Json:
    return {f"{stage}@{v}": {"vitis_hls": v} for stage in ("csynth", "cosim") for v in versions}


def sample_nodes() -> list[Json]:
    link = {f"link@2023.2:{SHELL}": {"v++": "2023.2", "vivado": "2023.2"}}
    small = {f"link@2023.2:{SHELL}": "needs 40 GB of memory, this node offers 28.8 GB (MILLRACE_MEMORY_GB)"}
    board = {SHELL: "the card 0000:3b:00.1 is not ready: xbutil examine says reset needed"}
    return [
        _node("build-1", 16, 57.6, _vitis("2023.2", "2024.1"), board, used_cpus=2.0, used_memory_gb=20.0, running=2),
        _node(
            "build-2", 8, 28.8, _vitis("2023.2"), small, used_cpus=8.0, used_memory_gb=8.0, running=1, state="draining"
        ),
        _node("build-3", 32, 115.2, {**_vitis("2023.2"), **link}, {}, used_cpus=4.0, used_memory_gb=40.0, running=1),
        _node("desk", 4, 14.4, {}, {"vitis": _NO_VITIS}, state="active", present=False, last_seen=ago(86_000)),
    ]


def get_farm(h: "Handler", _query: Json) -> None:
    rows = list(h.world.book.rows.values())
    names = sorted({b["queue"] for b in rows} | {name for n in h.world.nodes for name in n["capabilities"]})
    h.json(
        {
            "nodes": h.world.nodes,
            "queues": [_queue(h, name, [b for b in rows if b["queue"] == name]) for name in names],
            "licences": [
                {"feature": "vitis_hls", "tokens": 2, "used": 2},
                {"feature": "vivado", "tokens": 4, "used": 1},
            ],
            "running": sorted((b for b in rows if b["state"] == "running"), key=lambda b: b["started_at"]),
        }
    )


def _queue(h: "Handler", name: str, rows: list[Json]) -> Json:
    waiting = sum(b["state"] == "queued" for b in rows)
    serving = [n for n in h.world.nodes if name in n["capabilities"] and n["present"] and n["state"] == "active"]
    running = sum(b["state"] == "running" for b in rows)
    return {
        "name": name,
        "waiting": waiting,
        "running": running,
        "oldest_s": 5410.0 if waiting else None,
        "nodes": len(serving),
    }


def _find(h: "Handler", name: str) -> Json:
    found = next((n for n in h.world.nodes if n["name"] == name), None)
    return found if found is not None else h.nothing(f"there is no node {name}")


def post_node(h: "Handler", body: Json, name: str) -> None:
    node = _find(h, name)
    node["state"] = body["state"]
    if body["state"] == "paused":
        node |= {"running": 0, "used_cpus": 0.0, "used_memory_gb": 0.0}
    h.json(node, 202)


def delete_node(h: "Handler", _body: Json, name: str) -> None:
    h.world.nodes.remove(_find(h, name))
    h.raw(b"", "text/plain", 204)


def who(h: "Handler") -> Json | None:
    """The holder of the key in the cookie; None where it is wanted and not given."""
    if not h.world.access:
        return {"access": False, "name": None, "role": "admin", "quotas": {}}
    cookie = SimpleCookie(h.headers.get("Cookie", "")).get(COOKIE)
    return h.world.access.get(cookie.value) if cookie else None


def refusal(h: "Handler", path: str) -> tuple[int, str] | None:
    """Why the request may not pass, with its status."""
    if not path.startswith("/v1/") or path == "/v1/session":
        return None
    caller = who(h)
    if caller is None:
        return 401, "this service asks for an API key"
    needed = "admin" if re.match(r"/v1/farm/", path) else "user"
    if h.command == "GET" or caller["role"] == "admin" or caller["role"] == needed:
        return None
    return 403, f"this needs the role {needed}; the key {caller['name']!r} has the role {caller['role']}"


def get_me(h: "Handler", _query: Json) -> None:
    h.json(who(h))


def post_session(h: "Handler", body: Json) -> None:
    if body["key"] not in h.world.access:
        h.problem(401, "No valid key", "the key is not valid: mistyped, revoked or run out")
        return
    cookie = {"Set-Cookie": f"{COOKIE}={body['key']}; HttpOnly; SameSite=Strict; Path=/"}
    h.raw(b"{}", "application/json", headers=cookie)


def delete_session(h: "Handler", _body: Json) -> None:
    h.raw(b"", "text/plain", 204, headers={"Set-Cookie": f"{COOKIE}=; Max-Age=0; Path=/"})


GET_ROUTES = {r"/v1/farm": get_farm, r"/v1/me": get_me}
POST_ROUTES = {r"/v1/farm/nodes/([^/]+)": post_node, r"/v1/session": post_session}
DELETE_ROUTES = {r"/v1/farm/nodes/([^/]+)": delete_node, r"/v1/session": delete_session}
