import threading
from typing import Any, cast

import pytest

from worker.running.orders import Order
from worker.running.runs import Run, Runs


def test_a_look_that_fails_is_followed_by_another(caplog: pytest.LogCaptureFixture) -> None:
    runs, looks, enough = Runs(), list[int](), threading.Event()

    def look(found: list[Run]) -> None:
        looks.append(len(found))
        if len(looks) == 1:
            raise KeyError("nobody thought of this")
        enough.set()

    threading.Thread(target=runs.watch, args=(0.001, look), daemon=True).start()
    runs.add(Run(Order("bld_1", 1, "csim", "log"), cast(Any, None), None))
    assert enough.wait(10)
    assert looks[:2] == [1, 1]
    assert "nobody thought of this" in caplog.text
