"""Where a design may be written, what it says of the depths of its FIFOs, and going on from one of its stages."""

import json
import re
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from edited_texts import with_depth
from networks import NETWORKS
from small_bundles import bundle_of

from compiler.design_dir import last_stage, stored_tasks
from compiler.errors import InvalidInputError, VerificationError
from compiler.frontend.bundle import Bundle
from compiler.options import Knobs, TaskOverride, Workload
from compiler.pipeline import CERTIFIED, STAGES, compile_design, stage_file, time_design
from compiler.platforms.platform import load_platform
from compiler.simulator.timing.simulate import read_directory, simulate_directory, simulate_stalling

BUNDLE: Any = SimpleNamespace()  # not looked at where the directory is refused
U55C = load_platform("u55c")


def test_a_directory_that_can_not_be_made_or_is_in_use_is_refused(tmp_path: Path):
    file = tmp_path / "file"
    file.write_text("mine")
    for out, message in [(file / "design", "can not be made"), (file, "is not empty"), (tmp_path, "is not empty")]:
        with pytest.raises(InvalidInputError, match=message):
            compile_design(BUNDLE, Knobs(), U55C, out)
    assert file.read_text() == "mine"


def test_an_override_of_no_operation_is_refused_whatever_it_says(tmp_path: Path):
    knobs = Knobs(overrides=(TaskOverride("upp", weights="resident"),))
    with pytest.raises(InvalidInputError, match="there is no operation 'upp'"):
        compile_design(bundle_of("mlp", tmp_path / "bundle"), knobs, U55C, tmp_path / "design")


def compiled(
    name: str, folder: Path, knobs: Knobs, *, every_pass: bool = False
) -> tuple[Path, dict[str, Any], dict[str, Any]]:
    """The design, its description, and its tasks."""
    design = folder / "design"
    stages: list[str] = []
    compile_design(bundle_of(name, folder / "bundle"), knobs, U55C, design, stages.append, every_pass=every_pass)
    assert "certify FIFO depths" in stages
    return design, *(json.loads((design / file).read_text()) for file in ("design.json", "dataflow.json"))


@pytest.mark.parametrize("knobs", [Knobs(default_tile_size=4, overall_unroll=16), Knobs(engines="shared")])
def test_what_a_simulation_reads_is_that_of_the_whole_design(knobs: Knobs, tmp_path: Path):
    """Though no text of the IR was written and read again on the way."""
    design, description, dataflow = compiled("quantised", tmp_path, knobs)
    timed = tmp_path / "timed"
    time_design(bundle_of("quantised", tmp_path / "again"), knobs, U55C, timed)
    assert json.loads((timed / "dataflow.json").read_text()) == dataflow
    said = json.loads((timed / "design.json").read_text())
    assert {**said, "digests": ...} == {**description, "digests": ...}
    assert {path.name for path in timed.iterdir()} == {"dataflow.json", "design.json", "README.md"}
    assert simulate_directory(timed) == simulate_directory(design)


@pytest.mark.parametrize("name", ["softmax", "quantised"])
def test_a_design_takes_the_cycles_that_its_certificate_says(name: str, tmp_path: Path):
    design, description, dataflow = compiled(name, tmp_path, Knobs(default_tile_size=4, overall_unroll=16))
    sizing = description["fifo_sizing"]
    simulation = simulate_directory(design)
    assert simulation.deadlock is None
    assert list(simulation.kernels) == [kernel["cycles"] for kernel in sizing]
    assert all(kernel["proven"] and kernel["cycles"] <= 1.005 * kernel["unbounded"] for kernel in sizing)
    assert simulation.stalling is not None
    assert description["stalling"] == simulation.stalling.to_json()
    assert description["stalling"]["fidelity"] == "simulate"
    assert simulation.stalling == simulate_stalling(read_directory(design).design, U55C)
    assert all(stream["reason"] for stream in dataflow["streams"])
    bits = sum(stream["width"] * stream["depth"] for stream in dataflow["streams"])
    assert bits == sum(kernel["bits"] for kernel in sizing)


