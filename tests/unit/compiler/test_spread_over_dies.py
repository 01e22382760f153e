"""A design on three dies, from its network to the linker: relays wherever a stream crosses, in every file of it."""

import json
from pathlib import Path
from typing import Any

import pytest
from networks import NETWORKS
from small_bundles import bundle_of
from small_dies import small_dies
from vitis_standin.bench import make_bench

from compiler.design_dir import last_stage, stored_tasks
from compiler.errors import MillraceError
from compiler.frontend.bundle import Bundle
from compiler.options import Knobs, Workload
from compiler.pipeline import CERTIFIED, SPREAD, compile_design, stage_file
from compiler.proof.csim import csim
from compiler.simulator.timing.simulate import simulate_directory

pytestmark = pytest.mark.slow

BOARD = small_dies(0.04)
KNOBS = Knobs(default_tile_size=4, overall_unroll=16)


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the bundle of a network and its `design`."""
    folder = tmp_path_factory.mktemp("spread")
    estimated = compile_design(bundle_of("quantised", folder / "bundle"), KNOBS, BOARD, folder / "design")
    assert estimated.feasible
    return folder


def flow(design: Path) -> dict[str, Any]:
    return json.loads((design / "dataflow.json").read_text())


def test_every_stream_that_crosses_does_so_from_register_to_register(made: Path) -> None:
    found = flow(made / "design")
    slr, kinds = found["placement"]["slr"], {task["name"]: task["kind"] for task in found["tasks"]}
    assert set(slr) == set(kinds)
    assert set(slr.values()) == {"SLR0", "SLR1", "SLR2"}
    crossing = [s for s in found["streams"] if slr[s["source"]] != slr[s["target"]]]
    registered = {c["name"]: c["registered"] for c in found["placement"]["crossings"]}
    assert len(crossing) == sum("_relay" in name for name in slr) > 1
    assert {registered[s["name"]] for s in crossing} == {2}
    assert {kinds[s["source"]] for s in crossing} == {"route"}
    assert {abs(int(slr[s["source"]][-1]) - int(slr[s["target"]][-1])) for s in crossing} == {1}
    assert {n for name, n in registered.items() if name in kinds} == {1}, "ports, by their adapters"


def test_the_simulator_counts_the_relays(made: Path) -> None:
    design = made / "design"
    simulation, description = simulate_directory(design), json.loads((design / "design.json").read_text())
    assert simulation.deadlock is None
    assert list(simulation.kernels) == [kernel["cycles"] for kernel in description["fifo_sizing"]]
    metrics = {m["name"]: m["value"] for m in description["metrics"]}
    assert metrics["tasks"] == len(flow(design)["tasks"])
    assert metrics["cycles"] == pytest.approx(simulation.cycles, rel=0.05)


def test_the_floorplan_puts_each_relay_on_the_die_that_its_stream_leaves(made: Path) -> None:
    design, found = made / "design", flow(made / "design")
    dies = (design / "hls" / "floorplan.tcl").read_text().split("\nplace ")[1:]
    placed = {name: die.split()[0] for die in dies for name in die.split("{")[1].split("}")[0].split()}
    slr = found["placement"]["slr"]
    for stream in found["streams"]:
        assert placed[f"{stream['name']}_U"] == slr[stream["target"]]
    for relay in (name for name in slr if "_relay" in name):
        assert placed[f"{relay}_U0"] == slr[relay]


def test_the_linker_takes_it(made: Path, tmp_path: Path) -> None:
    bench = make_bench(tmp_path, made / "design", stored_tasks(made / "design", BOARD))
    result = bench.link()
    assert result.passed, result.failures
    assert "floorplan.tcl" in (made / "design" / "hls" / "link.cfg").read_text()
    assert "slr=" not in (made / "design" / "hls" / "link.cfg").read_text()


def test_it_is_as_the_network_and_a_relay_that_alters_a_token_is_found(made: Path) -> None:
    design = made / "design"
    assert csim(design).passed
    (code,) = (design / "hls").glob("*_tasks.cpp")
    text = code.read_text()
    relay = text.index("_relay0(")
    at = text.index("out.write(passed);", relay)
    code.write_text(f"{text[:at]}passed = {{}};\n    {text[at:]}")
    try:
        verdict = csim(design, allow_edited=True)
    finally:
        code.write_text(text)
    assert not verdict.passed
    assert "_relay0" in verdict.wrong[0]["task"]


@pytest.mark.parametrize("stage", [CERTIFIED, SPREAD])
def test_it_goes_on_from_its_texts(made: Path, stage: str, tmp_path: Path) -> None:
    """Whose dies are given has no method."""
    design, graph = made / "design", NETWORKS["quantised"]().graph()
    assert last_stage(design).name == stage_file(SPREAD)
    bundle = Bundle(made / "bundle", graph, Workload("quantised", "prefill", 8, "f32"), {})
    compile_design(bundle, KNOBS, BOARD, tmp_path / "again", start=design / "ir" / stage_file(stage))
    first, again = flow(design), flow(tmp_path / "again")
    assert again["placement"].pop("method") == ("given" if stage == SPREAD else first["placement"]["method"])
    for each in (first, again):
        each["placement"] |= {"method": "", "gap": 0}
    assert again == first
    name = "hls/quantised_tasks.cpp"
    assert (tmp_path / "again" / name).read_text() == (design / name).read_text()


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("@SLR2 holds", "@SLR3 holds", "u55c has no die SLR3; it has SLR0, SLR1, SLR2"),
        ("[@load_w, ", "[", "load_w lies on no die; give each task one, or none to all"),
        ("[@load_w, ", "[@load_w, @load_v, ", "load_v lies on SLR1, but is no task"),
        ("[@load_w, ", "[@load_w, @op_y, ", "two processes that lie on dies are called op_y"),
    ],
)
def test_a_text_whose_dies_do_not_fit_its_tasks_is_refused(
    made: Path, old: str, new: str, message: str, tmp_path: Path
) -> None:
    text = (made / "design" / "ir" / stage_file(SPREAD)).read_text()
    assert old in text
    file = tmp_path / stage_file(SPREAD)
    file.write_text(text.replace(old, new))
    bundle = Bundle(made / "bundle", NETWORKS["quantised"]().graph(), Workload("quantised", "prefill", 8, "f32"), {})
    with pytest.raises(MillraceError, match=message):
        compile_design(bundle, KNOBS, BOARD, tmp_path / "out", start=file)
