"""What an operator does on the machine of the farm's home, straight in its database: no service, no key."""

import getpass
from collections.abc import Generator
from contextlib import contextmanager
from typing import Any, cast

from pydantic import ValidationError

from api import audit as audit_of
from api.principal import Principal
from api.schemas import access as requests
from api.services import farm as farm_service
from api.services import keys as key_service
from api.services.shapes import access as shapes
from cli.stored import as_sent
from compiler.errors import InvalidInputError
from db.migrate import upgrade
from db.models import NodeState
from db.repositories import api_keys, audit
from millrace.encoding import to_json
from millrace.wire import ApiKey, AuditEntry, Licence, MadeApiKey, NewApiKey, Node
from worker.farm import open_farm
from worker.settings import Settings

_ALL = 100_000


class LocalOperator:
    """The operating half of `millrace.Client` without a service. Raises DatabaseError for what is not there."""

    def __init__(self, settings: Settings) -> None:
        upgrade(settings.database)
        self._farm = open_farm(settings)
        self._who = Principal(None, "admin", f"{getpass.getuser()} on this machine"[:64])

    def close(self) -> None:
        self._farm.close()

    def set_node_state(self, node: str, state: str) -> Node:
        with self._change("node", f"{node} {state}") as session:
            return as_sent(Node, farm_service.set_state(self._farm, session, node, cast(NodeState, state)))

    def forget_node(self, node: str) -> None:
        with self._change("forget", node) as session:
            farm_service.forget(session, node)

    def put_licence(self, feature: str, tokens: int) -> Licence:
        with self._change("licence", f"{feature} {tokens}") as session:
            return as_sent(Licence, farm_service.put_licence(session, feature, tokens))

    def keys(self) -> list[ApiKey]:
        with self._farm.database.read() as session:
            return [as_sent(ApiKey, shapes.api_key(row)) for row in api_keys.page(session, None, _ALL)]

    def add_key(self, request: NewApiKey) -> MadeApiKey:
        """A new key, with its text. Raises InvalidInputError for a name or bound that can not be."""
        with self._change("key add", request.name) as session:
            return as_sent(MadeApiKey, key_service.add(session, _checked(request)))

    def revoke_key(self, key: str) -> None:
        with self._change("key revoke", key) as session:
            key_service.revoke(session, key)

    def audit(self, limit: int) -> list[AuditEntry]:
        with self._farm.database.read() as session:
            return [as_sent(AuditEntry, shapes.audit_entry(row)) for row in audit.page(session, None, None, limit)]

    @contextmanager
    def _change(self, action: str, target: str) -> Generator[Any]:
        """A transaction that is kept in the audit."""
        with self._farm.database.write() as session:
            yield session
            audit_of.record(session, self._who, f"millrace farm {action}", target, {})


def _checked(request: NewApiKey) -> requests.NewApiKey:
    try:
        return requests.NewApiKey.model_validate(to_json(request))
    except ValidationError as error:
        wrong = "; ".join(f"{'.'.join(map(str, e['loc']))}: {e['msg']}" for e in error.errors())
        raise InvalidInputError(wrong) from error
