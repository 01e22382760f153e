from pathlib import Path
from typing import Any

import pytest

from db.migrate import HEAD
from worker.errors import JoinError
from worker.node.joining import settings_for_node
from worker.settings import Settings
from worker.store.folder import FolderStore

DATABASE = "postgresql+psycopg://millrace:p%40ss@{}:5433/farm"
REDIS = "redis://:secret@{}:6379/0"


def told(tmp_path: Path, host: str = "farm.example", **given: Any) -> dict[str, str]:
    urls = {"database_url": DATABASE.format("localhost"), "redis_url": REDIS.format("127.0.0.1")}
    settings = Settings(home=tmp_path, **{**urls, **given})
    found = settings_for_node(settings, FolderStore(tmp_path / "store"), host)
    assert found.revision == HEAD
    assert FolderStore(tmp_path / "store").read(found.probe)
    assert "p%40ss" not in repr(found)
    return dict(found.environment)


def test_this_machine_is_called_as_the_node_called_it(tmp_path: Path) -> None:
    assert told(tmp_path) == {
        "MILLRACE_DATABASE_URL": DATABASE.format("farm.example"),
        "MILLRACE_REDIS_URL": REDIS.format("farm.example"),
        "MILLRACE_STORE_URL": f"file://{tmp_path}/store",
        "MILLRACE_SCHEDULE": "false",  # who calls webhooks has the key of their secrets
    }
    assert told(tmp_path, "fd00::7")["MILLRACE_REDIS_URL"] == REDIS.format("[fd00::7]")


def test_other_machines_keep_their_names(tmp_path: Path) -> None:
    found = told(tmp_path, database_url=DATABASE.format("db"), redis_url="rediss://cache.example")
    assert found["MILLRACE_DATABASE_URL"] == DATABASE.format("db")
    assert found["MILLRACE_REDIS_URL"] == "rediss://cache.example"


def test_the_operator_s_word_counts(tmp_path: Path) -> None:
    urls = {"database": "postgresql+psycopg://a/b", "redis": "redis://c", "store": "file:///mnt/store"}
    found = told(tmp_path, join_urls=urls, database_url=None, redis_url=None)
    assert list(found.values()) == [*urls.values(), "false"]


def test_what_all_workers_agree_on_is_told(tmp_path: Path) -> None:
    found = told(tmp_path, lease_seconds=8, requests={"link": {"memory_gb": 30}})
    assert found["MILLRACE_LEASE_SECONDS"] == "8.0"
    assert found["MILLRACE_REQUESTS"] == '{"link": {"memory_gb": 30.0}}'


def test_access_to_the_bucket_is_told_unless_it_is_a_role_s(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "id")
    monkeypatch.setenv("AWS_ENDPOINT_URL", "http://localhost:9000")
    monkeypatch.setenv("UNRELATED", "x")
    urls = {"store": "s3://bucket/farm"}
    found = told(tmp_path, join_urls=urls)
    assert found["AWS_ACCESS_KEY_ID"] == "id"
    assert found["AWS_ENDPOINT_URL"] == "http://farm.example:9000"
    assert "UNRELATED" not in found
    assert "AWS_ACCESS_KEY_ID" not in told(tmp_path)
    monkeypatch.setenv("AWS_SESSION_TOKEN", "short-lived")
    assert "AWS_ACCESS_KEY_ID" not in told(tmp_path, join_urls=urls)


@pytest.mark.parametrize(
    ("given", "advice"),
    [
        ({"database_url": None}, "SQLite file. Give it Postgres, and its address in MILLRACE_DATABASE_URL"),
        ({"database_url": "postgresql+psycopg:///farm?host=/run"}, "MILLRACE_JOIN_URLS"),
        ({"redis_url": None}, "private Redis. Give it a Redis that listens on TCP"),
    ],
)
def test_a_farm_of_one_machine_says_what_it_lacks(tmp_path: Path, given: dict[str, Any], advice: str) -> None:
    with pytest.raises(JoinError, match="no other machine can join") as caught:
        told(tmp_path, **given)
    assert advice in str(caught.value)
