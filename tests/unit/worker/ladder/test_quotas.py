import pytest
from quota_contract import QuotaContract

from db.engine import Database
from worker.farm import Farm


@pytest.fixture
def database(farm: Farm) -> Database:
    return farm.database


class TestQuotas(QuotaContract):
    """On SQLite."""
