"""Parts of other packages: the example is installed for real and used through the commands."""

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from atlas_search.stores.manifest import Manifest
from tests.places import ROOT
from tests.servers import ATLAS, running
from tests.tiny import write_sources

EXAMPLE = ROOT / "examples" / "atlas-example-plugin"
GUIDE = ROOT / "docs" / "extending.md"
TALK = "1\n00:00:01,000 --> 00:00:02,000\nSheep give wool.\n\n2\n00:00:03,000 --> 00:00:04,000\n"
TALK += "The wool is sold in the town.\n"
QUESTION = "What do sheep give?"


@pytest.fixture(scope="module")
def installed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder that the example package is installed into, without its dependencies."""
    folder = tmp_path_factory.mktemp("plugin")
    shutil.copytree(EXAMPLE, folder / "source")
    pip_install(folder / "source", folder / "site")
    return folder / "site"


def pip_install(source: Path, target: Path) -> None:
    pip = (sys.executable, "-m", "pip", "--disable-pip-version-check", "--quiet")
    options = ("--no-deps", "--no-build-isolation", "--target", str(target))
    subprocess.run([*pip, "install", *options, str(source)], check=True)


@pytest.fixture
def environment(installed: Path, tmp_path: Path) -> dict[str, str]:
    return {
        **os.environ,
        "PYTHONPATH": os.pathsep.join([str(installed), str(ROOT / "backend"), str(ROOT)]),
        "CHROMA_PERSIST_DIRECTORY": str(tmp_path / "stores"),
        "CHROMA_COLLECTION_NAME": "talks",
        "EMBEDDING_PROVIDER": "trigrams",
        "COLUMNS": "300",
    }


def atlas(environment: dict[str, str], folder: Path, *arguments: object) -> tuple[int, str]:
    done = subprocess.run(
        [*ATLAS, *map(str, arguments)],
        env=environment,
        cwd=folder,
        capture_output=True,
        text=True,
        check=False,
    )
    return done.returncode, done.stdout + done.stderr


def manifest(folder: Path) -> Manifest:
    return Manifest.read(folder / "stores" / "talks")


def test_a_reader_has_a_command_with_its_parameters_and_its_docstring(
    environment: dict[str, str], tmp_path: Path
) -> None:
    code, printed = atlas(environment, tmp_path, "create", "srt", "--help")
    assert code == 0, printed
    assert "Build a collection from subtitles." in printed
    assert "--times" in printed


@pytest.mark.thorough
def test_all_four_parts_answer_a_question(environment: dict[str, str], tmp_path: Path) -> None:
    source = write_sources(tmp_path / "source", {"town/talk.srt": TALK, "town/b.txt": "Cows moo."})
    code, printed = atlas(environment, tmp_path, "create", "srt", source, "--collection", "talks")
    assert code == 0, printed
    assert manifest(tmp_path).documents == 1
    assert manifest(tmp_path).embedding.provider == "trigrams"
    targets = tmp_path / "targets"
    targets.mkdir()
    rules = "LLM_PROVIDER=quote\nRERANKER=overlap\nANSWER_THRESHOLD=0\n"
    (targets / "mine.txt").write_text(rules)
    served = environment | {
        "TARGETS_DIRECTORY": str(targets),
        "TEST_TARGET": "mine",
        "ATLAS_PORT": "0",
    }
    with running(*ATLAS, "serve", environment=served, folder=tmp_path) as server:
        port = server.address("Atlas").rpartition(":")[2]
        asking = served | {"ATLAS_PORT": port}
        code, printed = atlas(asking, tmp_path, "ask", QUESTION, "--json")
        assert code == 0, printed
        code, results = atlas(asking, tmp_path, "search", QUESTION, "--json")
        assert code == 0, results
    answer = json.loads(printed)
    assert answer["decision"] == "ANSWER"
    assert answer["answer"].startswith("Sheep give wool. [")
    assert answer["usage"]["provider"] == "quote"
    assert answer["retrieval"]["reranker"] == "overlap"
    # of "what do sheep give?" only "sheep" stands in the passage as a word of its own
    passage = json.loads(results)["passages"][0]
    assert passage["signals"]["relevance"] == pytest.approx(1 / 4)


@pytest.mark.thorough
def test_files_of_another_packages_format_are_read_with_those_of_atlas(
    environment: dict[str, str], tmp_path: Path
) -> None:
    source = write_sources(tmp_path / "source", {"town/talk.srt": TALK, "town/b.txt": "Cows moo."})
    code, printed = atlas(environment, tmp_path, "create", "files", source, "--collection", "talks")
    assert code == 0, printed
    assert Manifest.read(tmp_path / "stores" / "talks").documents == 2


@pytest.mark.thorough
def test_a_name_nobody_has_is_refused_with_the_known_ones(
    environment: dict[str, str], tmp_path: Path
) -> None:
    source = write_sources(tmp_path / "source", {"town/talk.srt": TALK})
    wrong = environment | {"EMBEDDING_PROVIDER": "quadgrams"}
    code, printed = atlas(wrong, tmp_path, "create", "srt", source, "--collection", "talks")
    assert code == 1
    assert "EMBEDDING_PROVIDER='quadgrams': there is no such embedder." in printed
    assert "Known: local, mistral, openai, trigrams." in printed


@pytest.mark.thorough
def test_the_example_keeps_the_contracts(environment: dict[str, str], tmp_path: Path) -> None:
    pytest_ = (sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider")
    done = subprocess.run(
        [*pytest_, EXAMPLE / "tests"],
        env=environment | {"PYTHONDONTWRITEBYTECODE": "1"},
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr


def test_the_guide_shows_or_links_every_file_of_the_example() -> None:
    guide = GUIDE.read_text(encoding="utf-8")
    shown = dict(re.findall(r"^`(\S+)`:\n\n```\w+\n(.*?)^```$", guide, re.M | re.S))
    assert shown == {name: (EXAMPLE / name).read_text(encoding="utf-8") for name in shown}
    linked = set(re.findall(rf"\]\(\.\./examples/{EXAMPLE.name}/([^)]+)\)", guide))
    files = {
        str(p.relative_to(EXAMPLE)) for p in EXAMPLE.rglob("*") if p.suffix in (".py", ".toml")
    }
    assert shown.keys() | linked == {name for name in files if not name.endswith("__init__.py")}


def test_no_part_of_the_example_takes_40_lines() -> None:
    lengths = {p.name: len(p.read_text().splitlines()) for p in EXAMPLE.glob("atlas_example/*.py")}
    assert len(lengths) == 5
    assert max(lengths.values()) < 40
