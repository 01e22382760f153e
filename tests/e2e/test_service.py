"""The service as users run it: `up` in a process of its own, real Redis, real worker, real API."""

import io
import json
import os
import shutil
import signal
import subprocess
import sys
import tarfile
from collections.abc import Generator
from pathlib import Path
from typing import Any

import httpx
import pytest
from processes import PATIENCE, wait_for
from running_service import START, RunningService, StartService, leftovers, service_environment

pytestmark = pytest.mark.e2e


@pytest.fixture
def telling(service: RunningService) -> Generator[RunningService]:
    """The service that the tests of this module share. What a test tells its stages is forgotten afterwards; that it
    explores a network of its own keeps it from the results of others.
    """
    yield service
    service.tell()


def _designs(service: RunningService, exploration: str) -> dict[str, list[Any]]:
    return service.get(f"/v1/explorations/{exploration}/scatter")


def _assert_each_once(service: RunningService, exploration: str, budget: int) -> None:
    columns = _designs(service, exploration)
    assert columns["number"] == list(range(budget))
    assert len(set(columns["id"])) == budget
    items: list[dict[str, Any]] = []
    cursor = ""
    while True:
        page = service.get(f"/v1/explorations/{exploration}/designs?limit=7{cursor}")
        items += page["items"]
        if page["next_cursor"] is None:
            break
        cursor = f"&cursor={page['next_cursor']}"
    assert [d["number"] for d in items] == list(range(budget))
    knobs = {json.dumps(d["knobs"], sort_keys=True) for d in items}
    assert len(knobs) == budget


def _assert_course(service: RunningService) -> None:
    exploration = service.explore(simulate=4, verify=3)
    done = service.wait_state(exploration, "done", "failed")
    assert done["state"] == "done", done["error"]
    assert done["evaluated"] == 40
    _assert_each_once(service, exploration, 40)
    front = service.get(f"/v1/explorations/{exploration}/designs?front=true")["items"]
    assert len(front) == done["front_size"] >= 3
    latencies = sorted((d["latency_us"], d["energy_uj"]) for d in front)
    assert [e for _, e in latencies] == sorted((e for _, e in latencies), reverse=True)
    _assert_simulated(service, done, front)
    verified = [d for d in front if d["csim"] is not None]
    assert len(verified) == 3
    assert all(d["csim"]["passed"] and d["csim"]["max_rel_error"] == 2e-6 for d in verified)
    _assert_files(service, verified[0]["id"])


def _assert_simulated(service: RunningService, exploration: dict[str, Any], front: list[dict[str, Any]]) -> None:
    """Four of the front and one other; stand-in designs take a quarter longer than estimated."""
    assert exploration["promoted"] == exploration["simulated"] == 5
    errors = exploration["estimate_errors"]
    assert (errors["n"], errors["median"]) == (5, pytest.approx(0.2))
    simulated = [d for d in front if d["simulation"] is not None]
    assert len(simulated) == 4
    assert all(d["simulation"]["latency_us"] == pytest.approx(1.25 * d["latency_us"]) for d in simulated)
    words = service.get(f"/v1/explorations/{exploration['id']}/scatter")["simulation"]
    assert (words.count("done"), words.count(None)) == (5, 35)


def _assert_files(service: RunningService, design: str) -> None:
    described = service.get(f"/v1/designs/{design}")
    assert described["dataflow_available"]
    assert [(b["stage"], b["state"]) for b in described["builds"]] == [("csim", "done"), ("simulate", "done")]
    assert {m["fidelity"] for m in described["metrics"] if m["name"] == "latency"} == {"estimate", "simulate"}
    with service.http as http:
        assert b"emit" in http.get(described["builds"][0]["log_url"]).content
        files = http.get(f"/v1/designs/{design}/artifacts").json()["items"]
        assert [f["path"] for f in files] == ["dataflow.json", "design.json", "hls/top.cpp", "simulation.json"]
        assert http.get(files[2]["url"]).text.startswith("// Knobs(")
        archive = http.get(f"/v1/designs/{design}/archive").content
    with tarfile.open(fileobj=io.BytesIO(archive)) as tar:
        assert tar.getnames() == [f"{design}/{f['path']}" for f in files]


