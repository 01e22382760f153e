"""The whole ladder of a design on real Postgres and Redis, with the stand-in for Vitis, the simulated and a fake board.

The network is a softmax; compiler, search, C++, simulator and the adapters of Vitis are the real ones.
"""

import os
import shutil
import subprocess
import time
from collections import Counter
from collections.abc import Generator, Mapping
from pathlib import Path
from typing import Any

import pytest
import sqlalchemy as sa
from fake_board import FakeBoard
from fake_xbutil import SHELL
from needed import need
from processes import PATIENCE, wait_for
from running_farm import RunningFarm
from servers import RedisServer
from vitis_standin import install

from db.migrate import upgrade
from db.models import Build, DesignStage, Exploration
from db.repositories import artifacts, builds, catalog, designs, explorations, nodes, relations
from db.repositories.new_build import request_text
from worker.farm import open_farm
from worker.ladder import flow
from worker.ladder.versions import gxx_version
from worker.settings import Settings

pytestmark = pytest.mark.e2e

VERSIONS = ("2022.1", "2022.2", "2023.1", "2023.2", "2024.1", "2024.2", "2025.1")
LADDER = {"csynth": 1, "cosim": 1, "link": 1, "measure": 1}
NODE = "here"
IN_THE_FARM = 'design = "../design"'  # where a measurement finds the design, seen from the link's files


@pytest.fixture(scope="module")
def vitis(tmp_path_factory: pytest.TempPathFactory) -> Path:
    need("tclsh")
    root = tmp_path_factory.mktemp("tools") / "Xilinx"
    for version in VERSIONS:
        install.install(root, version)
    return root


@pytest.fixture(scope="module")
def database(postgres_server: str) -> str:
    name = f"ladder_{os.urandom(4).hex()}"
    admin = sa.create_engine(postgres_server, isolation_level="AUTOCOMMIT")
    with admin.connect() as connection:
        connection.execute(sa.text(f"CREATE DATABASE {name}"))
    admin.dispose()
    return sa.make_url(postgres_server).set(database=name).render_as_string(hide_password=False)


@pytest.fixture(scope="module")
def board(tmp_path_factory: pytest.TempPathFactory) -> Generator[FakeBoard]:
    """XRT's tool and module for the workers that are started from here."""
    path = os.environ["PATH"]
    with pytest.MonkeyPatch.context() as environment:
        made = FakeBoard(tmp_path_factory.mktemp("board"), environment)
        environment.setenv("PATH", os.pathsep.join((os.environ["PATH"].partition(os.pathsep)[0], path)))
        made.break_it(IN_THE_FARM)
        yield made


@pytest.fixture(scope="module")
def farm(
    tmp_path_factory: pytest.TempPathFactory, vitis: Path, board: FakeBoard, database: str
) -> Generator[RunningFarm]:
    """A worker that offers everything."""
    home, redis = tmp_path_factory.mktemp("ladder"), RedisServer()
    redis.start()
    settings = Settings(
        home=home,
        database_url=database,
        redis_url=redis.url,
        stages="ladder_stages:STAGES",
        vitis_roots=str(vitis),
        lease_seconds=600,
        reap_seconds=0.5,
        concurrency=2,
        cpus=64,
        memory_gb=1024,
        schedule=False,
        capabilities=("lower", "search", "simulate", "csim", "calibrate", "csynth", "cosim", "link", "measure"),
    )
    upgrade(settings.database)
    running = RunningFarm(open_farm(settings), home / "runs")
    running.start(node=NODE)
    yield running
    for worker in running.workers:
        worker.terminate()
        worker.wait(PATIENCE)
    running.farm.close()
    redis.stop()
    redis.remove()


def explore(farm: RunningFarm, **options: Any) -> Exploration:
    """An exploration of one design, up to the measurement; it has ended."""
    with farm.farm.database.write() as session:
        model = catalog.put_model(session, "gpt2", "builtin", {}, "m" * 64)
        workload = catalog.put_workload(session, model, "prefill", 8, 1, "f32", 1, "w" * 64)
        chosen = {"seed": 0, "sampler": "random", "simulate": 1, "calibration": 0, "verify": 1, "builds": LADDER}
        made = explorations.add(session, workload, "u55c", ["latency", "energy"], {**chosen, **options}, 1)
    flow.advance(farm.farm, made.id)

    deadline = time.monotonic() + 600
    while time.monotonic() < deadline:
        with farm.farm.database.read() as session:
            found = explorations.get(session, made.id)
        if found.state in ("done", "failed"):
            return found
        time.sleep(0.05)
    told = {stage: (b.state, b.queue, b.error) for stage, b in builds_of(farm, found).items()}
    pytest.fail(f"it is {found.state}: {told}\n{farm.log.read_text(errors='replace')[-3000:]}")


