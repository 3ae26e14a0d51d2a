"""Registries: parts by name, those of other packages among them, and errors that help."""

import pickle
import subprocess
import sys
from pathlib import Path

import pytest

from atlas_search.core.errors import ConfigurationError, MissingLibrary
from atlas_search.core.registry import LIBRARIES, Registry, require
from atlas_search.core.settings import Settings
from atlas_search.core.targets import Target
from atlas_search.providers.chat import ModelCalls
from atlas_search.providers.open import CHAT_MODELS, EMBEDDERS, open_chat_models
from atlas_search.readers.files import READERS, files_reader
from atlas_search.search.rerankers import RERANKERS, known_rerankers, open_stages

GROUP = "atlas_search.test_parts"


def registry() -> Registry[object]:
    built_in = {"upper": "string:ascii_uppercase", "lower": "string:ascii_lowercase"}
    return Registry(GROUP, "alphabet", built_in, reserved=("none",))


@pytest.fixture
def site(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder of installed packages."""
    monkeypatch.setattr(sys, "path", [str(tmp_path), *sys.path])
    return tmp_path


def offer(site: Path, package: str, *entries: str) -> None:
    """Install the metadata of a package with these entry points, as pip writes it."""
    folder = site / f"{package.replace('-', '_')}-1.0.dist-info"
    folder.mkdir()
    (folder / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {package}\nVersion: 1.0\n")
    (folder / "entry_points.txt").write_text("\n".join([f"[{GROUP}]", *entries, ""]))


def test_own_parts_have_their_order_and_others_follow(site: Path) -> None:
    offer(site, "more-letters", "octal = string:octdigits", "digits = string:digits")
    parts = registry()
    assert parts.names() == ("upper", "lower", "digits", "octal")
    assert parts.load("lower", "LETTERS=lower") == "abcdefghijklmnopqrstuvwxyz"
    assert parts.load("digits", "LETTERS=digits") == "0123456789"


def test_an_unknown_name_is_refused_with_the_known_ones() -> None:
    with pytest.raises(ConfigurationError) as refused:
        registry().load("greek", "LETTERS=greek")
    assert str(refused.value) == (
        "LETTERS=greek: there is no such alphabet. Known: none, upper, lower."
    )


@pytest.mark.parametrize(
    ("name", "owner"), [("upper", "Atlas"), ("none", "Atlas"), ("digits", "the package a-letters")]
)
def test_a_package_that_takes_a_name_of_another_is_named(site: Path, name: str, owner: str) -> None:
    offer(site, "a-letters", "digits = string:digits")
    offer(site, "more-letters", f"{name} = string:hexdigits")
    with pytest.raises(ConfigurationError) as refused:
        registry().load("lower", "LETTERS=lower")
    assert str(refused.value) == (
        f"The package more-letters offers {name} as alphabet, and so does {owner}. Uninstall it, "
        "or rename its entry point."
    )


@pytest.mark.parametrize(
    ("value", "problem"),
    [
        ("no_such_module:letters", "ModuleNotFoundError: No module named 'no_such_module'"),
        ("string:no_such_letters", "AttributeError: "),
    ],
)
def test_a_part_that_cannot_be_imported_names_its_package(
    site: Path, value: str, problem: str
) -> None:
    offer(site, "more-letters", f"greek = {value}")
    message = rf"^The alphabet greek of the package more-letters cannot be loaded \({problem}"
    with pytest.raises(ConfigurationError, match=message):
        registry().load("greek", "LETTERS=greek")


@pytest.mark.parametrize("parts", [READERS, EMBEDDERS, CHAT_MODELS, RERANKERS])
def test_every_part_of_atlas_can_be_loaded(parts: Registry[object]) -> None:
    assert parts.built_in
    assert all(callable(parts.load(name, "a test")) for name in parts.built_in)


def test_a_target_that_names_no_known_part_is_told_with_its_file() -> None:
    calls = ModelCalls(1, 1.0)
    with pytest.raises(ConfigurationError) as refused:
        open_chat_models({"mine": Target(llm_provider="oracle")}, Settings(), calls)
    assert str(refused.value) == (
        "mine.txt: LLM_PROVIDER=oracle: there is no such chat model. "
        "Known: extractive, mistral, openai."
    )
    with pytest.raises(ConfigurationError) as refused:
        open_stages({"mine": Target(reranker="best")}, Settings())
    assert str(refused.value) == (
        "mine.txt: RERANKER=best: there is no such reranker. "
        f"Known: {', '.join(known_rerankers())}."
    )
    plain = {"plain": Target(reranker="rrf")}
    assert open_chat_models(plain, Settings(), calls) == open_stages(plain, Settings()) == {}


def test_readers_of_files_have_the_same_options_as_ever() -> None:
    """Another name or value here, and every file of every such collection is read again."""
    columns = {"text_column": "", "id_column": "", "title_column": "title"}
    columns |= {"metadata_columns": "", "rename": ""}
    assert files_reader().options == {
        "TxtReader": {"version": 5},
        "PdfReader": {"version": 8},
        "HtmlReader": {"version": 7, "whole_page": False},
        "XmlReader": {"version": 6, "normalised": False, "documents_at": ""},
        "CsvReader": {"version": 4, "delimiter": "", "quotes": True, **columns},
        "JsonlReader": {"version": 6, **columns},
        "DocxReader": {"version": 7},
        "EpubReader": {"version": 6},
        "PptxReader": {"version": 1},
        "XlsxReader": {"version": 1, **columns},
        "OdtReader": {"version": 1},
        "RtfReader": {"version": 1},
        "MailReader": {"version": 1},
        "MarcReader": {"version": 2},
        "BibReader": {"version": 2},
    }


@pytest.mark.parametrize("extra", LIBRARIES)
def test_a_missing_library_is_told_with_the_command_that_installs_it(
    extra: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    require(extra, "This test")
    for module in LIBRARIES[extra]:
        with monkeypatch.context() as patch:
            patch.setitem(sys.modules, module, None)
            with pytest.raises(MissingLibrary) as refused:
                require(extra, "This test")
        assert str(refused.value) == (
            f"This test needs {module}, not installed here. Install it: "
            f"`pip install 'atlas-research-search[{extra}]'`."
        )


def test_a_process_reads_a_text_without_a_module_of_another_format(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("The wall shall be mended.")
    code = (
        "import sys; from pathlib import Path; from pickle import loads\n"
        "reader = loads(bytes.fromhex(sys.argv[2]))\n"
        "print(*reader.read(Path(sys.argv[1]), ''), file=sys.stderr)\n"
        "print(*sys.modules)"
    )
    reader = files_reader()
    assert reader.options
    arguments = [sys.executable, "-c", code, tmp_path / "a.txt", pickle.dumps(reader).hex()]
    done = subprocess.run(arguments, capture_output=True, text=True, check=True)
    assert "mended" in done.stderr
    modules = {*done.stdout.split()}
    assert len([name for name in modules if name.partition(".")[0] == "atlas_search"]) <= 25
    others = ("xml", "pdf", "html", "docx", "epub", "tables", "office", "mail", "records")
    assert not modules & {f"atlas_search.readers.{name}" for name in others}
    assert not modules & {"lxml", "pypdfium2", "docx", "trafilatura", "openpyxl"}
