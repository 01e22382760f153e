"""Sizes of modules and functions, beside the anchors of the field (lines, median / 90th percentile).

python -m bench.sizes
"""

import ast
import statistics
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from rich.console import Console
from rich.table import Table

ROOT = Path(__file__).resolve().parent.parent
PACKAGES = ("compiler", "dse", "api", "worker", "db", "cli")
# Counted in the public repositories when the house rules were written.
ANCHORS = {"xDSL": ("148 / 816", "7 / 29"), "Polar": ("91 / 456", "10 / 46"), "Optuna": ("122 / 429", "11 / 42")}


@dataclass(frozen=True)
class Sizes:
    """Lines of each module, and of each function from its `def` to its end, with the place of the longest."""

    modules: list[int]
    functions: list[int]
    longest_module: str
    longest_function: str


def measure(package: str) -> Sizes:
    files = sorted((ROOT / package).rglob("*.py"))
    modules = {str(f.relative_to(ROOT)): len(f.read_text().splitlines()) for f in files}
    kept = {name: lines for name, lines in modules.items() if lines > 1}  # a docstring alone is no module
    functions = {f"{name}:{at}": lines for name in kept for at, lines in _functions(ROOT / name)}
    return Sizes(
        list(kept.values()),
        list(functions.values()),
        max(kept, key=lambda name: kept[name]),
        max(functions, key=lambda name: functions[name]),
    )


def _functions(path: Path) -> Iterator[tuple[str, int]]:
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            assert node.end_lineno is not None
            yield f"{node.name}", node.end_lineno - node.lineno + 1


def _spread(lines: list[int]) -> str:
    return f"{statistics.median(lines):.0f} / {statistics.quantiles(lines, n=10)[-1]:.0f}"


def main() -> None:
    table = Table(title="lines, median / 90th percentile")
    for name in ("package", "modules", "lines a module", "lines a function", "longest module", "longest function"):
        table.add_column(name)
    for package in PACKAGES:
        sizes = measure(package)
        longest = f"{sizes.longest_module} ({max(sizes.modules)})", f"{sizes.longest_function} ({max(sizes.functions)})"
        table.add_row(package, str(len(sizes.modules)), _spread(sizes.modules), _spread(sizes.functions), *longest)
    for name, (modules, functions) in ANCHORS.items():
        table.add_row(f"[dim]{name}[/]", "", modules, functions, "", "")
    console = Console(width=160)
    console.print(table)
    source, tests = (
        sum(len(f.read_text().splitlines()) for p in parts for f in (ROOT / p).rglob("*.py"))
        for parts in (PACKAGES, ("tests",))
    )
    console.print(
        f"pipeline.py: {len((ROOT / 'compiler/pipeline.py').read_text().splitlines())} lines; "
        f"tests to source: {tests / source:.2f}"
    )


if __name__ == "__main__":
    main()
