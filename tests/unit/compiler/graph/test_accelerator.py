"""Digests of accelerators against the files that they stand for."""

import multiprocessing
from concurrent.futures import ProcessPoolExecutor
from dataclasses import replace
from random import Random

from small_graphs import mlp

from bench.repeats import content
from compiler.errors import MillraceError
from compiler.graph.accelerator import accelerator_digest, plan_digest
from compiler.graph.task_graph import LoadTask
from compiler.options import Knobs
from compiler.passes.design_passes import planned_tasks, unsized
from compiler.passes.size_fifos import SizeFifos
from compiler.platforms.platform import load_platform
from dse.space import DesignSpace

MLP, U55C = mlp(), load_platform("u55c")


def test_digests_are_equal_exactly_where_the_files_are():
    space, rng = DesignSpace(MLP, U55C), Random(1)
    of_digest, of_content, of_plan = dict[str, str](), dict[str, str](), dict[object, str]()
    drawn = 300
    for n in range(drawn):
        knobs = space.vary(space.default_knobs()[n % 3], 1 + n % 3, rng)
        try:
            design = unsized(MLP, knobs, U55C)
        except MillraceError:
            continue
        tasks = SizeFifos(knobs).sized(design)
        digest, text = accelerator_digest(tasks), content(tasks)
        assert of_digest.setdefault(digest, text) == text
        assert of_content.setdefault(text, digest) == digest
        assert of_plan.setdefault((plan_digest(design), knobs.fifo, knobs.prefetch_kib), digest) == digest
    assert 30 < len(of_digest) < 0.9 * drawn, "some repeat, some do not"
    assert len(of_plan) < 1.3 * len(of_digest), "most of those that repeat are one plan before FIFOs are sized"


def test_plans_differ_by_each_decision_and_by_the_board():
    design = unsized(MLP, Knobs(overall_unroll=512, engines="shared"), U55C)
    assert plan_digest(replace(design)) == plan_digest(design)
    less = [
        replace(design, **{name: dict(list(part.items())[1:])})
        for name, part in vars(design).items()
        if isinstance(part, dict) and part
    ]
    others = [*less, replace(design, platform=replace(U55C, name="another")), replace(design, depths={"s": 2})]
    assert len(less) > 7
    assert len({plan_digest(other) for other in (design, *others)}) == 1 + len(others)


def test_names_and_reasons_do_not_count_and_all_else_does():
    tasks = planned_tasks(MLP, Knobs(), U55C)
    stream, load = tasks.streams[0], next(t for t in tasks.tasks if isinstance(t, LoadTask))
    streams, others = tasks.streams[1:], tuple(t for t in tasks.tasks if t is not load)
    same = replace(tasks, name="another", streams=(stream._replace(reason="another"), *streams))
    assert accelerator_digest(same) == accelerator_digest(tasks)
    for changed in (
        replace(tasks, kernels=tasks.kernels + 1),
        replace(tasks, streams=(stream._replace(depth=stream.depth + 1), *streams)),
        replace(tasks, streams=streams),
        replace(tasks, tasks=others),
        replace(tasks, tasks=(replace(load, timing=replace(load.timing, ii=load.timing.ii + 1)), *others)),
        replace(tasks, tasks=(replace(load, dma=replace(load.dma, channels=load.dma.channels + 1)), *others)),
    ):
        assert accelerator_digest(changed) != accelerator_digest(tasks)


def test_the_digest_is_the_same_in_another_process():
    """Whose strings hash otherwise: searches are resumed by it."""
    context = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(1, context) as others:
        assert others.submit(digest_of_default).result(timeout=100) == digest_of_default()


def digest_of_default() -> str:
    return accelerator_digest(planned_tasks(mlp(), Knobs(), U55C))
