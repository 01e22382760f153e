"""Hostile files are known by a look, honest ones pass it, and whatever bytes come, it says so and nothing else."""

import random
import subprocess
import sys
from time import process_time

import large_files
import onnx
import onnx_models
import pytest
from hostile_files import hostile_files
from looked_at import refusal
from onnx import helper

from compiler.frontend.scan.bounds import MAX_NODES, SCAN_SECONDS

NET = onnx_models.mlp(1, (3, 5, 7))
TEXT = b"func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> { return %x : tensor<4xf32> }"

KNOWN = {
    "20000-inputs.onnx": "more than 9216 inputs; at most 9216",
    "8000-inputs.onnx": "7997 inputs; at most 1024",
    "concat-of-100000.onnx": "operands; at most 2048",
    "nested-graphs-20.onnx": "holds a graph of its own",
    "function-of-itself.onnx": "local functions",
    "sparse.onnx": "sparse tensors",
    "training.onnx": "export it for inference",
    "huge-dims.onnx": "elements; at most",
    "negative-dims.onnx": "shape [-1, -35]",
    "200-dims.onnx": "up to 8 dimensions",
    "lying-dims.onnx": "1099511627776 elements",
    "zero-dims.onnx": "bytes for 0 elements",
    "sequence-of-sequences.onnx": "'x' is no tensor",
    "cycle.onnx": "made or read before it",
    "long-cycle.onnx": "made or read before it",
    "same-output-twice.onnx": "made or read before it",
    "same-tensor-twice.onnx": "two tensors called 'fc1.weight'",
    "nul-name.onnx": "holds a NUL",
    "surrogate-name.onnx": "is not UTF-8",
    "long-name.onnx": "a name has 10000000 bytes",
    "external-passwd.onnx": "'/etc/passwd'; files beside an upload are never read",
    "external-above.onnx": "'../../../../secret'",
    "regular-expression.onnx": "computes with texts",
    "loop.onnx": "control flow of its own",
    "einsum-equation.onnx": "a text of more than 4096 bytes",
    "million-numbers.onnx": "a list of more than 4096 numbers",
    "kind-99.onnx": "is of type 99",
    "random.onnx": "is no ONNX file",
    "length-of-2^60.onnx": "declares 1152921504606846976 bytes",
    "two-graphs.onnx": "several graphs",
    "groups.onnx": "is no ONNX file",
    "hardly-a-network.onnx": "no nodes",
    "alias-types.mlir": "when its aliases are written out",
    "alias-attributes.mlir": "nests aliases more than 32 deep",
    "alias-of-much-text.mlir": "when its aliases are written out",
    "alias-dictionaries.mlir": "aliases",
    "alias-locations.mlir": "aliases",
    "alias-functions.mlir": "aliases",
    "alias-on-one-line.mlir": "aliases",
    "alias-with-breaks.mlir": "aliases",
    "100000-arguments.mlir": "more than 4096 arguments",
    "100000-block-arguments.mlir": "more than 4096 arguments",
    "200000-adds.mlir": "more than 65536 operations",
    "angle-brackets.mlir": "nests more than 64 brackets",
    "parentheses-open.mlir": "nests more than 64 brackets",
    "nested-modules.mlir": "nests more than 64 brackets",
    "map-of-quotients.mlir": "affine map of more than 2048 bytes",
    "wide-integers.mlir": "integers of 16000000 bits",
    "wide-tensor-integers.mlir": "integers of 8388607 bits",
    "long-number.mlir": "a number of more than 64 digits",
    "long-fraction.mlir": "a number of more than 64 digits",
    "splat.mlir": "a tensor of 1000000000000 elements",
    "elements-of-2^200.mlir": "a tensor of",
    "rank-100000.mlir": "a tensor of 100000 dimensions",
    "bytecode.mlir": "is not text",
    "nul.mlir": "holds a NUL",
    "surrogate.mlir": "is not text",
    "functions.mlir": "has 200001 functions",
    "no-main.mlir": "has no function @main",
    "empty.mlir": "has no function @main",
    "bomb.pt2": "ratio of at most 200",
    "overlapping.pt2": "overlaps",
    "above.pt2": "points outside",
    "30000-members.pt2": "30000 members",
    "directory-of-4-GB.pt2": "65535 members or more",
    "pickle-of-system.pt2": "would load 'posix system'",
    "pickle-of-system-4.pt2": "would load 'posix system'",
    "deep-program.pt2": "nests too deep",
    "program-of-100000.pt2": "has 100000 operations",
    "no-program.pt2": "is no archive of torch.export",
}
FILES = hostile_files()


