"""All faces by the names of their golden files."""

from collections.abc import Mapping

from tests.faces import answers, commands, drafts, exports, routes, searches, spans, stores, words
from tests.faces.world import Face

FACES: Mapping[str, Face] = {
    name: face
    for module in (answers, searches, words, routes, spans, drafts, exports, commands, stores)
    for name, face in module.faces().items()
}