def test_the_certified_depths_are_a_stage_of_their_own(tmp_path: Path):
    design, _, dataflow = compiled("softmax", tmp_path, Knobs(default_tile_size=4))
    assert last_stage(design).name == "14-certify-fifos.mlir"
    stored = {s.name: s.depth for s in stored_tasks(design, U55C).streams}
    assert stored == {stream["name"]: stream["depth"] for stream in dataflow["streams"]}
    code = "".join(file.read_text() for file in (design / "hls").glob("*.cpp"))
    assert all(f', {depth}> {name}("{name}");' in code for name, depth in stored.items())


def test_the_ir_is_that_of_what_is_emitted_and_where_asked_for_of_every_pass(made: Path, tmp_path: Path):
    design, _, _ = compiled("softmax", tmp_path, SMALL)
    every = sorted(file.name for file in (made / "design" / "ir").iterdir())
    assert every == ["00-linalg.mlir", *map(stage_file, STAGES), "expanded.mlir"]
    assert [file.name for file in sorted((design / "ir").iterdir())] == ["00-linalg.mlir", stage_file(CERTIFIED)]
    for file in design.rglob("*"):
        if file.is_file() and file.name not in ("design.json", "README.md"):  # times, and digests of all files
            assert file.read_bytes() == (made / "design" / file.relative_to(design)).read_bytes()


def test_whole_streams_have_no_certificate(tmp_path: Path):
    _, description, dataflow = compiled("argmax", tmp_path, Knobs(default_tile_size=4, fifo="whole"))
    assert description["fifo_sizing"] == []
    for stream in dataflow["streams"]:
        is_whole = stream["reason"] == "by rule: holds the whole stream where two paths meet"
        assert is_whole or stream["reason"] == "by rule: as planned for the pace, as no two paths meet behind it"
        assert is_whole == (stream["depth"] >= stream["tokens"])
    assert len({stream["reason"] for stream in dataflow["streams"]}) == 2


