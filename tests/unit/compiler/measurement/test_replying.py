"""Whole replies on a fake board, whose clock counts starts and tokens alone."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import cast

import pytest
from fake_board import FakeBoard
from importing_here import importing_here
from tiny_models import tiny_model

from compiler.assumed import KERNEL_START_US
from compiler.design_dir import silent
from compiler.frontend.bundle import import_model
from compiler.host.design import Design
from compiler.measurement.board_process import BoardProcess
from compiler.measurement.measure import measure
from compiler.measurement.measurement import Measurement
from compiler.measurement.progress import Progress
from compiler.measurement.replying import timed
from compiler.measurement.request import MeasureRequest
from compiler.metrics import Fidelity
from compiler.options import Knobs, Workload
from compiler.pipeline import compile_design
from compiler.platforms.platform import load_platform
from compiler.replies import stored_reply

PROMPT, STEPS = 15, 16  # of a design of 31 positions
START_MS, GIVEN_MS, TOKEN_MS = 0.4, 0.1, 1.5
CLOCK = (
    f"start_ns, Faults.prompt_ns, Faults.token_ns = {START_MS * 1e6:.0f}, {GIVEN_MS * 1e6:.0f}, {TOKEN_MS * 1e6:.0f}"
)


@pytest.fixture(scope="module")
def design(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A network of two layers with room for 31 positions."""
    folder = tmp_path_factory.mktemp("one")
    with importing_here():
        workload = Workload("gpt2", "token", PROMPT + STEPS, "w4a8", layers=2)
        bundle = import_model(tiny_model("gpt2", folder), workload, folder / "bundles")
    compile_design(bundle, Knobs(max_padding=20), load_platform("u55c"), folder / "design", silent)
    (folder / "design" / "x.xclbin").touch()
    return folder / "design"


@pytest.fixture
def board(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> FakeBoard:
    return FakeBoard(tmp_path, monkeypatch)


def measured(design: Path, board: FakeBoard) -> Measurement:
    found = measure(design, design / "x.xclbin", board.quick(min_seconds=0, repeats=2, warm_up=0))
    assert found.passed, found.message
    return found


def of_replies(found: Measurement) -> dict[str, float]:
    metrics = {m.name: m for m in found.metrics()}
    assert {m.fidelity for m in metrics.values()} == {Fidelity.BOARD}
    assert {m.tool for m in metrics.values()} == {"xrt"}
    return {name: m.value for name, m in metrics.items()}


@pytest.mark.slow
def test_the_start_that_a_board_needs_replaces_the_one_that_is_assumed(design: Path, board: FakeBoard) -> None:
    board.break_it(CLOCK)
    found = of_replies(measured(design, board))
    assert found["kernel_start"] == pytest.approx(START_MS)
    first = START_MS + (PROMPT - 1) * GIVEN_MS + TOKEN_MS
    assert found["first_token_time"] == pytest.approx(first)
    assert found["time_per_token"] == pytest.approx(TOKEN_MS)
    assert found["tokens_per_second"] == pytest.approx(1e3 / TOKEN_MS)
    assert found["reply_time"] == pytest.approx(first + STEPS * TOKEN_MS)
    reply = stored_reply(design)
    assert reply is not None
    assert reply.start_us == KERNEL_START_US != 1e3 * START_MS
    assert found["hbm_share"] == pytest.approx(100 * reply.hbm_share * reply.token_us / (TOKEN_MS * 1e3))


@pytest.mark.slow
def test_a_wrong_token_is_a_no_and_has_no_times(design: Path, board: FakeBoard) -> None:
    board.break_it("wrong_from = 1")
    found = measure(design, design / "x.xclbin", board.quick(min_seconds=0, repeats=1, warm_up=0))
    assert (found.passed, found.metrics()) == (False, ())


class EveryToken:
    """A board on which a launch makes a token, in 2 ms where one is wanted and in 1 ms else."""

    def prompt(self, tokens: Sequence[int], length: int) -> None:
        assert (len(tokens), length) == (PROMPT, PROMPT + STEPS)

    def launch(self, told: Mapping[str, int], _limit_s: float) -> int:
        assert told.keys() == {"token", "position", "choose"}
        return 2_000_000 if told["choose"] else 1_000_000


def test_where_a_token_is_a_launch_its_starts_are_in_its_time() -> None:
    arguments = {"token": 96, "position": PROMPT + STEPS - 1, "choose": 1}
    design = Design(Path(), "several", {}, (), (), (), arguments)
    times = timed(design, cast(BoardProcess, EveryToken()), 1.0, Progress())
    assert times.prompt_us == (1e3,) * (PROMPT - 1) + (2e3,)
    assert times.later_us == (2e3,) * STEPS
    assert (times.one_launch, times.start_us) == (False, None)


@pytest.mark.slow
def test_the_simulated_board_says_what_the_simulator_does(design: Path) -> None:
    reply = stored_reply(design)
    assert reply is not None
    found = measure(design, None, MeasureRequest(repeats=1))
    assert found.passed, found.message
    assert {*reply.timed} <= {*found.metrics()}
    assert "kernel_start" not in {m.name for m in found.metrics()}
