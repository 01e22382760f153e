"""Workers as they run in a farm: real processes, Redis, SQLite and Postgres; only what a stage does is a stand-in."""

import os
import signal
from collections.abc import Callable, Generator
from contextlib import ExitStack
from datetime import datetime, timedelta
from pathlib import Path
from statistics import median
from typing import Any

import psutil
import pytest
import redis
from migrated import migrated_on
from processes import PATIENCE, wait_for
from running_farm import RunningFarm, farm_on, tools
from servers import PostgresServer, RedisServer

from db.models import Build, NodeState
from db.repositories import licences, nodes, queue
from worker.ladder.flow import cancel_build

pytestmark = pytest.mark.e2e

StartFarm = Callable[..., RunningFarm]
QUICK_SECONDS = 0.25

on_postgres = pytest.mark.parametrize("servers", ["postgres"], indirect=True, scope="module")
"""What the database makes no difference to is tried on one."""


@pytest.fixture(scope="module", params=["sqlite", "postgres"])
def servers(
    request: pytest.FixtureRequest,
) -> Generator[Callable[[], tuple[str | None, str]]]:
    """Makes URLs: of a database with all tables (None: SQLite in the home) and of an empty Redis."""
    admin = request.getfixturevalue("postgres_server") if request.param == "postgres" else None
    started: list[RedisServer] = []

    def urls() -> tuple[str | None, str]:
        started.append(server := RedisServer())
        server.start()
        return admin and migrated_on(admin, f"farm_{os.getpid()}_{len(started)}"), server.url

    yield urls
    for server in started:
        server.stop()
        server.remove()


@pytest.fixture
def start_farm(servers: Callable[[], tuple[str | None, str]], tmp_path: Path) -> Generator[StartFarm]:
    """`start_farm(**settings)`: a farm of the test's own without workers yet, on either database."""
    with ExitStack() as stack:
        yield lambda **values: stack.enter_context(farm_on(tmp_path / "home", *servers(), **values))


@pytest.fixture
def own_farm(start_farm: StartFarm) -> RunningFarm:
    return start_farm()


@pytest.fixture(scope="module")
def farm(
    servers: Callable[[], tuple[str | None, str]], tmp_path_factory: pytest.TempPathFactory
) -> Generator[RunningFarm]:
    """A farm with one worker that the first tests share: they leave it as it was."""
    with farm_on(tmp_path_factory.mktemp("farm") / "home", *servers()) as shared:
        shared.start()
        seen(shared)
        yield shared


def seen(farm: RunningFarm, node: str = "node0") -> Any:
    """The node, once its worker has announced it."""

    def found() -> Any:
        with farm.farm.database.read() as session:
            return next((n for n in nodes.all(session) if n.name == node), None)

    return wait_for(found, PATIENCE, f"{node} to be announced")


def set_state(farm: RunningFarm, state: NodeState, node: str = "node0") -> None:
    with farm.farm.database.write() as session:
        nodes.set_state(session, node, state)


def failures(build: Build) -> list[tuple[int, str]]:
    return [(entry["attempt"], entry["failure"]) for entry in build.history]


def test_builds_are_done_and_logs_kept(farm: RunningFarm) -> None:
    ids = farm.add(*["ok"] * 6)
    for build in farm.wait(ids):
        assert (build.state, build.attempt, build.node, build.lease_owner) == ("done", 1, "node0", None), build.error
        assert build.verdict == {"passed": True, "attempt": 1}
        assert build.log_digest is not None
        assert farm.farm.store.read(build.log_digest) == b"attempt 1: ok\n"
    assert sorted(map(farm.begun, ids)) == [1] * 6
    wait_for(lambda: not list((farm.farm.settings.log_dir / "jobs").glob("*.log")), PATIENCE, "the files to go")


