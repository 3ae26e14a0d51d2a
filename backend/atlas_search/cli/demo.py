"""The bundled demo collection."""

import inspect

from atlas_search.cli.source_types import COMMANDS
from atlas_search.core.files import bundled_folder

DEMO = "atlas_demo"


def build_demo() -> None:
    """Build the demo if it is missing, as `atlas create files` would; ends the process if that
    fails. Nothing is written but the collection."""
    build = COMMANDS["files"]
    defaults = {name: p.default for name, p in inspect.signature(build).parameters.items()}
    chosen = {"source": [bundled_folder("samples")], "collection": DEMO, "if_missing": True}
    build(**(defaults | chosen))
