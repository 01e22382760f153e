"""Texts that people edited: read as they are, or refused with a reason. Nothing in them is lost without a word."""

import re
from dataclasses import replace

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
DESIGNS = plans(mlp(), KNOBS)
TEXTS = {stage: design_text(design, f"after {stage}") for stage, design in DESIGNS.items()}
SHARED = Knobs(default_tile_size=8, overall_unroll=64, engines="shared", fifo="whole")
TEXTS |= {f"shared-{s}": design_text(d, f"after {s}") for s, d in plans(mlp(inner=32), SHARED).items()}
JOINT = replace(SHARED, loads="joint")
TEXTS |= {f"joint-{s}": design_text(d, f"after {s}") for s, d in plans(chain(1, 32, 24, 8), JOINT).items()}
TEXTS |= {f"behind-{s}": design_text(d, f"after {s}") for s, d in plans(folded_whole(), JOINT).items()}
TEXTS |= {f"layers-{s}": design_text(d, f"after {s}") for s, d in plans(folded_layers(), KNOBS).items()}
TEXTS |= {f"whole-{s}": design_text(d, f"after {s}") for s, d in plans(folded_whole(), KNOBS).items()}
ENGINE = r"@engine0 serves \[@up, @down\]"


def read(text: str) -> Design:
    return parse_design(text, U55C)


def edited(stage: str, old: str, new: str) -> str:
    """The text of a stage with the first `old` replaced."""
    text, count = re.subn(old, new, TEXTS[stage], count=1)
    assert count == 1
    return text


def test_a_depth_and_its_reason() -> None:
    text = edited("size-fifos", r"(@up_in0 carries <.*>) :", r'\1 because "mine" :')
    found = read(with_depth(text, "up_in0", 99))
    assert found.depths == {**DESIGNS["size-fifos"].depths, "up_in0": 99}
    assert found.reasons == {"up_in0": "mine"}


def test_names_of_values_and_kernels_and_the_order_of_processes_mean_nothing() -> None:
    text = TEXTS["materialize-dmas"].replace("%x_2", "%first").replace("@kernel0", "@mine")
    loads = [line for line in text.splitlines(keepends=True) if "@load_x " in line or "@load_up_weight " in line]
    swapped = text.replace("".join(loads), "".join(reversed(loads)))
    assert swapped != text
    assert read(swapped) == DESIGNS["materialize-dmas"]


def test_another_network_is_another_design() -> None:
    other = design_text(plans(attention_front(), KNOBS)["tile-tasks"], "now")
    assert read(other) != DESIGNS["tile-tasks"]
    assert read(other).graph == plans(attention_front(), KNOBS)["tile-tasks"].graph


