"""The Python client as a page: what the package exports, with signatures and docstrings, read without importing it."""

import ast
import re
import tomllib
from collections.abc import Iterator, Mapping
from pathlib import Path

from api.services.client_wheel import client_wheel

PACKAGE = Path(__file__).resolve().parents[2] / "client" / "millrace"
_HEAD = """# Python

A service serves the client that matches it; its address is what `millrace up` prints:

```sh
pip install "millrace-fpga[pandas] @ http://127.0.0.1:8642/client/{wheel}"
export MILLRACE_SERVER=http://127.0.0.1:8642   # where the service is, if elsewhere: another port or machine
```

Extras: {extras}. What needs one that is missing (`df()` without pandas) raises
`MissingExtraError`, which names it. `torch` brings the index's newest build, several GB with CUDA: where PyTorch is
there already, or came from an index of CPU builds, it is not needed.

```python
import millrace

exp = millrace.explore("net.onnx", precision="f32", budget=300)  # a module: explore(net, (x,), precision="f32")
exp.wait()
exp.df()  # every design with all metrics and knobs
design = exp.best("latency_us", lut__lt=0.4)  # the fastest below 40 % of the board's LUTs; lut_used counts them
design.simulate()
design.graph()
```

What `import millrace` gives follows, from the sources of the package. [A search in a notebook](notebook.ipynb) shows it
at work. `wire.NAME` is a dataclass of the module `millrace.wire` and an object of REST, linked to its fields where it
is used; `UNSET` stands for what is not given. This page is made by `python -m bench.site.reference`.
"""
_RESULTS = {"Call": "{}", "Listing": "list[{}]"}
"""What a client's method returns for a route that is declared so."""
_STREAMS = {"Following": "Generator[Event]", "Download": "Generator[bytes]"}
Definition = ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef


def python_reference() -> str:
    """Markdown: a section each name that the package exports, in their order; errors after them."""
    trees = {path.stem: ast.parse(path.read_text(encoding="utf-8")) for path in sorted(PACKAGE.glob("*.py"))}
    init = trees["__init__"]
    homes = {
        alias.name: node.module for node in ast.walk(init) if isinstance(node, ast.ImportFrom) for alias in node.names
    }
    parts = [_head()]
    for name in _exported(init):
        home = trees[(homes.get(name) or "").partition(".")[2] or "__init__"]
        [found] = [node for node in home.body if isinstance(node, Definition) and node.name == name]
        parts += _section(found, trees)
    parts.append("## Errors\n")
    parts += [f"### `{node.name}`\n\n{_doc(node)}\n" for node in trees["errors"].body if isinstance(node, ast.ClassDef)]
    return "\n".join(parts).rstrip() + "\n"


def _exported(init: ast.Module) -> list[str]:
    """The names of `__all__` but the root of the errors, functions first."""
    [names] = [
        ast.literal_eval(node.value)
        for node in init.body
        if isinstance(node, ast.Assign) and [ast.unparse(t) for t in node.targets] == ["__all__"]
    ]
    return sorted((n for n in names if n != "Error"), key=lambda n: (n[0].isupper(), n))


def _head() -> str:
    project = tomllib.loads((PACKAGE.parent / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    extras = ", ".join(f"`{name}`" for name in project["optional-dependencies"])
    return _HEAD.format(wheel=client_wheel().name, extras=extras)


def _section(node: Definition, trees: Mapping[str, ast.Module]) -> Iterator[str]:
    if not isinstance(node, ast.ClassDef):
        yield _entry(f"## `{node.name}`", node, trees)
        return
    yield f"## `{node.name}`\n\n{_doc(node)}\n"
    for member in node.body:
        if isinstance(member, ast.FunctionDef | ast.AsyncFunctionDef) and not member.name.startswith("_"):
            yield _entry(f"### `{node.name}.{member.name}`", member, trees)
        if node.name == "Client" and (route := _route(member, trees["routes"])):
            yield _entry(f"### `Client.{route.name}`", route, trees)


def _entry(heading: str, node: ast.FunctionDef | ast.AsyncFunctionDef, trees: Mapping[str, ast.Module]) -> str:
    signature = _signature(node)
    told = [f"```python\n{signature}\n```", _doc(node), _explained(f"{signature} {_doc(node)}", trees)]
    return "\n\n".join([heading, *filter(None, told)]) + "\n"


def _explained(text: str, trees: Mapping[str, ast.Module]) -> str:
    """What the names in a text are that the page has no section for: objects of REST, and choices."""
    objects = dict.fromkeys(re.findall(r"\bwire\.([A-Z]\w+)", text))
    links = [f"[`wire.{name}`](rest.md#{name.lower()})" for name in objects]
    choices = [f"`{name}` is `{value}`" for name, value in _choices(trees) if re.search(rf"\b{name}\b", text)]
    return ", ".join([*links, *choices]) + ("." if links or choices else "")


def _choices(trees: Mapping[str, ast.Module]) -> Iterator[tuple[str, str]]:
    """Names that a module has for one of several texts."""
    for node in (node for home, tree in trees.items() if home != "wire" for node in tree.body):
        if isinstance(node, ast.Assign) and ast.unparse(node.value).startswith("Literal['"):
            yield ast.unparse(node.targets[0]), ast.unparse(node.value)


def _route(member: ast.stmt, routes: ast.Module) -> ast.FunctionDef | None:
    """The route that a client has as this method, with what the method returns."""
    if not isinstance(member, ast.Assign):
        return None
    name = ast.unparse(member.targets[0])
    [found] = [node for node in routes.body if isinstance(node, ast.FunctionDef) and node.name == name]
    assert found.returns is not None
    kind, _, of = ast.unparse(found.returns).rstrip("]").partition("[")
    returns = ast.parse(_STREAMS.get(kind) or _RESULTS[kind].format(of), mode="eval").body
    return ast.FunctionDef(found.name, found.args, found.body, [], returns)


def _signature(node: ast.FunctionDef | ast.AsyncFunctionDef) -> str:
    """As it is declared, without `self`, one parameter a line where it is long."""
    if any(ast.unparse(decorator) == "property" for decorator in node.decorator_list):
        return f"{node.name}: {ast.unparse(node.returns) if node.returns else 'Any'}"
    kind = "async def" if isinstance(node, ast.AsyncFunctionDef) else "def"
    result = f" -> {ast.unparse(node.returns)}" if node.returns else ""
    parts = [part for part in _parameters(node.args) if part != "self"]
    line = f"{kind} {node.name}({', '.join(parts)}){result}"
    return line if len(line) <= 100 else f"{kind} {node.name}(\n    " + ",\n    ".join(parts) + f",\n){result}"


def _parameters(arguments: ast.arguments) -> Iterator[str]:
    """Each as it is declared."""
    plain = [*arguments.posonlyargs, *arguments.args]
    missing: list[ast.expr | None] = [None] * (len(plain) - len(arguments.defaults))
    yield from map(_parameter, plain, [*missing, *arguments.defaults])
    if arguments.vararg or arguments.kwonlyargs:
        yield "*" + (ast.unparse(arguments.vararg) if arguments.vararg else "")
    yield from map(_parameter, arguments.kwonlyargs, arguments.kw_defaults)
    if arguments.kwarg:
        yield "**" + ast.unparse(arguments.kwarg)


def _parameter(argument: ast.arg, default: ast.expr | None) -> str:
    return ast.unparse(argument) + (f" = {ast.unparse(default)}" if default is not None else "")


def _doc(node: Definition) -> str:
    return ast.get_docstring(node) or ""