def builds_of(farm: RunningFarm, exploration: Exploration) -> dict[str, Build]:
    with farm.farm.database.read() as session:
        return {b.stage: b for b in builds.of_exploration(session, exploration.id)}


def ran(farm: RunningFarm, exploration: Exploration) -> list[str]:
    """Stages that ran for it, and were not adopted."""
    return [stage for stage, build in builds_of(farm, exploration).items() if build.adopted_from is None]


@pytest.fixture(scope="module")
def first(farm: RunningFarm) -> Exploration:
    return explore(farm, vitis="2023.2")


def build(
    farm: RunningFarm,
    exploration: Exploration,
    stage: DesignStage,
    limits: Mapping[str, float] | None = None,
    **options: Any,
) -> str:
    """Have the stage of the only design built; its id. `limits` hold before a worker can claim it."""
    with farm.farm.database.write() as session:
        [design] = designs.stored(session, exploration.id)
        made = flow.start_build(farm.farm, session, design, stage, options)
        for limit, value in (limits or {}).items():
            setattr(made, limit, value)
        made.request = request_text(made.licence, made.cpus, made.memory_gb)  # by which it is given room
        return made.id


def test_a_design_goes_all_the_way_up(farm: RunningFarm, first: Exploration) -> None:
    assert first.state == "done", first.error
    found = builds_of(farm, first)
    assert {stage: b.state for stage, b in found.items()} == dict.fromkeys(
        ["search", "simulate", "csim", "csynth", "cosim", "link", "measure", "calibrate"], "done"
    )
    with farm.farm.database.read() as session:
        [design] = designs.stored(session, first.id)
        metrics = designs.metrics_of(session, [design.id])[design.id]
        files = {a.path for a in artifacts.of_design(session, design.id)}
    latencies = {m.fidelity: m.value for m in metrics if m.name == "latency"}
    assert set(latencies) == {"estimate", "simulate", "csynth", "cosim", "link"}
    assert latencies["csynth"] == pytest.approx(latencies["simulate"], rel=0.5)
    assert {m.fidelity for m in metrics if m.name == "lut"} == {"estimate", "csynth", "link"}
    assert {m.fidelity for m in metrics if m.name == "clock"} == {"estimate", "link"}
    assert any(path.endswith(".xclbin") for path in files)
    assert found["csynth"].verdict is not None
    assert found["csynth"].verdict["retimed"] is True, found["csynth"].verdict["notes"]
    assert found["csynth"].verdict["stalling"]["fidelity"] == "simulate"
    assert {row["named"] for row in found["csynth"].verdict["pipelines"]} == {"flp"}


def test_the_same_exploration_again_runs_no_stage(farm: RunningFarm, first: Exploration) -> None:
    again = explore(farm, vitis="2023.2")
    assert again.state == "done"
    assert ran(farm, again) == []
    assert set(builds_of(farm, again)) == set(builds_of(farm, first)) - {"calibrate"}


def test_another_vitis_runs_csynth_and_what_is_after_it(farm: RunningFarm, first: Exploration) -> None:
    again = explore(farm, vitis="2022.2")
    assert again.state == "done"
    assert set(ran(farm, again)) == {"csynth", "cosim", "link", "calibrate"}


