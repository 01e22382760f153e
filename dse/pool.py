"""Evaluates batches of designs on all cores. Imports no Optuna: the worker processes load the compiler only.

Workers start once, with the graph and the platform, and receive nothing but knobs. They are spawned, not forked: the
parent may run threads (a Celery worker does). They end with the parent whichever way it ends, SIGKILL included.
"""

import multiprocessing
import os
import signal
import threading
from collections.abc import Generator, Iterable, Sequence
from concurrent.futures import Future, ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager
from multiprocessing.connection import Connection
from typing import Protocol

from compiler.collection import collect_rarely, rare_collection
from compiler.errors import InvalidInputError, ToolError
from compiler.graph.linalg_graph import LinalgGraph
from compiler.machine import most_jobs
from compiler.options import Knobs
from compiler.platforms.platform import Platform
from dse.evaluate import Evaluation, Evaluator

_JOB_BYTES = 384 << 20
"""Of an evaluation process: twice what one takes that has seen 600 designs of a GPT-2 block (182 MB)."""
_YOUNG = 1_000_000
"""Containers before the collector walks them: designs are frozen values without cycles, and their caches are large."""


class Pool(Protocol):
    """Evaluates designs; results come in the order of the knobs."""

    def map(self, batch: Sequence[Knobs]) -> list[Evaluation]: ...


def default_jobs() -> int:
    """The cores this process may use, or as many as it has memory for; 1 in a daemonic process (Celery's prefork pool),
    which may not have children.
    """
    return 1 if multiprocessing.current_process().daemon else most_jobs(_JOB_BYTES)


class _InProcess:
    """One job: no worker process, easy to debug."""

    def __init__(self, evaluate: Evaluator, graph: LinalgGraph, platform: Platform, known: Iterable[str] | None):
        self._evaluate = evaluate
        self._graph = graph
        self._platform = platform
        self._known = None if known is None else set(known)

    def map(self, batch: Sequence[Knobs]) -> list[Evaluation]:
        return [self._evaluated(knobs) for knobs in batch]

    def _evaluated(self, knobs: Knobs) -> Evaluation:
        found = self._evaluate(self._graph, knobs, self._platform, self._known or ())
        if self._known is not None and found.accelerator is not None:
            self._known.add(found.accelerator)
        return found


class _Processes:
    def __init__(self, executor: ProcessPoolExecutor, lifeline: Connection):
        self._executor = executor
        self._lifeline = lifeline

    def map(self, batch: Sequence[Knobs]) -> list[Evaluation]:
        try:
            return [future.result() for future in self._submitted(batch)]
        except BrokenProcessPool as error:
            self._lifeline.close()  # the executor may overlook a worker that was starting, and wait for it
            raise ToolError(
                "an evaluation process died, most likely for want of memory; resume the search with fewer jobs"
            ) from error

    def _submitted(self, batch: Sequence[Knobs]) -> list[Future[Evaluation]]:
        try:
            with _interrupt_blocked():  # the executor starts its workers here, as it needs them
                return [self._executor.submit(_run, knobs) for knobs in batch]
        except (ValueError, OSError) as error:  # it has just seen a worker die, and closed the pipes of a new one
            raise BrokenProcessPool(str(error)) from error


@contextmanager
def open_pool(
    evaluate: Evaluator, graph: LinalgGraph, platform: Platform, jobs: int, known: Iterable[str] | None = None
) -> Generator[Pool]:
    """A pool of `jobs` processes; with 1 the caller's own process. No worker is left when the context ends.

    Every design is priced, unless `known` says which accelerators need not be: then neither is one that a worker has
    met before, whose price is with earlier knobs.
    """
    if jobs < 1:
        raise InvalidInputError(f"jobs is {jobs}; it must be at least 1")
    if jobs == 1:
        with rare_collection(_YOUNG):
            yield _InProcess(evaluate, graph, platform, known)
        return
    if multiprocessing.current_process().daemon:
        raise InvalidInputError(
            f"jobs is {jobs}, but a daemonic process may not have children; use 1 job, "
            "or run the search in a worker with `--pool threads` or `--pool solo`"
        )
    context = multiprocessing.get_context("spawn")
    watched, lifeline = context.Pipe(duplex=False)
    executor = ProcessPoolExecutor(
        jobs, context, initializer=_start_worker, initargs=(evaluate, graph, platform, known, watched)
    )
    try:
        yield _Processes(executor, lifeline)
    finally:
        executor.shutdown(wait=True, cancel_futures=True)
        lifeline.close()
        watched.close()


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


def _start_worker(
    evaluate: Evaluator, graph: LinalgGraph, platform: Platform, known: Iterable[str] | None, watched: Connection
) -> None:
    _Worker.pool = _InProcess(evaluate, graph, platform, known)
    collect_rarely(_YOUNG)
    threading.Thread(target=_end_with, args=(watched,), daemon=True).start()


def _end_with(watched: Connection) -> None:
    # The parent holds the other end alone, so it closes however the parent ends. The executor's own queues do not: the
    # workers share both ends of them and would wait for ever.
    watched.poll(None)
    os._exit(1)


def _run(knobs: Knobs) -> Evaluation:
    return _Worker.pool.map([knobs])[0]
