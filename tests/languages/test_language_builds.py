"""The language of a corpus, stated, changed and taken back."""

from pathlib import Path

import pytest
from typer.testing import CliRunner

from atlas_search.building.sources import by_folder, in_language
from atlas_search.cli.main import app
from atlas_search.stores.manifest import Manifest
from atlas_search.stores.verify import verify
from tests.hash_embedder import HashEmbedder
from tests.languages.german_sources import CORPORA, mapped, stems
from tests.tiny import READERS, build_tiny, contents, keyword_hits, write_sources


def test_another_language_is_a_change_that_embeds_nothing(
    tmp_path: Path, folder: Path, hashes: HashEmbedder
) -> None:
    source, before = tmp_path / "source", hashes.embedded
    whole = contents(folder)
    (source / "corpora.toml").write_text(CORPORA.replace('"de"', '"fr"'))
    report = build_tiny(mapped(source), folder, hashes)
    assert (report.read, report.embedded, report.unchanged) == (2, 0, False)
    assert str(report.changes) == "0 added, 0 changed, 3 unchanged, 0 removed"
    assert report.manifest.languages == {"law": "en", "recht": "fr"}
    assert keyword_hits(folder, "gehort") == ["recht.haus:0-54"]
    assert stems("Kaufmann", "fr") == ["kaufmann"]
    assert not [f for f in verify(folder, report.manifest) if f.problem]
    (source / "corpora.toml").write_text(CORPORA)
    assert build_tiny(mapped(source), folder, hashes).read == 2
    assert (contents(folder), hashes.embedded) == (whole, before)
    assert build_tiny(mapped(source), folder, hashes).unchanged
    (source / "corpora.toml").write_text(CORPORA + 'language = "en"')
    assert build_tiny(mapped(source), folder, hashes).unchanged


def test_a_corpus_of_two_origins_has_the_language_that_was_stated_last(
    tmp_path: Path, hashes: HashEmbedder
) -> None:
    """A build that states none leaves it; one that states another analyses all its documents."""
    texts = write_sources(tmp_path / "texts", {"recht/haus.txt": "Alte Häuser."})
    tables = write_sources(tmp_path / "tables", {"recht/t.csv": "id,text\nr,Neue Häuser.\n"})
    folder, seen = tmp_path / "c", []

    def built(root: Path, kind: str, language: str) -> None:
        sources = in_language(by_folder([root], READERS[kind].suffixes, ""), language)
        report = build_tiny(sources, folder, hashes, kind=kind)
        found = [keyword_hits(folder, stem) for stem in ("haus", "häuser", "hauser")]
        (language,) = report.manifest.languages.values()
        seen.append((language, report.read, *map(len, found)))
        assert not [f for f in verify(folder, report.manifest) if f.problem]

    built(texts, "txt", "de")
    built(tables, "csv", "")
    built(tables, "csv", "en")
    built(texts, "txt", "de")
    built(texts, "txt", "de")
    built(tables, "csv", "")
    assert [(language, read) for language, read, *_ in seen] == [
        ("de", 1),
        ("de", 1),
        ("en", 1),
        ("de", 0),
        ("de", 0),
        ("de", 1),
    ]
    assert [haus for *_, haus, _, _ in seen] == [1, 2, 0, 2, 2, 2]
    assert hashes.embedded == 2


def test_a_language_that_is_taken_back_is_english_again(
    tmp_path: Path, hashes: HashEmbedder
) -> None:
    source = write_sources(tmp_path / "source", {"recht/haus.txt": "Alte Häuser."})
    plain = by_folder([source], READERS["txt"].suffixes, "")
    for language, expected in (("de", "de"), ("", "en")):
        report = build_tiny(in_language(plain, language), tmp_path / "c", hashes)
        assert report.manifest.languages == {"recht": expected}


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        (["--language", "de"], {"recht": "de"}),
        ([], {"recht": "en"}),
    ],
)
def test_the_command_states_a_language(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    arguments: list[str],
    expected: dict[str, str],
) -> None:
    source = write_sources(tmp_path / "source", {"recht/haus.txt": "Alte Häuser."})
    monkeypatch.setenv("CHROMA_PERSIST_DIRECTORY", str(tmp_path / "stores"))
    monkeypatch.setattr("atlas_search.cli.create.checkout", lambda: tmp_path)
    command = ["create", "txt", str(source), "--collection", "c", *arguments]
    result = CliRunner().invoke(app, command)
    assert result.exit_code == 0, result.output
    manifest = Manifest.read(tmp_path / "stores" / "c")
    assert manifest.languages == expected
    assert manifest.origins["txt"].arguments["language"] == "".join(arguments[1:])
    readable = (tmp_path / "create" / "txt" / "output" / "c.txt").read_text()
    assert f"CORPUS_recht_language={expected['recht']}".upper() in readable.upper()


def test_the_command_refuses_a_language_it_does_not_know(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    source = write_sources(tmp_path / "source", {"recht/haus.txt": "Alte Häuser."})
    monkeypatch.setenv("CHROMA_PERSIST_DIRECTORY", str(tmp_path / "stores"))
    command = ["create", "txt", str(source), "--collection", "c", "--language", "german"]
    result = CliRunner().invoke(app, command)
    assert result.exit_code == 1
    assert not (tmp_path / "stores" / "c" / "manifest.json").exists()
