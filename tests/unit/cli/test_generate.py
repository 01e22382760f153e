"""What `millrace generate` prints and how it ends; the generation itself is tested below the compiler."""

import json
from contextlib import nullcontext
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from networks import NETWORKS
from typer.testing import CliRunner
from wire_replies import reply

from cli.main import app
from compiler.errors import InvalidInputError
from compiler.frontend.network_request import NetworkRequest
from compiler.generation import Generation, Prepared
from compiler.metrics import Fidelity, Metric
from compiler.options import Knobs
from millrace.wire import Design, Exploration, ModelRef, WorkloadShape

run = CliRunner().invoke
METRICS = (Metric("time_per_token", 1.877, "ms", Fidelity.ESTIMATE),)


@pytest.fixture
def generated(monkeypatch: pytest.MonkeyPatch) -> dict[str, Any]:
    """Replaces the work: `tokens` is what the board gives, the reference is 5, 6."""
    state: dict[str, Any] = {"tokens": (5, 6), "error": 1e-7}

    def prepare(
        model: object, options: Any, knobs: object, board: Any, _cache: object, _say: object, look: Any
    ) -> Prepared:
        state.update(options=options, model=model, knobs=knobs, board=board.name)
        for bundle in state.get("bundles", ()):
            look(bundle)
        request = NetworkRequest(
            options.precision, options.layers, options.prompt, options.tokens, 16, options.then, options.end
        )
        source: Any = SimpleNamespace(name="gpt2")
        return Prepared(source, request, Path("n"), Path("d"), options.end)

    def generate(_prepared: Prepared, on_launch: Any, on_token: Any) -> Generation:
        for token in state["tokens"]:
            on_launch("reply")
            on_token(token)
        facts = (5, 6), state["error"], (0.5, 0.25), METRICS, 0.02
        others = {name: state[name] for name in ("exceeds", "one_launch") if name in state}
        return Generation(state["tokens"], *facts, assumed="0.27 ms a start", **others)

    monkeypatch.setattr("compiler.generation.prepare", prepare)
    monkeypatch.setattr("compiler.generation.run", generate)
    return state


def test_equal_tokens_end_with_0_and_times_carry_their_fidelity(generated: dict[str, Any]):
    result = run(
        app, ["generate", "gpt2", "--layers", "2", "--tokens", "2", "--prompt", "1,2,3", "--board", "simulated"]
    )
    assert result.exit_code == 0, result.output
    assert generated["options"].prompt == (1, 2, 3)
    assert "token   1  5" in result.output
    assert "equal to the quantised PyTorch reference: all 2 tokens, 2 distinct" in result.output
    assert "smallest margin of the reference: 0.25 standard deviations" in result.output
    assert "time per token: 1.877 ms estimate" in result.output
    assert "assumed: 0.27 ms a start" in result.output
    assert "exceeds" not in result.output


def test_a_design_that_fits_no_board_is_said(generated: dict[str, Any]):
    generated["exceeds"] = ("hbm_ports 46 of 32",)
    result = run(app, ["generate", "gpt2", "--layers", "2", "--tokens", "2"])
    assert "exceeds the platform, so no card runs it: hbm_ports 46 of 32" in result.output.replace("\n", " ")


def test_a_design_of_several_kernels_is_said_to_take_a_launch_a_token(generated: dict[str, Any]):
    arguments = ["generate", "gpt2", "--layers", "2", "--tokens", "2"]
    assert "for each token" not in run(app, arguments).output
    generated["one_launch"] = False
    assert "a launch of every kernel for each token" in run(app, arguments).output


def test_a_different_token_ends_with_1_and_says_by_how_much(generated: dict[str, Any]):
    generated["tokens"] = (5, 9)
    result = run(app, ["generate", "gpt2", "--layers", "2", "--tokens", "2"])
    assert result.exit_code == 1
    output = result.output.replace("\n", " ")
    assert "DIFFERENT from PyTorch from token 2 on: 9 for 6, which was ahead by 0.25" in output
    assert "within rounding: two tokens were nearly tied" in output


def test_equal_tokens_with_wrong_hidden_states_end_with_1(generated: dict[str, Any]):
    generated["error"] = 0.3
    result = run(app, ["generate", "gpt2", "--layers", "2", "--tokens", "2"])
    assert result.exit_code == 1
    assert "more than rounding explains" in result.output