# Of each failure: which stage, what the stand-in does, then state, failure, number of runs, and a word of the error.
FAILURES: list[tuple[DesignStage, str, str, str | None, int, str]] = [
    ("link", "placement", "failed", "infeasible", 1, "over-utilized"),
    ("link", "routing", "failed", "infeasible", 1, "not routable"),
    ("link", "timing", "failed", "infeasible", 1, "timing"),
    ("link", "timing_scaled", "done", None, 1, ""),
    ("link", "crash", "failed", "tool", 2, "Abnormal program termination"),
    ("link", "killed@1", "done", None, 2, ""),
    ("link", "disk_full@1", "done", None, 2, ""),
    ("link", "hang", "failed", "timeout", 2, "was ended after"),
    ("link", "licence", "queued", None, 1, ""),
    ("link", "memory@1", "failed", "limit", 1, "stopped by its limit of memory"),
    ("link", "truncated", "done", None, 1, ""),
    ("csynth", "truncated@1", "done", None, 2, ""),
    ("cosim", "truncated", "failed", "tool", 2, "cosim.rpt could not be read"),
    ("cosim", "licence", "queued", None, 1, ""),
]
# A stage below the link has no clock to be told apart by.
VERSION_OF = {("csynth", "truncated@1"): "2024.2", ("cosim", "truncated"): "2024.2", ("cosim", "licence"): "2025.1"}
LIMITS = {"hang": {"timeout_s": 2.0}, "memory@1": {"memory_gb": 0.3}}


@pytest.mark.parametrize(("number", "case"), list(enumerate(FAILURES)), ids=[f"{s}:{k}" for s, k, *_ in FAILURES])
def test_each_failure_has_its_own_outcome(
    farm: RunningFarm, first: Exploration, vitis: Path, number: int, case: tuple[Any, ...]
) -> None:
    stage, kind, state, failure, runs, word = case
    install.control(vitis, FAIL=f"{stage}:{kind}")
    version = VERSION_OF.get((stage, kind), "2023.2")
    build_id = build(farm, first, stage, LIMITS.get(kind), vitis=version, clock_mhz=200 + number)
    try:
        found = _settled(farm, build_id, state, runs)
    finally:
        install.control(vitis, FAIL=None)
    assert (found.state, found.failure, found.attempt) == (state, failure, runs), found.error
    assert word in str(found.error) or not word
    past = {"licence": "licence", "disk_full@1": "node", "killed@1": "node", "truncated@1": "tool"}
    expected = past.get(kind, failure)
    assert Counter(entry["failure"] for entry in found.history) == Counter(
        {expected: runs if state == "queued" else runs - 1} if expected and (runs > 1 or state == "queued") else {}
    )
    if state == "queued":
        with farm.farm.database.write() as session:
            flow.cancel_build(farm.farm, session, build_id)


def test_a_board_of_the_node_is_measured_and_the_last_measurement_counts(farm: RunningFarm, first: Exploration) -> None:
    for version in ("2023.2", "2022.2"):
        [found] = farm.wait([build(farm, first, "measure", vitis=version, board=SHELL)])
        assert found.state == "done", found.error
        with farm.farm.database.read() as session:
            [design] = designs.stored(session, first.id)
            rows = designs.metrics_of(session, [design.id])[design.id]
        metrics = {m.name: m for m in rows if m.build_id == found.id}
        assert set(metrics) == {
            *("latency", "latency_p95", "throughput"),
            *("power", "idle_power", "energy", "energy_with_idle"),
        }
        assert {(m.fidelity, m.tool, m.tool_version) for m in metrics.values()} == {("board", "xrt", "2.16.204")}
        # 45 W when it runs and 20 W at rest, where it rests between runs that this machine lets wait.
        idle, power = metrics["idle_power"].value, metrics["power"].value
        assert idle == pytest.approx(20, abs=0.01)
        assert idle < power < 45.01
        share = (power - idle) / power
        assert metrics["energy"].value == pytest.approx(metrics["energy_with_idle"].value * share, rel=0.001)


def test_a_board_takes_no_binary_for_emulation(farm: RunningFarm, first: Exploration) -> None:
    [found] = farm.wait([build(farm, first, "measure", vitis="2023.2", target="hw_emu", board=SHELL)])
    assert (found.state, found.failure, found.attempt) == ("failed", "infeasible", 1), found.error
    assert "is for hw_emu: a board needs one for hw" in str(found.error)


def test_a_kernel_that_hangs_on_the_board_is_a_timeout_and_tried_again(
    farm: RunningFarm, first: Exploration, board: FakeBoard
) -> None:
    csim = builds_of(farm, first)["csim"]
    with farm.farm.database.read() as session:
        kernel = next(Path(p).stem for p in relations.files_of(session, csim.id) if p.endswith("_k0.cpp"))
    board.break_it(IN_THE_FARM, f"hangs = {kernel!r}")
    try:
        [found] = farm.wait([build(farm, first, "measure", vitis="2023.2", clock_mhz=199, board=SHELL)])
    finally:
        board.break_it(IN_THE_FARM)
    assert (found.state, found.failure, found.attempt) == ("failed", "timeout", 2), found.error
    assert f"kernel {kernel} of" in str(found.error)
    assert "nobody allowed its reset" in str(found.error)


