"""The whole network: lengths and refusals, then every family through the host program, token for token."""

import json
import os
import re
import shutil
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from contextlib import closing, suppress
from dataclasses import replace
from errno import ENOSPC
from functools import lru_cache, partial
from pathlib import Path
from typing import Any
from unittest.mock import Mock

import fake_pyxrt
import numpy as np
import pytest
from host_programs import run_program
from importing_here import importing_here
from tiny_models import TINY_MODELS, tiny_model

from compiler.analysis.prompt_rows import PROMPT_ROWS
from compiler.design_dir import read_design, silent
from compiler.errors import InvalidInputError, ToolError, UnsupportedError
from compiler.frontend.models.config import ModelSource, config_from_fields
from compiler.generation import (
    GenerateOptions,
    Generation,
    Prepared,
    _compiler_version,
    copy_for_board,
    exceeded,
    hidden_error,
    kept_shape,
    prepare,
    replied,
    request_of,
    run,
)
from compiler.host import session
from compiler.host.accelerator import Accelerator
from compiler.host.design import Image, Result, load_design
from compiler.host.network import Network, prompt_rows
from compiler.host.session import generate
from compiler.options import Knobs
from compiler.platforms.platform import load_platform
from compiler.proof.launches import GenerationChecks, Witness
from compiler.replies import stored_reply
from compiler.simulator.board.build import build_board
from compiler.simulator.csim.build import RUNTIME_SOURCE
from compiler.simulator.csim.errors import DeadlockError, LeftoverError
from compiler.simulator.timing.simulate import simulate_directory
from compiler.targets import tokens
from compiler.whole_token import Lengths

SOURCE = ModelSource("tiny", config_from_fields(TINY_MODELS["llama"]))
U55C = load_platform("u55c")
PROMPT = (5, 90, 17, 2, 61)
OPTIONS = GenerateOptions(PROMPT, 11, layers=2, length=31, then=((33, 90, 4, 4, 71),))
"""Two turns, up to the last position: two tiles of rows, and beyond a sliding window."""
MODELS: dict[str, Path] = {}  # by name, as tests make them
KNOBS = Knobs(max_padding=20)  # of 97 tokens make 112, which fill words: a launch may leave out the choice


def test_lengths_are_what_is_needed_rounded_up() -> None:
    request = request_of(SOURCE, GenerateOptions(PROMPT, 12))
    assert (request.length, request.layers) == (31, 3)
    assert request_of(SOURCE, GenerateOptions(PROMPT, 11)).length == 15
    assert request_of(SOURCE, GenerateOptions(PROMPT, 60)).length == 79, "more than the model has positions"
    assert request_of(SOURCE, GenerateOptions(PROMPT, 4, length=79)).length == 79
    assert request_of(SOURCE, GenerateOptions(PROMPT, 4, length=8)).length == 8
    assert request_of(SOURCE, GenerateOptions((1,), 1)).length == 15


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (GenerateOptions((), 1), "at least one token in the prompt"),
        (GenerateOptions(PROMPT, 1, then=((),)), "at least one token in the prompt"),
        (GenerateOptions(PROMPT, 0), "at least one token in the prompt, and one to generate"),
        (GenerateOptions(PROMPT, 4, length=7), "length is 7; 5 tokens of the prompt and 4 new ones need 8"),
        (GenerateOptions(PROMPT, 1, end=96), "end is 96; tiny has tokens 0 to 95"),
        (GenerateOptions(PROMPT, 1, end=-1), "end is -1; tiny has tokens 0 to 95"),
        (GenerateOptions((96,), 1), "the prompt holds token 96; tiny has tokens 0 to 95"),
        (GenerateOptions(PROMPT, 1, then=((96,),)), "the prompt holds token 96; tiny has tokens 0 to 95"),
        (GenerateOptions(PROMPT, 4, length=13, then=((1, 2),)), "7 tokens of the prompt and 8 new ones need 14"),
        (GenerateOptions(PROMPT, 1, layers=4), "layers is 4; tiny has 3"),
        (GenerateOptions(PROMPT, 4, length=80), "80 positions are needed .* tiny has 64"),
        (GenerateOptions(PROMPT, 61), "65 positions are needed .* tiny has 64"),
    ],
)
def test_what_does_not_fit_is_refused(options: GenerateOptions, message: str) -> None:
    with pytest.raises(InvalidInputError, match=message):
        request_of(SOURCE, options)