def test_the_token_that_ends_the_reply_is_passed_on_and_said(generated: dict[str, Any]):
    arguments = ["generate", "gpt2", "--layers", "2", "--tokens", "9", "--end"]
    result = run(app, [*arguments, "6"])
    assert (result.exit_code, generated["options"].end) == (0, 6)
    assert "all 2 tokens, 2 distinct, the last of which ends the reply" in result.output.replace("\n", " ")
    assert "ends the reply" not in run(app, [*arguments, "5"]).output
    assert json.loads(run(app, [*arguments, "6", "--json"]).stdout)["request"]["end"] == 6


def test_what_is_said_behind_a_reply_is_passed_on(generated: dict[str, Any]):
    arguments = ["generate", "gpt2", "--layers", "1", "--prompt", "1,2", "--then=3", "--then=4 5"]
    assert run(app, arguments).exit_code == 0
    assert generated["options"].then == ((3,), (4, 5))
    assert json.loads(run(app, [*arguments, "--json"]).stdout)["request"]["then"] == [[3], [4, 5]]
    assert isinstance(run(app, [*arguments, "--then=and"]).exception, InvalidInputError)


def test_json_is_one_document(generated: dict[str, Any]):
    result = run(app, ["generate", "gpt2", "--layers", "1", "--tokens", "2", "--json"])
    found = json.loads(result.stdout)
    assert (found["tokens"], found["equal"], found["request"]["board"]) == ([5, 6], True, "simulated")
    assert found["metrics"][0]["fidelity"] == "estimate"


@pytest.mark.parametrize("arguments", [["--tokens", "0"], ["--board", "dream"], ["--length", "1"]])
def test_wrong_use_ends_with_2(arguments: list[str]):
    assert run(app, ["generate", "gpt2", *arguments]).exit_code == 2


class _Reader:
    """Has one design."""

    def design(self, key: str) -> Design:
        assert key == "latest#915"
        return reply(Design, exploration_id="exp_1", knobs=Knobs(overall_unroll=1024).to_json())

    def exploration(self, _key: str) -> Exploration:
        shape = reply(WorkloadShape, precision="w8a8")
        return reply(Exploration, model=reply(ModelRef, name="gpt2-medium"), workload=shape, platform="u55c")


def test_a_design_of_an_exploration(generated: dict[str, Any], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("cli.commands.generate.look", lambda _url: nullcontext(_Reader()))
    assert run(app, ["generate", "--design", "latest#915", "--layers", "2", "--prompt", "1,2", "--json"]).exit_code == 0
    assert (generated["model"], generated["options"].precision, generated["board"]) == ("gpt2-medium", "w8a8", "u55c")
    assert generated["knobs"] == Knobs(overall_unroll=1024)
    arguments = [
        "generate",
        "gpt2",
        "--layers",
        "2",
        "--design",
        "latest#915",
        "--set",
        "multiplier=dsp",
        "--precision",
        "f32",
    ]
    assert run(app, [*arguments, "--prompt", "1,2", "--json"]).exit_code == 0
    assert (generated["model"], generated["options"].precision) == ("gpt2", "f32")
    assert generated["knobs"] == Knobs(overall_unroll=1024, multiplier="dsp")


def test_a_knob_that_no_search_would_set_so_is_said(generated: dict[str, Any]) -> None:
    graph = NETWORKS["mlp"]().graph()
    generated["bundles"] = [SimpleNamespace(graph=graph)]
    arguments = ["generate", "gpt2", "--layers", "2", "--tokens", "2", "--prompt", "1,2"]
    said = run(app, [*arguments, "--set", "stream_width=100"]).output
    assert "note: stream_width=100 is none of the values that a search tries" in said
    assert "note:" not in run(app, [*arguments, "--set", "stream_width=128"]).output
    refused = run(app, [*arguments, "--set", "overall_unroll=1"])
    assert "overall_unroll=1 would unroll nothing" in str(refused.exception)


def test_neither_model_nor_design(generated: dict[str, Any], tmp_path: Path) -> None:
    assert "name a MODEL, or a design" in str(run(app, ["generate"]).exception)
    file = tmp_path / "knobs.json"
    file.write_text("{}")
    refused = run(app, ["generate", "gpt2", "--design", "latest#915", "--knobs", str(file)])
    assert "leave out --knobs, or --design" in str(refused.exception)
