"""A service of a checkout that does not start, from a script that plays `./millrace up`."""

from pathlib import Path

import pytest

from millrace import local
from millrace.errors import ServiceUnavailableError


@pytest.mark.parametrize(
    ("script", "why"),
    [
        (
            """echo '{"error": {"type": "StartError",'; echo '"message": "it runs already"}}'; exit 3""",
            "it runs already",
        ),
        ("echo setting up; echo no python >&2; exit 3", "no python\nsetting up"),
        ("exit 3", "it said nothing"),
    ],
)
def test_why_it_did_not_start(tmp_path: Path, script: str, why: str) -> None:
    (tmp_path / "millrace").write_text(f"#!/bin/sh\n{script}\n")
    (tmp_path / "millrace").chmod(0o755)
    with pytest.raises(ServiceUnavailableError) as caught, local(tmp_path):
        pass
    assert str(caught.value) == f"{tmp_path}/millrace up did not start: {why}"
