import pytest
from naming_contract import NamingContract

from db.errors import InvalidNameError
from db.repositories import naming


class TestNaming(NamingContract):
    """On SQLite."""


@pytest.mark.parametrize("name", ["latest", "12", "exp_1", "dsg_1", "a b", "a#1", "a/b", "", "-a", "ä"])
def test_what_can_not_be_a_name(name: str) -> None:
    with pytest.raises(InvalidNameError, match="can not be a name"):
        naming.check_name(name)


def test_names() -> None:
    for name in ("a", "7b-run", "gpt2-decode-64-w4a8", "x_1.5+b"):
        naming.check_name(name)
