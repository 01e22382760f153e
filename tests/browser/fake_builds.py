"""The stand-in's builds: rows of every state, their logs, and what a person may do to them."""

import itertools
import json
import threading
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any

from holds import Holds

if TYPE_CHECKING:
    from fake_api import Handler

Json = dict[str, Any]
STAGES = ("simulate", "csim", "csynth", "cosim", "link", "measure")
LICENCES = {"csynth": "vitis_hls", "cosim": "vitis_hls", "link": "vivado"}
SHELL = "xilinx_u55c_gen3x16_xdma_3_202210_1"
_QUEUES = {
    "csynth": "csynth@2023.2",
    "cosim": "cosim@2023.2",
    "link": f"link@2023.2:{SHELL}",
    "measure": "measure@simulated",
}
_OPTIONS: dict[str, Json] = {
    "csynth": {"vitis": "2023.2", "clock_mhz": 300.0},
    "cosim": {"vitis": "2023.2", "clock_mhz": 300.0},
    "link": {"vitis": "2023.2", "target": "hw", "shell": SHELL},
    "measure": {"board": "simulated"},
}
_TOOLS: dict[str, Json] = {
    "csynth": {"vitis_hls": "2023.2", "millrace": "0.1.0"},
    "cosim": {"vitis_hls": "2023.2", "millrace": "0.1.0"},
    "link": {"v++": "2023.2", "vivado": "2023.2"},
    "measure": {"g++": "12.2.0", "millrace": "0.1.0"},
}
OPEN = ("blocked", "queued", "running")
LICENCE_WAIT = "waits for licence vitis_hls: 2 of 2 tokens in use"
NO_NODE = "link will wait: no node offers link@2023.2:u55c"
_CRASH = {
    "attempt": 1,
    "failure": "tool",
    "error": "vitis_hls ended with signal 11 after 312 s, in the middle of scheduling\n\nThe end of vitis_hls.log:\n"
    "INFO: [SCHED 204-11] Starting scheduling ...\nSegmentation fault",
    "node": "build-2",
    "log_digest": "ab" * 32,
}


def ago(seconds: float) -> str:
    return (datetime.now(UTC) - timedelta(seconds=seconds)).isoformat()


def build_row(id_: str, stage: str, state: str, design: str | None, exploration: str | None, **values: Any) -> Json:
    """A build as the service tells of it; `values` replace columns."""
    started = state in ("running", "done", "failed")
    row: Json = {
        "id": id_,
        "workload_id": None,
        "exploration_id": exploration,
        "design_id": design,
        "stage": stage,
        "state": state,
        "queue": _QUEUES.get(stage, stage),
        "node": "build-1" if started else None,
        "owner": "",
        "licence": LICENCES.get(stage),
        "after": None,
        "waiting": None,
        "attempt": 1 if started else 0,
        "losses": 0,
        "history": [],
        "adopted_from": None,
        "options": _OPTIONS.get(stage, {}),
        "cpus": 4.0 if stage == "link" else 1.0,
        "memory_gb": {"link": 40.0, "csynth": 8.0, "cosim": 12.0}.get(stage, 1.0),
        "timeout_s": 86400.0 if stage == "link" else 21600.0,
        "verdict": {"passed": True, "notes": []} if state == "done" else None,
        "failure": "infeasible" if state == "failed" else None,
        "error": None,
        "log_url": f"/v1/builds/{id_}/log" if started else None,
        "live": state == "running",
        "tool_versions": _TOOLS.get(stage, {"g++": "12.2.0"}),
        "created_at": ago(5400),
        "started_at": ago(4000) if started else None,
        "finished_at": ago(400) if state in ("done", "failed", "cancelled") else None,
    }
    return row | values


def log_line(number: int) -> str:
    if number % 37 == 9:
        return f"WARNING: [HLS 200-805] An internal stream 'fifo_{number}' with default size is outside of dataflow"
    if number == 412:
        return "ERROR: [SIM 211-100] it only looks like one: the tool goes on"
    return f"INFO: [HLS 200-{100 + number % 90}] Analyzing design file 'hls/block.cpp', task {number} of the network"


