"""There is a class for every kind of problem that the service answers with."""

import re
from pathlib import Path

from api import problems
from millrace.errors import PROBLEMS, Error

API = Path(problems.__file__).parent
# What Starlette answers by itself, as `api.problems` calls it.
BY_STARLETTE = {"method-not-allowed"}


def test_every_kind_of_problem_has_its_class() -> None:
    answered = {kind for _, _, kind, _ in problems._KINDS} | BY_STARLETTE
    for source in API.glob("*.py"):
        answered |= set(re.findall(r'problem\(\s*\d{3},\s*"([a-z-]+)"', source.read_text()))
    assert answered == set(PROBLEMS)


def test_one_root() -> None:
    assert all(issubclass(kind, Error) for kind in PROBLEMS.values())
    assert len(set(PROBLEMS.values())) == len(PROBLEMS)
