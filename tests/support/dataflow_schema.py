"""Whether documents are what compiler/dataflow.schema.json says."""

import subprocess
import sys
from importlib.resources import as_file, files
from pathlib import Path


def complaints(documents: list[Path]) -> str:
    """What the validator says; empty where all documents fit the schema."""
    tool = str(Path(sys.executable).parent / "check-jsonschema")
    with as_file(files("compiler") / "dataflow.schema.json") as schema:
        command = [tool, "--schemafile", str(schema), *map(str, documents)]
        finished = subprocess.run(command, capture_output=True, text=True, check=False)
    return "" if finished.returncode == 0 else finished.stdout + finished.stderr