def _settled(farm: RunningFarm, build_id: str, state: str, runs: int) -> Build:
    def settled() -> Build | None:
        found = farm.build(build_id)
        return found if found.state in {"done", "failed", state} and found.attempt == runs else None

    return wait_for(settled, PATIENCE, f"{state} after {runs} runs: {farm.about([build_id])}")


@pytest.mark.parametrize(
    ("stage", "kind", "failure"),
    [
        ("csynth", "c_error", "infeasible"),
        ("cosim", "deadlock", "infeasible"),
        ("cosim", "cosim_mismatch", "infeasible"),
    ],
)
def test_what_the_design_is_to_blame_for_is_not_tried_again(
    farm: RunningFarm, first: Exploration, vitis: Path, stage: DesignStage, kind: str, failure: str
) -> None:
    version = {"c_error": "2022.1", "deadlock": "2023.1", "cosim_mismatch": "2024.1"}[kind]
    install.control(vitis, FAIL=f"{stage}:{kind}")
    with farm.farm.database.write() as session:
        [design] = designs.stored(session, first.id)
        top: DesignStage = "link" if stage == "csynth" else stage
        wanted = flow.start_build(farm.farm, session, design, top, {"vitis": version}).id
    try:
        farm.wait([wanted])
    finally:
        install.control(vitis, FAIL=None)
    with farm.farm.database.read() as session:
        chain = [*relations.below(session, wanted), builds.get(session, wanted)]
    found = next(b for b in chain if b.stage == stage)
    assert (found.state, found.failure, found.attempt) == ("failed", failure, 1), found.error
    if top == "link":
        assert chain[-1].state == "cancelled"
        assert f"csynth {found.id}, which it waited for, failed" in str(chain[-1].error)


def test_a_lost_file_has_its_stage_run_again(farm: RunningFarm, first: Exploration) -> None:
    """Nothing goes on with other bytes than those that were stored."""
    csim = builds_of(farm, first)["csim"]
    with farm.farm.database.read() as session:
        files = relations.files_of(session, csim.id)
    path = next(p for p in files if p.startswith("hls/") and p.endswith(".cpp"))
    file = farm.farm.store.path(files[path])
    file.write_bytes(b"// damaged")
    link = build(farm, first, "link", vitis="2023.2", clock_mhz=333)
    [found] = farm.wait([link])
    assert found.state == "done", found.error
    assert [entry["failure"] for entry in found.history] == ["node"]
    assert f"{path} of the csim of this design ({csim.id}) is lost" in found.history[0]["error"]
    assert farm.farm.store.path(files[path]).read_bytes() != b"// damaged"


def test_another_compiler_of_cpp_runs_everything_but_the_search(
    farm: RunningFarm, first: Exploration, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    _newer_gxx(tmp_path)
    farm.workers[0].terminate()
    farm.workers[0].wait(PATIENCE)
    monkeypatch.setenv("PATH", f"{tmp_path}{os.pathsep}{os.environ['PATH']}")
    farm.start(node=NODE)

    def announced() -> bool:
        with farm.farm.database.read() as session:
            return nodes.get(session, NODE).capabilities["csim"].get("g++") == "99.9.9"

    wait_for(announced, PATIENCE, "the node to announce its new g++")
    again = explore(farm, vitis="2023.2", builds={"csynth": 1})
    assert again.state == "done", again.error
    assert set(ran(farm, again)) == {"simulate", "csim", "csynth", "calibrate"}
    assert builds_of(farm, again)["csim"].tool_versions["g++"] == "99.9.9"


def _newer_gxx(folder: Path) -> None:
    """The compiler of this machine that says to be a newer version."""
    real = shutil.which("g++")
    assert real is not None
    assert gxx_version() != "99.9.9"
    script = folder / "g++"
    script.write_text(f'#!/bin/sh\n[ "$1" = -dumpfullversion ] && echo 99.9.9 && exit\nexec {real} "$@"\n')
    script.chmod(0o755)
    assert subprocess.check_output([script, "-dumpfullversion"], text=True) == "99.9.9\n"
