"""Timelines of kernels that run one after the other, joined to one of the design."""

from collections.abc import Sequence

Row = tuple[float, ...]


def rebinned(row: Sequence[float], width: int, start: int, bucket: int, buckets: int) -> list[float]:
    """Cycles in each of `buckets` parts of `bucket` cycles, from cycles in parts of `width` that begin at `start`.

    Within a part cycles count as spread evenly.
    """
    result = [0.0] * buckets
    for n, cycles in enumerate(row):
        if not cycles:
            continue
        begin, end = start + n * width, start + (n + 1) * width
        for k in range(begin // bucket, min(buckets, -(-end // bucket))):
            inside = min(end, (k + 1) * bucket) - max(begin, k * bucket)
            result[k] += cycles * inside / width
    return result


def active(start: int, end: int, bucket: int, buckets: int) -> list[float]:
    """Cycles of each part that lie in `start` .. `end`."""
    return [float(max(0, min(end, (k + 1) * bucket) - max(start, k * bucket))) for k in range(buckets)]


def shares(cycles: Sequence[float], bucket: int) -> Row:
    """Parts of a bucket, rounded: a file of them is for a chart."""
    return tuple(round(min(1.0, max(0.0, c / bucket)), 4) for c in cycles)


def bucket_cycles(total: int, buckets: int) -> int:
    """Cycles of a part where at most `buckets` of them cover `total`."""
    return max(1, -(-total // max(1, buckets)))
