"""What an ONNX file declares: whether it is one, how much of it there is, and what of it is refused by its name.

Fields are those of onnx.proto of ONNX 1.19. Names of nodes are read, contents of tensors never.
"""

from dataclasses import dataclass
from math import prod

from compiler.errors import InvalidInputError, UnsupportedError
from compiler.frontend.scan.bounds import (
    MAX_ELEMENTS,
    MAX_INDICES,
    MAX_INPUTS,
    MAX_NAME,
    MAX_NODES,
    MAX_OPERANDS,
    MAX_RANK,
    MAX_TENSORS,
    MAX_TEXT,
)
from compiler.frontend.scan.onnx_operators import DOMAINS, REFUSED
from compiler.frontend.scan.wire import BYTES, FIXED32, VARINT, Field, Known, Wire

# Wire types of the fields that are known; others may come with a later ONNX.
_MODEL: Known = {1: VARINT, 5: VARINT, **dict.fromkeys((2, 3, 4, 6, 7, 8, 14, 20, 25), BYTES)}
_GRAPH: Known = dict.fromkeys((1, 2, 5, 10, 11, 12, 13, 14, 15, 16), BYTES)
_NODE: Known = dict.fromkeys((1, 2, 3, 4, 5, 6, 7, 8, 9), BYTES)
_ATTRIBUTE: Known = {2: FIXED32, 3: VARINT, **dict.fromkeys((1, 4, 5, 6, 9, 10, 11, 13, 14, 15, 21, 22, 23), BYTES)}
_TENSOR: Known = {2: VARINT, 14: VARINT, **dict.fromkeys((3, 6, 8, 9, 12, 13, 16), BYTES)}
_VALUE: Known = dict.fromkeys((1, 2, 3), BYTES)
_ANY: Known = {}
# Of a graph.
_NODES, _INITIALIZERS, _INPUTS, _OUTPUTS, _VALUES, _SPARSE = 1, 5, 11, 12, 13, 15
_WHAT = {
    _NODES: ("nodes", MAX_NODES),
    _INITIALIZERS: ("tensors", MAX_TENSORS),
    _INPUTS: ("inputs", MAX_INPUTS + MAX_TENSORS),  # old exporters list the tensors again
    _OUTPUTS: ("outputs", MAX_INPUTS),
    _VALUES: ("described values", 4 * MAX_NODES),
}
_EXTERNAL = 1
_FLOAT = 1
_ITEM_BYTES = {_FLOAT: 4, 6: 4, 7: 8, 9: 1}  # INT32, INT64, BOOL
_OTHER_KINDS = {2: "UINT8", 3: "INT8", 8: "STRING", 10: "FLOAT16", 11: "DOUBLE", 16: "BFLOAT16"}
_NEGATIVE = 1 << 63


def scan_onnx(descriptor: int, name: str) -> None:
    """Raise InvalidInputError for what is no ONNX file or too much of one, UnsupportedError for what is refused by its
    name.
    """
    wire = Wire(descriptor, name)
    found = list(wire.fields(0, wire.size, _MODEL))
    graphs = [field for field in found if field.number == 7]
    if len(graphs) != 1:
        raise InvalidInputError(f"{name} is no ONNX file: it holds {'no graph' if not graphs else 'several graphs'}")
    if any(field.number == 25 for field in found):
        raise UnsupportedError(f"{name} has local functions; export it inlined")
    if any(field.number == 20 for field in found):
        raise UnsupportedError(f"{name} holds what it was trained with; export it for inference")
    _Graph(wire).scan(graphs[0])


@dataclass
class _Tensor:
    """What a tensor declares: `data` and `external` are None and False where its contents are not in one piece."""

    name: str = ""
    kind: int = 0
    data: int | None = None
    external: bool = False
    location: str = "another file"