def test_budgets_that_a_design_is_over_are_named(tmp_path: Path) -> None:
    over = [{"resource": "hbm_ports", "demand": 46.0, "bound": 32.0}]
    (tmp_path / "design.json").write_text(json.dumps({"digests": {}, "violations": over}))
    assert exceeded(tmp_path) == ("hbm_ports 46 of 32",)


def test_too_large_a_network_is_refused_before_it_is_built() -> None:
    """Its table of positions counts too."""
    fields = {"model_type": "gpt2", "n_embd": 16384, "n_head": 16, "n_layer": 1, "vocab_size": 8}
    config = config_from_fields({**fields, "n_positions": 1 << 18})
    with pytest.raises(InvalidInputError, match=r"1 layers of big have .* at most 8192 MiB"):
        request_of(ModelSource("big", config), GenerateOptions((1,), 1))


def test_hidden_states_are_compared_up_to_the_first_token_that_differs() -> None:
    reference = {"tokens": np.array([1, 2, 3]), "hidden": np.array([[1.0, -2.0], [0.0, 1.0], [1.0, 1.0]])}
    states = reference["hidden"] + np.array([[0.0], [0.02], [0.5]])
    assert hidden_error([1, 2, 3], states, reference) == pytest.approx(0.25)
    assert hidden_error([1, 9, 3], states, reference) == pytest.approx(0.01)
    assert hidden_error([9, 9, 9], states, reference) == 0
    assert hidden_error([9], states[:1], reference) == 0  # ends the reply
    assert hidden_error([1, 2, 3], states * np.nan, reference) == np.inf


def test_equal_tokens_from_wrong_hidden_states_do_not_pass() -> None:
    assert not Generation((1, 2), (1, 2), 0.06, (1.0,) * 2, (), 0.05).passed
    assert Generation((1, 2), (1, 2), 0.04, (1.0,) * 2, (), 0.05).passed
    tied = Generation((1, 3), (1, 2), 0.04, (1.0,) * 2, (), 0.05)
    assert (tied.within_rounding, tied.passed) == (True, False)
    assert Generation((1,), (1,), np.inf, (1.0,), (), 0.05).to_json()["hidden_error"] is None


def test_a_generation_names_the_first_token_that_differs() -> None:
    assert Generation((1, 2, 3), (1, 2, 3), 0.0, (1.0,) * 3, (), 0.05).equal
    different = Generation((1, 4, 5), (1, 2, 3), 0.0, (1.0,) * 3, (), 0.05)
    assert (different.equal, different.first_difference) == (False, 1)
    assert different.to_json()["first_difference"] == 1


