"""A small design in the emitter's style, built and run: results, taps, deadlock, leftover, limits."""

import shutil
from pathlib import Path

import numpy as np
import pytest

from compiler.errors import ToolError
from compiler.simulator.csim.build import build
from compiler.simulator.csim.errors import DeadlockError, LeftoverError, SimulationTimeoutError, TaskFaultError
from compiler.simulator.csim.execute import run

pytestmark = pytest.mark.slow

ROWS = 16
KERNELS = ["sample_k0", "sample_k1"]
TASKS = ["load_x", "load_w", "fork_x", "reduce_sum", "scale", "store_y"]
CALLS = {kernel: [(task, task) for task in TASKS] for kernel in KERNELS}
SAMPLE = Path(__file__).parent / "sample"

# Arguments of the testbench: kernel, rows to store, number of runs.
PLAIN = ("0", str(ROWS), "1")

PLAN = {
    "s_x": f"load_x fork_x 2 {ROWS} 4",
    "s_sum_in": f"fork_x reduce_sum 2 {ROWS} 4",
    "s_bypass": f"fork_x scale 4 {ROWS} 4",
    "s_sum": f"reduce_sum scale 2 {ROWS}",
    "s_w": f"load_w scale 16 {ROWS} 4",
    "s_y": f"scale store_y 8 {ROWS} 4",
}


def planned(folder: Path, **lines: str) -> Path:
    """A folder of taps for kernel 0, with other lines for some streams."""
    (folder / "taps").mkdir()
    (folder / "taps" / "plan").write_text("".join(f"{k} {v}\n" for k, v in (PLAN | lines).items()))
    return folder / "taps"


