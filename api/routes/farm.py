"""/v1/farm: nodes, queues, licences."""

from fastapi import APIRouter, Request

from api.dependencies import FarmDep, ReadSession, WriteSession
from api.parameters import Feature, NodeName
from api.schemas.farm import (
    Farm,
    Joined,
    Joining,
    Licence,
    Node,
    NodeChange,
    Retention,
    RetentionChange,
    Tokens,
)
from api.services import farm as service

router = APIRouter(prefix="/v1/farm", tags=["farm"])


@router.get("")
def get_farm(session: ReadSession) -> Farm:
    """Nodes, queues, licences, and what runs."""
    return service.describe(session)


@router.post("/join")
def join_farm(request: Request, farm: FarmDep, _session: WriteSession, body: Joining) -> Joined:
    """What a machine needs to work for the farm."""
    request.state.made = body.name
    return service.join(farm, request.url.hostname or "")


@router.post("/nodes/{node}", status_code=202)
def change_node(farm: FarmDep, session: WriteSession, node: NodeName, body: NodeChange) -> Node:
    """Have a node take work, finish what it has, or pause."""
    return service.set_state(farm, session, node, body.state)


@router.delete("/nodes/{node}", status_code=204)
def forget_node(session: WriteSession, node: NodeName) -> None:
    """Forget a node that has gone."""
    service.forget(session, node)


@router.put("/licences/{feature}")
def put_licence(session: WriteSession, feature: Feature, body: Tokens) -> Licence:
    """Say how many tokens a licence feature has."""
    return service.put_licence(session, feature, body.tokens)


@router.get("/retention")
def get_retention(session: ReadSession) -> Retention:
    """After how many days things expire."""
    return service.retention(session)


@router.patch("/retention")
def change_retention(session: WriteSession, body: RetentionChange) -> Retention:
    """Say after how many days things expire."""
    return service.change_retention(session, body)