@pytest.fixture(scope="module", params=["gpt2", "gemma3"])
def prepared(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Prepared:
    """Two layers, so that a layer's own weights and cache matter; of gemma3 one of each kind."""
    model = MODELS[request.param] = tiny_model(request.param, tmp_path_factory.mktemp("models"))
    cache = tmp_path_factory.mktemp("cache")
    with importing_here():
        return prepare(model, OPTIONS, KNOBS, U55C, cache, silent)


Make = Callable[[str, GenerateOptions, Knobs], Prepared]


@pytest.fixture(scope="module")
def make(tmp_path_factory: pytest.TempPathFactory) -> Make:
    """Prepares designs of networks, each of which is imported once, and exported once for the same text."""
    models = lru_cache(lambda name: tiny_model(name, tmp_path_factory.mktemp("models")))
    cache = tmp_path_factory.mktemp("cache")

    def make(model: str, options: GenerateOptions, knobs: Knobs) -> Prepared:
        with importing_here():
            return prepare(models(model), options, knobs, U55C, cache, silent)

    return make


@pytest.mark.slow
def test_the_simulated_board_generates_the_tokens_of_pytorch(prepared: Prepared) -> None:
    seen: list[int] = []
    launches: list[str] = []
    generation = run(prepared, launches.append, seen.append)
    assert generation.tokens == generation.reference == tuple(seen)
    assert len(set(seen)) > 2  # a constant would prove little
    assert generation.hidden_error < 5e-3
    assert generation.passed, generation.wrong_launch
    kernels = len(load_design(prepared.design).kernels)
    assert kernels == 1
    assert generation.launches == 2  # each with its prompt
    assert generation.tolerance == pytest.approx(0.02 * 2**0.5)
    assert launches == ["reply"] * 2
    found = {m.name: m.value for m in generation.metrics}
    later = found["reply_time"] - found["first_token_time"]
    assert later == pytest.approx((OPTIONS.tokens - 1) * found["time_per_token"])
    longest = simulate_directory(prepared.design).latency_us  # at the last position
    assert found["time_per_token"] <= longest / 1e3
    assert {"first", "until", "end"} <= load_design(prepared.design).arguments.keys()
    assert found["first_token_time"] < 0.5 * len(PROMPT) * found["time_per_token"] + 0.27  # one chunk, not one by one
    assert f"{kernels} kernel starts a reply" in generation.assumed


@pytest.mark.slow
def test_a_design_says_what_replies_take_of_half_its_positions_and_its_estimate_is_near(prepared: Prepared) -> None:
    """31 positions: a prompt of 15, and 16 tokens behind the first."""
    lengths = Lengths.within(OPTIONS.length or 0)
    assert lengths == (15, 16)
    found = stored_reply(prepared.design)
    assert found is not None
    assert found == replied(prepared, *lengths)
    estimates = {m["name"]: m["value"] for m in read_design(prepared.design)["metrics"]}
    for metric in found.metrics:
        assert estimates[metric.name] == pytest.approx(metric.value, rel=0.2), metric.name


@pytest.mark.slow
@pytest.mark.parametrize("prepared", ["gpt2"], indirect=True)
def test_prompts_go_through_in_chunks_whatever_their_length(prepared: Prepared) -> None:
    """Of one token, of a chunk, of one and a half; the later ones with the token that was made last before them."""
    prompts = [tuple((7 * n + 3) % 97 for n in range(length)) for length in (1, PROMPT_ROWS - 1, 11)]
    options = replace(OPTIONS, prompt=prompts[0], tokens=2, then=tuple(prompts[1:]))
    with importing_here():
        made = prepare(MODELS[prepared.source.name], options, KNOBS, U55C, prepared.network.parent, silent)
    assert made.design == prepared.design
    generation = run(made, silent, lambda _token: None)
    assert generation.tokens == generation.reference
    assert generation.passed, generation.wrong_launch
    assert generation.launches == 3


@pytest.mark.slow
@pytest.mark.parametrize("ports", [31, 10], ids=["own ports", "small parameters share ports"])
def test_the_host_packs_weights_that_lie_in_one_image(ports: int, tmp_path: Path) -> None:
    """Of each layer anew, from the network's export: the design directory holds those of the first. Prompts go through
    in chunks, of five tokens and of eight and three, phase by phase.
    """
    knobs = Knobs(default_tile_size=64, overall_unroll=64, engines="shared", loads="joint")
    model, board = tiny_model("gpt2", tmp_path), replace(U55C, hbm=replace(U55C.hbm, kernel_ports=ports))
    options = replace(OPTIONS, tokens=8, then=(tuple((7 * n + 3) % 97 for n in range(PROMPT_ROWS + 3)),))
    with importing_here():
        made = prepare(model, options, knobs, board, tmp_path / "cache", silent)
    images = [image for image in load_design(made.design).images.values() if image.parts]
    assert {len(image.parts) for image in images} >= {5}  # a layer's, and the head's
    dataflow = json.loads((made.design / "dataflow.json").read_text())
    assert dataflow["control"]["rows"] == PROMPT_ROWS
    assert dataflow["control"]["held"]
    assert any(len(task["writes"]) > 1 for task in dataflow["tasks"] if task["kind"] == "load") == (ports < 31)
    assert all(image.sources == tuple(s for part in image.parts for s in part.sources) for image in images)
    assert "choose" not in load_design(made.design).arguments  # 104 tokens end within a word
    generation = run(made, lambda _: None, lambda _: None)
    assert generation.passed, generation.wrong_launch
    assert generation.tokens == generation.reference


@pytest.mark.slow
@pytest.mark.parametrize(
    ("model", "rows", "slices"), [("gpt2", 2, 1), ("gpt2", 3, 2), ("llama", 2, 2), ("gemma3", 3, 1)]
)
def test_rows_side_by_side_reply_as_one_by_one(model: str, rows: int, slices: int, make: Make) -> None:
    """Prompts of one, of fewer tokens than a chunk, and of a chunk and three: groups of rows are full or not. Engines
    whose weights do not come by one load, as those of rotary embeddings, take one row after the other.
    """
    knobs = Knobs(
        default_tile_size=64,
        overall_unroll=64,
        engines="shared",
        loads="joint",
        rows=rows,
        slices=slices,
        max_padding=20,
    )
    later = tuple(tuple((7 * n + length) % 97 for n in range(length)) for length in (1, PROMPT_ROWS + 3))
    made = make(model, replace(OPTIONS, tokens=4, then=later), knobs)
    dataflow = json.loads((made.design / "dataflow.json").read_text())
    control = dataflow["control"]
    assert control["abreast"] == rows
    assert sum(name.startswith("engine0_slice") for name in control["copied"]) == (slices if slices > 1 else 0)
    alone = {task["name"] for task in dataflow["tasks"] if task["kind"] == "engine"} - set(control["copied"])
    assert bool(alone) == (model != "gpt2")
    generation = run(made, silent, lambda _token: None)
    assert generation.tokens == generation.reference
    assert generation.passed, generation.wrong_launch


@pytest.mark.slow
@pytest.mark.parametrize(
    ("model", "rows", "slices", "unroll", "each"),
    [("gpt2", 1, 1, 1024, 1), ("gpt2", 3, 1, 1024, 3), ("gpt2", 4, 2, 256, 2), ("llama", 4, 1, 1024, 2)],
)
def test_weights_that_come_in_words_reply_as_those_in_tokens(
    model: str, rows: int, slices: int, unroll: int, each: int, make: Make
) -> None:
    """Those of an engine, through ports narrower than a token; of the head, which a launch may leave out, too. While
    one waits for them it takes rows in turns, which groups are full of or not.
    """
    knobs = Knobs(
        default_tile_size=32,
        overall_unroll=unroll,
        stream_width=2048,
        engines="shared",
        loads="joint",
        rows=rows,
        slices=slices,
        max_padding=20,
    )
    later = tuple(tuple((7 * n + length) % 97 for n in range(length)) for length in (1, PROMPT_ROWS + 3))
    made = make(model, replace(OPTIONS, tokens=4, then=later, precision="w4a8"), knobs)
    dataflow = json.loads((made.design / "dataflow.json").read_text())
    assert dataflow["control"].get("each", 1) == each
    pieces = [task["name"] for task in dataflow["tasks"] if task.get("pieces")]
    assert pieces == (["engine0_in1_widening"] if slices == 1 else [f"engine0_slice{n}_in1_share" for n in (0, 1)])
    (load,) = (task for task in dataflow["tasks"] if task["name"] == "load_engine0_in1")
    assert [bound["name"] for bound in load["turns"][-1]["bounds"]] == ["choose"]
    generation = run(made, silent, lambda _token: None)
    assert generation.tokens == generation.reference
    assert generation.passed, generation.wrong_launch


@pytest.mark.slow
@pytest.mark.parametrize("slices", [1, 2])
def test_tokens_wider_than_a_fifo_reply_as_others(slices: int, make: Make, monkeypatch: pytest.MonkeyPatch) -> None:
    """They pass in parts: weights that a load deals out, of groups of rows in turns, and what lies between tasks."""
    monkeypatch.setattr(tokens, "MAX_FIFO_BITS", 64)
    knobs = Knobs(
        default_tile_size=32,
        overall_unroll=512,
        stream_width=2048,
        engines="shared",
        loads="joint",
        rows=4,
        slices=slices,
        max_padding=20,
    )
    later = (tuple((7 * n + 3) % 97 for n in range(PROMPT_ROWS + 3)),)
    made = make("gpt2", replace(OPTIONS, tokens=4, then=later, precision="w4a8"), knobs)
    (top,) = (made.design / "hls").glob("*_k0.cpp")
    declared = re.findall(r"hls::stream<(\w+)::Part, \d+> \w+_part1(\[)?", top.read_text())
    assert {kind[:2] for kind, _ in declared} >= {"i4", "i8"}
    assert any(array for _, array in declared)
    (tasks,) = (made.design / "hls").glob("*_tasks.cpp")
    assert ("move_bits<" in tasks.read_text()) == (slices > 1)
    generation = run(made, silent, lambda _token: None)
    assert generation.tokens == generation.reference
    assert generation.passed, generation.wrong_launch


@pytest.mark.slow
def test_the_mask_that_each_head_reads_again_comes_in_one_loop(make: Make) -> None:
    """Of a row, as long as the position says: a loop for each head would wait for memory before each."""
    knobs = Knobs(default_tile_size=64, overall_unroll=512, stream_width=128, engines="shared", loads="joint", rows=2)
    made = make("gpt2", replace(OPTIONS, tokens=4, then=(), precision="w4a8kv8"), knobs)
    (source,) = (made.design / "hls").glob("*_tasks.cpp")
    load = source.read_text().partition("void load_mask(")[2].partition("\n}\n")[0]
    assert re.search(r"ap_uint<\d+> pass_1 = 0;\n +ap_uint<\d+> w = 0;", load), load
    assert "for (int w" not in load
    generation = run(made, silent, lambda _token: None)
    assert generation.tokens == generation.reference
    assert generation.passed, generation.wrong_launch


def _told(change: Callable[[dict[str, int]], dict[str, int]]) -> Any:
    def give(accelerator: Accelerator, values: dict[str, int]) -> None:
        GIVE(accelerator, change(values) if values else values)

    return give


def _loaded(change: Callable[[dict[str, Any]], dict[str, Any]]) -> Any:
    def tensors(network: Network) -> dict[str, Any]:
        found = dict(TENSORS(network))
        return {**found, **change(found)}

    return tensors


def _layers_exchanged(found: dict[str, Any]) -> dict[str, Any]:
    exchange = {"h0": "h1", "h1": "h0"}
    return {f"{exchange[name[:2]]}{name[2:]}": array for name, array in found.items() if name[:2] in exchange}


def _another_token(found: dict[str, Any]) -> dict[str, Any]:
    """Two columns of the vocabulary have changed places: what the head reads is not the network's."""
    weight = found["last.head.weight"].copy()
    weight[..., [0, 1]] = weight[..., [1, 0]]
    return {"last.head.weight": weight}


def _scale_of_another_prompt(found: dict[str, Any]) -> dict[str, Any]:
    """What the head's numbers are divided by is no argument of the design, but of the network's."""
    return {"last.head.quantise.inv_scale": found["last.head.quantise.inv_scale"] * np.float32(1.01)}


def _rolled(name: str) -> Callable[[dict[str, Any]], dict[str, Any]]:
    return lambda found: {name: np.roll(found[name], -1, axis=0)}


def _rows(change: Callable[[list[int], int], tuple[list[int], int]]) -> Any:
    def rows(length: int, prompt: Sequence[int] = (), position: int = 0) -> Any:
        return ROWS(length, *change(list(prompt), position))

    return rows


def _one_more(accelerator: Accelerator, result: Result) -> Any:
    return READ(accelerator, result) + (result.name == "token")


GIVE, READ, TENSORS, ROWS = Accelerator.give, Accelerator.read, Network.tensors, prompt_rows
NUMBERS = r"kernel .*: the numbers passed are not those"
BEGIN, NEXT = "turn 1, position 0", "turn 2, position 8"  # behind four tokens


@pytest.mark.slow
@pytest.mark.parametrize("prepared", ["gpt2"], indirect=True)
@pytest.mark.parametrize(
    ("owner", "name", "wrong", "message"),
    [
        (
            Accelerator,
            "give",
            _told(lambda v: {**v, "position": max(0, v["position"] - 1)}),
            f"{NEXT}, {NUMBERS}",
        ),
        (Accelerator, "give", _told(lambda v: {**v, "token": (v["token"] + 1) % 96}), f"{BEGIN}, {NUMBERS}"),
        (Accelerator, "give", _told(lambda v: {"token": v["token"]}), f"{BEGIN}, {NUMBERS}"),
        (Accelerator, "give", _told(lambda v: {**v, "first": v["first"] - 1}), f"{BEGIN}, {NUMBERS}"),
        (Accelerator, "give", _told(lambda v: {**v, "until": v["until"] - 1}), f"{BEGIN}, {NUMBERS}"),
        (session, "prompt_rows", _rows(lambda ids, at: (ids, at + 1)), f"{BEGIN}, kernel .*: prompt, channel 0, is"),
        (session, "prompt_rows", _rows(lambda ids, _: (ids, 0)), f"{NEXT}, kernel .*: prompt, channel 0, is not what"),
        (Network, "tensors", _loaded(_rolled("mask")), f"{BEGIN}, kernel .*: mask, channel 0, is not what it"),
        (Network, "tensors", _loaded(_rolled("positions")), f"{BEGIN}, kernel .*: positions, channel 0, is not"),
        (Network, "tensors", _loaded(_rolled("embedding")), f"{BEGIN}, kernel .*: embedding, channel 0, is not"),
        (Network, "tensors", _loaded(_layers_exchanged), f"{BEGIN}, kernel .* is not what it should read"),
        (Network, "tensors", _loaded(_another_token), f"{BEGIN}, kernel .*: last_head_weight, channel 0, is not"),
        (Network, "tensors", _loaded(_scale_of_another_prompt), f"{BEGIN}, {NUMBERS}"),
        (Accelerator, "read", _one_more, rf"{BEGIN}: token \d+ is not what the launch has given, \d+"),
    ],
)
def test_a_host_program_that_is_wrong_is_found_at_its_first_wrong_launch(
    prepared: Prepared, monkeypatch: pytest.MonkeyPatch, owner: Any, name: str, wrong: Any, message: str
) -> None:
    board, design = Witness(), load_design(prepared.design)
    with monkeypatch.context() as patch, closing(board.device(0)) as device:
        patch.setattr(owner, name, wrong)
        steps = list(generate(board, device, Network(prepared.network), design, prepared.design, count=4))
    checks = GenerationChecks(Network(prepared.network), design, kept_shape(prepared), board.launches, 4)
    assert re.match(message, checks.run([step.token for step in steps]) or "none")


@pytest.mark.slow
def test_a_launch_that_changes_a_row_of_another_position_is_found(prepared: Prepared) -> None:
    board, design = Witness(), load_design(prepared.design)
    with closing(board.device(0)) as device:
        steps = list(generate(board, device, Network(prepared.network), design, prepared.design, count=1))
    launch = board.launches[1]  # of the second turn
    key = next((name, channel) for name, channel in launch.after if design.images[name].role == "kept")
    content = np.frombuffer(launch.after[key], np.uint8).copy()
    content[np.flatnonzero(content)[0]] ^= 1  # of position 0, which the launch before wrote
    launch.after[key] = content.tobytes()
    checks = GenerationChecks(Network(prepared.network), design, kept_shape(prepared), board.launches, 1)
    found = checks.run([step.token for step in steps])
    assert found == f"turn 2, position 5: rows of {key[0]} have changed that are of other positions"


@pytest.fixture(scope="module")
def ended(prepared: Prepared) -> Prepared:
    """The same design, where the fourth token of the first reply ends it, and stands in the prompt of the second,
    behind its first chunk.
    """
    end = int(Network(prepared.network).reference()["tokens"][3])
    options = replace(OPTIONS, tokens=8, end=end, then=((9, 1, 2, 3, 4, 5, 6, end, 40),))
    with importing_here():
        return prepare(MODELS[prepared.source.name], options, KNOBS, U55C, prepared.network.parent, silent)


@pytest.mark.slow
@pytest.mark.parametrize("prepared", ["gpt2"], indirect=True)
def test_a_reply_ends_with_its_token(prepared: Prepared, ended: Prepared) -> None:
    """Behind it nothing is written to the caches, the next turn stands there; metrics are those of what was made."""
    reference = tuple(Network(prepared.network).reference()["tokens"].tolist())
    behind = reference.index(ended.end) + 1
    found = run(ended, silent, lambda _token: None)
    assert ended.design == prepared.design
    assert found.tokens[:behind] == reference[:behind]
    assert behind < len(found.tokens) == len(found.margins) <= behind + OPTIONS.tokens
    assert found.passed, found.wrong_launch
    assert found.launches == 2
    times = {metric.name: metric.value for metric in found.metrics}
    later = times["reply_time"] - times["first_token_time"]
    assert later == pytest.approx((behind - 1) * times["time_per_token"])


@pytest.mark.slow
@pytest.mark.parametrize("prepared", ["gpt2"], indirect=True)
@pytest.mark.parametrize(
    ("right", "wrong"),
    [
        ("load_mask_go.write(position + row);", "load_mask_go.write(position + row ? position + row - 1 : 0);"),
        (" && (position <= first || token != end);", ";"),
        (" && (position <= first || token != end);", " && token != end;"),
        ("store_h0_attn_k_done.read();", ""),
        ("first - position + 1 : 1;", "first - position + 2 : 1;"),
        ("ids[row] = load_prompt_chunk.read();", "ids[row - 1] = load_prompt_chunk.read();"),
        ("credit.write(true);", "if (row) credit.write(true);"),
    ],
    ids=[
        "a mask of the position before",
        "the end is ignored",
        "the end counts within a prompt",
        "the answer of a store is left where it is",
        "a chunk goes beyond its prompt",
        "the tokens of a chunk are those before",
        "a row of a chunk is never answered for",
    ],
)
def test_a_loop_over_tokens_that_is_wrong_is_found(ended: Prepared, tmp_path: Path, right: str, wrong: str) -> None:
    design = tmp_path / "design"
    shutil.copytree(ended.design, design, ignore=shutil.ignore_patterns("board"))
    (source,) = design.glob("hls/*_tasks.cpp")
    text = source.read_text()
    assert text.count(right) == 1
    source.write_text(text.replace(right, wrong))
    build_board(design)
    with suppress(DeadlockError, LeftoverError):
        assert not run(replace(ended, design=design), silent, lambda _token: None).passed


@pytest.mark.slow
def test_the_host_program_is_right_with_exact_kernels(prepared: Prepared) -> None:
    network, design = Network(prepared.network), load_design(prepared.design)
    xclbin = prepared.design / "fake.xclbin"
    steps = list(generate(fake_pyxrt, fake_pyxrt.device(0), network, design, xclbin, count=OPTIONS.tokens))
    reference = network.reference()
    assert [s.token for s in steps] == reference["tokens"].tolist()
    error = np.abs(np.stack([s.hidden for s in steps]) - reference["hidden"]).max()
    assert error <= 5e-3 * np.abs(reference["hidden"]).max()


@pytest.mark.slow
@pytest.mark.parametrize("prepared", ["gpt2"], indirect=True)
def test_the_emitted_program_generates_without_millrace(ended: Prepared, tmp_path: Path) -> None:
    copy_for_board(ended, tmp_path / "out")
    network, design = (tmp_path / "out" / name for name in ("network", "design"))
    assert not (design / "board").exists()
    reference = Network(network).reference()["tokens"].tolist()
    arguments, fake = [network, design / "fake.xclbin"], "from fake_pyxrt import *\n"
    program = partial(run_program, design / "host" / "generate.py", *arguments, fake=fake)

    def made(*options: str) -> list[int]:
        done = program(*options)
        assert done.returncode == 0, done.stderr
        assert "tokens equal the reference's" in done.stdout
        return [int(line) for line in done.stdout.splitlines() if line.isdecimal()]

    assert made() == reference
    assert "exported with 2 turns" in program("--tokens", "3").stderr
    description = json.loads((network / "network.json").read_text())
    (network / "network.json").write_text(json.dumps(description | {"then": [], "end": None}))
    assert made("--end", str(ended.end)) == reference[: reference.index(ended.end) + 1]
    refused = program("--end", "1000")
    assert (refused.returncode, "--end is 1000; the network has tokens 0 to 9" in refused.stderr) == (2, True)
    with pytest.raises(InvalidInputError, match="is not empty"):
        copy_for_board(ended, tmp_path / "out")


def test_a_full_disk_is_said_and_nothing_is_left_on_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("network", "design"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "layer.npz").write_bytes(b"weights")
    made, copied = Mock(network=tmp_path / "network", design=tmp_path / "design"), shutil.copyfile

    def full(source: os.PathLike[str], target: Path, **options: bool) -> None:
        copied(source, target, **options)
        if Path(source).parent.name == "design":
            raise OSError(ENOSPC, os.strerror(ENOSPC), str(target))

    monkeypatch.setattr(shutil, "copyfile", full)
    with pytest.raises(ToolError, match=r"cannot write .*layer\.npz: .*No space left.*; free space, or name another"):
        copy_for_board(made, tmp_path / "out")
    assert list((tmp_path / "out").iterdir()) == []


@pytest.mark.slow
@pytest.mark.parametrize("prepared", ["gpt2"], indirect=True)
def test_weights_are_packed_and_sent_once_whatever_is_said(prepared: Prepared, monkeypatch: pytest.MonkeyPatch) -> None:
    """When the session begins; a reply sends the table of its prompt alone. What a process has left on a board another
    one can not know: it programs the board anew, and sends all of it.
    """
    design = load_design(prepared.design)
    packed, sent = list[str](), Counter[int]()
    content, sync = Image.content, fake_pyxrt.bo.sync

    def packing(image: Image, tensors: Mapping[str, Any]) -> Any:
        packed.append(image.name)
        return content(image, tensors)

    def sending(buffer: fake_pyxrt.bo, direction: int, size: int, offset: int) -> None:
        sent[id(buffer)] += direction == fake_pyxrt.xclBOSyncDirection.XCL_BO_SYNC_BO_TO_DEVICE
        sync(buffer, direction, size, offset)

    monkeypatch.setattr(Image, "content", packing)
    monkeypatch.setattr(fake_pyxrt.bo, "sync", sending)
    board, network = fake_pyxrt.device(0), Network(prepared.network)
    talk = session.Session(fake_pyxrt, board, network, design, prepared.design / "fake.xclbin")
    given = [image for image in design.images.values() if image.role in ("param", "input", "kept")]
    assert sorted(packed) == sorted(image.name for image in given)
    assert any(image.stacked for image in given)  # weights of layers
    assert [*sent.values()] == [1] * sum(image.layout.channels for image in given)
    packed.clear()
    sent.clear()
    for prompt in network.description.turns:
        assert list(talk.reply(prompt, OPTIONS.tokens))
    (table,) = (image for image in given if image.sources == ("prompt",))
    assert packed == [table.name] * 2
    assert [times for times in sent.values() if times] == [2] * table.layout.channels


@pytest.mark.slow
@pytest.mark.parametrize("prepared", ["gpt2"], indirect=True)
def test_positions_that_the_model_does_not_have_are_refused(prepared: Prepared) -> None:
    """A design may have more, so that it walks whole tiles of rows."""
    network = Network(prepared.network)
    network.description = replace(network.description, positions=20)
    talk = session.Session(
        fake_pyxrt, fake_pyxrt.device(0), network, load_design(prepared.design), prepared.design / "fake.xclbin"
    )
    with pytest.raises(ValueError, match="17 new ones do not fit the 20 positions"):
        next(talk.reply(PROMPT, 17))


@pytest.mark.slow
@pytest.mark.parametrize("name", ["layer-01.npz", "outside.npz", "embedding.npy", "reference.npz"])
@pytest.mark.parametrize("prepared", ["gpt2"], indirect=True)
def test_a_byte_of_the_network_that_has_flipped_is_refused(prepared: Prepared, name: str, tmp_path: Path) -> None:
    shutil.copytree(prepared.network, tmp_path / "network")
    file = tmp_path / "network" / name
    content = bytearray(file.read_bytes())
    content[len(content) // 2] ^= 1
    file.write_bytes(content)
    said = (
        rf"{re.escape(str(file))} is not as it was exported: its SHA-256 begins with \w+, not with \w+; copy it again"
    )
    with pytest.raises(InvalidInputError, match=said):
        run(replace(prepared, network=tmp_path / "network"), silent, lambda _token: None)
    program, xclbin = prepared.design / "host" / "generate.py", prepared.design / "fake.xclbin"
    done = run_program(program, tmp_path / "network", xclbin, fake="from fake_pyxrt import *\n")
    assert done.returncode == 1
    assert re.match(said, done.stderr)


@pytest.mark.slow
def test_a_second_run_takes_everything_from_the_cache(prepared: Prepared, tmp_path: Path) -> None:
    stages: list[str] = []
    model = tmp_path / prepared.source.name
    model.mkdir()
    (model / "config.json").write_text(json.dumps(TINY_MODELS[prepared.source.name]))
    again = prepare(model, OPTIONS, KNOBS, U55C, prepared.network.parent, stages.append)
    assert again == prepared
    assert stages == []


def test_what_is_built_of_the_compiler_s_sources_is_no_change_of_it() -> None:
    before = _compiler_version()
    built = RUNTIME_SOURCE.parents[1] / "_build" / "runtime-of-a-test.o"
    built.parent.mkdir(exist_ok=True)
    built.write_bytes(b"another")
    try:
        assert _compiler_version() == before
    finally:
        built.unlink()


@pytest.mark.slow
def test_a_scale_that_changes_with_the_layer_is_unsupported(tmp_path: Path) -> None:
    fields = {**TINY_MODELS["gpt2"], "scale_attn_by_inverse_layer_idx": True}
    (tmp_path / "config.json").write_text(json.dumps(fields))
    with pytest.raises(UnsupportedError, match="generate with --layers 1"):
        prepare(tmp_path, GenerateOptions(PROMPT, 2), Knobs(), U55C, tmp_path / "cache", silent)
    shutil.rmtree(tmp_path / "cache")


def test_a_prompt_may_fill_the_context_where_one_token_is_wanted() -> None:
    assert request_of(SOURCE, GenerateOptions(tuple(range(16)), 1, length=16)).length == 16
