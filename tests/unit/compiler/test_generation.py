"""The whole network: lengths and refusals, then every family through the host program, token for token."""

import json
import re
import shutil
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import fake_pyxrt
import numpy as np
import pytest
from host_programs import run_program
from importing_here import importing_here
from tiny_models import TINY_MODELS, tiny_model

from compiler.design_dir import silent
from compiler.errors import InvalidInputError, UnsupportedError
from compiler.frontend.models.config import ModelSource, config_from_fields
from compiler.frontend.models.inputs import network_inputs
from compiler.generation import (
    GenerateOptions,
    Generation,
    Prepared,
    _compiler_version,
    copy_for_board,
    hidden_error,
    placed,
    prepare,
    request_of,
    run,
)
from compiler.host.accelerator import Accelerator, Layer
from compiler.host.design import load_design
from compiler.host.network import Network
from compiler.host.session import Chooser, Placed, filled_cache, generate
from compiler.options import Knobs
from compiler.platforms.platform import load_platform
from compiler.proof.launches import GenerationChecks, Witness
from compiler.simulator.csim.build import RUNTIME_SOURCE
from compiler.simulator.timing.simulate import simulate_directory

SOURCE = ModelSource("tiny", config_from_fields(TINY_MODELS["llama"]))
U55C = load_platform("u55c")
PROMPT = (5, 90, 17, 2, 61)
OPTIONS = GenerateOptions(PROMPT, 27, layers=2, length=31)
"""Up to the last position: two tiles of rows, and beyond a sliding window."""


def test_lengths_are_what_is_needed_rounded_up() -> None:
    request = request_of(SOURCE, GenerateOptions(PROMPT, 12))
    assert (request.rows, request.length, request.layers) == (8, 31, 3)
    assert request_of(SOURCE, GenerateOptions(PROMPT, 11)).length == 15
    assert request_of(SOURCE, GenerateOptions(PROMPT, 60)).length == 64
    assert request_of(SOURCE, GenerateOptions(PROMPT, 4, length=8)).length == 8
    assert request_of(SOURCE, GenerateOptions((1,), 1)).length == 15


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (GenerateOptions((), 1), "at least one token in the prompt"),
        (GenerateOptions(PROMPT, 0), "at least one token in the prompt, and one to generate"),
        (GenerateOptions(PROMPT, 4, length=7), "length is 7; 5 tokens of the prompt and 4 new ones need 8"),
        (GenerateOptions((96,), 1), "the prompt holds token 96; tiny has tokens 0 to 95"),
        (GenerateOptions(PROMPT, 1, layers=4), "layers is 4; tiny has 3"),
        (GenerateOptions(PROMPT, 61), "65 positions are needed .* tiny has 64"),
    ],
)
def test_what_does_not_fit_is_refused(options: GenerateOptions, message: str) -> None:
    with pytest.raises(InvalidInputError, match=message):
        request_of(SOURCE, options)


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
    """Two layers, so that a layer's own weights and cache matter; of gemma3 one of each kind. The network's export is
    made by the importer's process.
    """
    model = tiny_model(request.param, tmp_path_factory.mktemp("models"))
    cache = tmp_path_factory.mktemp("cache")
    with importing_here():
        return prepare(model, OPTIONS, Knobs(), U55C, cache, silent)


@pytest.mark.slow
def test_the_simulated_board_generates_the_tokens_of_pytorch(prepared: Prepared) -> None:
    seen: list[int] = []
    launches: list[str] = []
    generation = run(prepared, launches.append, seen.append)
    assert generation.tokens == generation.reference == tuple(seen)
    assert len(set(seen)) > 2  # a constant would prove little
    assert generation.hidden_error < 5e-3
    assert generation.passed, generation.wrong_launch
    assert generation.launches == OPTIONS.tokens * (1 + len(load_design(prepared.head).kernels))
    assert generation.tolerance == pytest.approx(0.02 * 2**0.5)
    assert launches == ["prefill", *["decode"] * (OPTIONS.tokens - 1)]
    found = {m.name: m.value for m in generation.metrics}
    starts = 1 + len(load_design(prepared.head).kernels)
    simulated = [simulate_directory(d).latency_us for d in prepared.designs]
    later = found["reply_time"] - found["first_token_time"]
    assert later == pytest.approx((OPTIONS.tokens - 1) * found["time_per_token"])
    assert found["time_per_token"] == pytest.approx((simulated[1] + simulated[2] + 270 * starts) / 1e3)
    assert f"{starts} kernel starts a token" in generation.assumed