class _Graph:
    """The graph of a model, looked at field by field."""

    def __init__(self, wire: Wire) -> None:
        self._wire = wire
        self._name = wire.name
        self._count = dict.fromkeys(_WHAT, 0)
        self._given: set[str] = set()  # by inputs and tensors
        self._tensors: set[str] = set()
        self._made: set[str] = set()  # by nodes
        self._awaited: dict[str, str] = {}  # what a node reads that none before it makes, and the node

    def scan(self, graph: Field) -> None:
        for field in self._wire.fields(graph.start, graph.end, _GRAPH):
            if field.number in _WHAT:
                self._counted(field.number)
            if field.number == _NODES:
                self._node(field)
            elif field.number == _INITIALIZERS:
                self._initializer(field)
            elif field.number in {_INPUTS, _OUTPUTS, _VALUES}:
                name = self._value(field)
                self._given |= {name} if field.number == _INPUTS else set()
            elif field.number == _SPARSE:
                raise UnsupportedError(f"{self._name} has sparse tensors; export it dense")
        if not self._count[_NODES] or not self._count[_OUTPUTS]:
            raise InvalidInputError(f"{self._name} holds no network: it has no nodes or no outputs")
        if (inputs := self._count[_INPUTS] - self._count[_INITIALIZERS]) > MAX_INPUTS:
            raise self._too_many(f"{inputs} inputs", MAX_INPUTS)
        if missing := next((name for name in self._awaited if name not in self._given), None):
            raise InvalidInputError(
                f"{self._awaited[missing]} reads {missing!r}, which nothing before it makes; export it again"
            )

    def _counted(self, number: int) -> None:
        self._count[number] += 1
        what, most = _WHAT[number]
        if self._count[number] > most:
            raise self._too_many(f"more than {most} {what}", most)

    def _too_many(self, what: str, most: int) -> InvalidInputError:
        return InvalidInputError(
            f"{self._name} has {what}; at most {most} are accepted: export fewer layers, all layers of a transformer "
            "share one design"
        )

    def _node(self, node: Field) -> None:
        texts = {3: "", 4: "", 7: ""}
        reads: list[str] = []
        makes: list[str] = []
        attributes: list[Field] = []
        for field in self._wire.fields(node.start, node.end, _NODE):
            if field.number in {1, 2, 3, 4, 7}:
                text = self._wire.text(field, "a name", MAX_NAME)
                texts[field.number] = text
                if field.number in {1, 2} and text:
                    (reads if field.number == 1 else makes).append(text)
            elif field.number == 5:
                attributes.append(field)
        called = f"{self._name}: node {texts[3]!r} ({texts[4]})"
        self._connect(called, reads, makes)
        if texts[7] not in DOMAINS:
            raise UnsupportedError(f"{called} is of the domain {texts[7]!r}; only ONNX's own operators work")
        if texts[4] in REFUSED:
            raise UnsupportedError(f"{called} is not supported: {REFUSED[texts[4]]}")
        for attribute in attributes:
            self._attribute(attribute, called)

    def _connect(self, called: str, reads: list[str], makes: list[str]) -> None:
        """Nodes come after those that they read, and each value is made once."""
        if (operands := len(reads) + len(makes)) > MAX_OPERANDS:
            raise InvalidInputError(f"{called} has {operands} operands; at most {MAX_OPERANDS} are accepted: split it")
        for name in reads:
            if name not in self._made:
                self._awaited.setdefault(name, called)
        for name in makes:
            if name in self._made or name in self._awaited:
                raise InvalidInputError(f"{called} makes {name!r}, which is made or read before it; export it again")
            self._made.add(name)

    def _attribute(self, attribute: Field, called: str) -> None:
        numbers = 0
        for field in self._wire.fields(attribute.start, attribute.end, _ATTRIBUTE):
            if field.number in {6, 11}:
                raise UnsupportedError(f"{called} holds a graph of its own; export without control flow")
            if field.number in {4, 9} and field.size > MAX_TEXT:
                raise InvalidInputError(f"{called} has a text of more than {MAX_TEXT} bytes; shorten it")
            if field.number in {5, 10}:
                self._tensor(field)
            if field.number in {7, 8}:
                numbers += field.size  # at least one byte each, whether packed or not
            if numbers > 10 * MAX_INDICES:
                raise InvalidInputError(f"{called} has a list of more than {MAX_INDICES} numbers; make it a tensor")

    def _initializer(self, tensor: Field) -> None:
        name = self._tensor(tensor)
        if name in self._tensors:
            raise InvalidInputError(f"{self._name} has two tensors called {name!r}; export it again")
        self._tensors.add(name)
        self._given.add(name)

    def _tensor(self, tensor: Field) -> str:
        """Its name."""
        found, dims = _Tensor(), list[int]()
        for field in self._wire.fields(tensor.start, tensor.end, _TENSOR):
            match field.number:
                case 1:
                    dims += self._wire.varints(field) if len(dims) + field.size <= 10 * MAX_RANK else [0] * field.size
                case 2:
                    found.kind = field.value
                case 8:
                    found.name = self._wire.text(field, "a name", MAX_NAME)
                case 9:
                    found.data = field.size
                case 13:
                    found.external = True
                    found.location = self._location(field) or found.location
                case 14:
                    found.external = found.external or field.value == _EXTERNAL
                case _:
                    pass
        self._check_tensor(found, dims)
        return found.name

    def _location(self, entry: Field) -> str | None:
        """Where a tensor says that its data is, of a key and its value."""
        pair = {
            f.number: self._wire.text(f, "a location", MAX_TEXT)
            for f in self._wire.fields(entry.start, entry.end, _ANY)
        }
        return pair.get(2) if pair.get(1) == "location" else None

    def _check_tensor(self, tensor: _Tensor, dims: list[int]) -> None:
        what = f"{self._name}: tensor {tensor.name!r}"
        if tensor.external:
            raise InvalidInputError(
                f"{what} keeps its data in {tensor.location!r}; files beside an upload are never read: save the "
                "network with its data inside (onnx.save, save_as_external_data=False)"
            )
        elements = self._elements(what, dims)
        if tensor.kind not in _ITEM_BYTES:
            kind = _OTHER_KINDS.get(tensor.kind, f"of type {tensor.kind}")
            raise UnsupportedError(f"{what} is {kind}; only FLOAT (32 bits), and INT64 for shapes, work")
        if tensor.kind != _FLOAT and elements > MAX_INDICES:
            raise UnsupportedError(
                f"{what} has {elements} elements that are whole numbers; only shapes, axes and the like, of at most "
                f"{MAX_INDICES} elements, work"
            )
        if tensor.data is not None and tensor.data != elements * _ITEM_BYTES[tensor.kind]:
            raise InvalidInputError(f"{what} has {tensor.data} bytes for {elements} elements; is the file whole?")

    def _value(self, value: Field) -> str:
        """The name of a described value: a tensor whose extents, where they are numbers, make sense."""
        name, dims = "", list[int]()
        for field in self._wire.fields(value.start, value.end, _VALUE):
            if field.number == 1:
                name = self._wire.text(field, "a name", MAX_NAME)
            elif field.number == 2:
                dims = self._type(name, field)
        self._elements(f"{self._name}: {name!r}", dims)
        return name

    def _type(self, name: str, kind: Field) -> list[int]:
        """The extents of a tensor type; 1 for those without a number."""
        dims: list[int] = []
        for field in self._wire.fields(kind.start, kind.end, _ANY):
            if field.number in {4, 5, 7, 8, 9}:
                raise UnsupportedError(f"{self._name}: {name!r} is no tensor; export with tensors of fixed sizes")
            if field.number != 1:
                continue
            shapes = [f for f in self._wire.fields(field.start, field.end, _ANY) if f.number == 2]
            for shape in shapes[:1]:
                for dim in self._wire.fields(shape.start, shape.end, _ANY):
                    given = [f.value for f in self._wire.fields(dim.start, dim.end, _ANY) if f.number == 1]
                    dims += given[-1:] or [1]
        return dims

    def _elements(self, what: str, dims: list[int]) -> int:
        shape = [d - 2 * _NEGATIVE if d >= _NEGATIVE else d for d in dims[: MAX_RANK + 1]]
        if len(shape) > MAX_RANK or any(extent < 0 for extent in shape):
            raise InvalidInputError(
                f"{what} has the shape {shape}; up to {MAX_RANK} dimensions of at least 1 are accepted"
            )
        if (elements := prod(shape)) > MAX_ELEMENTS:
            raise InvalidInputError(
                f"{what} has the shape {shape}, {elements} elements; at most {MAX_ELEMENTS} are accepted"
            )
        return elements
