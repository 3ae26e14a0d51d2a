"""Nothing that Atlas shows outside has changed: each face is as its golden file has it."""

import os
import shutil
from collections.abc import Iterator

import pytest

from atlas_search.atlas import Atlas
from atlas_search.core.settings import Settings
from atlas_search.providers.embedding_local import LocalEmbedder
from atlas_search.services import open_services
from tests.faces.faces import FACES
from tests.faces.golden_files import GOLDEN, WRITE, difference, files, write, written
from tests.faces.world import World
from tests.servers import app_of

ANEW = "After a change that is meant, `python -m tests.faces` writes the golden files anew."


@pytest.fixture(scope="module")
def world(
    settings: Settings, embedder: LocalEmbedder, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[World]:
    """The bundled collection alone in a folder, so that no other test is seen."""
    folder = tmp_path_factory.mktemp("faces")
    stores, name = folder / "demo", settings.chroma_collection_name
    shutil.copytree(settings.collection_folder, stores / name)
    own = {"chroma_persist_directory": stores, "atlas_state_directory": folder / "state"}
    services = open_services(settings.model_copy(update=own), embedder)
    app = app_of(Atlas(services))
    yield World(services, app.test_client(), folder)
    app.extensions["runs"].close()
    services.close()


@pytest.mark.parametrize("name", FACES)
def test_a_face_is_as_it_was(world: World, name: str) -> None:
    text = written(name, FACES[name](world))
    if WRITE in os.environ:
        write(name, text)
    assert name in files(), f"There is no golden file {name}. {ANEW}"
    if changed := difference(name, text):
        pytest.fail(f"{name} has changed.\n{changed}\n{ANEW}", pytrace=False)


def test_every_golden_file_is_of_a_face() -> None:
    if WRITE in os.environ:
        for name in files() - FACES.keys():
            (GOLDEN / name).unlink()
    assert files() <= FACES.keys(), ANEW
