from pathlib import Path

import by_file
import pytest


def test_the_files_that_are_named_are_there() -> None:
    assert by_file.missing(Path(__file__).parents[2]) == set()


@pytest.mark.parametrize(
    ("nodeid", "part"),
    [
        ("tests/unit/db/test_queue.py::TestQueueOnSqlite::test_a[x]", "tests/unit/db/test_queue.py"),
        ("tests/e2e/test_farm.py::test_a[sqlite]", "tests/e2e/test_farm.py::sqlite"),
        ("tests/e2e/test_farm.py::test_b[postgres-x]", "tests/e2e/test_farm.py::postgres"),
        ("tests/e2e/test_farm.py::test_redis_restarts", "tests/e2e/test_farm.py"),
        ("tests/e2e/test_join.py::test_b", "tests/e2e/test_join.py::test_b"),
    ],
)
def test_what_a_worker_gets_as_a_whole(nodeid: str, part: str) -> None:
    assert by_file.part_of(nodeid) == part


def test_half_of_the_workers_take_what_waits_first_and_the_others_what_computes() -> None:
    parts = ["tests/e2e/test_farm.py::sqlite", "tests/e2e/test_join.py", "tests/unit/db/test_queue.py"]
    assert by_file.next_of(parts, waits=True) == parts[0]
    assert by_file.next_of(parts, waits=False) == parts[2]
    assert by_file.next_of(parts[:2], waits=False) == parts[0]
    assert by_file.next_of(parts[2:], waits=True) == parts[2]
