import pytest

from compiler.toolchain.logs.durations import gigabytes, seconds_of


@pytest.mark.parametrize(
    ("text", "seconds"),
    [("10h 31m 58s", 37918), ("0h 24m 34s", 1474), ("05h 05m 04s", 18304), ("12s", 12), ("03:41:29", 13289),
     ("00:00:00.58", 0.58), ("0h 24m", None), ("soon", None), ("", None)],
)  # fmt: skip
def test_seconds(text: str, seconds: float | None) -> None:
    assert seconds_of(text) == seconds


def test_memory() -> None:
    assert [gigabytes("512", unit) for unit in ("MB", "GB", "TB")] == [0.5, 512, 512 * 1024]
