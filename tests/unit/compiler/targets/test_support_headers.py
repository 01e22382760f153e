"""The headers that are copied beside the emitted code, with our stand-ins and with AMD's public headers."""

import subprocess
from pathlib import Path

import pytest
from public_hls import PUBLIC

import compiler.targets
from compiler.simulator.csim.build import FLAGS, INCLUDE_DIR, RUNTIME_SOURCE

pytestmark = pytest.mark.slow
SUPPORT = Path(compiler.targets.__path__[0]) / "support"
SOURCE = Path(__file__).parent / "support_headers.cpp"
COMPILERS = {
    "ours": ["g++", *FLAGS, "-Wall", "-Wextra", "-Werror", f"-I{INCLUDE_DIR}", str(RUNTIME_SOURCE)],
    "public": [*PUBLIC, "-O1"],
}


@pytest.mark.parametrize("headers", COMPILERS)
def test_products_and_packed_tokens(headers: str, tmp_path: Path) -> None:
    program = tmp_path / "support"
    subprocess.run([*COMPILERS[headers], f"-I{SUPPORT}", str(SOURCE), "-o", str(program)], check=True)
    finished = subprocess.run([program], capture_output=True, text=True, check=False)
    assert (finished.returncode, finished.stdout) == (0, "")
