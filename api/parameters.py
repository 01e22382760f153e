"""Parameters that several routes have."""

from typing import Annotated

from fastapi import Header, Path, Query

ExplorationId = Annotated[str, Path(description="id of an exploration")]
DesignId = Annotated[str, Path(description="id of a design")]
BuildId = Annotated[str, Path(description="id of a build")]
ExplorationKey = Annotated[str, Path(description="id of an exploration or the beginning of one, its name, or latest")]
DesignKey = Annotated[
    str,
    Path(
        description="id of a design or the beginning of one, EXPLORATION#NUMBER, or its number in the latest "
        "exploration; # is written %23"
    ),
]
BuildKey = Annotated[str, Path(description="id of a build, or the beginning of one")]
ModelId = Annotated[str, Path(description="id or name of a model")]
SweepId = Annotated[str, Path(description="id or name of a sweep")]
SweepRunId = Annotated[str, Path(description="id of a run of a sweep")]
KeyId = Annotated[str, Path(description="id or name of a key")]
FilePath = Annotated[str, Path(description="where a file lies in the design directory")]
NodeName = Annotated[str, Path(max_length=100, description="name of a machine of the farm")]
Feature = Annotated[
    str, Path(pattern=r"^[A-Za-z0-9][A-Za-z0-9_.-]*$", max_length=60, description="name of a licence feature")
]
Archived = Annotated[bool, Query(description="also what is archived, which lists leave out")]
IfNoneMatch = Annotated[str | None, Header(description="an ETag: what has it still is answered with 304")]
AcceptEncoding = Annotated[str, Header(description="the answer is compressed where this holds gzip")]
