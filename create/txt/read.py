"""Reading plain text and Markdown, with metadata in YAML front matter."""

from collections.abc import Iterator, Sequence
from pathlib import Path

import yaml
from frontmatter.default_handlers import YAMLHandler

from backend.domain import Document
from create.source import Read, Skipped, corpus_folders, document_ids, normal_metadata

SUFFIXES = {".txt", ".md", ".markdown"}
_YAML = YAMLHandler()
_BLANKS = " \t\r\n"


def read_folder(root: Path) -> Iterator[Read]:
    """Every text file below `root`, one sub-folder per corpus, in a fixed order.

    A form feed in a text starts a new page. A file that cannot be read is reported, not raised;
    a root without corpora raises SourceError at once. Names that begin with a dot are left out.
    """
    return _read_folders(root, corpus_folders(root))


def _read_folders(root: Path, folders: Sequence[Path]) -> Iterator[Read]:
    for path in sorted(root.iterdir()):
        if path.is_file() and not path.name.startswith("."):
            yield Skipped(path.name, "outside the folders of the corpora")
    for folder in folders:
        paths = (path.relative_to(folder) for path in folder.rglob("*") if path.is_file())
        files = sorted(
            file for file in paths if not any(part.startswith(".") for part in file.parts)
        )
        ids = document_ids(folder.name, (f for f in files if f.suffix.lower() in SUFFIXES))
        for file in files:
            if file in ids:
                yield _read(root, folder.name, file, ids[file])
            else:
                yield Skipped(f"{folder.name}/{file.as_posix()}", "not a .txt or .md file")


def _read(root: Path, corpus: str, file: Path, id_: str) -> Read:
    source = f"{corpus}/{file.as_posix()}"
    try:
        raw, text = _parse((root / source).read_text(encoding="utf-8-sig"))
        metadata = normal_metadata(raw)
    except OSError as error:
        return Skipped(source, f"cannot be read: {error.strerror}")
    except UnicodeDecodeError as error:
        return Skipped(source, f"not UTF-8 at byte {error.start}; convert it to UTF-8")
    except (yaml.YAMLError, ValueError) as error:
        # a ValueError is what YAML reads but Python has not, such as 30 February
        what = " ".join(str(error).split())
        return Skipped(source, f"its front matter is not valid YAML: {what}")
    if not text.strip():
        return Skipped(source, "it holds no text")
    return Document(
        id=id_,
        corpus=corpus,
        title=str(metadata.get("title") or _first_line(text)),
        text=text,
        metadata=metadata,
        source=source,
        pages=_pages(text),
    )


def _parse(content: str) -> tuple[dict[str, object], str]:
    """Front matter and text. The text keeps its form feeds, which count the pages."""
    if not _YAML.detect(content):
        return {}, content.strip(_BLANKS)
    front, text = _YAML.split(content)
    loaded = _YAML.load(front)
    if not isinstance(loaded, dict):
        raise ValueError("it is not a list of `key: value` lines")
    return loaded, text.strip(_BLANKS)


def _first_line(text: str) -> str:
    return next(line for line in text.splitlines() if line.strip()).lstrip("# ").strip()[:120]


def _pages(text: str) -> tuple[int, ...]:
    return (0, *(offset + 1 for offset, character in enumerate(text) if character == "\f"))
