"""A PyTorch module as a file that a service takes."""

from __future__ import annotations

import warnings
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Literal, get_args

from millrace.errors import MissingExtraError, UsageError
from millrace.extras import load

ModuleFormat = Literal["onnx", "pt2"]


def check_form(form: str) -> None:
    """Raises UsageError for what a module can not be exported as."""
    if form not in get_args(ModuleFormat):
        raise UsageError(f"form is {form!r}; a module is exported as {' or '.join(get_args(ModuleFormat))}")


def is_module(value: object) -> bool:
    """Whether it is a torch.nn.Module; torch is not loaded for that."""
    return any(kind.__module__.startswith("torch.nn") and kind.__name__ == "Module" for kind in type(value).__mro__)


def export_module(module: Any, inputs: Any, out: Path, form: ModuleFormat = "onnx") -> None:
    """Write the module, as it runs on `inputs`, whole into one file.

    A service takes .pt2 archives only where its operator allows them: loading one runs code that it names.
    Raises MissingExtraError without what torch needs to export, UsageError for inputs that are no tuple.
    """
    if not isinstance(inputs, tuple):
        raise UsageError("name the module's inputs as a tuple: explore(module, (x,))")
    torch, module = load("torch", "torch"), module.eval()
    if form == "pt2":
        torch.export.save(torch.export.export(module, inputs), out)
        return
    if find_spec("onnx") is None:
        raise MissingExtraError("exporting a module needs onnx: pip install 'millrace-fpga[torch]'")
    # torch's newer exporter needs a package more than the one that it replaces.
    newer = find_spec("onnxscript") is not None
    options: dict[str, Any] = {"dynamo": True, "external_data": False} if newer else {"dynamo": False}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # which exporter is the newer one is not the caller's choice
        torch.onnx.export(module, inputs, str(out), **options)
