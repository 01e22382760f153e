"""Names from files: plain, apart, and harmless in C++ and in file names."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from compiler.errors import UnsupportedError
from compiler.frontend.inputs.names import MAX_NAME, clean, explained, unique_names


@pytest.mark.parametrize(
    ("name", "made"),
    [
        ("/attn/qkv/MatMul", "attn.qkv.matmul"),
        ("onnx::MatMul_123", "onnx.matmul_123"),
        ("fc1.weight", "fc1.weight"),
        ("123", "n_123"),
        ("main", "n_main"),
        ("file", "n_file"),
        ("softmax.exp", "softmax.exp"),
        ("../../etc/passwd", "etc.passwd"),
        ("\n", "value"),
        ("", "value"),
        ("é", "value"),
        ("a" * 1000, "a" * MAX_NAME),
    ],
)
def test_clean(name: str, made: str) -> None:
    assert clean(name, "value") == made


@given(st.lists(st.text(max_size=80), max_size=20))
def test_names_stay_apart_however_they_are_written(names: list[str]) -> None:
    made = unique_names(names, "value", set())
    assert len({n.replace(".", "_") for n in made}) == len(names)
    for name in made:
        assert name[0].isalpha()
        assert len(name) <= MAX_NAME
        assert set(name) <= set("abcdefghijklmnopqrstuvwxyz0123456789_.")
        assert clean(name, "value") == name


def test_taken_names_are_avoided() -> None:
    taken = {"a_b"}
    assert unique_names(["a.b", "a.b"], "value", taken) == ["a.b_2", "a.b_3"]
    assert taken == {"a_b", "a_b_2", "a_b_3"}


def test_errors_say_what_a_path_stands_for() -> None:
    error = explained(UnsupportedError("linalg.generic at net.sin: no"), {"net.sin": "ONNX node '/net/Sin' (Sin)"})
    assert str(error) == "linalg.generic at net.sin: no [ONNX node '/net/Sin' (Sin)]"
    assert str(explained(UnsupportedError("at elsewhere"), {"net.sin": "x"})) == "at elsewhere"
