"""Secrets of webhooks, in the database and beside it."""

import json
import sqlite3
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from pathlib import Path

import pytest
from migrated import migrated
from sweeps import add_sweep

from db.migrate import upgrade
from worker.farm import Farm
from worker.sweeps import webhook_calls
from worker.sweeps.webhook_calls import Call
from worker.sweeps.webhook_secrets import SecretError, WebhookSecrets

SECRET = "a secret that signs"


def test_sealed_and_opened(tmp_path: Path) -> None:
    secrets = WebhookSecrets(tmp_path / "home" / "secret.key")
    sealed = secrets.seal(SECRET)
    assert SECRET not in sealed
    assert sealed != secrets.seal(SECRET)
    assert WebhookSecrets(tmp_path / "home" / "secret.key").open(sealed) == SECRET
    key = tmp_path / "home" / "secret.key"
    assert (key.stat().st_mode & 0o777, [file.name for file in key.parent.iterdir()]) == (0o600, ["secret.key"])
    assert secrets.problem(None) is None
    assert secrets.problem(sealed) is None


def test_many_that_make_the_key_at_once_have_one(tmp_path: Path) -> None:
    file = tmp_path / "secret.key"
    with ThreadPoolExecutor(8) as pool:
        sealed = list(pool.map(lambda _: WebhookSecrets(file).seal(SECRET), range(8)))
    assert {WebhookSecrets(file).open(one) for one in sealed} == {SECRET}


@pytest.mark.parametrize("content", [None, b"", b"no key", b"\xff" * 44])
def test_a_key_that_is_absent_or_another(tmp_path: Path, content: bytes | None) -> None:
    sealed = WebhookSecrets(tmp_path / "one").seal(SECRET)
    if content is not None:
        (tmp_path / "two").write_bytes(content)
    with pytest.raises(SecretError, match="set the secret again"):
        WebhookSecrets(tmp_path / "two").open(sealed)
    WebhookSecrets(tmp_path / "three").seal(SECRET)
    assert "is not the one" in (WebhookSecrets(tmp_path / "three").problem(sealed) or "")


def test_a_call_that_can_not_be_signed_is_not_made(farm: Farm, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(webhook_calls, "deliver", lambda *_: pytest.fail("it was called"))
    done = webhook_calls._delivered(farm.settings, Call("https://example.org/hook", "sealed elsewhere", "run_1", {}))
    assert (done.state, done.attempts) == ("failed", 0)
    assert "set the secret again" in (done.error or "")


def test_a_restored_farm_says_whose_secrets_are_gone(farm: Farm, tmp_path: Path) -> None:
    add_sweep(farm, "unsigned", next_at=None, webhook="https://example.org/hook")
    signed = add_sweep(farm, "signed", next_at=None, webhook="https://example.org/hook")
    secrets = WebhookSecrets(farm.settings.secret_key)
    with farm.database.write() as session:
        session.merge(signed).webhook_secret = secrets.seal(SECRET)
    assert list(secrets.unread(farm.database)) == []
    [(name, problem)] = WebhookSecrets(tmp_path / "another").unread(farm.database)
    assert (name, "is absent" in problem) == ("signed", True)


def test_an_upgrade_seals_what_was_stored_as_it_is(tmp_path: Path) -> None:
    file = tmp_path / "old.db"
    migrated(f"sqlite:///{file}")
    row = ("swp_1", "nightly", "0 3 * * *", "UTC", "skip", "{}", json.dumps({"budget": 7, "webhook_secret": SECRET}), 1)
    with closing(sqlite3.connect(file)) as connection, connection:
        connection.execute("ALTER TABLE sweeps DROP COLUMN webhook_secret")
        connection.execute("DROP INDEX ix_designs_accelerator")
        connection.execute("ALTER TABLE designs DROP COLUMN accelerator")
        connection.execute("ALTER TABLE designs DROP COLUMN objectives")
        connection.execute("ALTER TABLE workloads DROP COLUMN ports")
        connection.execute("ALTER TABLE designs RENAME COLUMN refuted TO deadlock")
        connection.execute("UPDATE alembic_version SET version_num = '0006'")
        columns = "id, name, cron, zone, misfire, matrix, options, enabled, created_at"
        connection.execute(f"INSERT INTO sweeps ({columns}) VALUES (?, ?, ?, ?, ?, ?, ?, ?, '2026-01-01')", row)
    secrets = WebhookSecrets(tmp_path / "secret.key")
    upgrade(f"sqlite:///{file}", secrets.seal)
    with closing(sqlite3.connect(file)) as connection:
        [(options, sealed)] = connection.execute("SELECT options, webhook_secret FROM sweeps").fetchall()
        connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    assert (json.loads(options), secrets.open(sealed)) == ({"budget": 7}, SECRET)
    for left in tmp_path.glob("old.db*"):
        assert SECRET.encode() not in left.read_bytes()
