"""How explorations and builds end."""

ENDED = frozenset({"done", "failed", "cancelled"})
"""States in which nothing more happens to an exploration or a build, unless it is resumed or tried again."""