@on_postgres
def test_a_slot_that_becomes_free_takes_what_comes_then(own_farm: RunningFarm) -> None:
    """Each build comes when the only slot has done the one before: Celery alone would look again a second later."""
    own_farm.start(concurrency=1)
    waits = list[float]()
    for _ in range(12):
        [build] = own_farm.wait(own_farm.add("ok"))
        assert build.started_at is not None
        waits.append((build.started_at - build.created_at).total_seconds())
    assert median(waits[1:]) < QUICK_SECONDS


@on_postgres
def test_quick_builds_that_a_slot_took_at_once_do_not_wait_behind_a_long_one(own_farm: RunningFarm) -> None:
    ids = own_farm.add(*(["ok"] * 24), "gate", *(["ok"] * 8))
    own_farm.start(concurrency=2)
    behind = own_farm.wait([*ids[:24], *ids[25:]])[24:]
    assert own_farm.at_gate(ids) == {ids[24]}
    own_farm.let_go(ids[24])
    own_farm.wait(ids)
    assert [(build.state, build.attempt) for build in behind] == [("done", 1)] * 8
    assert [own_farm.begun(i) for i in ids] == [1] * len(ids)


@pytest.mark.parametrize(
    ("script", "state", "failure", "attempts", "says"),
    [
        ("infeasible", "failed", "infeasible", 1, "no luck with the infeasible"),
        ("tool", "failed", "tool", 2, "no luck with the tool"),
        ("crash", "failed", "tool", 2, "ended unexpectedly (exit status 42): the last words"),
        (["crash", "ok"], "done", None, 2, None),
        (["timeout", "tool", "ok"], "done", None, 3, None),
        (["memory", "ok"], "done", None, 2, None),
        (["node", "node", "ok"], "done", None, 3, None),
    ],
)
def test_each_failure_is_tried_again_as_often_as_it_is_worth(
    farm: RunningFarm, script: Any, state: str, failure: str | None, attempts: int, says: str | None
) -> None:
    ids = farm.add(script)
    [build] = farm.wait(ids)
    assert (build.state, build.failure, build.attempt) == (state, failure, attempts), build.error
    assert says is None or says in str(build.error)
    assert farm.begun(build.id) == attempts
    assert [attempt for attempt, _ in failures(build)] == list(range(1, attempts))


def test_without_licence_a_build_waits_and_others_go_on(farm: RunningFarm) -> None:
    waits, other = farm.add(["licence", "ok"], "ok")
    farm.wait([other])
    [build] = farm.wait([waits], "queued")
    assert failures(build) == [(1, "licence")]
    failed_at = datetime.fromisoformat(build.history[0]["finished_at"])
    assert build.not_before is not None
    assert build.not_before - failed_at == pytest.approx(timedelta(seconds=30), abs=timedelta(seconds=10))


@on_postgres
def test_a_build_that_takes_too_long_is_ended_with_its_tools(farm: RunningFarm) -> None:
    ids = farm.add("tools", timeout_s=1.0)
    [build] = farm.wait(ids)
    assert (build.failure, failures(build)) == ("timeout", [(1, "timeout")])
    assert "after 1 s" in str(build.error)
    assert tools(farm.farm.settings.home) == []


@on_postgres
def test_a_build_that_needs_more_than_it_asked_for_fails_alone_and_once(farm: RunningFarm) -> None:
    [hog] = farm.add("hog 600", memory_gb=0.3)
    [other] = farm.add("tree 1", memory_gb=0.3)
    [build, beside] = farm.wait([hog, other])
    assert (build.state, build.failure, build.attempt) == ("failed", "limit", 1), build.error
    assert "limit of memory: it used 0.3" in str(build.error)
    assert beside.state == "done", beside.error
    assert farm.begun(hog) == 1


def scratch(farm: RunningFarm) -> list[Path]:
    """What builds have left there, or have there now."""
    return list((farm.farm.settings.run_dir / "scratch").glob("*/*"))


