"""What an archive of numpy's arrays declares: calibration data, whose arrays `compiler.frontend.integers.samples` reads
when it knows the network that they are for.
"""

import os

from compiler.errors import InvalidInputError
from compiler.frontend.scan.archive import checked_directory
from compiler.frontend.scan.bounds import MAX_INPUTS, MAX_SAMPLES_BYTES


def scan_npz(descriptor: int, name: str) -> None:
    """Raise InvalidInputError for what is no archive of arrays, or unpacks to too much; nothing is unpacked."""
    with os.fdopen(os.dup(descriptor), "rb") as file, checked_directory(file, name, MAX_SAMPLES_BYTES) as archive:
        members = archive.namelist()
        if not members or len(members) > MAX_INPUTS or not all(member.endswith(".npy") for member in members):
            raise InvalidInputError(
                f"{name} holds no samples: an .npz has an array of each input; write it with numpy.savez"
            )
