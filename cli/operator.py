"""What is changed on the machine of the farm's home straight in its database: no service, no key."""

import getpass
from collections.abc import Generator, Mapping
from contextlib import contextmanager
from typing import Any, TypeVar, cast

from pydantic import ValidationError

from api import audit as audit_of
from api.principal import Principal
from api.schemas.access import ApiKey, AuditEntry, MadeApiKey, NewApiKey
from api.schemas.common import Request
from api.schemas.designs import Design, DesignChange
from api.schemas.explorations import Exploration, ExplorationChange
from api.schemas.farm import Licence, Node
from api.services import designs as design_service
from api.services import explorations as exploration_service
from api.services import farm as farm_service
from api.services import keys as key_service
from api.services.shapes import access as shapes
from compiler.errors import InvalidInputError
from db.migrate import upgrade
from db.models import NodeState
from db.repositories import api_keys, audit, naming
from worker.farm import open_farm
from worker.settings import Settings

_ALL = 100_000
Body = TypeVar("Body", bound=Request)


class LocalOperator:
    """The operating half of `cli.client.Client` without a service. Raises DatabaseError for what is not there."""

    def __init__(self, settings: Settings) -> None:
        upgrade(settings.database)
        self._farm = open_farm(settings)
        self._who = Principal(None, "admin", f"{getpass.getuser()} on this machine"[:64])

    def close(self) -> None:
        self._farm.close()

    def exploration(self, exploration: str) -> Exploration:
        with self._farm.database.read() as session:
            return exploration_service.shape(session, naming.find_exploration(session, exploration))

    def change_exploration(self, exploration: str, changes: Mapping[str, Any]) -> Exploration:
        with self._change("exploration edit", exploration) as session:
            return exploration_service.change(session, self._who, exploration, _checked(ExplorationChange, changes))

    def delete_exploration(self, exploration: str) -> None:
        with self._change("exploration delete", exploration) as session:
            exploration_service.remove(session, self._who, exploration)

    def design(self, design: str) -> Design:
        with self._farm.database.read() as session:
            return design_service.describe(session, naming.find_design(session, design).id)

    def change_design(self, design: str, changes: Mapping[str, Any]) -> Design:
        with self._change("design edit", design) as session:
            return design_service.change(session, self._who, design, _checked(DesignChange, changes))

    def set_node_state(self, node: str, state: str) -> Node:
        with self._change("farm node", f"{node} {state}") as session:
            return farm_service.set_state(self._farm, session, node, cast(NodeState, state))

    def forget_node(self, node: str) -> None:
        with self._change("farm forget", node) as session:
            farm_service.forget(session, node)

    def put_licence(self, feature: str, tokens: int) -> Licence:
        with self._change("farm licence", f"{feature} {tokens}") as session:
            return farm_service.put_licence(session, feature, tokens)

    def keys(self) -> list[ApiKey]:
        with self._farm.database.read() as session:
            return [shapes.api_key(row) for row in api_keys.page(session, None, _ALL)]

    def add_key(self, request: Mapping[str, Any]) -> MadeApiKey:
        """A new key, with its text. Raises InvalidInputError for a name or bound that can not be."""
        with self._change("farm key add", str(request.get("name"))) as session:
            return key_service.add(session, _checked(NewApiKey, request))

    def revoke_key(self, key: str) -> None:
        with self._change("farm key revoke", key) as session:
            key_service.revoke(session, key)

    def audit(self, limit: int) -> list[AuditEntry]:
        with self._farm.database.read() as session:
            return [shapes.audit_entry(row) for row in audit.page(session, None, None, limit)]

    @contextmanager
    def _change(self, action: str, target: str) -> Generator[Any]:
        """A transaction that is kept in the audit."""
        with self._farm.database.write() as session:
            yield session
            audit_of.record(session, self._who, f"millrace {action}", target, {})


def _checked(kind: type[Body], request: Mapping[str, Any]) -> Body:
    try:
        return kind.model_validate(dict(request))
    except ValidationError as error:
        wrong = "; ".join(f"{'.'.join(map(str, e['loc']))}: {e['msg']}" for e in error.errors())
        raise InvalidInputError(wrong) from error