@pytest.fixture(scope="module")
def executable(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return build(SAMPLE, tmp_path_factory.mktemp("sample"), CALLS, is_short=True)


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
    assert run(executable, tmp_path, planned(tmp_path), arguments=PLAIN).stderr == ""
    y = np.fromfile(tmp_path / "y.bin", np.float32).reshape(ROWS, 16)
    np.testing.assert_allclose(y, x * (0.5 / x.sum(axis=1, keepdims=True)) * w, rtol=1e-5)

    taps = {path.stem: path for path in (tmp_path / "taps").glob("*.bin")}
    assert sorted(taps) == ["s_bypass", "s_sum", "s_sum_in", "s_w", "s_x", "s_y"]
    assert np.array_equal(np.fromfile(taps["s_x"], np.float32).reshape(ROWS, 16), x)
    assert np.array_equal(np.fromfile(taps["s_w"], np.int8).reshape(ROWS, 16), w)
    assert np.array_equal(np.fromfile(taps["s_y"], np.float32).reshape(ROWS, 16), y)
    np.testing.assert_allclose(np.fromfile(taps["s_sum"], np.float32), x.sum(axis=1), rtol=1e-6)


@pytest.mark.usefixtures("inputs")
def test_of_several_calls_the_last_is_recorded(executable: Path, tmp_path: Path) -> None:
    run(executable, tmp_path, planned(tmp_path), arguments=("0", "16", "3"))
    assert (tmp_path / "taps" / "s_y.bin").stat().st_size == ROWS * 16 * 4


def test_what_a_later_pass_repeats_is_compared_and_not_recorded(
    executable: Path, tmp_path: Path, inputs: tuple[np.ndarray, np.ndarray]
) -> None:
    """As if the rows of x were the passes of one; x is made so that they are, then that one token is not."""
    x, _ = inputs
    x[:] = x[0]
    x.tofile(tmp_path / "x.bin")
    taps = planned(tmp_path, s_x=f"load_x fork_x 2 {ROWS}r 4")
    run(executable, tmp_path, taps, arguments=PLAIN)
    assert np.array_equal(np.fromfile(taps / "s_x.bin", np.float32), x[0])
    x[5, 4] += 1
    x.tofile(tmp_path / "x.bin")
    with pytest.raises(TaskFaultError, match=r"task load_x: token 21 that it writes to s_x .* differs from that of"):
        run(executable, tmp_path, taps, arguments=PLAIN)


def test_loops_that_repeat_between_others(
    executable: Path, tmp_path: Path, inputs: tuple[np.ndarray, np.ndarray]
) -> None:
    """4 x 4 rows of which each four are alike, and pairs of tokens in a row."""
    x, _ = inputs
    x[:] = np.repeat(np.tile(x[::4].reshape(4, 2, 8)[:, :1], (1, 2, 1)).reshape(4, 16), 4, axis=0)
    x.tofile(tmp_path / "x.bin")
    taps = planned(tmp_path, s_x="load_x fork_x 2 4 4r 2r 2")
    run(executable, tmp_path, taps, arguments=PLAIN)
    assert np.array_equal(np.fromfile(taps / "s_x.bin", np.float32).reshape(4, 8), x[::4, :8])


def test_a_reader_gets_what_is_given(executable: Path, tmp_path: Path, inputs: tuple[np.ndarray, np.ndarray]) -> None:
    x, w = inputs
    taps, given = planned(tmp_path), np.arange(ROWS, dtype=np.float32) + 1
    given.tofile(taps / "s_sum.in")
    run(executable, tmp_path, taps, arguments=PLAIN)
    np.testing.assert_allclose(np.fromfile(taps / "s_sum.bin", np.float32), x.sum(axis=1), rtol=1e-6)  # as it was
    y = np.fromfile(tmp_path / "y.bin", np.float32).reshape(ROWS, 16)
    np.testing.assert_allclose(y, x * (0.5 / given[:, None]) * w, rtol=1e-5)
    given[:-1].tofile(taps / "s_sum.in")
    with pytest.raises(TaskFaultError, match="does not hold 16 tokens of 4 bytes"):
        run(executable, tmp_path, taps, arguments=PLAIN)


@pytest.mark.usefixtures("inputs")
@pytest.mark.parametrize(
    ("stream", "line", "task", "message"),
    [
        ("s_y", f"scale store_y 7 {ROWS} 4", "scale", "s_y holds 8 tokens where the design was certified with 7"),
        ("s_y", f"scale fork_x 8 {ROWS} 4", "store_y", "given stream s_y, which goes from scale to fork_x"),
        ("s_sum", f"reduce_sum scale 2 {ROWS - 1}", "scale", "reads more than the 15 tokens that stream s_sum"),
        ("s_sum", f"reduce_sum scale 2 {ROWS + 1}", "reduce_sum", "after it has written 16 of the 17 tokens"),
        ("s_x", f"load_x fork_x 2 {ROWS} 3", "load_x", "writes more than the 48 tokens"),
    ],
)
def test_a_stream_other_than_planned(
    executable: Path, tmp_path: Path, stream: str, line: str, task: str, message: str
) -> None:
    with pytest.raises(TaskFaultError, match=message) as caught:
        run(executable, tmp_path, planned(tmp_path, **{stream: line}), arguments=PLAIN)
    assert caught.value.task == task


@pytest.mark.usefixtures("inputs")
def test_no_taps_without_a_directory(executable: Path, tmp_path: Path) -> None:
    run(executable, tmp_path, arguments=PLAIN)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["w.bin", "x.bin", "y.bin"]


@pytest.mark.usefixtures("inputs")
def test_too_shallow_bypass_deadlocks_and_names_the_cycle(executable: Path, tmp_path: Path) -> None:
    """The sum needs all 4 tokens of a row before the first passes on; in kernel 1 the bypass holds 2."""
    with pytest.raises(DeadlockError) as caught:
        run(executable, tmp_path, arguments=("1", "16", "1"))
    error = caught.value
    assert set(error.cycle) == {"fork_x", "reduce_sum", "scale"}
    assert error.streams == ("t_bypass",)
    blocked = {task.task: task for task in error.tasks}
    fork = blocked["fork_x"]
    assert (fork.stream, fork.state, fork.size, fork.depth, fork.waits_for) == ("t_bypass", "full", 2, 2, "scale")
    assert (blocked["scale"].stream, blocked["scale"].state) == ("t_sum", "empty")
    assert "a larger depth of one of these breaks the cycle: t_bypass" in str(error)


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


@pytest.mark.usefixtures("inputs")
@pytest.mark.parametrize("is_short", [False, True])
@pytest.mark.parametrize(
    ("right", "wrong", "message"),
    [
        (
            "for (int i = 0; i < 4; ++i) sum += token[i];",
            "for (int i = 0; i < 5; ++i) sum += token[i];",
            "outside an array",
        ),
        ("float sum = 0;", "float sum = 0, kept[4]; for (int i = 0; i < ROWS; ++i) kept[i] = sum;", "outside an array"),
    ],
)
def test_an_index_outside_a_token_or_an_array_ends_the_run(
    tmp_path: Path, right: str, wrong: str, message: str, is_short: bool
) -> None:
    """Even where nothing here depends on it: in hardware another memory lies there."""
    hls = tmp_path / "hls"
    shutil.copytree(SAMPLE, hls)
    source = (hls / "sample_tasks.cpp").read_text()
    assert right in source
    (hls / "sample_tasks.cpp").write_text(source.replace(right, wrong))
    built = build(hls, tmp_path / "build", CALLS, is_short=is_short)
    with pytest.raises(TaskFaultError, match=message) as caught:
        run(built, tmp_path, arguments=PLAIN)
    assert caught.value.task == "reduce_sum"


def test_a_compile_error_is_quoted(tmp_path: Path) -> None:
    hls = tmp_path / "hls"
    shutil.copytree(SAMPLE, hls)
    (hls / "sample_k0.cpp").write_text('#include "sample_tasks.h"\nvoid sample_k0() { no_such_task(); }\n')
    with pytest.raises(ToolError, match=r"(?s)compiling sample_k0\.cpp failed.*no_such_task"):
        build(hls, tmp_path / "build", CALLS)


def test_missing_files_and_compilers_are_named(tmp_path: Path) -> None:
    with pytest.raises(ToolError, match=r"lacks sample_k2\.cpp"):
        build(SAMPLE, tmp_path, {"sample_k2": []})
    with pytest.raises(ToolError, match="apt-get install g"):
        build(SAMPLE, tmp_path, CALLS, compiler="no-such-g++")
    with pytest.raises(ToolError, match=r"holds 0 files \*_tasks\.h"):
        build(tmp_path, tmp_path, {})
