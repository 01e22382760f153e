"""Worker processes: same results as in-process, and none outlives its search."""

import multiprocessing
import pickle
import signal
import subprocess
import sys
from pathlib import Path

import psutil
import pytest

from compiler.errors import InvalidInputError, ToolError
from compiler.graph.linalg_graph import LinalgGraph
from compiler.options import Knobs
from compiler.platforms.platform import Platform
from dse.evaluate import Evaluation, evaluate
from dse.pool import default_jobs, open_pool

SCRIPT = """
import pickle, sys
from pathlib import Path

from compiler.platforms.platform import load_platform
from dse.explore import SearchOptions, search


class Forever:
    def write(self, designs):
        print("batch", flush=True)

    def should_stop(self):
        return False


if __name__ == "__main__":
    graph = pickle.loads(Path(sys.argv[1]).read_bytes())
    search(graph, load_platform("u55c"), SearchOptions(1_000_000, sampler="random", jobs=2), Forever())
"""


def test_one_job_stays_in_the_process(mlp: LinalgGraph, u55c: Platform):
    before = set(psutil.Process().children())
    with open_pool(evaluate, mlp, u55c, 1) as pool:
        assert [e.knobs for e in pool.map([Knobs(), Knobs(overall_unroll=32)])] == [Knobs(), Knobs(overall_unroll=32)]
        assert set(psutil.Process().children()) == before


def test_an_accelerator_is_priced_once(mlp: LinalgGraph, u55c: Platform):
    inert = Knobs(fusion_budget=1 << 20)
    with open_pool(evaluate, mlp, u55c, 1, known=()) as pool:
        found, again = pool.map([Knobs(), inert])
        assert [again, *pool.map([inert])] == 2 * [Evaluation(inert, accelerator=found.accelerator)]
    assert found.priced
    assert found.accelerator is not None
    with open_pool(evaluate, mlp, u55c, 1, known={found.accelerator}) as pool:
        assert pool.map([inert]) == [again]
    with open_pool(evaluate, mlp, u55c, 1) as pool:  # of a bench, which counts designs
        assert pool.map(2 * [Knobs()]) == 2 * [found]


@pytest.mark.slow
def test_workers_keep_order_and_end_with_the_pool(mlp: LinalgGraph, u55c: Platform):
    batch = [Knobs(overall_unroll=1 << k) for k in range(3, 9)]
    with open_pool(evaluate, mlp, u55c, 2) as pool:
        assert pool.map(batch) == [evaluate(mlp, knobs, u55c) for knobs in batch]
        workers = [p for p in psutil.Process().children() if "spawn_main" in " ".join(p.cmdline())]
    assert len(workers) == 2
    assert not any(p.is_running() for p in workers)


@pytest.mark.slow
def test_a_killed_worker_is_a_clear_error(mlp: LinalgGraph, u55c: Platform):
    with open_pool(evaluate, mlp, u55c, 2) as pool:
        pool.map([Knobs()])
        worker = next(p for p in psutil.Process().children() if "spawn_main" in " ".join(p.cmdline()))
        worker.kill()  # not waited for here: who reaps it is the pool, which else takes it to be alive for ever
        with pytest.raises(ToolError, match="resume the search with fewer jobs"):
            pool.map([Knobs()] * 8)


@pytest.mark.slow
@pytest.mark.parametrize("how", [signal.SIGINT, signal.SIGKILL])
def test_no_orphan_whichever_way_the_search_ends(mlp: LinalgGraph, tmp_path: Path, how: signal.Signals):
    graph, script = tmp_path / "graph.pickle", tmp_path / "forever.py"
    graph.write_bytes(pickle.dumps(mlp))
    script.write_text(SCRIPT)
    process = subprocess.Popen(
        [sys.executable, script, graph],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
        cwd=Path(__file__).parents[3],
        env={"PYTHONPATH": str(Path(__file__).parents[3])},
    )
    assert process.stdout is not None
    assert process.stdout.readline() == "batch\n"
    children = psutil.Process(process.pid).children(recursive=True)
    assert len([p for p in children if "spawn_main" in " ".join(p.cmdline())]) == 2
    if how == signal.SIGINT:  # a terminal sends Ctrl-C to the whole group
        for p in (*children, psutil.Process(process.pid)):
            p.send_signal(how)
    else:
        process.send_signal(how)
    _, errors = process.communicate(timeout=120)
    _, alive = psutil.wait_procs(children, timeout=60)
    assert alive == []
    chained = errors.count("During handling of the above exception")  # what Ctrl-C has met on its way
    assert errors.count("Traceback") - chained == (1 if how == signal.SIGINT else 0)


def test_a_daemonic_process_has_no_workers(mlp: LinalgGraph, u55c: Platform, monkeypatch: pytest.MonkeyPatch):
    class Daemonic:
        daemon = True

    monkeypatch.setattr(multiprocessing, "current_process", Daemonic)
    assert default_jobs() == 1
    with pytest.raises(InvalidInputError, match="use 1 job"), open_pool(evaluate, mlp, u55c, 2):
        pass
