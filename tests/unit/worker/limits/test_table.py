import subprocess
import sys
from typing import get_args

import pytest
from farm_states import announce, take

from compiler.machine import Machine
from db.models import Build, Exploration, Stage
from db.repositories import builds
from worker.farm import Farm
from worker.ladder.flow import advance
from worker.limits.explaining import explain
from worker.limits.group import Exceeded
from worker.limits.table import GB, limits_of, limits_of_build
from worker.settings import Settings


def test_every_stage_has_limits_of_everything() -> None:
    for stage in get_args(Stage):
        limits = limits_of(stage, Settings())
        assert min(limits.cpus, limits.memory_gb, limits.timeout_s, limits.processes, limits.disk_gb, limits.files) > 0
        assert limits.cpu_s >= limits.timeout_s


def test_an_import_has_five_minutes_and_four_gb() -> None:
    limits = limits_of("lower", Settings())
    assert (limits.timeout_s, limits.memory_gb) == (300, 4)


def test_two_links_do_not_meet_on_a_node_of_64_gb() -> None:
    assert 2 * limits_of("link", Settings()).memory_gb > 64


def test_the_operator_goes_before_the_table_and_the_build_before_both(farm: Farm, exploration: Exploration) -> None:
    announce(farm)
    advance(farm, exploration.id)
    order = take(farm, "lower")
    assert order is not None
    with farm.database.read() as session:
        build: Build = builds.get(session, order.build_id)
    settings = Settings(requests={"lower": {"processes": 7, "memory_gb": 1, "disk_gb": 0.5, "licence": 3}})
    build.memory_gb, build.timeout_s = 9.0, None
    limits = limits_of_build(build, settings)
    assert (limits.processes, limits.memory_gb, limits.disk_gb, limits.timeout_s) == (7, 9.0, 0.5, 300)
    assert type(limits.processes) is int  # the kernel takes no 7.0


def test_nothing_has_more_memory_than_there_is() -> None:
    limits = limits_of("link", Settings())
    assert limits.within(Machine(16 * GB, 2)).memory_gb == 16
    assert limits.within(Machine(64 * GB, 2)) == limits


def test_a_job_asks_for_what_the_node_has_and_not_for_what_it_has_itself() -> None:
    """As its executor does, which is forked when this is loaded, and told what the job may use."""
    asks = (
        "import resource; from worker.limits.table import limits_of; from worker.settings import Settings\n"
        "resource.setrlimit(resource.RLIMIT_RSS, (1 << 20, resource.RLIM_INFINITY))\n"
        'print(limits_of("csim", Settings()).memory_gb)'
    )
    asked = subprocess.run([sys.executable, "-c", asks], capture_output=True, text=True, check=True).stdout
    assert float(asked) > 0.1


@pytest.mark.parametrize(
    ("stage", "reached", "says"),
    [
        ("lower", Exceeded("memory", 4 * GB, 4 * GB), ["memory: it used 4 GB of 4 GB", "The model", '"memory_gb": 8']),
        ("csim", Exceeded("processor time", 60, 61.5), ["61.5 s of 60 s", "The design", '{"csim": {"cpu_s": 120}}']),
        ("csynth", Exceeded("files", 10, 12), ["12 files of 10 files", '"files": 20']),
        ("search", Exceeded("disk", GB // 4, GB // 2), ["0.5 GB of 0.25 GB", "the exploration", '"disk_gb": 0.5']),
        ("link", Exceeded("time", 86400.0, 86401.0), ["86401 s of 86400 s", '"timeout_s": 172800']),
    ],
)
def test_a_person_is_told_which_limit_whose_fault_and_how_to_have_more(
    stage: Stage, reached: Exceeded, says: list[str]
) -> None:
    text = explain(stage, reached)
    assert all(part in text for part in says), text
    assert "not tried again" in text