ROW = "!itensor.itensor<1xf32, iter_space: [4]*[1], iter_map: (d0)->(d0)>"
RING = f"""%a = itensor.fork @first ins(%b : {ROW}) -> ({ROW})
%b = itensor.fork @second ins(%a : {ROW}) -> ({ROW})
"""
REFUSED = {
    "two functions": (
        edited("tile-tasks", "{\n", "{\nfunc.func private @second()\n"),
        "a design is one func.func, this module has 2",
    ),
    "no function": ("builtin.module {}", "a design is one func.func, this module has 0"),
    "no end": (TEXTS["tile-tasks"][:-10], "Expected"),
    "a string without its end": (
        edited("tile-tasks", r'input from "x"', 'input from "x'),
        "line 2: a string does not end",
    ),
    "no name": (
        edited("tile-tasks", r'{dataflow.value = #dataflow.value<"x", input from "x">}', ""),
        "needs a dataflow.value attribute",
    ),
    "two values of one name": (
        edited("tile-tasks", r'"down.weight", param', '"up.weight", param'),
        "two values are called up.weight",
    ),
    "two tasks of one name": (edited("tile-tasks", "@down", "@up"), "two processes are called up"),
    "two loads of one name": (edited("size-fifos", "@load_h_k1", "@load_x"), "two processes are called load_x"),
    "another tensor": (edited("tile-tasks", r'"h"(\[d0, d1\]) = %h', r'"h"\1 = %g'), "@act says that it moves h, but"),
    "another value": (
        edited("materialize-dmas", '@load_up_weight "up.weight"', '@load_up_weight "x"'),
        "@load_up_weight says that it moves x, but gets up.weight",
    ),
    "another result": (edited("tile-tasks", r'"z" = "z"', '"z" = "y"'), "output z says that it moves y, but gets z"),
    "a tensor that nobody makes": (
        edited("materialize-dmas", "= %h : tensor<8x64xf32>", "= %nobody : tensor<8x64xf32>"),
        "nobody",
    ),
    "a later tensor": (edited("materialize-dmas", "= %h :", "= %g :"), "kernel @kernel1 reads what is not made before"),
    "a stream that nobody makes": (
        edited("insert-forks", r"(\n *)dataflow.yield %h", rf"\1{RING}\g<0>"),
        "@first reads what nothing in its kernel makes",
    ),
    "a stream of another reader": (
        TEXTS["size-fifos"].replace("@up_in0 carries", "@mine carries"),
        "@up reads stream @mine; a stream is named after its reader: @up_in0",
    ),
    "no nest": (edited("insert-forks", r"\n *nest<.*", ""), "task @up has no nest; run tile-tasks first"),
    "words too small": (
        edited("materialize-dmas", r'("up.weight" packing<channels: 1, tokens_per_word): \d+', r"\1: 64"),
        "@load_up_weight: 64 x 256 bits do not fit 1 x 512 bits",
    ),
    "what a task is made of": (expanded_text(DESIGNS["insert-forks"]), "kernel @kernel0 holds itensor.instance|empty"),
    "an engine of what is no task": (
        edited("shared-share-engines", ENGINE, "@engine0 serves [@up, @out]"),
        "@engine0 serves @out, which is no task of its kernel",
    ),
    "an engine that begins with what is no task": (
        edited("shared-size-fifos", ENGINE, "@engine0 serves [@out, @up]"),
        "@engine0 serves @out, which is no task of its kernel",
    ),
    "an engine of one": (edited("shared-share-engines", ENGINE, "@engine0 serves [@up]"), "serves at least two tasks"),
    "two engines for one": (
        edited("shared-share-engines", "(dataflow.engine) (.*)", r"\1 \2\n\1 @other serves [@down, @up]"),
        "@up is served by @engine0 and by @other|@down is served by @engine0 and by @other",
    ),
    "turns in another order": (
        edited("shared-share-engines", ENGINE, "@engine0 serves [@down, @up]"),
        "@engine0 must serve its tasks in the order in which they stand",
    ),
    "an engine of different things": (
        edited("shared-share-engines", ENGINE, "@engine0 serves [@up, @act]"),
        "@engine0 can not serve @up and @act",
    ),
    "more slices than lanes divide into": (
        edited("shared-share-engines", ENGINE, "@engine0 serves [@up, @down] slices 3"),
        "@engine0 can not be cut into 3 slices, but into 2",
    ),
    "an engine of no slice": (
        edited("shared-share-engines", ENGINE, "@engine0 serves [@up, @down] slices 0"),
        "@engine0 is cut into at least two slices, or not at all",
    ),
    "a joint load of what is no parameter": (
        edited("joint-join-loads", r"joint \[1\]", "joint [0, 1]"),
        "@engine0 can not have one load of its input 0: v0 is not a whole parameter",
    ),
    "a joint load of no input": (
        edited("joint-join-loads", r"joint \[1\]", "joint [1, 2]"),
        "@engine0 can not have one load of its input 2: @m1 does not get input 2 straight from a load",
    ),
    "an input that is joint twice": (
        edited("joint-join-loads", r"joint \[1\]", "joint [1, 1]"),
        "engine @engine0 names each joint input once, in their order",
    ),
    "parts that are packed in two ways": (
        edited("joint-materialize-dmas", r"(@load_w2 .* tokens_per_word): \d+", r"\1: 1"),
        "loads of input 1 of @engine0 are one, and pack their words alike",
    ),
    "a joint FIFO of two depths": (
        with_depth(TEXTS["joint-size-fifos"], "m2_in1", 5),
        "input 1 of @engine0 comes through one FIFO, of one depth",
    ),
    "a head that is loaded before its engine's weights": (
        edited("behind-join-loads", r"joint \[1\] behind \[@scores\]", "joint [1] behind [@embed]"),
        "@engine0 can not load for @embed behind its input 1: place is not a whole parameter",
    ),
    "what is of a layer behind all of them": (
        edited("behind-join-loads", r"joint \[1\] behind \[@scores\]", "joint [1] behind [@h0.fc]"),
        "@engine0 can not load for @h0.fc behind its input 1: @h0.fc takes turns itself",
    ),
    "what comes behind no joint input": (
        edited("behind-join-loads", r"joint \[1\] behind", "behind"),
        "what lies behind comes through the one joint input of engine @engine0, each task once",
    ),
    "slices without their FIFOs": (
        edited("shared-size-fifos", r"serves (.*) depths", r"serves \1 slices 2 depths"),
        "@engine0 has 9 FIFOs where streams are FIFOs, else none",
    ),
    "an engine without its FIFOs": (
        edited("shared-size-fifos", r" depths \[.*\]", ""),
        "@engine0 has 3 FIFOs where streams are FIFOs, else none",
    ),
    "a FIFO that holds nothing": (
        edited("shared-size-fifos", r" depths \[.*\]", " depths [2, 0, 2]"),
        "a FIFO of engine @engine0 holds at least one token",
    ),
    "layers that carry what is no input": (
        edited("layers-tile-tasks", r'to "x"\]', 'to "h0.up"]'),
        r"h0\.out is carried to h0\.up: a layer must make it, and that be given once, or made outside of layers",
    ),
    "layers that carry another shape": (
        edited("layers-tile-tasks", r'\["h0.out" to', '["h0.fc" to'),
        r"h0\.fc is carried to x, which has another shape or type",
    ),
    "a layer without tensors": (
        edited("layers-tile-tasks", r"dataflow.layers 3", "dataflow.layers 4"),
        r"h0\.up must hold a tensor of each of 4 layers, or one of all",
    ),
    "a result of a layer that is not there": (
        edited("layers-tile-tasks", r"of layer 2", "of layer 3"),
        r"output h2\.a must be of one of 3 layers, or of the last",
    ),
    "layers without FIFOs where others are": (
        edited("layers-size-fifos", r'(to "x"\]) depths \[.*\]', r"\1"),
        r"dataflow\.layers has 3 FIFOs where streams are FIFOs",
    ),
    "a layer that makes what enters the first": (
        edited("whole-tile-tasks", r'outside \["embed", ', "outside ["),
        r"h0\.out is carried to x: a layer must make it, and that be given once, or made outside of layers",
    ),
    "an operation outside that is of each layer": (
        edited("whole-tile-tasks", r'outside \["embed"', 'outside ["embed", "h0.fc"'),
        r"h0\.fc is outside of layers and reads x, which is of each layer",
    ),
    "an operation outside that reads what is not handed on": (
        edited("whole-tile-tasks", r'outside \["embed", "scores"', 'outside ["embed"'),
        r"best is outside of layers and reads scores, which is not handed on",
    ),
    "an operation in layers that reads what is outside": (
        edited("whole-tile-tasks", r', "best"\]', "]"),
        r"best is of a layer and reads scores, which is outside of layers",
    ),
    "nothing that is outside": (
        edited("whole-tile-tasks", r', "best"\]', ', "best", "worst"]'),
        "worst is outside of layers, but is no operation",
    ),
    "layers said twice": (
        edited("layers-insert-forks", r"( *dataflow\.layers .*\n)", r"\1\1"),
        r"a design says once, if at all, how many layers it runs",
    ),
    "an operation beside the kernels": (
        edited("insert-forks", r"func\.return", "%beside = arith.constant 1.0 : f32\n func.return"),
        r"@mlp holds arith.constant; expected dataflow.kernel, dataflow.layers, dataflow.die, func.return",
    ),
}


@pytest.mark.parametrize("case", REFUSED)
def test_what_is_no_design_says_why(case: str) -> None:
    text, message = REFUSED[case]
    with pytest.raises(VerificationError, match=message):
        read(text)
