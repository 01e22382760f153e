"""/v1/farm: nodes, queues, licences."""

from typing import Annotated

from fastapi import APIRouter, Path, Request

from api.dependencies import FarmDep, ReadSession, WriteSession
from api.schemas.farm import Farm, Joined, Joining, Licence, Node, NodeChange, Tokens
from api.services import farm as service

router = APIRouter(prefix="/v1/farm", tags=["farm"])

NodeName = Annotated[str, Path(max_length=100)]
Feature = Annotated[str, Path(pattern=r"^[A-Za-z0-9][A-Za-z0-9_.-]*$", max_length=60)]


@router.get("")
def get_farm(session: ReadSession) -> Farm:
    return service.describe(session)


@router.post("/join")
def join_farm(request: Request, farm: FarmDep, _session: WriteSession, body: Joining) -> Joined:
    request.state.made = body.name
    return service.join(farm, request.url.hostname or "")


@router.post("/nodes/{node}", status_code=202)
def change_node(farm: FarmDep, session: WriteSession, node: NodeName, body: NodeChange) -> Node:
    return service.set_state(farm, session, node, body.state)


@router.delete("/nodes/{node}", status_code=204)
def forget_node(session: WriteSession, node: NodeName) -> None:
    service.forget(session, node)


@router.put("/licences/{feature}")
def put_licence(session: WriteSession, feature: Feature, body: Tokens) -> Licence:
    return service.put_licence(session, feature, body.tokens)
