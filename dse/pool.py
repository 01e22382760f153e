"""Evaluates batches of designs on all cores. Imports no Optuna: the worker processes load the compiler only.

Workers start once, with the graph and the platform, and receive nothing but knobs. They are spawned, not forked: the
parent may run threads (a Celery worker does). They end with the parent whichever way it ends, SIGKILL included.
"""

import multiprocessing
import os
import signal
import threading
import time
from collections.abc import Generator, Sequence
from concurrent.futures import ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager
from typing import Protocol

from compiler.errors import InvalidInputError, ToolError
from compiler.graph.linalg_graph import LinalgGraph
from compiler.options import Knobs
from compiler.platforms.platform import Platform
from dse.evaluate import Evaluation, Evaluator

PARENT_POLL_S = 0.5


class Pool(Protocol):
    """Evaluates designs; results come in the order of the knobs."""

    def map(self, batch: Sequence[Knobs]) -> list[Evaluation]: ...


def default_jobs() -> int:
    """The cores this process may use; 1 in a daemonic process (Celery's prefork pool), which may not have children."""
    return 1 if multiprocessing.current_process().daemon else len(os.sched_getaffinity(0))


class _InProcess:
    """One job: no worker process, easy to debug."""

    def __init__(self, evaluate: Evaluator, graph: LinalgGraph, platform: Platform):
        self._evaluate = evaluate
        self._graph = graph
        self._platform = platform

    def map(self, batch: Sequence[Knobs]) -> list[Evaluation]:
        return [self._evaluate(self._graph, knobs, self._platform) for knobs in batch]


class _Processes:
    def __init__(self, executor: ProcessPoolExecutor):
        self._executor = executor

    def map(self, batch: Sequence[Knobs]) -> list[Evaluation]:
        try:
            with _interrupt_blocked():  # the executor starts its workers here, as it needs them
                futures = [self._executor.submit(_run, knobs) for knobs in batch]
            return [future.result() for future in futures]
        except BrokenProcessPool as error:
            raise ToolError(
                "an evaluation process died, most likely for want of memory; resume the search with fewer jobs"
            ) from error


@contextmanager
def open_pool(evaluate: Evaluator, graph: LinalgGraph, platform: Platform, jobs: int) -> Generator[Pool]:
    """A pool of `jobs` processes; with 1 the caller's own process. No worker is left when the context ends."""
    if jobs < 1:
        raise InvalidInputError(f"jobs is {jobs}; it must be at least 1")
    if jobs == 1:
        yield _InProcess(evaluate, graph, platform)
        return
    if multiprocessing.current_process().daemon:
        raise InvalidInputError(
            f"jobs is {jobs}, but a daemonic process may not have children; use 1 job, "
            "or run the search in a worker with `--pool threads` or `--pool solo`"
        )
    executor = ProcessPoolExecutor(
        jobs,
        multiprocessing.get_context("spawn"),
        initializer=_start_worker,
        initargs=(evaluate, graph, platform, os.getpid()),
    )
    try:
        yield _Processes(executor)
    finally:
        executor.shutdown(wait=True, cancel_futures=True)


@contextmanager
def _interrupt_blocked() -> Generator[None]:
    """Processes started inside inherit the mask: Ctrl-C reaches the coordinator alone, which ends them in order."""
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


class _Worker:
    """What a worker process holds between designs."""

    pool: _InProcess


def _start_worker(evaluate: Evaluator, graph: LinalgGraph, platform: Platform, parent: int) -> None:
    _Worker.pool = _InProcess(evaluate, graph, platform)
    threading.Thread(target=_end_with, args=(parent,), daemon=True).start()


def _end_with(parent: int) -> None:
    # A killed parent closes nothing for us: workers share both ends of the queue, so they would wait for ever.
    while os.getppid() == parent:
        time.sleep(PARENT_POLL_S)
    os._exit(1)


def _run(knobs: Knobs) -> Evaluation:
    return _Worker.pool.map([knobs])[0]
