"""A default install: libraries that only some parts need are hidden, and each part names its own.

Each test runs a process in which the libraries of one extra, or of all, cannot be imported.
"""

import os
import re
import subprocess
import sys
import tomllib
from collections.abc import Iterable
from importlib.metadata import packages_distributions
from pathlib import Path

import pytest

from atlas_search.core.registry import DISTRIBUTION, LIBRARIES
from tests.places import ROOT
from tests.replies import reply
from tests.source_files import good_files, write_files

PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
EXTRAS = PROJECT["optional-dependencies"]
HIDE = """
import sys
class Hidden:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in {hidden!r}:
            raise ModuleNotFoundError(f"No module named {{name!r}}", name=name)
sys.meta_path.insert(0, Hidden())
"""
ATLAS = "from atlas_search.cli.main import main; main(sys.argv[1:])"
BROUGHT = {"scipy"}
"""Modules of extras that the default install has too: sentence-transformers needs them."""
EVERY = sorted({module for modules in LIBRARIES.values() for module in modules} - BROUGHT)


def hint(extra: str) -> str:
    return f"pip install '{DISTRIBUTION}[{extra}]'"


def run(hidden: Iterable[str], code: str, *arguments: object, folder: Path) -> tuple[int, str]:
    """Run `code` where these modules cannot be imported: exit code, and what it said."""
    done = subprocess.run(
        [sys.executable, "-c", HIDE.format(hidden=set(hidden)) + code, *map(str, arguments)],
        env={**os.environ, "CHROMA_PERSIST_DIRECTORY": str(folder / "stores"), "COLUMNS": "400"},
        cwd=folder,
        capture_output=True,
        text=True,
        check=False,
    )
    return done.returncode, " ".join((done.stdout + done.stderr).split())


def name_of(requirement: str) -> str:
    found = re.match(r"[\w-]+", requirement)
    assert found
    return re.sub(r"[-_]+", "-", found[0]).lower()


WHERE_THEY_ARE = {"langchain", "llama-index", "haystack", "notebook"}
"""Extras for programs that import a part of Atlas: they are there, or nobody does."""


def test_the_modules_of_every_extra_are_those_of_its_packages() -> None:
    packages = packages_distributions()
    assert LIBRARIES.keys() == EXTRAS.keys() - {"all", "remote", "test", *WHERE_THEY_ARE}
    for extra, modules in LIBRARIES.items():
        brought = {name_of(packages[module][0]) for module in modules}
        assert brought == {name_of(requirement) for requirement in EXTRAS[extra]}


def test_all_is_every_extra_and_tests_have_all() -> None:
    everything, pandas = EXTRAS["all"]  # tables for notebooks
    assert name_of(pandas) == "pandas"
    assert everything == f"{DISTRIBUTION}[{','.join(sorted(LIBRARIES))}]"
    assert f"{DISTRIBUTION}[all]" in EXTRAS["test"]


def test_no_extra_is_a_dependency() -> None:
    hard = {name_of(requirement) for requirement in PROJECT["dependencies"]}
    assert hard & {name_of(each) for extra in LIBRARIES for each in EXTRAS[extra]} == set()


SENTENCE = "Sheep give wool to the farmer in spring."
QUESTION = "What do sheep give to the farmer in spring?"
BUILD_AND_ASK = f"""
from atlas_search.cli.main import main
try:
    main(["create", "files", "source", "--collection", "extras_test"])
except SystemExit as ended:
    assert not ended.code
from atlas_search.core.settings import load_settings
from atlas_search.server.app import create_app
from atlas_search.server.collections import ServedCollections
from atlas_search.server.serving import Serving
collections = ServedCollections(Serving(load_settings(chroma_collection_name="extras_test")))
client = create_app(collections).test_client()
print("Answer:", client.post("/api/ask", json=dict(question={QUESTION!r})).get_json()["answer"])
print("Health:", client.get("/api/health").get_json()["providers"])
collections.close()
"""


@pytest.mark.thorough
def test_text_is_built_and_answered_without_any_extra(tmp_path: Path) -> None:
    """Files whose reader lacks its library are skipped, with the command that installs it."""
    write_files(tmp_path / "source", good_files("files"))
    (tmp_path / "source/farm/spring.md").write_text(f"# Wool\n\n{SENTENCE}")
    code, output = run(EVERY, BUILD_AND_ASK, folder=tmp_path)
    assert code == 0, output
    assert f"Answer: {SENTENCE.rstrip('.')}" in output
    # the first four in the report of the build, the others in the health of the server
    for extra in ("pdf", "html", "xml", "office", "mistral", "openai"):
        assert hint(extra) in output


READER_EXTRAS = {
    "pdf": "pdf",
    "html": "html",
    "xml": "xml",
    "mail": "xml",
    "marc": "records",
    "bib": "export",
    "zotero": "export",
    "oai": "html",
    "iiif": "html",
    **dict.fromkeys(("docx", "epub", "pptx", "xlsx", "odt", "rtf"), "office"),
}


@pytest.mark.thorough
def test_readers_without_their_libraries_name_the_command(tmp_path: Path) -> None:
    code = f"""
from atlas_search.cli.main import main
for kind in {list(READER_EXTRAS)}:
    try:
        main(["create", kind, ".", "--collection", "c", "--chunk-size", "500"])
    except SystemExit as ended:
        print(kind, "ended with", ended.code)
"""
    _, output = run(EVERY, code, folder=tmp_path)
    for kind, extra in READER_EXTRAS.items():
        assert f"{kind} ended with 1" in output
        assert re.search(rf"atlas: The reader {kind} needs [^`]*`{re.escape(hint(extra))}`", output)


def test_types_whose_library_is_missing_are_still_listed(tmp_path: Path) -> None:
    code, output = run(EVERY, ATLAS, "create", "--help", folder=tmp_path)
    assert code == 0, output
    for name in ("txt", *READER_EXTRAS):
        assert f" {name} " in output


OPEN_EMBEDDER = """
from atlas_search.core.settings import Settings
from atlas_search.providers.open import open_embedder
open_embedder(Settings(embedding_provider="mistral", mistral_api_key="k" * 32))
"""
CALL_MODEL = """
from atlas_search.core.settings import Settings
from atlas_search.core.stop import Stop
from atlas_search.providers.chat import ModelCalls
from atlas_search.providers.open import CHAT_MODELS
model = CHAT_MODELS.load("openai", "")(Settings(), ModelCalls(1, 1.0))
list(model.stream([], None, Stop()))
"""


@pytest.mark.thorough
@pytest.mark.parametrize(
    ("extra", "code", "typed"),
    [
        ("mistral", OPEN_EMBEDDER, ()),
        ("openai", CALL_MODEL, ()),
        ("export", ATLAS, ("export", "answer.json", "--format", "bibtex")),
        ("export", ATLAS, ("export", "answer.json", "--format", "ris")),
        ("eval", ATLAS, ("eval",)),
    ],
)
def test_other_parts_name_the_command_too(
    extra: str, code: str, typed: tuple[str, ...], tmp_path: Path
) -> None:
    answer = reply("ANSWER", "Sheep give wool.", cited=["farm.sheep"]).answer
    (tmp_path / "answer.json").write_text(answer.model_dump_json())
    status, output = run(LIBRARIES[extra], code, *typed, folder=tmp_path)
    assert status == 1
    assert hint(extra) in output
