"""Calibration data from outside: what is as it should be is read, all else is refused in words."""

import io
import zipfile
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from examples import examples
from hypothesis import given, settings
from hypothesis import strategies as st

from compiler.errors import InvalidInputError
from compiler.frontend.integers.samples import read_samples

SHAPES = {"x": (1, 3), "mask": (2, 2)}
GOOD = {"x": np.arange(6.0, dtype=np.float32).reshape(2, 3), "mask": np.arange(8.0).reshape(2, 2, 2)}


def file_of(path: Path, **arrays: Any) -> Path:
    np.savez(path, **arrays)
    return path


def test_samples_are_read_by_name(tmp_path: Path) -> None:
    first, second = read_samples(file_of(tmp_path / "s.npz", **GOOD), SHAPES)
    assert first["x"].tolist() == [[0, 1, 2]]
    assert second["mask"].tolist() == [[4, 5], [6, 7]]
    assert {array.dtype for array in second.values()} == {np.dtype("f4")}
    one = {name: np.ones(shape, np.float32) for name, shape in SHAPES.items()}
    assert len(read_samples(file_of(tmp_path / "one.npz", **one), SHAPES)) == 1
    rows = {"x": np.ones((5, 1, 3), np.float32), "mask": np.ones((5, 2, 2), np.float32)}
    assert [sample["x"].shape for sample in read_samples(file_of(tmp_path / "more.npz", **rows), SHAPES)] == [
        (1, 3)
    ] * 5


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"mask": None}, "must hold an array of each input, and nothing else: mask, x; it holds x"),
        ({"y": np.ones(3)}, "nothing else: mask, x"),
        ({"x": np.ones((2, 4), np.float32)}, r"x in s.npz has shape \[2, 4\]; it must be \[1, 3\]"),
        ({"x": np.ones((4, 5, 3), np.float32)}, r"has shape \[4, 5, 3\]"),
        ({"x": np.ones((0, 3), np.float32)}, "1 to 4096"),
        ({"x": np.ones((5000, 3), np.float32)}, "1 to 4096"),
        ({"x": np.ones((3, 3), np.float32)}, "different numbers of samples: {'x': 3, 'mask': 2}"),
        ({"x": np.array([[1, np.nan, 2]] * 2, np.float32)}, "x in s.npz holds values that are not finite"),
        ({"x": np.full((2, 3), 1e300)}, "not finite in f32"),
        ({"x": np.ones((2, 3), np.int64)}, "x in s.npz is int64; it must be float32 or float64"),
        ({"x": np.ones((2, 3), ">f4")}, "must be float32"),
        ({"x": np.asfortranarray(np.ones((2, 3), np.float32))}, "in C order"),
        ({"x": np.array([[object()] * 3] * 2)}, "x in s.npz is object"),
    ],
)
def test_what_is_none_is_refused(tmp_path: Path, change: dict[str, Any], message: str) -> None:
    arrays = {name: array for name, array in (GOOD | change).items() if array is not None}
    with pytest.raises(InvalidInputError, match=message):
        read_samples(file_of(tmp_path / "s.npz", **arrays), SHAPES)


def test_nothing_is_unpickled(tmp_path: Path) -> None:
    """Not even what is called as an array is."""

    class Touch:
        def __reduce__(self) -> tuple[Any, ...]:
            return Path.touch, (tmp_path / "run",)

    path = file_of(tmp_path / "s.npz", **(GOOD | {"x": np.array([[Touch()] * 3] * 2)}))
    with pytest.raises(InvalidInputError, match="is object"):
        read_samples(path, SHAPES)
    assert not (tmp_path / "run").exists()


def test_headers_that_promise_more_are_refused(tmp_path: Path) -> None:
    text = io.BytesIO()
    np.save(text, GOOD["x"])
    for content in (text.getvalue()[:-4], text.getvalue() + b"more", b"\x93NUMPY\x09\x09", b""):
        with zipfile.ZipFile(tmp_path / "s.npz", "w") as archive:
            archive.writestr("x.npy", content)
        with pytest.raises(InvalidInputError, match=r"x in s.npz (does not have the data|is no array)"):
            read_samples(tmp_path / "s.npz", {"x": (1, 3)})


@settings(max_examples=examples(200), deadline=None)
@given(st.data())
def test_a_damaged_file_is_refused_or_read(tmp_path_factory: pytest.TempPathFactory, data: st.DataObject) -> None:
    path = file_of(tmp_path_factory.mktemp("damaged") / "s.npz", **GOOD)
    content = bytearray(path.read_bytes())
    for _ in range(data.draw(st.integers(1, 4))):
        content[data.draw(st.integers(0, len(content) - 1))] = data.draw(st.integers(0, 255))
    cut = data.draw(st.one_of(st.just(0), st.integers(0, len(content))))
    path.write_bytes(bytes(content[: len(content) - cut]))
    try:
        samples = read_samples(path, SHAPES)
    except InvalidInputError:
        return
    assert all({name: array.shape for name, array in sample.items()} == SHAPES for sample in samples)
