"""Texts that people edited: read as they are, or refused with a reason. Nothing in them is lost without a word."""

import re
from collections.abc import Callable
from dataclasses import replace
from functools import cache

import pytest
from edited_texts import with_depth
from layered_networks import folded_layers, folded_whole
from plans import U55C, plans
from small_graphs import attention_front, chain, mlp

from compiler.errors import VerificationError
from compiler.graph.design import Design
from compiler.ir.expand_tasks import expanded_text
from compiler.ir.read import parse_design
from compiler.ir.write import design_text
from compiler.options import Knobs

KNOBS = Knobs(default_tile_size=8, overall_unroll=16, fusion_budget=0)
SHARED = Knobs(default_tile_size=8, overall_unroll=64, engines="shared", fifo="whole")
JOINT = replace(SHARED, loads="joint")
NETWORKS: dict[str, Callable[[], dict[str, Design]]] = {
    "mlp": lambda: plans(mlp(), KNOBS),
    "shared": lambda: plans(mlp(inner=32), SHARED),
    "joint": lambda: plans(chain(1, 32, 24, 8), JOINT),
    "behind": lambda: plans(folded_whole(), JOINT),
    "layers": lambda: plans(folded_layers(), KNOBS),
    "whole": lambda: plans(folded_whole(), KNOBS),
}
ENGINE = r"@engine0 serves \[@up, @down\]"
BEHIND = r"@engine0 serves \[@h0.fc, @h0.proj, @scores\]"


def read(text: str) -> Design:
    return parse_design(text, U55C)


@cache
def designs(network: str = "mlp") -> dict[str, Design]:
    """By the name of the pass after which they are."""
    return NETWORKS[network]()


@cache
def text_of(stage: str) -> str:
    """Of a pass, or of `network-pass`."""
    network, _, last = stage.partition("-")
    found = designs(network)[last] if network in NETWORKS else designs()[stage]
    return design_text(found, f"after {stage}")


def edited(stage: str, old: str, new: str) -> str:
    """The text of a stage with the first `old` replaced."""
    text, count = re.subn(old, new, text_of(stage), count=1)
    assert count == 1
    return text


def test_a_depth_and_its_reason() -> None:
    text = edited("size-fifos", r"(@up_in0 carries <.*>) :", r'\1 because "mine" :')
    found = read(with_depth(text, "up_in0", 99))
    assert found.depths == {**designs()["size-fifos"].depths, "up_in0": 99}
    assert found.reasons == {"up_in0": "mine"}


def test_names_of_values_and_kernels_and_the_order_of_processes_mean_nothing() -> None:
    text = text_of("materialize-dmas").replace("%x_2", "%first").replace("@kernel0", "@mine")
    loads = [line for line in text.splitlines(keepends=True) if "@load_x " in line or "@load_up_weight " in line]
    swapped = text.replace("".join(loads), "".join(reversed(loads)))
    assert swapped != text
    assert read(swapped) == designs()["materialize-dmas"]


def test_another_network_is_another_design() -> None:
    other = design_text(plans(attention_front(), KNOBS)["tile-tasks"], "now")
    assert read(other) != designs()["tile-tasks"]
    assert read(other).graph == plans(attention_front(), KNOBS)["tile-tasks"].graph