@pytest.mark.slow
def test_the_host_packs_weights_that_lie_in_one_image(tmp_path: Path) -> None:
    """Of each layer anew, from the network's export: the design directory holds those of the first."""
    knobs = Knobs(default_tile_size=64, overall_unroll=64, engines="shared", loads="joint")
    model = tiny_model("gpt2", tmp_path)
    with importing_here():
        made = prepare(model, OPTIONS, knobs, U55C, tmp_path / "cache", silent)
    images = [image for folder in made.designs for image in load_design(folder).images.values() if image.parts]
    assert {len(image.parts) for image in images} >= {4}
    assert all(image.sources == tuple(s for part in image.parts for s in part.sources) for image in images)
    generation = run(made, lambda _: None, lambda _: None)
    assert generation.passed, generation.wrong_launch
    assert generation.tokens == generation.reference


def _the_position_before(accelerator: Accelerator, layer: Layer, values: Any) -> None:
    GIVE(accelerator, layer, {name: value - 1 for name, value in values.items()})


def _layers_exchanged(network: Network) -> Any:
    exchange = {"h0": "h1", "h1": "h0"}
    return {f"{exchange[name[:2]]}{name[2:]}": array for name, array in PARAMETERS(network).items()}


def _not_told(accelerator: Accelerator, layer: Layer, _values: Any) -> None:
    GIVE(accelerator, layer, {})


def _one_position_on_in_tables(network: Network) -> Any:
    return {name: np.roll(table, -1, axis=0) for name, table in TABLES(network).items()}


def _another_token(network: Network) -> Any:
    """Two columns of the vocabulary have changed places: what the head reads is not the network's."""
    tensors = dict(HEAD(network))
    weight = tensors["head.weight"].copy()
    weight[..., [0, 1]] = weight[..., [1, 0]]
    return {**tensors, "head.weight": weight}


def _the_row_before(chooser: Chooser, hidden: Any) -> Any:
    return CHOOSE(chooser, np.roll(hidden, 1))


def _one_more(chooser: Chooser, hidden: Any) -> Any:
    step = CHOOSE(chooser, hidden)
    return replace(step, token=step.token + 1)


def _one_position_on(network: Network, tokens: list[int], first: int) -> Any:
    return EMBED(network, tokens, first + (len(tokens) == 1))


GIVE, PARAMETERS, EMBED, TABLES = Accelerator.give, Network.parameters, Network.embed, Network.step_tables
HEAD, CHOOSE = Network.head, Chooser.choose


