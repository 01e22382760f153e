"""What an ONNX network is rewritten to before it is lowered: the same results by operators that stream better.

- A BatchNormalization behind a convolution or a Gemm goes into its weights and bias.
- An AveragePool divides by how many elements a window has. Where that differs from window to window, since padding does
  not count or the last windows end behind it, it becomes one that divides by the same everywhere, times a tensor.
- A Gather of one part, whose number is a constant, becomes a slice.
- A Resize or Upsample to nearest neighbours becomes a broadcast along new dimensions, which a reshape merges; a linear
  one means of these, by a convolution of each channel.
- A ConvTranspose becomes a Conv of its input with zeros between elements: they repeat, times a tensor of ones and
  zeros.

Expected results are of the network as it was written, so both are checked with every design of it.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from functools import reduce
from math import prod
from typing import Any, NamedTuple

import numpy as np
import onnx
from numpy.typing import NDArray
from onnx import NodeProto, helper, numpy_helper

from compiler.errors import UnsupportedError
from compiler.frontend.inputs.norms import Norm
from compiler.frontend.inputs.onnx_checks import shape_of
from compiler.frontend.inputs.onnx_resize import LINEAR, repeats, taps
from compiler.frontend.scan.onnx_operators import OF_DATA

Array = NDArray[Any]

# pyright: reportUnknownMemberType=false
# (protobuf's containers are half typed)


def rewritten(model: onnx.ModelProto, parameters: Mapping[str, Array]) -> tuple[onnx.ModelProto, dict[str, Array]]:
    """The network with inferred shapes and its parameters, by name, which are inputs of it. Raises UnsupportedError for
    what no operators that stream compute. O(nodes + weights).
    """
    copied = onnx.ModelProto()
    copied.CopyFrom(model)
    _name_once(copied.graph, parameters)
    found = _Rewritten(copied.graph, dict(parameters))
    nodes = list(copied.graph.node)
    found.fold_norms(nodes)
    nodes = [new for node in nodes for new in found.streamed(node)]
    used = {name for node in nodes for name in node.input} | {o.name for o in copied.graph.output}
    inputs = [v for v in copied.graph.input if v.name in used or v.name not in parameters]
    del copied.graph.node[:], copied.graph.input[:]
    copied.graph.node.extend(nodes)
    copied.graph.input.extend([*inputs, *found.added])
    return copied, {name: array for name, array in found.parameters.items() if name in used}


def _name_once(graph: onnx.GraphProto, parameters: Mapping[str, Array]) -> None:
    """Without names that a parameter has beside its own: PyTorch's exporter stores equal tensors once."""
    results, own = {output.name for output in graph.output}, dict[str, str]()
    kept: list[NodeProto] = []
    for node in graph.node:
        read = [own.get(name, name) for name in node.input]
        if node.op_type == "Identity" and read[0] in parameters and node.output[0] not in results:
            own[node.output[0]] = read[0]
            continue
        del node.input[:]
        node.input.extend(read)
        kept.append(node)
    del graph.node[:]
    graph.node.extend(kept)


