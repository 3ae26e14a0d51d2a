"""docs/backup.md describes every field of an export, and the commands say what they did."""

from pathlib import Path

import pytest

from atlas_search.building import backup_form as form
from atlas_search.cli.main import main
from tests.hash_embedder import HashEmbedder
from tests.test_docs import names_in, table

TABLES = {
    "manifest.json": form.Description,
    "A corpus": form.CorpusPart,
    "The embedding model": form.ModelPart,
    "An origin": form.OriginPart,
    "documents.jsonl": form.DocumentLine,
    "A segment": form.SegmentPart,
    "passages.jsonl": form.PassageLine,
    "A locator": form.LocatedPart,
    "sources.jsonl": form.SourceLine,
}


@pytest.mark.parametrize("heading", TABLES)
def test_the_page_lists_every_field(heading: str) -> None:
    assert table("docs/backup.md", heading) == [
        [f"`{name}`", "yes" if field.is_required() else "", field.description]
        for name, field in TABLES[heading].model_fields.items()
    ]


def test_the_page_lists_every_file(written: Path) -> None:
    listed = names_in(row[0] for row in table("docs/backup.md", "The form"))
    assert sorted(listed) == sorted(path.name for path in written.iterdir())
    for name in listed:
        assert name in form.README_TEXT or name == form.README


def test_the_commands_say_what_they_did(
    letters: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys
) -> None:
    def atlas(*arguments: str) -> str:
        with pytest.raises(SystemExit) as ended:
            main(["store", *arguments])
        said = capsys.readouterr()
        return (said.out if ended.value.code == 0 else said.err).lstrip()

    monkeypatch.setenv("CHROMA_PERSIST_DIRECTORY", str(letters / "stores"))
    model = HashEmbedder()
    monkeypatch.setattr("atlas_search.cli.store.open_embedder", lambda _: model)
    path = str(tmp_path / "c.zip")
    assert "c.zip holds 4 documents, 5 passages of version" in atlas("export", "c", path)
    assert atlas("export", "c", path).startswith(f"atlas: {path} is there already.")
    assert atlas("export", "d", path).startswith("atlas: There is no collection at")
    assert atlas("import", path).startswith("atlas: There is a collection c already.")
    monkeypatch.setenv("CHROMA_PERSIST_DIRECTORY", str(tmp_path / "new"))
    assert "of c is live: 4 documents, 5 passages." in atlas("import", path)
    model = HashEmbedder("other")
    said = atlas("import", path, "--collection", "d")
    assert said.startswith("The export has vectors of hash: 4 texts were embedded with other.\n")
    assert "of d is live" in said
    assert atlas("import", path, "--collection", "../d").startswith("atlas: CHROMA_COLLECTION_NAME")
