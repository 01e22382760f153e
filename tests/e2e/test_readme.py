"""The commands of README.md, run as they stand, block after block, by somebody who has just cloned it.

No network, an empty home. Set-up itself is proved in tests/fresh; here the clone gets an environment that is ready, and
the library of the simulator if it was built here.
"""

import os
import re
import shutil
import signal
import subprocess
from collections.abc import Generator
from pathlib import Path

import httpx
import pytest
from checkout import copy_checkout, make_environment
from pages import ROOT, Block, blocks
from processes import PATIENCE, wait_for
from running_service import leftovers

pytestmark = [pytest.mark.e2e, pytest.mark.slow]

README = ROOT / "README.md"
BLOCKS = blocks(README)
SECONDS = 1800  # on a machine that does ten other things

# What each command must print, as patterns in their order; every command of the page has a row.
SAYS = {
    "git clone": ["Cloning into 'millrace'", "done"],
    "./millrace demo": [
        r"done: 250/250 designs.* simulated (\d+)/\1",
        "Pareto front",
        "equal to the quantised PyTorch reference: all 4 tokens",
        r"\d tokens/s",
    ],
    "./millrace up": ["Millrace is up", "stopped"],
    "./millrace compile": ["latency .* estimate", "FIFOs certified", "written to d"],
    "./millrace csim": [r"hidden_out .*passed", "passed against PyTorch", r"proven, (\d+) of \1 tasks"],
    "./millrace simulate": [r"simulated .* cycles", "busiest"],
    "./millrace pareto": [r"exp_\w+ +gpt2 .*done +250/250"],
}
NOT_RUN = "./millrace test"  # these tests are part of it
STAYS = "./millrace up"  # until Ctrl-C
SIMULATOR = "compiler/simulator/timing"


def commands(block: Block) -> list[str]:
    """The lines of a block that are run."""
    return [line for line in block.text.splitlines() if line and not line.startswith(("#", NOT_RUN))]


class Newcomer:
    """Somebody with an empty home and the address of the repository, and what their shell printed for each block."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.home = folder / "home" / "state"
        self.environment = {
            "PATH": os.environ["PATH"],
            "HOME": str(folder / "home"),
            "ADDRESS": str(folder / "repository"),
            "MILLRACE_HOME": str(self.home),
            "MILLRACE_PORT": "0",
            **dict.fromkeys(("http_proxy", "https_proxy", "all_proxy"), "http://127.0.0.1:9"),
            "GIT_CONFIG_COUNT": "1",
            "GIT_CONFIG_KEY_0": "core.hooksPath",
            "GIT_CONFIG_VALUE_0": str(folder / "hooks"),
        }

    def printed(self, block: Block) -> str:
        return self._file(block, "txt").read_text()

    def run(self, block: Block) -> None:
        """Run the block, in the clone as soon as there is one; fails unless every command of it ends with 0."""
        script, clone = self._file(block, "sh"), self.folder / "millrace"
        script.write_text("\n".join(commands(block)) + "\n")
        with self._file(block, "txt").open("wb") as output:
            process = subprocess.Popen(
                ["bash", "-ev", "-o", "pipefail", str(script)],  # -v shows each line before it is run
                cwd=clone if clone.is_dir() else self.folder,
                env=self.environment,
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=subprocess.STDOUT,
                start_new_session=True,
            )
        try:
            if any(line.startswith(STAYS) for line in commands(block)):
                self._visit(process, block)
                os.killpg(process.pid, signal.SIGINT)
            code = process.wait(SECONDS)
        finally:
            if process.poll() is None:
                os.killpg(process.pid, signal.SIGKILL)
        assert code == 0, f"{block}: the last command of these ended with {code}:\n{self.printed(block)}"

    def _file(self, block: Block, suffix: str) -> Path:
        return self.folder / f"line-{block.line}.{suffix}"

    def _visit(self, process: subprocess.Popen[bytes], block: Block) -> None:
        """Look at the dashboard, and that it has what the demo left."""
        wait_for(lambda: process.poll() is not None or "is up: http" in self.printed(block), 120, f"{block} to serve")
        address = re.search(r"is up: (http://\S+)", self.printed(block))
        assert address, f"{block} serves nothing:\n{self.printed(block)}"
        with httpx.Client(base_url=address[1], timeout=PATIENCE, trust_env=False) as http:
            page = http.get("/").raise_for_status().text
            for asset in ["/docs", *re.findall(r'(?:src|href)="(/assets/[^"]+)"', page)]:
                http.get(asset).raise_for_status()
            [stored] = http.get("/v1/explorations").raise_for_status().json()["items"]
        assert "<title>Millrace" in page
        assert (stored["state"], stored["evaluated"]) == ("done", 250)


@pytest.fixture(scope="module")
def newcomer(tmp_path_factory: pytest.TempPathFactory) -> Generator[Newcomer]:
    """Their clone is set up from the moment on that git has made it: a hook of git sees to it."""
    folder = tmp_path_factory.mktemp("readme")
    for name in ("home", "hooks"):
        (folder / name).mkdir()
    copy_checkout(folder / "repository")
    make_environment(folder / "environment", folder / "millrace")
    hook = folder / "hooks" / "post-checkout"
    built = f"cp -r '{ROOT}/{SIMULATOR}/_build' {SIMULATOR} 2>/dev/null || true"
    hook.write_text(f"#!/bin/sh\nmv '{folder}/environment' .venv\n{built}\n")
    hook.chmod(0o755)
    somebody = ("-c", "user.name=somebody", "-c", "user.email=somebody@example.org")
    for words in (["init", "-q"], ["add", "--all"], [*somebody, "commit", "-q", "--message", "all of it"]):
        subprocess.run(["git", *words], cwd=folder / "repository", check=True)
    person = Newcomer(folder)
    yield person
    shutil.rmtree(folder / "millrace" / ".venv", ignore_errors=True)  # its links would keep packages that are replaced
    assert leftovers(person.home) == []


@pytest.mark.parametrize("block", BLOCKS, ids=str)
def test_block_runs(block: Block, newcomer: Newcomer) -> None:
    newcomer.run(block)
    rest = newcomer.printed(block)
    for line in commands(block):
        for pattern in next(said for start, said in SAYS.items() if line.startswith(start)):
            found = re.search(pattern, rest)
            assert found, f"{block}: {line} does not print {pattern!r}, or not in its turn:\n{rest}"
            rest = rest[found.end() :]


def test_every_command_is_proved() -> None:
    lines = [line for block in BLOCKS for line in commands(block)]
    assert [line for line in lines if not line.startswith(tuple(SAYS))] == []
    assert all(commands(block)[1:] == [] for block in BLOCKS if STAYS in block.text)


def same(line: str) -> str:
    """What of a line of output is the same in every run: all but ids, the port, rounding of C++."""
    line = re.sub(r"(dsg|exp)_\w+", r"\1", line)
    return " ".join(re.sub(r"(err |127\.0\.0\.1:)\S+", r"\1#", line).split())


def test_the_demo_prints_what_the_page_shows(newcomer: Newcomer) -> None:
    [shown] = blocks(README, language="")
    printed = [same(line) for line in newcomer.printed(BLOCKS[0]).splitlines()]
    lines = [same(line) for line in shown.text.splitlines()]
    assert [line for line in lines if not any(other.startswith(line) for other in printed)] == []
