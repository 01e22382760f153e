"""What /v1/health says of a database that can not be used."""

from pathlib import Path

import sqlalchemy as sa
from fastapi.testclient import TestClient

from db.damage import DamagedDatabaseError
from worker.farm import Farm


def test_a_damaged_database_is_told_from_one_that_is_away(client: TestClient, farm: Farm) -> None:
    farm.database.damage = DamagedDatabaseError("/home/millrace.db", "database disk image is malformed")
    for path in ("/v1/health", "/v1/health/ready"):
        reply = client.get(path)
        assert (reply.status_code, "millrace farm restore BACKUP" in reply.json()["detail"]) == (503, True)


def test_a_file_that_was_overwritten(client: TestClient, farm: Farm) -> None:
    farm.database.close()
    path = Path(farm.settings.database.removeprefix("sqlite:///"))
    for name in ("-wal", "-shm"):
        path.with_name(path.name + name).unlink(missing_ok=True)
    path.write_bytes(b"not a database" * 1000)
    assert "is damaged (file is not a database)" in client.get("/v1/health").json()["detail"]
    reply = client.get("/v1/explorations")
    assert (reply.status_code, reply.json()["type"]) == (503, "urn:millrace:problem:database-damaged")


def test_a_database_of_a_newer_release(client: TestClient, farm: Farm) -> None:
    with farm.database.write() as session:
        session.execute(sa.text("UPDATE alembic_version SET version_num = '9999'"))
    for path in ("/v1/health", "/v1/health/ready"):
        reply = client.get(path)
        assert reply.status_code == 503
        assert "is of a newer Millrace (revision 9999" in reply.json()["detail"]
        assert "millrace farm restore BACKUP" in reply.json()["detail"]
