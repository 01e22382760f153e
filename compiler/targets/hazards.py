"""How soon a converter reads back what it wrote: the distance that lets the tool pipeline the buffer's accesses."""

from compiler.graph.box import write_to_read
from compiler.graph.converter import box_of
from compiler.graph.task_graph import ConverterTask


def write_to_read_distance(task: ConverterTask) -> int:
    """Fewest iterations between the write of a buffered element and its first read. O(sum of the box's extents)."""
    converter = task.converter
    return write_to_read(box_of(converter.source, converter.target), converter.realisation)
