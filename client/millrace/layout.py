"""Where the tasks of a dataflow graph are drawn: one kernel below the other, each task below what it reads from."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

Link = tuple[str, str]
_SWEEPS = 4


def rows_of(kernels: Mapping[str, int], links: Sequence[Link]) -> list[list[str]]:
    """The rows from top to bottom. `kernels` gives the kernel of each task, `links` are sources with their targets."""
    return _ordered(_rows(kernels, links), links)


def _rows(kernels: Mapping[str, int], links: Sequence[Link]) -> list[list[str]]:
    """Each task one row below the last that it reads from; the rows of a kernel below those of the kernel before."""
    depth = dict.fromkeys(kernels, 0)
    for _ in kernels:  # as often as the longest path can be; a cycle ends there too
        moved = False
        for source, target in links:
            below = depth[source] + 1
            if kernels[source] == kernels[target] and depth[target] < below < len(kernels):
                depth[target], moved = below, True
        if not moved:
            break
    layers = {(kernel, depth[name]) for name, kernel in kernels.items()}
    row = {layer: i for i, layer in enumerate(sorted(layers))}
    rows: list[list[str]] = [[] for _ in row]
    for name, kernel in kernels.items():
        rows[row[kernel, depth[name]]].append(name)
    return rows


def _ordered(rows: list[list[str]], links: Sequence[Link]) -> list[list[str]]:
    """Tasks of a row near the middle of what they are connected to, so that few streams cross (barycentres)."""
    near: dict[str, list[str]] = {}
    for source, target in links:
        near.setdefault(source, []).append(target)
        near.setdefault(target, []).append(source)
    place = {name: (i + 0.5) / len(row) for row in rows for i, name in enumerate(row)}
    for sweep in range(_SWEEPS):
        for row in rows if sweep % 2 == 0 else reversed(rows):
            middles = {n: sum(place[m] for m in near.get(n, [n])) / len(near.get(n, [n])) for n in row}
            row.sort(key=middles.__getitem__)
            place |= {name: (i + 0.5) / len(row) for i, name in enumerate(row)}
    return rows