SMALL = Knobs(default_tile_size=4, overall_unroll=1)


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the bundle of a network and its `design`."""
    folder = tmp_path_factory.mktemp("made")
    compiled("softmax", folder, SMALL, every_pass=True)
    return folder


def gone_on(made: Path, start: Path, out: Path) -> dict[str, Any]:
    """The tasks of a design that goes on from `start`."""
    network = NETWORKS["softmax"]().graph()
    bundle = Bundle(made / "bundle", network, Workload("softmax", "prefill", 8, "f32"), {})
    compile_design(bundle, SMALL, U55C, out, start=start, every_pass=True)
    return json.loads((out / "dataflow.json").read_text())


def text_of(made: Path, stage: str) -> str:
    return (made / "design" / "ir" / stage_file(stage)).read_text()


def edited(text: str, stage: str, folder: Path) -> Path:
    """A file of `text` that is named as one after `stage`."""
    file = folder / "edited" / stage_file(stage)
    file.parent.mkdir()
    file.write_text(text)
    return file


@pytest.mark.slow
@pytest.mark.parametrize("stage", STAGES)
def test_every_stage_goes_on_to_the_same_design(made: Path, stage: str, tmp_path: Path):
    gone_on(made, made / "design" / "ir" / stage_file(stage), tmp_path / "again")
    first, again = made / "design", tmp_path / "again"
    same = [
        f.relative_to(first) for f in first.rglob("*") if f.is_file() and f.name not in ("design.json", "README.md")
    ]
    assert {"dataflow.json", "ir/expanded.mlir", "hls/softmax_tasks.cpp"} <= set(map(str, same))
    assert [name for name in same if (again / name).read_bytes() != (first / name).read_bytes()] == []


def test_stages_before_an_edited_one_may_be_missing(made: Path, tmp_path: Path):
    file = edited(text_of(made, "plan-loads"), "plan-loads", tmp_path)
    assert gone_on(made, file, tmp_path / "out") == json.loads((made / "design" / "dataflow.json").read_text())
    assert sorted(f.name for f in (tmp_path / "out" / "ir").glob("[0-9]*")) == [
        "00-linalg.mlir",
        *(stage_file(stage) for stage in STAGES[STAGES.index("plan-loads") :]),
    ]


def test_an_edited_nest_is_kept(made: Path, tmp_path: Path):
    text, count = re.subn(
        r"(@op_p\s.*\s*)nest<.*>", r"\1nest<[d1 16 x 1, d0 2 x 3], unroll: [3, 1]>", text_of(made, "tile-tasks")
    )
    assert count == 1
    (task,) = (
        t for t in gone_on(made, edited(text, "tile-tasks", tmp_path), tmp_path / "out")["tasks"] if t["name"] == "op_p"
    )
    assert task["nest"]["unroll"] == [3, 1]
    assert [loop["trip"] for loop in task["nest"]["loops"]] == [16, 2]


def test_an_edited_depth_is_kept(made: Path, tmp_path: Path):
    depths = {s["name"]: s["depth"] for s in json.loads((made / "design" / "dataflow.json").read_text())["streams"]}
    name, depth = max(depths.items(), key=lambda item: item[1])
    file = edited(with_depth(text_of(made, "certify-fifos"), name, depth + 5), "certify-fifos", tmp_path)
    found = gone_on(made, file, tmp_path / "out")
    assert {s["name"]: s["depth"] for s in found["streams"]} == {**depths, name: depth + 5}
    assert f", {depth + 5}> {name}(" in "".join(f.read_text() for f in (tmp_path / "out" / "hls").glob("*.cpp"))


def test_a_depth_with_which_the_design_deadlocks_is_refused(made: Path, tmp_path: Path):
    file = edited(with_depth(text_of(made, "certify-fifos"), "op_e_in0", 2), "certify-fifos", tmp_path)
    with pytest.raises(VerificationError, match=r"with the FIFO depths that it is given: Deadlock after .* op_e waits"):
        gone_on(made, file, tmp_path / "out")
    assert not (tmp_path / "out").exists()


def another_network(text: str) -> str:
    return text.replace('from "src.x"', 'from "src.other"')


def unfinished(text: str) -> str:
    return text[: len(text) // 2]


@pytest.mark.parametrize(
    ("stage", "change", "message"),
    [
        ("tile-tasks", another_network, "is of another network than softmax; name the model it is of"),
        ("tile-tasks", unfinished, r"03-tile-tasks\.mlir can not be gone on from: "),
    ],
)
def test_a_text_that_is_not_of_the_network_is_refused(
    made: Path, stage: str, change: Callable[[str], str], message: str, tmp_path: Path
):
    file = edited(change(text_of(made, stage)), stage, tmp_path)
    with pytest.raises(InvalidInputError, match=message):
        gone_on(made, file, tmp_path / "out")


@pytest.mark.parametrize(
    ("text", "name", "message"),
    [
        ("import-linalg", "linalg-to-dataflow", "fuse-kernels expects every operation in a kernel"),
        ("plan-loads", "insert-forks", "has . readers of .*; run insert-forks"),
        ("bind-multipliers", "materialize-dmas", "is not packed; run materialize-dmas"),
        ("bind-multipliers", "certify-fifos", "has no FIFOs, which a design has after size-fifos"),
        ("insert-forks", "tile-tasks", "linalg-to-dataflow expects tasks on tensors"),
    ],
)
def test_a_text_of_another_stage_than_its_name_is_refused(
    made: Path, text: str, name: str, message: str, tmp_path: Path
):
    with pytest.raises((InvalidInputError, VerificationError), match=message):
        gone_on(made, edited(text_of(made, text), name, tmp_path), tmp_path / "out")


def test_a_file_that_is_no_stage_is_refused(made: Path, tmp_path: Path):
    with pytest.raises(
        InvalidInputError, match=r"expanded\.mlir is no stage of a design; go on from one of 01-import-linalg"
    ):
        gone_on(made, made / "design" / "ir" / "expanded.mlir", tmp_path / "out")
    with pytest.raises(InvalidInputError, match=r"03-tile-tasks\.mlir can not be gone on from: .*No such file"):
        gone_on(made, tmp_path / "03-tile-tasks.mlir", tmp_path / "out")