ROW = "!itensor.itensor<1xf32, iter_space: [4]*[1], iter_map: (d0)->(d0)>"
RING = f"""%a = itensor.fork @first ins(%b : {ROW}) -> ({ROW})
%b = itensor.fork @second ins(%a : {ROW}) -> ({ROW})
"""
REFUSED: dict[str, tuple[Callable[[], str], str]] = {
    "two functions": (
        lambda: edited("tile-tasks", "{\n", "{\nfunc.func private @second()\n"),
        "a design is one func.func, this module has 2",
    ),
    "no function": (lambda: "builtin.module {}", "a design is one func.func, this module has 0"),
    "no end": (lambda: text_of("tile-tasks")[:-10], "Expected"),
    "a string without its end": (
        lambda: edited("tile-tasks", r'input from "x"', 'input from "x'),
        "line 2: a string does not end",
    ),
    "no name": (
        lambda: edited("tile-tasks", r'{dataflow.value = #dataflow.value<"x", input from "x">}', ""),
        "needs a dataflow.value attribute",
    ),
    "two values of one name": (
        lambda: edited("tile-tasks", r'"down.weight", param', '"up.weight", param'),
        "two values are called up.weight",
    ),
    "two tasks of one name": (lambda: edited("tile-tasks", "@down", "@up"), "two processes are called up"),
    "two loads of one name": (lambda: edited("size-fifos", "@load_h_k1", "@load_x"), "two processes are called load_x"),
    "another tensor": (
        lambda: edited("tile-tasks", r'"h"(\[d0, d1\]) = %h', r'"h"\1 = %g'),
        "@act says that it moves h, but",
    ),
    "another value": (
        lambda: edited("materialize-dmas", '@load_up_weight "up.weight"', '@load_up_weight "x"'),
        "@load_up_weight says that it moves x, but gets up.weight",
    ),
    "another result": (
        lambda: edited("tile-tasks", r'"z" = "z"', '"z" = "y"'),
        "output z says that it moves y, but gets z",
    ),
    "a tensor that nobody makes": (
        lambda: edited("materialize-dmas", "= %h : tensor<8x64xf32>", "= %nobody : tensor<8x64xf32>"),
        "nobody",
    ),
    "a later tensor": (
        lambda: edited("materialize-dmas", "= %h :", "= %g :"),
        "kernel @kernel1 reads what is not made before",
    ),
    "a stream that nobody makes": (
        lambda: edited("insert-forks", r"(\n *)dataflow.yield %h", rf"\1{RING}\g<0>"),
        "@first reads what nothing in its kernel makes",
    ),
    "a stream of another reader": (
        lambda: text_of("size-fifos").replace("@up_in0 carries", "@mine carries"),
        "@up reads stream @mine; a stream is named after its reader: @up_in0",
    ),
    "no nest": (lambda: edited("insert-forks", r"\n *nest<.*", ""), "task @up has no nest; run tile-tasks first"),
    "words too small": (
        lambda: edited("materialize-dmas", r'("up.weight" packing<channels: 1, tokens_per_word): \d+', r"\1: 64"),
        "@load_up_weight: 64 x 256 bits do not fit 1 x 512 bits",
    ),
    "what a task is made of": (
        lambda: expanded_text(designs()["insert-forks"]),
        "kernel @kernel0 holds itensor.instance|empty",
    ),
    "an engine of what is no task": (
        lambda: edited("shared-share-engines", ENGINE, "@engine0 serves [@up, @out]"),
        "@engine0 serves @out, which is no task of its kernel",
    ),
    "an engine that begins with what is no task": (
        lambda: edited("shared-size-fifos", ENGINE, "@engine0 serves [@out, @up]"),
        "@engine0 serves @out, which is no task of its kernel",
    ),
    "an engine of one": (
        lambda: edited("shared-share-engines", ENGINE, "@engine0 serves [@up]"),
        "serves at least two tasks",
    ),
    "two engines for one": (
        lambda: edited("shared-share-engines", "(dataflow.engine) (.*)", r"\1 \2\n\1 @other serves [@down, @up]"),
        "@up is served by @engine0 and by @other|@down is served by @engine0 and by @other",
    ),
    "turns in another order": (
        lambda: edited("shared-share-engines", ENGINE, "@engine0 serves [@down, @up]"),
        "@engine0 must serve its tasks in the order in which they stand",
    ),
    "an engine of different things": (
        lambda: edited("shared-share-engines", ENGINE, "@engine0 serves [@up, @act]"),
        "@engine0 can not serve @up and @act",
    ),
    "more slices than lanes divide into": (
        lambda: edited("shared-share-engines", ENGINE, "@engine0 serves [@up, @down] slices 3"),
        "@engine0 can not be cut into 3 slices, but into 2",
    ),
    "an engine of no slice": (
        lambda: edited("shared-share-engines", ENGINE, "@engine0 serves [@up, @down] slices 0"),
        "@engine0 is cut into at least two slices, or not at all",
    ),
    "an engine of no row": (
        lambda: edited("shared-share-engines", ENGINE, "@engine0 serves [@up, @down] rows 0"),
        "@engine0 has at least two rows side by side, or says none",
    ),
    "a joint load of what is no parameter": (
        lambda: edited("joint-join-loads", r"joint \[1\]", "joint [0, 1]"),
        "@engine0 can not have one load of its input 0: v0 is not a whole parameter",
    ),
    "a joint load of no input": (
        lambda: edited("joint-join-loads", r"joint \[1\]", "joint [1, 2]"),
        "@engine0 can not have one load of its input 2: @m1 does not get input 2 straight from a load",
    ),
    "an input that is joint twice": (
        lambda: edited("joint-join-loads", r"joint \[1\]", "joint [1, 1]"),
        "engine @engine0 names each joint input once, in their order",
    ),
    "parts that are packed in two ways": (
        lambda: edited("joint-materialize-dmas", r"(@load_w2 .* tokens_per_word): \d+", r"\1: 1"),
        "loads of input 1 of @engine0 are one, and pack their words alike",
    ),
    "a joint FIFO of two depths": (
        lambda: with_depth(text_of("joint-size-fifos"), "m2_in1", 5),
        "input 1 of @engine0 comes through one FIFO, of one depth",
    ),
    "turns of layers behind that of the head": (
        lambda: edited("behind-share-engines", BEHIND, "@engine0 serves [@scores, @h0.fc, @h0.proj]"),
        "@engine0 must serve its tasks in the order in which they stand",
    ),
    "an engine of no layer": (
        lambda: edited("behind-share-engines", r'outside \["embed", ', r'outside ["embed", "h0.fc", "h0.proj", '),
        r"h0\.proj is outside of layers|h0\.fc is outside of layers",
    ),
    "what is behind layers by another product": (
        lambda: edited("behind-join-loads", BEHIND, "@engine0 serves [@h0.fc, @h0.proj, @best]"),
        "@engine0 can not serve @h0.fc and @best",
    ),
    "a joint load of what each layer reads": (
        lambda: edited("behind-join-loads", r"joint \[1\]", "joint [0, 1]"),
        "@engine0 can not have one load of its input 0: @h0.fc does not get input 0 straight from a load",
    ),
    "slices without their FIFOs": (
        lambda: edited("shared-size-fifos", r"serves (.*) depths", r"serves \1 slices 2 depths"),
        "@engine0 has 9 FIFOs where streams are FIFOs, else none",
    ),
    "an engine without its FIFOs": (
        lambda: edited("shared-size-fifos", r" depths \[.*\]", ""),
        "@engine0 has 3 FIFOs where streams are FIFOs, else none",
    ),
    "a FIFO that holds nothing": (
        lambda: edited("shared-size-fifos", r" depths \[.*\]", " depths [2, 0, 2]"),
        "a FIFO of engine @engine0 holds at least one token",
    ),
    "layers that carry what is no input": (
        lambda: edited("layers-tile-tasks", r'to "x"\]', 'to "h0.up"]'),
        r"h0\.out is carried to h0\.up: a layer must make it, and that be given once, or made outside of layers",
    ),
    "layers that carry another shape": (
        lambda: edited("layers-tile-tasks", r'\["h0.out" to', '["h0.fc" to'),
        r"h0\.fc is carried to x, which has another shape or type",
    ),
    "a layer without tensors": (
        lambda: edited("layers-tile-tasks", r"dataflow.layers 3", "dataflow.layers 4"),
        r"h0\.up must hold a tensor of each of 4 layers, or one of all",
    ),
    "a result of a layer that is not there": (
        lambda: edited("layers-tile-tasks", r"of layer 2", "of layer 3"),
        r"output h2\.a must be of one of 3 layers, or of the last",
    ),
    "layers without FIFOs where others are": (
        lambda: edited("layers-size-fifos", r'(to "x"\]) depths \[.*\]', r"\1"),
        r"dataflow\.layers has 3 FIFOs where streams are FIFOs",
    ),
    "a layer that makes what enters the first": (
        lambda: edited("whole-tile-tasks", r'outside \["embed", ', "outside ["),
        r"h0\.out is carried to x: a layer must make it, and that be given once, or made outside of layers",
    ),
    "an operation outside that is of each layer": (
        lambda: edited("whole-tile-tasks", r'outside \["embed"', 'outside ["embed", "h0.fc"'),
        r"h0\.fc is outside of layers and reads x, which is of each layer",
    ),
    "an operation outside that reads what is not handed on": (
        lambda: edited("whole-tile-tasks", r'outside \["embed", "scores"', 'outside ["embed"'),
        r"best is outside of layers and reads scores, which is not handed on",
    ),
    "an operation in layers that reads what is outside": (
        lambda: edited("whole-tile-tasks", r', "best"\]', "]"),
        r"best is of a layer and reads scores, which is outside of layers",
    ),
    "nothing that is outside": (
        lambda: edited("whole-tile-tasks", r', "best"\]', ', "best", "worst"]'),
        "worst is outside of layers, but is no operation",
    ),
    "layers said twice": (
        lambda: edited("layers-insert-forks", r"( *dataflow\.layers .*\n)", r"\1\1"),
        r"a design says once, if at all, how many layers it runs",
    ),
    "an operation beside the kernels": (
        lambda: edited("insert-forks", r"func\.return", "%beside = arith.constant 1.0 : f32\n func.return"),
        r"@mlp holds arith.constant; expected dataflow.kernel, dataflow.layers, dataflow.die, func.return",
    ),
}


@pytest.mark.parametrize("case", REFUSED)
def test_what_is_no_design_says_why(case: str) -> None:
    text, message = REFUSED[case]
    with pytest.raises(VerificationError, match=message):
        read(text())
