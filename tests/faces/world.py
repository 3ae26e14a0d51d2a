"""The collection and the server that all faces are seen of."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from flask.testing import FlaskClient

from atlas_search.services import Services
from tests.faces.plain import VOLATILE, brief, plain, plain_text


@dataclass(frozen=True)
class World:
    """The bundled collection, a client of its server, and a folder to write to."""

    services: Services
    client: FlaskClient
    folder: Path

    @property
    def places(self) -> Mapping[str, str]:
        """Folders of this run, with the names that stand for them."""
        settings = self.services.settings
        return {
            str(settings.chroma_persist_directory): "STORES",
            str(settings.atlas_state_directory): "STATE",
            str(self.folder): "FOLDER",
            str(Path.cwd()): "HERE",
        }

    def plain(self, value: Any, volatile: frozenset[str] = VOLATILE) -> Any:
        """`value` without what differs from run to run."""
        return plain(value, self.places, volatile)

    def plain_text(self, text: str) -> str:
        """`text` without what differs from run to run."""
        return plain_text(text, self.places)

    def open(self, method: str, path: str, **options: Any) -> dict[str, Any]:
        """A request, with the status, the type and the body of its response."""
        with self.client.open(path, method=method, **options) as response:
            is_json = response.is_json or "problem+json" in response.content_type
            body = response.get_json(force=True) if is_json else response.get_data(as_text=True)
            return {
                "request": self.plain({"method": method, "path": path, **options}),
                "status": response.status_code,
                "type": response.content_type,
                "body": brief(self.plain(body)),
            }


Face = Callable[[World], object]
"""Gives the content of one golden file: a text, or what JSON can hold."""


def asking(path: str, body: Mapping[str, Any]) -> Face:
    """The face of one POST request with a body of JSON."""
    return lambda world: world.open("POST", path, json=dict(body))
