"""Designs of hand-built networks with layers, proved with their C++ as it is or edited."""

import re
import shutil
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

import numpy as np
from layered_networks import Array

from compiler.errors import MillraceError
from compiler.graph.layers import folded, launched
from compiler.graph.linalg_graph import LinalgGraph
from compiler.options import Knobs
from compiler.passes.design_passes import planned_tasks
from compiler.platforms.platform import Platform, load_platform
from compiler.proof.csim import Proven, prove
from compiler.proof.runs import NETWORK, Subject, Trial
from compiler.proof.verdict import Verdict
from compiler.simulator.csim.build import build, calls_of
from compiler.targets.emit import NetworkData, emit_design
from compiler.targets.interface import plan_interface

TOLERANCE = 1e-4
Edit = Callable[[str], str]


class Made(NamedTuple):
    folder: Path
    design: Proven


def make(
    folder: Path,
    network: LinalgGraph,
    tensors: Mapping[str, Array],
    expected: Mapping[str, Array],
    knobs: Knobs,
    ports: int = 31,
) -> Made:
    """The design of a network whose layers are alike, of kernels with so many ports."""
    platform, graph = load_platform("u55c"), folded(network)
    platform = replace(platform, hbm=replace(platform.hbm, kernel_ports=ports))
    assert graph is not None
    return make_planned(folder, graph, tensors, expected, knobs, platform)


def make_planned(
    folder: Path,
    graph: LinalgGraph,
    tensors: Mapping[str, Array],
    expected: Mapping[str, Array],
    knobs: Knobs,
    platform: Platform,
) -> Made:
    """That of what is planned of a network."""
    tasks, whole = planned_tasks(graph, knobs, platform), launched(graph)
    emit_design(tasks, whole, platform, NetworkData(tensors, expected, TOLERANCE), folder)
    np.savez(folder / "tb" / "expected.npz", allow_pickle=False, **expected)
    return Made(folder, Proven(whole, tasks, TOLERANCE, "numpy"))


def built(made: Made, folder: Path, edit: Edit = str) -> Subject:
    """The design with its tasks' C++ edited."""
    directory, design = folder / "design", made.design
    shutil.copytree(made.folder, directory)
    (source,) = directory.glob("hls/*_tasks.cpp")
    text = source.read_text()
    assert edit is str or edit(text) != text
    source.write_text(edit(text))
    interface, work = plan_interface(design.tasks, design.graph), folder / "work"
    work.mkdir()
    program = build(directory / "hls", work, calls_of(directory))
    return Subject(program, directory, work, design.graph, design.tasks, interface, 60)


def verdict(made: Made, folder: Path, trials: tuple[Trial, ...], edit: Edit = str) -> Verdict:
    return prove(built(made, folder, edit), made.design, trials)


def is_caught(made: Made, folder: Path, edit: Edit) -> bool:
    """Whether the edited code compiles, and is found to be wrong: by what it gives, or since it does not end or reaches
    outside of an array.
    """
    subject = built(made, folder, edit)
    try:
        return not prove(subject, made.design, (NETWORK,)).passed
    except MillraceError:
        return True


def edit_in(function: str, old: str, new: str) -> Edit:
    """An edit of one function."""

    def edit(text: str) -> str:
        body = re.search(rf"^void {function}\(.*?^}}", text, re.MULTILINE | re.DOTALL)
        assert body is not None
        assert old in body[0]
        return text.replace(body[0], body[0].replace(old, new))

    return edit
