"""A small design in the emitter's style, built and run: results, taps, deadlock, leftover, limits."""

import shutil
from pathlib import Path

import numpy as np
import pytest

from compiler.errors import ToolError
from compiler.simulator.csim.build import build
from compiler.simulator.csim.errors import DeadlockError, LeftoverError, SimulationTimeoutError
from compiler.simulator.csim.execute import run

pytestmark = pytest.mark.slow

ROWS = 16
KERNELS = ["sample_k0", "sample_k1"]
TASKS = ["load_x", "load_w", "fork_x", "reduce_sum", "scale", "store_y"]
SAMPLE = Path(__file__).parent / "sample"

# Arguments of the testbench: kernel, rows to store, number of runs.
PLAIN = ("0", str(ROWS), "1")


@pytest.fixture(scope="module")
def executable(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return build(SAMPLE, tmp_path_factory.mktemp("sample"), KERNELS, TASKS)


@pytest.fixture
def inputs(tmp_path: Path) -> tuple[np.ndarray, np.ndarray]:
    """Activations [ROWS, 16] f32 and weights [ROWS, 16] in int4, written as the packed words of x.bin and w.bin."""
    rng = np.random.default_rng(0)
    x = rng.uniform(0.5, 2, (ROWS, 16)).astype(np.float32)
    w = rng.integers(-8, 8, (ROWS, 16)).astype(np.int8)
    x.tofile(tmp_path / "x.bin")
    nibbles = w.reshape(-1, 2).view(np.uint8) & 15
    (nibbles[:, 0] | nibbles[:, 1] << 4).tofile(tmp_path / "w.bin")
    return x, w


def test_result_and_taps(executable: Path, tmp_path: Path, inputs: tuple[np.ndarray, np.ndarray]) -> None:
    x, w = inputs
    assert run(executable, tmp_path, tmp_path / "taps", arguments=PLAIN).stderr == ""
    y = np.fromfile(tmp_path / "y.bin", np.float32).reshape(ROWS, 16)
    np.testing.assert_allclose(y, x * (0.5 / x.sum(axis=1, keepdims=True)) * w, rtol=1e-5)

    taps = {path.stem: path for path in (tmp_path / "taps").iterdir()}
    assert sorted(taps) == ["s_bypass", "s_sum", "s_sum_in", "s_w", "s_x", "s_y"]
    assert np.array_equal(np.fromfile(taps["s_x"], np.float32).reshape(ROWS, 16), x)
    assert np.array_equal(np.fromfile(taps["s_w"], np.int8).reshape(ROWS, 16), w)
    assert np.array_equal(np.fromfile(taps["s_y"], np.float32).reshape(ROWS, 16), y)
    np.testing.assert_allclose(np.fromfile(taps["s_sum"], np.float32), x.sum(axis=1), rtol=1e-6)


@pytest.mark.usefixtures("inputs")
def test_listed_streams_are_tapped_over_all_calls_of_the_kernel(executable: Path, tmp_path: Path) -> None:
    run(executable, tmp_path, tmp_path / "taps", arguments=("0", "16", "3"), tap_streams=["s_sum", "s_y"])
    sizes = {path.name: path.stat().st_size for path in (tmp_path / "taps").iterdir()}
    assert sizes == {"s_sum.bin": 3 * ROWS * 4, "s_y.bin": 3 * ROWS * 16 * 4}


@pytest.mark.usefixtures("inputs")
def test_no_taps_without_a_directory(executable: Path, tmp_path: Path) -> None:
    run(executable, tmp_path, arguments=PLAIN)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["w.bin", "x.bin", "y.bin"]


@pytest.mark.usefixtures("inputs")
def test_too_shallow_bypass_deadlocks_and_names_the_cycle(executable: Path, tmp_path: Path) -> None:
    """The sum needs all 4 tokens of a row before the first passes on; in kernel 1 the bypass holds 2."""
    with pytest.raises(DeadlockError) as caught:
        run(executable, tmp_path, tmp_path / "taps", arguments=("1", "16", "1"))
    error = caught.value
    assert set(error.cycle) == {"fork_x", "reduce_sum", "scale"}
    assert error.streams == ("t_bypass",)
    blocked = {task.task: task for task in error.tasks}
    fork = blocked["fork_x"]
    assert (fork.stream, fork.state, fork.size, fork.depth, fork.waits_for) == ("t_bypass", "full", 2, 2, "scale")
    assert (blocked["scale"].stream, blocked["scale"].state) == ("t_sum", "empty")
    assert "a larger depth of one of these breaks the cycle: t_bypass" in str(error)
    assert (tmp_path / "taps/t_bypass.bin").stat().st_size == 2 * 16


@pytest.mark.usefixtures("inputs")
def test_leftover_tokens_are_an_error(executable: Path, tmp_path: Path) -> None:
    with pytest.raises(LeftoverError, match="4 of 64 tokens of s_y were not read") as caught:
        run(executable, tmp_path, arguments=("0", "15", "1"))
    (stream,) = caught.value.streams
    assert (stream.stream, stream.size, stream.written, stream.depth) == ("s_y", 4, 4 * ROWS, 8)
    assert stream.tasks == ("scale", "store_y")


@pytest.mark.usefixtures("inputs")
def test_waiting_for_a_finished_task_is_a_deadlock_without_a_cycle(executable: Path, tmp_path: Path) -> None:
    with pytest.raises(DeadlockError, match="waits for store_y, which has finished") as caught:
        run(executable, tmp_path, arguments=("0", "12", "1"))
    scale = next(task for task in caught.value.tasks if task.task == "scale")
    assert (scale.stream, scale.state, scale.waits_for, scale.finished) == ("s_y", "full", "store_y", True)
    assert caught.value.cycle == ()


@pytest.mark.usefixtures("inputs")
def test_run_past_its_limits_is_killed(executable: Path, tmp_path: Path) -> None:
    forever = ("0", "16", str(1 << 30))
    with pytest.raises(SimulationTimeoutError, match=r"limit of 0\.3 s"):
        run(executable, tmp_path, timeout_s=0.3, arguments=forever)
    with pytest.raises(SimulationTimeoutError, match="limit of 0 MiB of memory"):
        run(executable, tmp_path, memory_bytes=1000, arguments=forever)


def test_a_compile_error_is_quoted(tmp_path: Path) -> None:
    hls = tmp_path / "hls"
    shutil.copytree(SAMPLE, hls)
    (hls / "sample_k0.cpp").write_text('#include "sample_tasks.h"\nvoid sample_k0() { no_such_task(); }\n')
    with pytest.raises(ToolError, match=r"(?s)compiling sample_k0\.cpp failed.*no_such_task"):
        build(hls, tmp_path / "build", KERNELS, TASKS)


def test_missing_files_and_compilers_are_named(tmp_path: Path) -> None:
    with pytest.raises(ToolError, match=r"lacks sample_k2\.cpp"):
        build(SAMPLE, tmp_path, ["sample_k2"], TASKS)
    with pytest.raises(ToolError, match="apt-get install g"):
        build(SAMPLE, tmp_path, KERNELS, TASKS, compiler="no-such-g++")
    with pytest.raises(ToolError, match=r"holds 0 files \*_tasks\.h"):
        build(tmp_path, tmp_path, [], TASKS)
