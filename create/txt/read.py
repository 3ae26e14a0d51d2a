"""Reading plain text and Markdown, with metadata in YAML front matter."""

from collections.abc import Iterator, Sequence
from pathlib import Path

import frontmatter
import yaml

from backend.domain import Document
from create.source import Read, Skipped, corpus_folders, document_ids, normal_metadata

SUFFIXES = {".txt", ".md", ".markdown"}


def read_folder(root: Path) -> Iterator[Read]:
    """Every text file below `root`, one sub-folder per corpus, in a fixed order.

    A form feed in a text starts a new page. A file that cannot be read is reported, not raised;
    a root without corpora raises SourceError at once.
    """
    return _read_folders(root, corpus_folders(root))


def _read_folders(root: Path, folders: Sequence[Path]) -> Iterator[Read]:
    for folder in folders:
        files = sorted(path.relative_to(folder) for path in folder.rglob("*") if path.is_file())
        ids = document_ids(folder.name, (file for file in files if _is_text(file)))
        for file in files:
            if file in ids:
                yield _read(root, folder.name, file, ids[file])
            else:
                yield Skipped(f"{folder.name}/{file.as_posix()}", "not a .txt or .md file")


def _is_text(file: Path) -> bool:
    return file.suffix.lower() in SUFFIXES and not file.name.startswith(".")


def _read(root: Path, corpus: str, file: Path, id_: str) -> Read:
    source = f"{corpus}/{file.as_posix()}"
    try:
        content = (root / source).read_text(encoding="utf-8-sig")
        raw, text = frontmatter.parse(content)
    except UnicodeDecodeError as error:
        return Skipped(source, f"not UTF-8 at byte {error.start}; convert it to UTF-8")
    except yaml.YAMLError as error:
        return Skipped(
            source, f"its front matter is not valid YAML: {' '.join(str(error).split())}"
        )
    if not text.strip():
        return Skipped(source, "it holds no text")
    metadata = normal_metadata(raw)
    return Document(
        id=id_,
        corpus=corpus,
        title=str(metadata.get("title") or _first_line(text)),
        text=text,
        metadata=metadata,
        source=source,
        pages=_pages(text),
    )


def _first_line(text: str) -> str:
    return next(line for line in text.splitlines() if line.strip()).lstrip("# ").strip()[:120]


def _pages(text: str) -> tuple[int, ...]:
    return (0, *(offset + 1 for offset, character in enumerate(text) if character == "\f"))