@dataclass
class Book:
    """All builds that are not made by an exploration of the stand-in itself."""

    pace: float
    holds: Holds
    rows: dict[str, Json] = field(default_factory=dict[str, Json])
    began: float = field(default_factory=time.monotonic)
    number: Iterator[int] = field(default_factory=itertools.count)

    def add(self, stage: str, state: str, design: str | None, exploration: str | None, **values: Any) -> Json:
        row = build_row(f"bld_{stage}{next(self.number):03d}", stage, state, design, exploration, **values)
        self.rows[row["id"]] = row
        return row

    def of_design(self, design: str) -> list[Json]:
        return [row for row in reversed(self.rows.values()) if row["design_id"] == design]

    def log(self, row: Json) -> str:
        """What is printed so far: a running build goes on printing."""
        if row["state"] in ("blocked", "queued", "cancelled"):
            return ""
        count = 600 + (int((time.monotonic() - self.began) / self.pace * 5) if row["state"] == "running" else 0)
        return "".join(f"{log_line(n)}\n" for n in range(count))

    def retry(self, row: Json) -> None:
        row |= {"state": "queued", "failure": None, "error": None, "finished_at": None, "started_at": None}
        row |= {"waiting": LICENCE_WAIT, "log_url": None}
        threading.Thread(target=self._run, args=(row,), daemon=True).start()

    def _run(self, row: Json) -> None:
        time.sleep(6 * self.pace)
        self.holds.go_past("retry")
        if row["state"] != "queued":
            return
        url = f"/v1/builds/{row['id']}/log"
        row |= {
            "state": "running",
            "waiting": None,
            "node": "build-1",
            "started_at": ago(0),
            "attempt": row["attempt"] + 1,
        }
        row |= {"log_url": url, "live": True}

    def cancel(self, row: Json) -> None:
        row |= {"state": "cancelled", "waiting": None, "live": False, "finished_at": ago(0)}

    def clone(self, row: Json, body: Json) -> Json:
        options = {**row["options"], **body}
        queue = f"{row['stage']}@{options['vitis']}" if "vitis" in options else row["queue"]
        made = {"options": options, "queue": queue, "waiting": f"no node offers {queue}", "created_at": ago(0)}
        return self.add(row["stage"], "queued", row["design_id"], row["exploration_id"], **made)

    def climb(self, exploration: str, designs: list[str]) -> None:
        """Builds of every state for an exploration that is building."""
        done = designs[:7]
        for design in done:
            self.add("csynth", "done", design, exploration, adopted_from="bld_earlier" if design == done[1] else None)
        crash = {**_CRASH, "started_at": ago(5000), "finished_at": ago(4700)}
        self.add(
            "csynth",
            "running",
            designs[7],
            exploration,
            history=[crash],
            attempt=2,
            started_at=ago(754),
            node="build-2",
        )
        error = (
            "resources: the design needs 2.1 times the LUT of the part\n\nThe end of vitis_hls.log:\nERROR: too large"
        )
        self.add("csynth", "failed", designs[8], exploration, error=error)
        for design in designs[9:11]:
            self.add("csynth", "queued", design, exploration, waiting=LICENCE_WAIT)
        self.add("cosim", "done", designs[0], exploration)
        self.add("cosim", "running", designs[1], exploration, started_at=ago(9321))
        self.add(
            "cosim", "blocked", designs[7], exploration, waiting="waits for csynth bld_csynth007, which is running"
        )
        self.add("link", "done", designs[0], exploration, node="build-3", started_at=ago(21000), finished_at=ago(1200))
        self.add("link", "running", designs[1], exploration, node="build-3", started_at=ago(7300))
        self.add("link", "cancelled", designs[2], exploration)
        self.add("measure", "done", designs[0], exploration)


def all_rows(h: "Handler") -> list[Json]:
    """Newest first."""
    explored = [
        b
        for e in list(h.world.explorations.values())
        for d in list(e.designs.values())
        for b in (d.build, d.simulate)
        if b
    ]
    return sorted([*h.world.book.rows.values(), *explored], key=lambda b: (b["created_at"], b["id"]), reverse=True)


def find(h: "Handler", id_: str) -> Json:
    found = next((b for b in all_rows(h) if b["id"] == id_), None)
    return found if found is not None else h.nothing(f"there is no build {id_}; GET /v1/builds lists them")


_COLUMNS = {"exploration": "exploration_id", "design": "design_id"}


def get_builds(h: "Handler", query: Json) -> None:
    wanted = {_COLUMNS.get(name, name): query[name] for name in query if name not in ("limit", "cursor")}
    rows = [b for b in all_rows(h) if all(b[name] == value for name, value in wanted.items())]
    first, limit = int(query.get("cursor", 0)), int(query.get("limit", 50))
    more = str(first + limit) if len(rows) > first + limit else None
    h.json({"items": rows[first : first + limit], "next_cursor": more})


def get_build(h: "Handler", _query: Json, id_: str) -> None:
    h.json(find(h, id_))


def get_log(h: "Handler", _query: Json, id_: str) -> None:
    h.raw(h.world.book.log(find(h, id_)).encode(), "text/plain")


def stream_log(h: "Handler", _query: Json, id_: str) -> None:
    h.stream(_pieces(h, find(h, id_), int(h.headers.get("Last-Event-ID") or 0)))


def _pieces(h: "Handler", row: Json, offset: int) -> Iterator[str]:
    while True:
        is_last = row["state"] not in OPEN
        text = h.world.book.log(row).encode()[offset:]
        if text:
            offset += len(text)
            yield f"id: {offset}\nevent: log\ndata: {json.dumps(text.decode())}\n\n"
        if is_last:
            yield f"id: {offset}\nevent: end\ndata: {json.dumps({'state': row['state']})}\n\n"
            return
        if not text:
            yield ": still here\n\n"
        time.sleep(h.world.pace)


def post_retry(h: "Handler", _body: Json, id_: str) -> None:
    h.world.book.retry(find(h, id_))
    h.json(find(h, id_), 202)


def post_cancel(h: "Handler", _body: Json, id_: str) -> None:
    h.world.book.cancel(find(h, id_))
    h.json(find(h, id_), 202)


def post_clone(h: "Handler", body: Json, id_: str) -> None:
    h.json(h.world.book.clone(find(h, id_), body), 202)


GET_ROUTES = {
    r"/v1/builds": get_builds,
    r"/v1/builds/([^/]+)": get_build,
    r"/v1/builds/([^/]+)/log": get_log,
    r"/v1/builds/([^/]+)/log/stream": stream_log,
}
POST_ROUTES = {
    r"/v1/builds/([^/]+)/retry": post_retry,
    r"/v1/builds/([^/]+)/cancel": post_cancel,
    r"/v1/builds/([^/]+)/clone": post_clone,
}