def test_cancelling_kills_the_tools_and_stores_nothing(farm: RunningFarm) -> None:
    ids = farm.add("scratch", "ok")
    wait_for(lambda: tools(farm.farm.settings.home), PATIENCE, "the tools to run")
    with farm.farm.database.write() as session:
        cancel_build(farm.farm, session, ids[0])
    wait_for(lambda: not tools(farm.farm.settings.home), PATIENCE, "the tools to be killed")
    assert [b.state for b in farm.wait(ids)] == ["cancelled", "done"]
    assert farm.build(ids[0]).verdict is None
    wait_for(lambda: not scratch(farm), PATIENCE, "its files to be removed")


@on_postgres
def test_processes_that_a_stage_leaves_are_killed_when_it_ends(farm: RunningFarm) -> None:
    ids = farm.add("linger", "linger", "ok")
    assert [b.state for b in farm.wait(ids)] == ["done"] * 3
    wait_for(lambda: not tools(farm.farm.settings.home), PATIENCE, "what they started to end")


@on_postgres
def test_killed_worker_leaves_no_process_and_its_build_is_taken_up(start_farm: StartFarm) -> None:
    farm = start_farm()
    ids = farm.add(["scratch", "ok"])
    worker = farm.start()
    wait_for(lambda: tools(farm.farm.settings.home), PATIENCE, "the tools to run")
    left = scratch(farm)
    assert (left[0] / "work" / "folder" / "file").exists()
    tree = psutil.Process(worker.pid).children(recursive=True)
    worker.kill()
    worker.wait()
    wait_for(lambda: not any(p.is_running() for p in tree), PATIENCE, "the tree to end")
    assert tools(farm.farm.settings.home) == []
    farm.start(node="node0")  # of this machine: it knows that the process is dead, and waits for no lease
    [build] = farm.wait(ids)
    assert (build.state, failures(build), build.losses) == ("done", [(1, "node")], 1)
    wait_for(lambda: not any(folder.exists() for folder in left), PATIENCE, "the files of the dead to be removed")


@on_postgres
def test_an_expired_lease_is_given_to_another_node_and_the_old_holder_writes_nothing(start_farm: StartFarm) -> None:
    farm = start_farm()
    ids = farm.add(["gate", "ok"])
    frozen = farm.start()
    wait_for(lambda: farm.at_gate(ids), PATIENCE, "the first attempt to begin")
    [log] = (farm.farm.settings.log_dir / "jobs").glob(f"{ids[0]}-*.log")
    frozen.send_signal(signal.SIGSTOP)  # its machine sleeps: its executor goes on, its lease is not renewed
    farm.expire(ids[0])
    farm.start()
    [build] = farm.wait(ids)
    assert (build.state, build.node, build.attempt) == ("done", "node1", 2)
    farm.let_go(build.id)
    wait_for(lambda: "is no longer held" in log.read_text(), PATIENCE, "the first one to end in vain")
    assert farm.build(ids[0]).verdict == {"passed": True, "attempt": 2}


def test_paused_node_gives_back_and_takes_again_when_resumed(farm: RunningFarm) -> None:
    ids = farm.add(["tools", "ok"])
    wait_for(lambda: tools(farm.farm.settings.home), PATIENCE, "the tools to run")
    set_state(farm, "paused")
    wait_for(lambda: not tools(farm.farm.settings.home), PATIENCE, "the tools to be killed")
    [build] = farm.wait(ids, "queued")
    assert (build.attempt, build.history) == (0, [])  # nobody's failure
    more = farm.add("ok")
    farm.beats()
    assert farm.states(more) == ["queued"]
    set_state(farm, "active")
    assert [b.state for b in farm.wait(more)] == ["done"]


def test_draining_node_finishes_what_it_runs_and_takes_no_more(farm: RunningFarm) -> None:
    first = farm.add("gate")
    farm.wait(first, "running")
    set_state(farm, "draining")
    farm.beats()  # it may have asked for its state right before, and takes its word for half a second
    more = farm.add("ok")
    farm.let_go(*first)
    assert [b.state for b in farm.wait(first)] == ["done"]
    farm.beats()
    assert farm.states(more) == ["queued"]
    set_state(farm, "active")
    assert [b.state for b in farm.wait(more)] == ["done"]


