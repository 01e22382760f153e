"""A tar archive from a service, unpacked: files and folders below one folder, and nothing else.

tarfile's own filter for this came with Python 3.11.4 only, and Debian 12 has 3.11.2.
"""

import shutil
from pathlib import Path
from tarfile import TarFile

from compiler.errors import ToolError

_EXECUTABLE = 0o100


def unpack(archive: TarFile, folder: Path) -> None:
    """Write what the archive holds into the folder. Raises ToolError for a member that would land elsewhere, is there
    twice, or is neither file nor folder.
    """
    inside = folder.resolve()
    for member in archive:
        target = (folder / member.name).resolve()
        if not target.is_relative_to(inside) or not (member.isfile() or member.isdir()):
            raise ToolError(f"the archive is not one of a design: it holds {member.name!r}; was the service changed?")
        if member.isdir():
            target.mkdir(parents=True, exist_ok=True)
            continue
        target.parent.mkdir(parents=True, exist_ok=True)
        content = archive.extractfile(member)
        assert content is not None  # it is a file
        try:
            with target.open("xb") as file:
                shutil.copyfileobj(content, file)
        except FileExistsError as error:
            raise ToolError(f"the archive is not one of a design: it holds {member.name!r} twice") from error
        if member.mode & _EXECUTABLE:
            target.chmod(0o755)