def test_course_of_an_exploration_on_sqlite_and_embedded_redis(start_service: StartService, tmp_path: Path) -> None:
    calls = tmp_path / "calls"
    service = start_service(CALLS=calls)
    _assert_course(service)
    again = service.wait_state(service.explore(seed=5, budget=16, verify=0), "done", "failed")
    assert again["state"] == "done"
    assert calls.read_text().count("lower") == 1  # the import was not run again


def test_course_of_an_exploration_on_postgres_and_redis(
    start_service: StartService, postgres_url: str, redis_url: str
) -> None:
    service = start_service(MILLRACE_DATABASE_URL=postgres_url, MILLRACE_REDIS_URL=redis_url)
    _assert_course(service)


def test_refuted_designs_leave_the_front(telling: RunningService) -> None:
    service = telling
    service.tell(EXCEEDS=8192)
    exploration = service.explore(model="gpt2-medium", budget=16, simulate=2, calibration=0, verify=1)
    found = service.wait_state(exploration, "done", "failed", seconds=180)
    assert found["state"] == "done", found["error"]
    designs = service.get(f"/v1/explorations/{found['id']}/designs?limit=100")["items"]
    refuted = [d for d in designs if d["simulation"] and d["simulation"]["refuted"]]
    assert refuted
    assert all(d["knobs"]["overall_unroll"] == 8192 and d["feasible"] and not d["on_front"] for d in refuted)
    why = "with certified FIFOs: lut of SLR0 290,000 of 284,130"
    assert {d["simulation"]["refuted"] for d in refuted} == {why}
    build = service.get(f"/v1/designs/{refuted[0]['id']}")["builds"][0]
    assert (build["state"], build["failure"], build["error"]) == ("failed", "infeasible", why)
    assert found["front_size"] == sum(d["on_front"] for d in designs) > 0


def test_a_simulation_that_crashes_is_one_design_s_loss(telling: RunningService) -> None:
    service = telling
    service.tell(SIMULATE="crash")
    exploration = service.explore(model="qwen2.5-0.5b", simulate=2, calibration=0, verify=1)
    found = service.wait_state(exploration, "done", "failed")
    assert (found["state"], found["promoted"], found["simulated"]) == ("done", 2, 2)
    assert found["estimate_errors"] is None
    front = service.get(f"/v1/explorations/{found['id']}/designs?front=true")["items"]
    assert [d["simulation"]["state"] for d in front if d["simulation"]] == ["failed", "failed"]
    assert sum(d["csim"] is not None for d in front) == 1


def test_killed_worker_is_started_again_and_the_exploration_resumes(telling: RunningService, tmp_path: Path) -> None:
    service = telling
    evaluations = tmp_path / "evaluations"
    service.tell(SLOW_SECONDS=0.05, EVALUATIONS=evaluations, JOBS=2)
    exploration = service.explore(workload={"length": 48}, budget=96, verify=2)
    wait_for(lambda: len(_designs(service, exploration)["id"]) >= 32, PATIENCE, "two batches")
    worker = service.child("worker")
    jobs = worker.children(recursive=True)
    assert jobs
    worker.send_signal(signal.SIGKILL)
    wait_for(lambda: not any(p.is_running() for p in jobs), PATIENCE, "the killed worker's processes to end")
    stored = len(_designs(service, exploration)["id"])
    assert service.wait_state(exploration, "done", "failed")["state"] == "done"
    _assert_each_once(service, exploration, 96)
    assert stored < 96
    # Only the batch that was under way may have been evaluated without being stored.
    assert len(evaluations.read_text().splitlines()) <= 96 + 16


def test_killed_supervisor_leaves_nothing_and_the_next_one_resumes(start_service: StartService) -> None:
    service = start_service(SLOW_SECONDS=0.05)
    exploration = service.explore(budget=96, verify=0)
    wait_for(lambda: len(_designs(service, exploration)["id"]) >= 16, PATIENCE, "a batch")
    service.process.send_signal(signal.SIGKILL)
    service.process.wait()
    wait_for(lambda: not leftovers(service.home), PATIENCE, f"all processes to end: {leftovers(service.home)}")
    second = start_service(SLOW_SECONDS=0)
    assert second.wait_state(exploration, "done", "failed")["state"] == "done"
    _assert_each_once(second, exploration, 96)