@pytest.mark.parametrize("name", KNOWN)
def test_known_by_a_look(name: str) -> None:
    content = FILES[name]()
    begun = process_time()
    found = refusal(content, name)
    assert KNOWN[name] in found, found
    assert process_time() - begun < SCAN_SECONDS
    assert "\n" not in found


@pytest.mark.parametrize("form", ["onnx", "mlir", "pt2"])
def test_any_bytes_are_refused_or_taken_and_nothing_else(form: str) -> None:
    whole = {"onnx": NET.SerializeToString(), "mlir": TEXT, "pt2": FILES["no-program.pt2"]()}[form]
    draw = random.Random(1)
    for _ in range(300):
        content = bytearray(whole)
        for _ in range(draw.randrange(1, 6)):
            content[draw.randrange(len(content))] = draw.randrange(256)
        refusal(bytes(content[: draw.randrange(len(content))]), f"net.{form}")


def test_networks_pass() -> None:
    assert refusal(NET.SerializeToString(), "net.onnx") == ""
    assert refusal(onnx_models.chain(MAX_NODES).SerializeToString(), "net.onnx") == ""
    assert refusal(onnx_models.vit_block().SerializeToString(), "net.onnx") == ""
    assert refusal(b'"func.func"() <{sym_name = "main"}> ({}) : () -> ()', "net.mlir") == ""


@pytest.mark.parametrize(
    "name",
    ["deep-residuals.onnx", "600-inputs.onnx", "wide-concatenation.onnx", "long-names.onnx", "1000-matmuls.mlir"],
)
def test_large_honest_networks_pass(name: str) -> None:
    assert refusal(large_files.large_files()[name](), name) == ""


def test_operators_are_refused_by_name() -> None:
    def with_node(op: str, domain: str = "") -> str:
        model = onnx.ModelProto()
        model.CopyFrom(NET)
        model.graph.node.append(helper.make_node(op, ["x"], ["z"], name="n", domain=domain))
        return refusal(model.SerializeToString(), "net.onnx")

    assert "node 'n' (DeformConv) is not supported" in with_node("DeformConv")
    assert "is of the domain 'com.microsoft'" in with_node("Gelu", "com.microsoft")


def test_aliases_count_as_often_as_they_are_used() -> None:
    """Honest: thousands of uses of maps, each of them small. Hostile: few uses of one that is long."""
    maps = b"#m = affine_map<(d0, d1) -> (d0, d1)>\n#n = affine_map<(d0, d1) -> (d1)>\n"
    uses = b"".join(b"%%c%d = arith.constant {a = #m, b = #n} 1 : i32\n" % i for i in range(20_000))
    assert refusal(maps + TEXT.replace(b"return", uses + b"return"), "net.mlir") == ""
    long = b"#m = [" + b", ".join([b"1"] * 3000) + b"]\n"
    assert "aliases" in refusal(long + TEXT.replace(b"return", uses + b"return"), "net.mlir")
    locations = b"".join(b"#loc%d = loc(#loc%d)\n" % (i, i % 7) for i in range(1, 20_000))
    assert refusal(TEXT + b"\n#loc = loc(unknown)\n" + locations, "net.mlir") == ""


@pytest.mark.slow
def test_the_look_loads_no_importer() -> None:
    code = (
        "import sys, api.app, compiler.frontend.scan.process;"
        "print([m for m in ('onnx', 'google.protobuf', 'torch', 'numpy') if m in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert "onnx" not in done.stdout
    assert "torch" not in done.stdout
