"""The Python client as a page: what the package exports, with signatures and docstrings, read without importing it."""

import ast
from collections.abc import Iterator
from pathlib import Path

PACKAGE = Path(__file__).resolve().parents[2] / "client" / "millrace"
_HEAD = """# Python

What `import millrace` gives, from the sources of the package. [A search in a notebook](notebook.ipynb)
shows it at work. This page is made by `python -m bench.site.reference`.
"""
Definition = ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef


def python_reference() -> str:
    """Markdown: a section each name that the package exports, in their order; errors after them."""
    trees = {path.stem: ast.parse(path.read_text(encoding="utf-8")) for path in sorted(PACKAGE.glob("*.py"))}
    init = trees["__init__"]
    homes = {
        alias.name: node.module for node in ast.walk(init) if isinstance(node, ast.ImportFrom) for alias in node.names
    }
    parts = [_HEAD]
    for name in _exported(init):
        home = trees[(homes.get(name) or "").partition(".")[2] or "__init__"]
        [found] = [node for node in home.body if isinstance(node, Definition) and node.name == name]
        parts += _section(found)
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


def _section(node: Definition) -> Iterator[str]:
    if not isinstance(node, ast.ClassDef):
        yield f"## `{node.name}`\n\n```python\n{_signature(node)}\n```\n\n{_doc(node)}\n"
        return
    yield f"## `{node.name}`\n\n{_doc(node)}\n"
    for member in node.body:
        if isinstance(member, ast.FunctionDef | ast.AsyncFunctionDef) and not member.name.startswith("_"):
            yield f"### `{node.name}.{member.name}`\n\n```python\n{_signature(member)}\n```\n\n{_doc(member)}\n"


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
