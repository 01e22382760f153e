"""What is changed on the machine of the farm's home straight in its database: no service, no key."""

import getpass
from collections.abc import Generator
from contextlib import contextmanager
from typing import Any, TypeVar, cast

from pydantic import ValidationError

from api import audit as audit_of
from api.principal import Principal
from api.schemas import access, catalog, designs, explorations, farm
from api.schemas.common import Request
from api.services import catalog as catalog_service
from api.services import deletion
from api.services import designs as design_service
from api.services import explorations as exploration_service
from api.services import farm as farm_service
from api.services import keys as key_service
from api.services.shapes import access as shapes
from api.services.shapes import catalog as catalog_shapes
from cli.stored import Stored, as_sent
from compiler.errors import InvalidInputError
from db.models import NodeState
from db.repositories import api_keys, audit
from db.repositories import designs as design_rows
from db.repositories import explorations as exploration_rows
from millrace.encoding import to_json
from millrace.wire import (
    ApiKey,
    AuditEntry,
    Deletion,
    Design,
    DesignChange,
    Exploration,
    ExplorationChange,
    KeyChange,
    Licence,
    MadeApiKey,
    Model,
    ModelChange,
    NewApiKey,
    Node,
    Retention,
    RetentionChange,
)
from worker.settings import Settings

_ALL = 100_000
Body = TypeVar("Body", bound=Request)


class LocalOperator(Stored):
    """`millrace.Client` without a service: what `Stored` reads, and changes, each kept in the audit."""

    def __init__(self, settings: Settings) -> None:
        super().__init__(settings)
        self._who = Principal(None, "admin", f"{getpass.getuser()} on this machine"[:64])

    def change_exploration(self, exploration: str, changes: ExplorationChange) -> Exploration:
        with self._change("exploration edit", exploration) as session:
            body = _checked(explorations.ExplorationChange, changes)
            settings = self._farm.settings
            return as_sent(Exploration, exploration_service.change(settings, session, self._who, exploration, body))

    def exploration_deletion(self, exploration: str) -> Deletion:
        with self._database.read() as session:
            row = exploration_rows.get(session, exploration)
            return as_sent(Deletion, deletion.of_exploration(session, row))

    def delete_exploration(self, exploration: str) -> None:
        with self._change("exploration delete", exploration) as session:
            deletion.remove_exploration(session, self._who, exploration)

    def change_model(self, model: str, changes: ModelChange) -> Model:
        with self._change("model archive", model) as session:
            body = _checked(catalog.ModelChange, changes)
            return as_sent(Model, catalog_shapes.model(catalog_service.change_model(session, self._who, model, body)))

    def model_deletion(self, model: str) -> Deletion:
        with self._database.read() as session:
            return as_sent(Deletion, deletion.of_model(session, catalog_service.find_model(session, model)))

    def delete_model(self, model: str) -> None:
        with self._change("model delete", model) as session:
            deletion.remove_model(session, self._who, model)

    def change_design(self, design: str, changes: DesignChange) -> Design:
        with self._change("design edit", design) as session:
            body = _checked(designs.DesignChange, changes)
            return as_sent(Design, design_service.change(self._farm, session, self._who, design, body))

    def design_deletion(self, design: str) -> Deletion:
        with self._database.read() as session:
            return as_sent(Deletion, deletion.of_design(session, design_rows.get(session, design)))

    def delete_design(self, design: str) -> None:
        with self._change("design delete", design) as session:
            deletion.remove_design(self._farm, session, self._who, design)

    def set_node_state(self, node: str, state: str) -> Node:
        with self._change("farm node", f"{node} {state}") as session:
            return as_sent(Node, farm_service.set_state(self._farm, session, node, cast(NodeState, state)))

    def forget_node(self, node: str) -> None:
        with self._change("farm forget", node) as session:
            farm_service.forget(session, node)

    def put_licence(self, feature: str, tokens: int) -> Licence:
        with self._change("farm licence", f"{feature} {tokens}") as session:
            return as_sent(Licence, farm_service.put_licence(session, feature, tokens))

    def retention(self) -> Retention:
        with self._database.read() as session:
            return as_sent(Retention, farm_service.retention(session))

    def change_retention(self, changes: RetentionChange) -> Retention:
        with self._change("farm retention", "retention") as session:
            body = _checked(farm.RetentionChange, changes)
            return as_sent(Retention, farm_service.change_retention(session, body))

    def keys(self) -> list[ApiKey]:
        with self._database.read() as session:
            return [as_sent(ApiKey, shapes.api_key(row)) for row in api_keys.page(session, None, _ALL)]

    def add_key(self, request: NewApiKey) -> MadeApiKey:
        """A new key, with its text. Raises InvalidInputError for a name or bound that can not be."""
        with self._change("farm key add", request.name) as session:
            return as_sent(MadeApiKey, key_service.add(session, _checked(access.NewApiKey, request)))

    def change_key(self, key: str, changes: KeyChange) -> ApiKey:
        with self._change("farm key quota", key) as session:
            return as_sent(ApiKey, key_service.change(session, key, _checked(access.KeyChange, changes)))

    def revoke_key(self, key: str) -> None:
        with self._change("farm key revoke", key) as session:
            key_service.revoke(session, key)

    def audit(self, limit: int) -> list[AuditEntry]:
        with self._database.read() as session:
            return [as_sent(AuditEntry, shapes.audit_entry(row)) for row in audit.page(session, None, None, limit)]

    @contextmanager
    def _change(self, action: str, target: str) -> Generator[Any]:
        """A transaction that is kept in the audit."""
        with self._database.write() as session:
            yield session
            audit_of.record(session, self._who, f"millrace {action}", target, {})


def _checked(kind: type[Body], request: Any) -> Body:
    try:
        return kind.model_validate(to_json(request))
    except ValidationError as error:
        wrong = "; ".join(f"{'.'.join(map(str, e['loc']))}: {e['msg']}" for e in error.errors())
        raise InvalidInputError(wrong) from error