class _Span(NamedTuple):
    """Windows of an AveragePool along one dimension: so many, of so many lines, and the padding on both sides."""

    lines: int
    windows: int
    kernel: int
    stride: int
    dilation: int
    low: int
    high: int

    @property
    def behind(self) -> int:
        """Lines that the last window reaches behind the last line."""
        return max(0, (self.windows - 1) * self.stride + (self.kernel - 1) * self.dilation + 1 - self.low - self.lines)

    def counts(self, pads: bool) -> Array:
        """Of each window the taps that are lines, or of the padding, if that counts."""
        first, end = (-self.low, self.lines + self.high) if pads else (0, self.lines)
        begins = np.arange(self.windows) * self.stride - self.low
        least = np.maximum(0, -((begins - first) // self.dilation))
        most = np.minimum(self.kernel - 1, (end - 1 - begins) // self.dilation)
        return most - least + 1


class _Rewritten:
    """Parameters as they become, and those that are `added` to the inputs of the graph."""

    def __init__(self, graph: onnx.GraphProto, parameters: dict[str, Array]) -> None:
        self.graph, self.parameters = graph, parameters
        self.added: list[onnx.ValueInfoProto] = []
        values = (*graph.input, *graph.value_info, *graph.output)
        self.types = {value.name: value for value in values}
        self.readers = Counter(name for node in graph.node for name in node.input)
        self.readers.update(output.name for output in graph.output)

    def fold_norms(self, nodes: list[NodeProto]) -> None:
        """Convolutions and products that make what their norm made; the norms are taken out."""
        makers = {node.output[0]: node for node in nodes if node.op_type == "Conv" or _is_linear(node)}
        for norm in [node for node in nodes if node.op_type == "BatchNormalization"]:
            conv = makers.get(norm.input[0])
            if conv is not None and self._fold(conv, norm):
                nodes.remove(norm)

    def _fold(self, conv: NodeProto, norm: NodeProto) -> bool:
        """Whether all that it takes is known, and nothing else reads what is changed."""
        attributes, (_, *given) = _attributes(norm), norm.input
        weight, *bias = conv.input[1:]
        changed = (conv.output[0], weight)
        known = all(name in self.parameters for name in (weight, *filter(None, bias), *given))
        if not known or attributes.get("training_mode") or any(self.readers[name] != 1 for name in changed):
            return False
        scale, shift, mean, variance = (self.parameters[name] for name in given)
        before = self.parameters[bias[0]] if bias and bias[0] else None
        computed = Norm(scale, shift, mean, variance, attributes.get("epsilon", 1e-5))
        if (made := computed.folded(self.parameters[weight], before)) is None:
            return False
        shift = given[1] if self.readers[given[1]] == 1 else self._added(given[1], made[1])
        self.parameters |= dict(zip((weight, shift), made, strict=True))
        ends = [conv.input[0], weight, shift], [norm.output[0]]
        del conv.input[:], conv.output[:]
        conv.input.extend(ends[0])
        conv.output.extend(ends[1])
        return True

    def streamed(self, node: NodeProto) -> Sequence[NodeProto]:
        """The node, or those that take its place. Raises UnsupportedError."""
        match node.op_type:
            case "AveragePool":
                return self._averaged(node)
            case "Resize" | "Upsample":
                return self._resized(node)
            case "ConvTranspose":
                return self._spread(node)
            case "Gather":
                return self._taken(node)
            case _:
                return (node,)

    def _taken(self, node: NodeProto) -> Sequence[NodeProto]:
        """One part of a dimension, which is gone then; shapes stay, which fold."""
        if self.types[node.output[0]].type.tensor_type.elem_type != onnx.TensorProto.FLOAT:
            return (node,)
        read, made = (self._shape(name) for name in (node.input[0], node.output[0]))
        numbers = [numpy_helper.to_array(t) for t in self.graph.initializer if t.name == node.input[1]]
        if not numbers or numbers[0].size != 1:
            raise UnsupportedError(f"Gather at {node.name} is not supported: {OF_DATA}")
        axis = int(_attributes(node).get("axis", 0)) % len(read)
        part = int(numbers[0].item()) % read[axis]
        cut = self._fresh(f"{node.output[0]}.part", [1 if dim == axis else n for dim, n in enumerate(read)])
        bounds = [self._integers(f"{cut}.{n}", [value]) for n, value in enumerate((part, part + 1, axis))]
        shape = self._integers(f"{cut}.shape", made)
        return (
            helper.make_node("Slice", [node.input[0], *bounds], [cut], name=node.name),
            helper.make_node("Reshape", [cut, shape], node.output, name=node.name),
        )

    def _resized(self, node: NodeProto) -> Sequence[NodeProto]:
        """Elements that repeat, and of these the mean around each where it interpolates."""
        attributes, (lines, made) = _attributes(node), [self._shape(name) for name in (node.input[0], node.output[0])]
        times = repeats(node, attributes, lines, made, self._scales(node, len(lines)))
        if attributes.get("mode", b"nearest").decode() != LINEAR:
            return self._repeated(node, times, node.output[0])
        larger, mean = (self._fresh(f"{node.output[0]}.{name}", made) for name in ("nearest", "sum"))
        weights, channels = [taps(scale) for scale in times[2:]], made[1]
        kernel = np.broadcast_to(reduce(np.multiply.outer, weights), (channels, 1, *map(len, weights)))
        pads = [len(weight) // 2 for weight in weights]
        whole = [np.convolve(np.ones(n), weight) for n, weight in zip(made[2:], weights, strict=True)]
        reached = [along[pad : len(along) - pad] for along, pad in zip(whole, pads, strict=True)]
        names = [
            self._added(f"{node.name}.{name}", np.ascontiguousarray(array, np.float32))
            for name, array in (("taps", kernel), ("share", 1 / reduce(np.multiply.outer, reached)[None, None]))
        ]
        return (
            *self._repeated(node, times, larger),
            helper.make_node("Conv", [larger, names[0]], [mean], name=node.name, group=channels, pads=[*pads, *pads]),
            helper.make_node("Mul", [mean, names[1]], node.output, name=f"{node.name}.share"),
        )

    def _repeated(self, node: NodeProto, times: Sequence[int], result: str) -> Sequence[NodeProto]:
        """What the node reads, with a dimension of one behind each, along which elements repeat."""
        value, nodes, lines = node.input[0], list[NodeProto](), self._shape(node.input[0])
        shapes = [[e for n in lines for e in (n, 1)], [e for pair in zip(lines, times, strict=True) for e in pair]]
        made = [n * by for n, by in zip(lines, times, strict=True)]
        for kind, shape in (("Reshape", shapes[0]), ("Expand", shapes[1]), ("Reshape", made)):
            name = result if shape is made else self._fresh(f"{result}.{kind}", shape)
            read, value = [value, self._integers(f"{name}.shape", shape)], name
            nodes.append(helper.make_node(kind, read, [name], name=node.name))
        return nodes

    def _spread(self, node: NodeProto) -> Sequence[NodeProto]:
        """Of each tap that an element is spread over, where it was spread from: the kernel from its end to its begin.
        Raises UnsupportedError.
        """
        attributes, (read, weight, *bias) = _attributes(node), node.input
        lines, made = self._shape(read), self._shape(node.output[0])
        ones, where = [1] * (len(lines) - 2), f"ConvTranspose at {node.name} is not supported"
        strides, dilations = attributes.get("strides", ones), attributes.get("dilations", ones)
        low = attributes.get("pads", [0] * (2 * len(ones)))[: len(ones)]
        if attributes.get("auto_pad", b"NOTSET") != b"NOTSET" or "output_shape" in attributes:
            raise UnsupportedError(f"{where}: its padding is not given as `pads`")
        if attributes.get("group", 1) != 1:
            raise UnsupportedError(f"{where}: it has groups, of which onnx, that we compare with, takes other weights")
        if (kernel := self.parameters.get(weight)) is None:
            raise UnsupportedError(f"{where}: its weights are no constants")
        reach = [apart * (n - 1) for apart, n in zip(dilations, kernel.shape[2:], strict=True)]
        larger = [n * by for n, by in zip(lines[2:], strides, strict=True)]
        before = [far - pad for far, pad in zip(reach, low, strict=True)]
        behind = [to - n - pad + far for to, n, pad, far in zip(made[2:], larger, before, reach, strict=True)]
        if min(*before, *behind) < 0:
            raise UnsupportedError(f"{where}: its kernel is smaller than its stride, or its padding larger than that")
        turned = np.flip(kernel, tuple(range(2, kernel.ndim))).swapaxes(0, 1)
        nodes, pads = list[NodeProto](), [*before, *behind]
        if strides != ones:
            shape = [*lines[:2], *larger]
            near, spread = (self._fresh(f"{node.output[0]}.{name}", shape) for name in ("nearest", "spread"))
            first: list[Array] = [
                (np.arange(n) % by == 0).astype(np.float32) for n, by in zip(larger, strides, strict=True)
            ]
            alone = self._added(f"{node.name}.alone", reduce(np.multiply.outer, first)[None, None])
            nodes += self._repeated(node, (1, 1, *strides), near)
            nodes.append(helper.make_node("Mul", [near, alone], [spread], name=f"{node.name}.alone"))
            read = spread
        given = [read, self._added(f"{weight}.turned", np.ascontiguousarray(turned)), *bias]
        conv = helper.make_node("Conv", given, node.output, name=node.name, dilations=dilations, pads=pads)
        return *nodes, conv

    def _scales(self, node: NodeProto, rank: int) -> list[float] | None:
        """Of all dimensions; None where the node has sizes."""
        attributes, named = _attributes(node), (*node.input, "", "")[2 if len(node.input) > 2 else 1]
        if "scales" in attributes:
            return attributes["scales"]
        (stored,) = [numpy_helper.to_array(t) for t in self.graph.initializer if t.name == named] or [np.zeros(0)]
        axes = [axis % rank for axis in attributes.get("axes", range(rank))]
        if not stored.size:
            return None
        found = dict(zip(axes, stored.tolist(), strict=True))
        return [found.get(dim, 1.0) for dim in range(rank)]

    def _shape(self, name: str) -> list[int]:
        return list(shape_of(self.types[name]))

    def _integers(self, hint: str, values: Sequence[int]) -> str:
        """The name of a new constant."""
        name = self._fresh(hint)
        self.graph.initializer.append(numpy_helper.from_array(np.asarray(values, np.int64), name))
        return name

    def _averaged(self, node: NodeProto) -> Sequence[NodeProto]:
        """An AveragePool that divides by as many everywhere, and what that is multiplied by."""
        attributes, spans = _attributes(node), self._spans(node)
        counts = [span.counts(bool(attributes.get("count_include_pad"))) for span in spans]
        kept = {name: attributes[name] for name in ("kernel_shape", "strides", "dilations") if name in attributes}
        pads = [*(span.low for span in spans), *(span.behind for span in spans)]
        with np.errstate(divide="ignore"):  # what that makes of a window of padding alone, the reference finds as well
            share = prod(span.kernel for span in spans) / reduce(np.multiply.outer, counts)
        plain = bool((share == 1).all())
        result = node.output[0]
        made = result if plain else self._fresh(f"{result}.sum", self._shape(result))
        pool = helper.make_node(
            "AveragePool", node.input, [made], name=node.name, count_include_pad=1, pads=pads, **kept
        )
        if plain:
            return (pool,)
        factor = share.astype(np.float32)[None, None]
        name = self._added(f"{node.name}.share", factor)
        return pool, helper.make_node("Mul", [made, name], [result], name=f"{node.name}.share")

    def _spans(self, node: NodeProto) -> list[_Span]:
        attributes = _attributes(node)
        shape, made = (self._shape(name)[2:] for name in (node.input[0], node.output[0]))
        ones, kernel = [1] * len(shape), attributes["kernel_shape"]
        strides, dilations = attributes.get("strides", ones), attributes.get("dilations", ones)
        pads = attributes.get("pads", [0, 0] * len(shape))
        where = attributes.get("auto_pad", b"NOTSET")
        spans: list[_Span] = []
        for d, sizes in enumerate(zip(shape, made, kernel, strides, dilations, strict=True)):
            span = _Span(*sizes, pads[d], pads[d + len(shape)])
            if where.startswith(b"SAME"):
                missing = span._replace(low=0).behind
                low = missing // 2 if where == b"SAME_UPPER" else missing - missing // 2
                span = span._replace(low=low, high=missing - low)
            spans.append(span)
        return spans

    def _added(self, hint: str, array: Array) -> str:
        """The name of a new parameter, which may be like another one's: of an equal tensor that others read."""
        name = self._fresh(hint)
        self.types[name] = helper.make_tensor_value_info(name, onnx.TensorProto.FLOAT, array.shape)
        self.added.append(self.types[name])
        self.parameters[name] = array
        return name

    def _fresh(self, hint: str, shape: Sequence[int] | None = None) -> str:
        """A name that no value has; of f32 of that shape, where one is given."""
        name = hint
        while name in self.types or name in self.parameters:
            name += "_"
        self.types[name] = described = helper.make_tensor_value_info(name, onnx.TensorProto.FLOAT, shape)
        if shape is not None:
            self.graph.value_info.append(described)
        return name


def _is_linear(node: NodeProto) -> bool:
    """Whether it is a product with weights whose rows make one channel each, and a bias, if any."""
    attributes = {"transA": 0, "transB": 0, "alpha": 1.0, "beta": 1.0} | _attributes(node)
    return node.op_type == "Gemm" and attributes == {"transA": 0, "transB": 1, "alpha": 1.0, "beta": 1.0}


def _attributes(node: NodeProto) -> dict[str, Any]:
    return {a.name: helper.get_attribute_value(a) for a in node.attribute}
