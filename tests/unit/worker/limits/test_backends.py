"""Every backend that this machine has, held to its contract with real processes."""

import pytest
from limits_contract import LimitsContract

from worker.limits.backends import choose
from worker.limits.cgroup_v1 import CgroupV1Backend
from worker.limits.cgroup_v2 import CgroupV2Backend
from worker.limits.group import Backend
from worker.limits.watched import WatchedBackend


@pytest.mark.slow
class TestCgroupV2(LimitsContract):
    @pytest.fixture(scope="class")
    @classmethod
    def backend(cls) -> Backend:
        made = CgroupV2Backend()
        if made.why_not is not None:
            pytest.skip(f"no cgroup v2: {made.why_not}")
        return made


@pytest.mark.slow
class TestCgroupV1(LimitsContract):
    @pytest.fixture(scope="class")
    @classmethod
    def backend(cls) -> Backend:
        made = CgroupV1Backend()
        if made.why_not is not None:
            pytest.skip(f"no cgroup v1: {made.why_not}")
        return made


@pytest.mark.slow
class TestWatched(LimitsContract):
    @pytest.fixture(scope="class")
    @classmethod
    def backend(cls) -> Backend:
        return WatchedBackend()


def test_the_best_one_is_chosen_and_the_better_ones_say_what_they_lack() -> None:
    choice = choose()
    better = {"cgroup v2": [], "cgroup v1": ["cgroup v2"], "watchdog": ["cgroup v2", "cgroup v1"]}
    assert list(choice.why_not) == better[choice.backend.name]
    assert all(choice.why_not.values())


def test_the_operator_may_want_no_control_groups() -> None:
    choice = choose(cgroups=False)
    assert choice.backend.name == "watchdog"
    assert set(choice.why_not.values()) == {"MILLRACE_CGROUPS is off"}