def test_interrupted_up_stops_everything_and_loses_nothing(start_service: StartService) -> None:
    service = start_service(SLOW_SECONDS=0.05)
    exploration = service.explore(budget=64, verify=0)
    wait_for(lambda: len(_designs(service, exploration)["id"]) >= 16, PATIENCE, "a batch")
    service.process.send_signal(signal.SIGINT)
    assert service.process.wait(PATIENCE) == 0
    assert leftovers(service.home) == []
    second = start_service(SLOW_SECONDS=0)
    assert second.wait_state(exploration, "done", "failed")["state"] == "done"
    _assert_each_once(second, exploration, 64)


def test_second_up_on_the_same_home_says_who_holds_it(service: RunningService, tmp_path: Path) -> None:
    done = _second_up(service.home, tmp_path)
    assert done.returncode == 1
    assert str(service.process.pid) in done.stdout
    assert service.address in done.stdout
    assert "MILLRACE_HOME" in done.stdout


def test_second_up_on_the_same_port_says_who_holds_it(service: RunningService, tmp_path: Path) -> None:
    port = service.address.rpartition(":")[2]
    done = _second_up(tmp_path / "other", tmp_path, MILLRACE_PORT=port)
    assert done.returncode == 1
    assert f"port {port}" in done.stdout
    assert "is taken by process" in done.stdout
    assert "--port" in done.stdout
    assert leftovers(tmp_path / "other") == []


def _second_up(home: Path, cwd: Path, **extra: Any) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-c", START],
        env=service_environment(home, **extra),
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        timeout=60,
        cwd=cwd,
        check=False,
    )


def test_cancel_kills_the_process_tree_and_resume_finishes(telling: RunningService) -> None:
    service = telling
    service.tell(TOOL_SECONDS=300)
    exploration = service.explore(model="llama-1.1b", budget=16, verify=1)
    service.wait_state(exploration, "verifying")
    tools = wait_for(
        lambda: [p for p in service.tree() if p.name() == "sleep"], PATIENCE, "the tool to run its own child"
    )
    assert service.post(f"/v1/explorations/{exploration}/cancel")["state"] == "cancelled"
    wait_for(lambda: not any(p.is_running() for p in tools), PATIENCE, "the tool to be killed")
    design = service.get(f"/v1/explorations/{exploration}/designs?front=true")["items"]
    assert {d["csim"]["state"] for d in design if d["csim"]} == {"cancelled"}
    resumed = service.post(f"/v1/explorations/{exploration}/resume")
    assert resumed["state"] == "verifying"  # all before is stored
    service.wait_state(exploration, "verifying")
    assert _designs(service, exploration)["number"] == list(range(16))
    service.post(f"/v1/explorations/{exploration}/cancel")


def test_failed_import_fails_the_exploration_with_its_reason(telling: RunningService) -> None:
    service = telling
    service.tell(LOWER="fail")
    failed = service.wait_state(service.explore(model="gemma3-1b"), "done", "failed")
    assert failed["state"] == "failed"
    assert failed["error"] == "the importer did not like it; change something"


def test_crashed_simulation_is_a_failed_build_with_its_log(telling: RunningService) -> None:
    service = telling
    service.tell(CSIM="crash")
    exploration = service.explore(model="gemma3-1b", verify=1)
    assert service.wait_state(exploration, "done", "failed")["state"] == "done"
    [design] = [d for d in service.get(f"/v1/explorations/{exploration}/designs?limit=100")["items"] if d["csim"]]
    assert design["csim"] == {"state": "failed", "passed": None, "max_rel_error": None}
    builds = service.get(f"/v1/designs/{design['id']}")["builds"]
    [build] = [b for b in builds if b["stage"] == "csim"]
    assert build["failure"] == "tool"
    assert "exit status 42" in build["error"]
    assert "g++" in build["error"]  # the end of its output
    assert service.get(f"/v1/designs/{design['id']}/artifacts")["items"]  # the files to find out why


def test_events_resume_after_the_last_id(service: RunningService) -> None:
    exploration = service.explore(verify=1)
    seen = _events(service, exploration, "0")
    kinds = [kind for _, kind, _ in seen]
    assert kinds[0] == "state"
    assert {"state", "designs", "front", "promoted", "simulated", "build"} == set(kinds)
    assert kinds.index("promoted") < kinds.index("simulated")
    states = [data["state"] for _, kind, data in seen if kind == "state"]
    assert states == ["queued", "lowering", "searching", "simulating", "verifying", "done"]
    numbers = [n for _, kind, data in seen if kind == "designs" for n in data["number"]]
    assert numbers == list(range(40))
    builds = [data["state"] for _, kind, data in seen if kind == "build"]
    assert builds[-2:] == ["running", "done"]
    middle = len(seen) // 2
    assert _events(service, exploration, seen[middle][0]) == seen[middle + 1 :]


