import gc
import subprocess
import sys

from compiler.collection import rare_collection

_RARELY = """
import gc
from compiler.collection import collect_rarely
before, kept = gc.get_threshold()[0], [[] for _ in range(1000)]
collect_rarely()
print(gc.get_threshold()[0] > before, gc.get_freeze_count() > 1000)
"""

_STAYS = """
import gc
from compiler.collection import imports_that_stay
gc.collect()
before, walks = gc.get_threshold(), gc.get_stats()[0]["collections"]
with imports_that_stay():
    kept = [[] for _ in range(10_000)]
print(gc.get_threshold() == before, gc.get_stats()[0]["collections"] == walks, gc.get_freeze_count() > 10_000)
"""


def test_a_process_walks_rarely_and_never_what_was_there() -> None:
    done = subprocess.run([sys.executable, "-c", _RARELY], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["True", "True"]


def test_what_a_program_imports_is_not_walked() -> None:
    done = subprocess.run([sys.executable, "-c", _STAYS], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["True", "True", "True"]


def test_a_while_of_few_walks_leaves_everything_as_it_was() -> None:
    before, frozen = gc.get_threshold(), gc.get_freeze_count()
    with rare_collection(young=12_345_678):
        assert gc.get_threshold()[0] == 12_345_678
        assert gc.get_freeze_count() == frozen
    assert gc.get_threshold() == before
