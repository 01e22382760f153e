"""How many examples Hypothesis tries."""

from hypothesis import settings

DEFAULT = 100  # of Hypothesis; what `count` below is meant beside
QUICK = DEFAULT // 5  # of the profile that `millrace test --quick` names


def examples(count: int) -> int:
    """`count` of them in the whole suite, and as much smaller a part with `--quick` as of tests that name no number."""
    return max(1, count * settings().max_examples // DEFAULT)
