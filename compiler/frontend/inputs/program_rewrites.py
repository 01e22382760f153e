"""What a program of torch.export is rewritten to before it is lowered: the same by operators that stream better.

- A batch_norm behind a convolution or a linear layer goes into its weights and bias.
- Upsampling to nearest neighbours becomes a broadcast along new dimensions, which a view merges; all other
  interpolation is refused by name.

Expected results are of the program as it was written, so both are checked with every design of it. In the worker
process only.
"""

from collections.abc import Sequence
from typing import Any, cast

# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false
# (a node's arguments and what is known of it have no types)
import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn
from torch.export import ExportedProgram
from torch.fx import Node

from compiler.errors import UnsupportedError
from compiler.frontend.inputs.norms import Norm
from compiler.frontend.torch_types import tensor_of

_WEIGHTED = (
    *("aten.conv1d.default", "aten.conv1d.padding", "aten.conv2d.default", "aten.conv2d.padding"),
    "aten.linear.default",
)
_NEAREST = ("aten.upsample_nearest", "aten._upsample_nearest_exact")  # the same elements at whole scales
_INTERPOLATES = ("aten.upsample_", "aten._upsample_", "aten.grid_sampler")


def rewrite(program: ExportedProgram) -> None:
    """Rewrite the program in place, tensors that change included. Raises UnsupportedError. O(nodes + weights)."""
    stored = {
        str(getattr(spec.arg, "name", "")): spec.target
        for spec in program.graph_signature.input_specs
        if spec.target is not None and spec.target in program.state_dict
    }
    for node in list(program.graph.nodes):
        target = str(node.target)
        if target == "aten.batch_norm.default":
            _fold(program, stored, node)
        elif target.startswith(_INTERPOLATES):
            _repeat(program, node, target)
    program.graph.eliminate_dead_code()
    program.graph_module.recompile()


def _fold(program: ExportedProgram, stored: dict[str, str], norm: Node) -> None:
    """Into the operation that made what it reads, if all that it takes is known and nothing else reads what is
    changed.
    """
    conv, scale, shift, mean, variance, training, _, epsilon, _ = norm.args
    if not isinstance(conv, Node) or str(conv.target) not in _WEIGHTED or training:
        return
    if conv.target == torch.ops.aten.linear.default and norm.meta["val"].ndim != 2:
        return  # its channels are not those of the norm
    read, weight, *rest = conv.args
    bias = rest[0] if rest else None
    given = [arg.name if isinstance(arg, Node) else "" for arg in (weight, scale, shift, mean, variance)]
    changed = [node for node in (conv, weight, shift) if isinstance(node, Node) and len(node.users) == 1]
    known = all(name in stored for name in given) and (bias is None or getattr(bias, "name", "") in stored)
    if len(changed) < 3 or not known:
        return
    kernel, *parts = (_array(program, stored[name]) for name in given)
    before = _array(program, stored[bias.name]) if isinstance(bias, Node) else None
    folded = Norm(*parts, epsilon=cast(float, epsilon)).folded(kernel, before)
    if folded is None:
        return
    for name, array in zip((stored[given[0]], stored[given[2]]), folded, strict=True):
        new = tensor_of(array)
        program.state_dict[name] = nn.Parameter(new) if isinstance(program.state_dict[name], nn.Parameter) else new
    conv.args = (read, weight, shift, *rest[1:])
    norm.replace_all_uses_with(conv)
    program.graph.erase_node(norm)


def _array(program: ExportedProgram, name: str) -> NDArray[Any]:
    return np.asarray(cast(Tensor, program.state_dict[name]).detach().numpy())


def _repeat(program: ExportedProgram, node: Node, target: str) -> None:
    """A dimension of one behind each of lines and pixels, along which elements repeat."""
    read = cast(Node, node.args[0])
    lines, made = (tuple(int(extent) for extent in known.meta["val"].shape) for known in (read, node))
    scales = [scale for arg in node.args[1:] for scale in (arg if isinstance(arg, Sequence) else (arg,))]
    whole = all(scale.is_integer() for scale in scales if isinstance(scale, float))
    if not target.startswith(_NEAREST) or not whole or any(to % of for of, to in zip(lines, made, strict=True)):
        stack = cast(dict[str, Any], node.meta.get("nn_module_stack") or {})
        path = next((path for path, _ in reversed(stack.values()) if path), node.name)
        raise UnsupportedError(
            f"{target.split('.')[1]} at {path}, from {list(lines)} to {list(made)}, is not supported; of all "
            "interpolation, nearest neighbours at whole scales are"
        )
    times = [to // of for of, to in zip(lines, made, strict=True)]
    apart = [extent for n in lines for extent in (n, 1)]
    wide = [extent for pair in zip(lines, times, strict=True) for extent in pair]
    aten, value = torch.ops.aten, read
    for operator, shape in ((aten.reshape.default, apart), (aten.expand.default, wide), (aten.reshape.default, made)):
        with program.graph.inserting_before(node):
            value = program.graph.call_function(operator, (value, list(shape)))
        value.meta = {name: known for name, known in node.meta.items() if name != "val"}
    node.replace_all_uses_with(value)
    program.graph.erase_node(node)