@on_postgres
def test_signal_to_drain_ends_the_worker_after_its_builds(own_farm: RunningFarm) -> None:
    farm = own_farm
    first = farm.add("gate")
    worker = farm.start()
    farm.wait(first, "running")
    worker.send_signal(signal.SIGUSR1)  # Python hears of it when its main thread has a moment
    wait_for(lambda: "takes no more builds" in farm.log.read_text(), PATIENCE, "the worker to drain")
    more = farm.add("ok")
    farm.let_go(*first)
    assert worker.wait(PATIENCE) == 0
    assert [b.state for b in farm.wait(first)] == ["done"]
    assert farm.states(more) == ["queued"]


@on_postgres
def test_stopped_worker_gives_back(own_farm: RunningFarm) -> None:
    farm = own_farm
    ids = farm.add(["tools", "ok"])
    worker = farm.start()
    wait_for(lambda: tools(farm.farm.settings.home), PATIENCE, "the tools to run")
    worker.terminate()
    worker.wait(PATIENCE)
    assert tools(farm.farm.settings.home) == []
    [build] = farm.wait(ids, "queued")
    assert (build.attempt, build.history, build.lease_owner) == (0, [], None)


@on_postgres
def test_flushed_broker_is_topped_up(own_farm: RunningFarm) -> None:
    farm = own_farm
    worker = farm.start(concurrency=1)
    seen(farm)
    worker.send_signal(signal.SIGSTOP)
    ids = farm.add(*["ok"] * 5)
    redis.Redis.from_url(farm.farm.settings.redis).flushall()
    worker.send_signal(signal.SIGCONT)
    assert [b.state for b in farm.wait(ids)] == ["done"] * 5


@on_postgres
def test_node_memory_is_not_given_out_twice(start_farm: StartFarm) -> None:
    farm = start_farm(memory_gb=16, concurrency=4)
    ids = farm.add(*["gate"] * 4, memory_gb=7.0)
    farm.start()
    seen(farm)
    _let_go_one_by_one(farm, ids, 2)
    assert [b.state for b in farm.wait(ids)] == ["done"] * 4
    assert _most_at_once(farm.lines()) == 2


@on_postgres
def test_licences_are_counted_farm_wide_and_freed_by_a_crash(start_farm: StartFarm) -> None:
    farm = start_farm(concurrency=1)
    with farm.farm.database.write() as session:
        licences.put(session, "vitis_hls", 2)
    ids = farm.add(*["gate"] * 5, licence="vitis_hls", owner="ann")
    ids += farm.add(*["gate"] * 2, licence="vitis_hls", owner="bob")
    workers = {f"node{n}": farm.start() for n in range(4)}
    for name in workers:
        seen(farm, name)
    crashed, other = _at_gate(farm, ids, 2)
    _others_do_what_needs_no_licence(farm)
    assert set(_running(farm, ids)) == {crashed, other}

    workers[str(farm.build(crashed).node)].kill()
    farm.let_go(other)
    _at_gate(farm, [i for i in ids if i not in (crashed, other)], 1)
    _others_do_what_needs_no_licence(farm)
    assert len(_running(farm, ids)) == 2  # as far as the farm knows, the crashed one still uses its licence

    farm.expire(crashed)
    wait_for(lambda: farm.build(crashed).losses, PATIENCE, "the crash to be noticed")
    _let_go_one_by_one(farm, ids, 2)
    ended = farm.wait(ids)
    assert [(build.state, build.losses) for build in ended] == [("done", int(i == crashed)) for i in ids]
    assert _most_at_once([line for line in farm.lines() if not line.startswith(f"begin {crashed} 1 ")]) == 2


def _running(farm: RunningFarm, ids: list[str]) -> list[str]:
    return [i for i, state in zip(ids, farm.states(ids), strict=True) if state == "running"]