@pytest.mark.slow
@pytest.mark.parametrize("prepared", ["gpt2"], indirect=True)
@pytest.mark.parametrize(
    ("owner", "name", "wrong", "message"),
    [
        (Accelerator, "give", _the_position_before, r"token 1, kernel .*: the numbers passed are not those"),
        (Accelerator, "give", _not_told, r"token 1, kernel .*: the numbers passed are not those"),
        (Network, "step_tables", _one_position_on_in_tables, r"token 1, kernel .*: mask, channel 0, is not what it"),
        (Network, "parameters", _layers_exchanged, r"prefill, kernel .* is not what it should read"),
        (Network, "embed", _one_position_on, r"token 1, kernel .*: hidden, channel 0, is not what it should"),
        (Network, "head", _another_token, r"token 0, head, kernel .*: head_weight, channel 0, is not what it should"),
        (Chooser, "choose", _the_row_before, r"token 0, head, kernel .*: hidden, channel 0, is not what it should"),
        (Chooser, "choose", _one_more, r"token 0 is \d+; the head has given \d+"),
    ],
)
def test_a_host_program_that_is_wrong_is_found_at_its_first_wrong_launch(
    prepared: Prepared, monkeypatch: pytest.MonkeyPatch, owner: type, name: str, wrong: Any, message: str
) -> None:
    board = Witness()
    with placed(prepared) as on_board, monkeypatch.context() as patch:
        patch.setattr(owner, name, wrong)
        steps = list(generate(board, board.device(0), Network(prepared.network), *on_board, count=4))
    inputs = partial(network_inputs, prepared.source.config, 2)
    prefill, decode, head = (load_design(d) for d in prepared.designs)
    checks = GenerationChecks(Network(prepared.network), prefill, decode, head, inputs, board.launches)
    assert re.match(message, checks.run([step.token for step in steps]) or "none")


def fake(folder: Path, *designs: Path) -> Path:
    """An xclbin of these designs for the fake board."""
    folder.mkdir(exist_ok=True)
    (folder / "fake.xclbin").write_text("\n".join(str(d) for d in designs))
    return folder / "fake.xclbin"


@pytest.mark.slow
def test_the_host_program_is_right_with_exact_kernels(prepared: Prepared, tmp_path: Path) -> None:
    network = Network(prepared.network)
    one, both = fake(tmp_path / "one", prepared.prefill), fake(tmp_path / "both", prepared.decode, prepared.head)
    prefill, decode, head = map(load_design, prepared.designs)
    on_board = Placed(prefill, one), Placed(decode, both), Placed(head, both)
    steps = list(generate(fake_pyxrt, fake_pyxrt.device(0), network, *on_board, count=OPTIONS.tokens))
    reference = network.reference()
    assert [s.token for s in steps] == reference["tokens"].tolist()
    error = np.abs(np.stack([s.hidden for s in steps]) - reference["hidden"]).max()
    assert error <= 5e-3 * np.abs(reference["hidden"]).max()
    with pytest.raises(ValueError, match="must be in one xclbin"):
        next(generate(fake_pyxrt, fake_pyxrt.device(0), network, *on_board[:2], Placed(head, one), count=1))


@pytest.mark.slow
def test_the_emitted_program_generates_without_millrace(prepared: Prepared, tmp_path: Path) -> None:
    copy_for_board(prepared, tmp_path / "out")
    network, prefill, decode, head = (tmp_path / "out" / name for name in ("network", "prefill", "decode", "head"))
    assert not (decode / "board").exists()
    one, both = fake(tmp_path / "one", prefill), fake(tmp_path / "both", decode, head)
    arguments = [network, "--prefill", prefill, one, "--decode", decode, head, both]
    done = run_program(decode / "host" / "generate.py", *arguments, fake="from fake_pyxrt import *\n")
    assert done.returncode == 0, done.stderr
    assert "tokens equal the reference's" in done.stdout
    with pytest.raises(InvalidInputError, match="is not empty"):
        copy_for_board(prepared, tmp_path / "out")


@pytest.mark.slow
def test_a_second_run_takes_everything_from_the_cache(prepared: Prepared, tmp_path: Path) -> None:
    stages: list[str] = []
    model = tmp_path / prepared.source.name
    model.mkdir()
    (model / "config.json").write_text(json.dumps(TINY_MODELS[prepared.source.name]))
    again = prepare(model, OPTIONS, Knobs(), U55C, prepared.network.parent, stages.append)
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
    request = request_of(SOURCE, GenerateOptions(tuple(range(16)), 1, length=16))
    assert request.length == 16
    rows = np.arange(2 * 16 * 3, dtype=np.float32).reshape(1, 2, 16, 3)
    np.testing.assert_array_equal(filled_cache(rows, request.length), rows)
    np.testing.assert_array_equal(filled_cache(rows, 20)[:, :, 16:], np.zeros((1, 2, 4, 3)))