def _events(service: RunningService, exploration: str, last: str) -> list[tuple[str, str, Any]]:
    """All events after `last` until the exploration is done."""
    found: list[tuple[str, str, Any]] = []
    fields: dict[str, str] = {}
    with (
        service.http as http,
        http.stream("GET", f"/v1/explorations/{exploration}/events", headers={"Last-Event-ID": last}) as reply,
    ):
        for line in reply.iter_lines():
            if line:
                name, _, value = line.partition(": ")
                fields[name] = value
            elif "data" in fields:
                found.append((fields["id"], fields["event"], json.loads(fields["data"])))
                fields = {}
                if found[-1][1:] == ("state", {"state": "done", "error": None}):
                    return found
    return found


def test_upload_of_two_gigabytes_is_refused_early(service: RunningService) -> None:
    sent = 0

    def body():
        nonlocal sent
        for _ in range(2048):
            sent += 1 << 20
            yield bytes(1 << 20)

    api = service.child("api")
    before = api.memory_info().rss
    with service.http as http:
        try:
            reply = http.post("/v1/models", content=body(), headers={"Content-Type": "application/json"})
        except httpx.TransportError:
            reply = None  # the connection was closed while we were still sending
    assert reply is None or reply.status_code == 413
    assert sent < 200 << 20
    assert api.memory_info().rss - before < 100 << 20
    assert service.get("/v1/health")["database"]


@pytest.fixture
def tiny_disk(tmp_path: Path) -> Generator[Path]:
    """A file system of 6 MiB."""
    folder = tmp_path / "disk"
    folder.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", "size=6m", "tmpfs", str(folder)]
    if os.getuid() != 0 or subprocess.run(mount, capture_output=True, check=False).returncode:
        pytest.skip("mounting a small file system needs root and the right to mount")
    yield folder
    subprocess.run(["umount", "-l", str(folder)], check=True)


def test_full_disk_is_said_and_waited_for(start_service: StartService, tiny_disk: Path) -> None:
    service = start_service(tiny_disk / "home", SLOW_SECONDS=0.02)
    exploration = service.explore(budget=200, verify=0)
    wait_for(lambda: len(_designs(service, exploration)["id"]) >= 16, PATIENCE, "a batch")
    filler = tiny_disk / "filler"
    filler.write_bytes(bytes(shutil.disk_usage(tiny_disk).free - (100 << 10)))
    build = wait_for(
        lambda: _search_build(service, exploration, "queued"), PATIENCE, "the search to be given up for now"
    )
    [failed] = build["history"]
    assert failed["failure"] == "node"
    assert "is full" in failed["error"]
    stored = len(_designs(service, exploration)["id"])
    assert stored >= 16
    filler.unlink()  # no resume: it goes on by itself
    assert service.wait_state(exploration, "failed", "done")["state"] == "done"
    _assert_each_once(service, exploration, 200)


def _search_build(service: RunningService, exploration: str, state: str) -> dict[str, Any] | None:
    [build] = service.get(f"/v1/builds?exploration={exploration}&stage=search")["items"]
    return service.get(f"/v1/builds/{build['id']}") if build["state"] == state else None


EMBEDDED = """
from worker.settings import Settings
from worker.supervisor import services
with services(Settings(), print) as first, services(Settings(), print) as second:
    print(first.started, second.started, first.address == second.address, first.address)
"""


def test_services_for_a_command_take_any_port_and_are_shared(service: RunningService, tmp_path: Path) -> None:
    taken = service.address.rpartition(":")[2]
    done = subprocess.run(
        [sys.executable, "-c", EMBEDDED],
        env=service_environment(tmp_path / "other", MILLRACE_PORT=taken),
        capture_output=True,
        text=True,
        timeout=60,
        cwd=tmp_path,
        check=False,
    )
    assert done.stdout.startswith("True False True http://127.0.0.1:"), done.stdout + done.stderr
    assert service.address not in done.stdout
    assert leftovers(tmp_path / "other") == []
