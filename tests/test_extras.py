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
from tests.source_files import good_files, write_files

PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
EXTRAS = PROJECT["optional-dependencies"]
HEAVY = {
    "bibtexparser",
    "docx",
    "ir_measures",
    "lxml",
    "matplotlib",
    "mistralai",
    "openai",
    "pypdfium2",
    "rispy",
    "trafilatura",
}

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


def test_the_modules_of_every_extra_are_those_of_its_packages() -> None:
    packages = packages_distributions()
    assert LIBRARIES.keys() == EXTRAS.keys() - {"all", "test"}
    for extra, modules in LIBRARIES.items():
        brought = {name_of(packages[module][0]) for module in modules}
        assert brought == {name_of(requirement) for requirement in EXTRAS[extra]}


def test_all_is_every_extra_and_tests_have_all() -> None:
    (everything,) = EXTRAS["all"]
    assert everything == f"{DISTRIBUTION}[{','.join(sorted(LIBRARIES))}]"
    assert f"{DISTRIBUTION}[all]" in EXTRAS["test"]


def test_no_extra_is_a_dependency() -> None:
    hard = {name_of(requirement) for requirement in PROJECT["dependencies"]}
    assert hard & {name_of(each) for extra in LIBRARIES for each in EXTRAS[extra]} == set()


def test_the_help_and_the_server_import_no_library_of_an_extra(tmp_path: Path) -> None:
    code = f"""
import atlas_search.cli.main
from typer.testing import CliRunner
assert CliRunner().invoke(atlas_search.cli.main.app, ["--help"]).exit_code == 0
print(sorted({HEAVY!r} & sys.modules.keys()))
"""
    assert run((), code, folder=tmp_path) == (0, "[]")


SENTENCE = "Sheep give wool to the farmer in spring."
QUESTION = "What do sheep give to the farmer in spring?"
BUILD_AND_ASK = f"""
from atlas_search.cli.main import main
try:
    main(["create", "files", "source", "--collection", "extras_test"])
except SystemExit as ended:
    assert not ended.code
from atlas_search.core.settings import load_settings
from atlas_search.atlas import Atlas
from atlas_search.server.app import create_app
from atlas_search.services import open_services
services = open_services(load_settings(chroma_collection_name="extras_test"))
client = create_app(lambda: Atlas(services)).test_client()
print("Answer:", client.post("/api/ask", json=dict(question={QUESTION!r})).get_json()["answer"])
print("Health:", client.get("/api/health").get_json()["providers"])
services.close()
"""


def test_text_is_built_and_answered_without_any_extra(tmp_path: Path) -> None:
    """Files whose reader lacks its library are skipped, with the command that installs it."""
    write_files(tmp_path / "source", good_files("files"))
    (tmp_path / "source/farm/spring.md").write_text(f"# Wool\n\n{SENTENCE}")
    code, said = run(EVERY, BUILD_AND_ASK, folder=tmp_path)
    assert code == 0, said
    assert f"Answer: {SENTENCE.rstrip('.')}" in said
    # the first four in the report of the build, the others in the health of the server
    for extra in ("pdf", "html", "xml", "office", "mistral", "openai"):
        assert hint(extra) in said


READER_EXTRAS = {"pdf": "pdf", "html": "html", "xml": "xml", "docx": "office", "epub": "office"}


def test_readers_without_their_libraries_name_the_command(tmp_path: Path) -> None:
    code = f"""
from atlas_search.cli.main import main
for kind in {list(READER_EXTRAS)}:
    try:
        main(["create", kind, ".", "--collection", "c", "--chunk-size", "500"])
    except SystemExit as ended:
        print(kind, "ended with", ended.code)
"""
    _, said = run(EVERY, code, folder=tmp_path)
    for kind, extra in READER_EXTRAS.items():
        assert f"{kind} ended with 1" in said
        assert re.search(rf"atlas: The reader {kind} needs [^`]*`{re.escape(hint(extra))}`", said)


def test_types_whose_library_is_missing_are_still_listed(tmp_path: Path) -> None:
    code, said = run(EVERY, ATLAS, "create", "--help", folder=tmp_path)
    assert code == 0, said
    for name in ("txt", *READER_EXTRAS):
        assert f" {name} " in said


@pytest.mark.parametrize(
    ("extra", "code"),
    [
        (
            "mistral",
            "from atlas_search.providers.open import open_embedder\n"
            "open_embedder(Settings(embedding_provider='mistral', mistral_api_key='k' * 32))",
        ),
        (
            "openai",
            "from atlas_search.core.stop import Stop\n"
            "from atlas_search.providers.chat import ModelCalls\n"
            "from atlas_search.providers.open import CHAT_MODELS\n"
            "model = CHAT_MODELS.load('openai', '')(Settings(), ModelCalls(1, 1.0))\n"
            "list(model.stream([], None, Stop()))",
        ),
        (
            "export",
            "from atlas_search.documents.export import _LISTS\n_LISTS['bibtex']([])",
        ),
        ("export", "from atlas_search.documents.export import _LISTS\n_LISTS['ris']([])"),
        ("eval", "from atlas_search.cli.main import main\nmain(['eval'])"),
        (
            "eval",
            "from atlas_search.evaluation.metrics_ranked import GradedRanking, trec_eval\n"
            "trec_eval(GradedRanking((1,)), (1,))",
        ),
    ],
)
def test_other_parts_name_the_command_too(extra: str, code: str, tmp_path: Path) -> None:
    start = "from atlas_search.core.settings import Settings\n"
    ended, said = run(LIBRARIES[extra], start + code, folder=tmp_path)
    assert ended == 1
    assert hint(extra) in said
