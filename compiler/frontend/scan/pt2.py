"""What an archive of torch.export declares: its members, the size of its program, and what its pickles would load."""

import io
import os
import pickletools
import re
import zipfile
import zlib

from compiler.errors import InvalidInputError, UnsupportedError
from compiler.frontend.scan.archive import checked_directory
from compiler.frontend.scan.bounds import MAX_NODES, MAX_PICKLE, MAX_PROGRAM
from compiler.frontend.scan.nesting import nests_too_deep

_PROGRAMS = ("models/model.json", "serialized_exported_program.json")
_PICKLES = (".pt", ".pkl")
_STRING = re.compile(rb'"(?:[^"\\]++|\\.)*+"?', re.DOTALL)
_LOADED = ("torch ", "torch._utils ", "torch.storage ", "collections OrderedDict")
"""Beginnings of the names that tensors are made with: their modules, a space, and what of them."""


def scan_pt2(descriptor: int, name: str) -> None:
    """Raise InvalidInputError for what is no archive of torch.export or unpacks to too much, UnsupportedError for one
    whose pickles load more than tensors.
    """
    with os.fdopen(os.dup(descriptor), "rb") as file, checked_directory(file, name) as archive:
        names = archive.namelist()
        if not (programs := [n for n in names if n.endswith(_PROGRAMS)]):
            raise InvalidInputError(f"{name} is no archive of torch.export: it holds no {_PROGRAMS[0]}")
        for program in programs:
            _check_program(_content(archive, program, name, MAX_PROGRAM), name)
        for pickled in (n for n in names if n.endswith(_PICKLES)):
            _check_pickle(_content(archive, pickled, name, MAX_PICKLE), name, pickled)


def _check_program(program: bytes, name: str) -> None:
    if nests_too_deep(_STRING.sub(b"", program)):
        raise InvalidInputError(f"{name} is no archive of torch.export: its program nests too deep")
    if (nodes := program.count(b'"target"')) > 2 * MAX_NODES:
        raise InvalidInputError(
            f"{name} has {nodes} operations; at most {2 * MAX_NODES} are accepted: export fewer layers"
        )


def _check_pickle(content: bytes, where: str, member: str) -> None:
    """A pickle, or an archive of torch.save with one in it."""
    if not content.startswith(b"PK"):
        _check_loaded(content, where, member)
        return
    with checked_directory(io.BytesIO(content), f"{where}: {member}", MAX_PICKLE) as archive:
        for inner in (n for n in archive.namelist() if n.endswith(_PICKLES)):
            _check_loaded(_content(archive, inner, where, MAX_PICKLE), where, inner)


def _check_loaded(pickled: bytes, where: str, member: str) -> None:
    """Step through the pickle without running it: what it loads by name must be what tensors are made with."""
    texts: list[str] = []
    try:
        for code, argument, _ in pickletools.genops(pickled):
            if code.name in {"GLOBAL", "INST"}:
                loaded = str(argument)
            elif code.name == "STACK_GLOBAL":
                loaded = " ".join(texts[-2:])
            else:
                texts = [*texts[-1:], argument] if isinstance(argument, str) else texts
                continue
            if not loaded.startswith(_LOADED):
                raise UnsupportedError(
                    f"{where}: {member} would load {loaded[:100]!r}, which is no tensor; export the network again "
                    "with plain tensors as its sample inputs"
                )
    except ValueError as error:
        raise InvalidInputError(f"{where}: {member} is no pickle; export the network again") from error


def _content(archive: zipfile.ZipFile, member: str, where: str, most: int) -> bytes:
    """The member, unpacked as far as it declares. Raises InvalidInputError where it is larger than `most` bytes."""
    if (size := archive.getinfo(member).file_size) > most:
        raise InvalidInputError(f"{where}: {member} has {size} bytes; at most {most} are accepted")
    try:
        with archive.open(member) as file:
            return file.read(size)
    except (zipfile.BadZipFile, zlib.error, EOFError, NotImplementedError, RuntimeError) as error:
        raise InvalidInputError(f"{where}: {member} can not be unpacked: {error}") from error