def _at_gate(farm: RunningFarm, ids: list[str], count: int) -> list[str]:
    """Those that hold at their gates, once there are so many; in their order."""
    found = wait_for(lambda: len(there := farm.at_gate(ids)) >= count and there, PATIENCE, f"{count} to begin")
    assert len(found) == count
    return [i for i in ids if i in found]


def _let_go_one_by_one(farm: RunningFarm, ids: list[str], most: int) -> None:
    """Let each build go, and see before that the farm runs as many as it may."""
    left = [i for i in ids if farm.build(i).state != "done"]
    while left:
        first = _at_gate(farm, left, min(most, len(left)))[0]
        farm.let_go(first)
        farm.wait([first])
        left.remove(first)


def _others_do_what_needs_no_licence(farm: RunningFarm) -> None:
    """Nodes that are free have looked for work when these are done, and passed over builds that came before them."""
    farm.wait(farm.add("ok", "ok"))


def _most_at_once(lines: list[str]) -> int:
    running = most = 0
    for line in sorted(lines, key=lambda line: float(line.split()[3])):
        running += 1 if line.startswith("begin") else -1
        most = max(most, running)
    return most


@on_postgres
def test_log_of_a_running_build_is_shown(farm: RunningFarm) -> None:
    [long] = farm.add("gate 300")
    logs = farm.farm.bus.logs
    data, offset = wait_for(lambda: (found := logs.read(long))[1] > 0 and found, PATIENCE, "its log")
    assert farm.build(long).state == "running"
    assert data.startswith(b"attempt 1: gate 300\nline 0\n")
    farm.let_go(long)
    farm.wait([long])
    rest, _ = logs.read(long, offset)
    stored = farm.farm.store.read(str(farm.build(long).log_digest))
    assert data + rest == stored


@on_postgres
def test_full_disk_is_the_node_s_failure(farm: RunningFarm) -> None:
    ids = farm.add(["disk", "ok"])
    [build] = farm.wait(ids)
    assert (build.state, failures(build)) == ("done", [(1, "node")])
    assert "is full" in build.history[0]["error"]


@on_postgres
def test_capabilities_that_are_not_named_are_not_served(own_farm: RunningFarm) -> None:
    farm = own_farm
    ids = farm.add("ok")
    farm.start(capabilities="simulate,measure")
    node = seen(farm)
    assert set(node.capabilities) == {"simulate", "measure@simulated"}
    assert "MILLRACE_CAPABILITIES" in node.missing["csim"]
    farm.beats()
    assert farm.states(ids) == ["queued"]


def test_postgres_restarts_while_a_build_runs(own_postgres: PostgresServer, redis_url: str, tmp_path: Path) -> None:
    with farm_on(tmp_path / "home", own_postgres.url, redis_url) as farm:
        ids = farm.add("gate", "ok")
        farm.start()
        wait_for(lambda: farm.begun(ids[0]), PATIENCE, "the build to begin")
        own_postgres.stop()
        farm.let_go(ids[0])
        wait_for(lambda: f"end {ids[0]} 1 " in farm.runs.read_text(), PATIENCE, "the build to end unrecorded")
        own_postgres.start()
        assert [b.state for b in farm.wait(ids)] == ["done", "done"]
        assert (farm.build(ids[0]).attempt, farm.begun(ids[0])) == (1, 1)


def test_redis_restarts(own_redis: RedisServer, tmp_path: Path) -> None:
    with farm_on(tmp_path / "home", None, own_redis.url) as farm:
        first = farm.add("ok")
        farm.start()
        farm.wait(first)
        own_redis.stop(signal.SIGKILL)
        ids = farm.add("ok", "ok")  # its tickets are nowhere
        farm.beats()
        own_redis.start()
        assert [b.state for b in farm.wait(ids)] == ["done"] * 2
        with farm.farm.database.read() as session:
            assert queue.lengths(session) == {}
