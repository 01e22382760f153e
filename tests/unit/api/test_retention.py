import pytest
from fastapi.testclient import TestClient

from db.repositories import audit
from worker.farm import Farm


def test_days_are_changed_one_by_one(client: TestClient, farm: Farm) -> None:
    path = "/v1/farm/retention"
    assert client.get(path).json() == {"events": 90, "audit": 730, "logs": 365, "files": 365}
    assert client.patch(path, json={"files": 30, "audit": None}).json()["audit"] is None
    client.patch(path, json={"files": 31})
    assert client.get(path).json() == {"events": 90, "audit": None, "logs": 365, "files": 31}
    with farm.database.read() as session:
        assert [e.action for e in audit.page(session, None, None, 9)] == ["PATCH /v1/farm/retention"] * 2


@pytest.mark.parametrize("body", [{"files": 0}, {"files": -1}, {"files": "7"}, {"designs": 7}, {"files": 10**9}])
def test_days_that_can_not_be(client: TestClient, body: dict[str, object]) -> None:
    assert client.patch("/v1/farm/retention", json=body).status_code == 422
