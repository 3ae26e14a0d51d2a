"""The files that a server was handed for a collection: a kind of source of its own.

<kept>/<corpus>/...              what the collection's documents of the kind `ingest` come from
<kept>/.jobs/<id>/<corpus>/...   what a job brings, until its version goes live
<kept>/.corpora/<corpus>.json    what is said of a corpus, as `CorpusNote` has it

No link is followed where something is written, moved or removed.
All of it is built each time, and only what changed is read, so earlier files stay.
"""

import errno
import os
import stat
from collections.abc import Mapping
from contextlib import ExitStack, suppress
from pathlib import Path

from atlas_search.building.source_file import CorpusRule
from atlas_search.building.sources import CorpusNote, Sources, by_folder
from atlas_search.core.files import folder_below, open_below

INGEST = "ingest"
"""The kind of source, in manifests."""

JOBS = ".jobs"
CORPORA = ".corpora"
BEFORE = ".before"
"""Folder in that of a job: what it replaced or took away, until it is over."""


def kept_sources(kept: Path, arriving: Path | None, suffixes: frozenset[str]) -> Sources:
    """Return kept files, and those that are `arriving`, which go before kept ones of their name.

    Raises SourceError for a folder that cannot be listed.
    """
    before, new = (_by_corpus(folder, suffixes) for folder in (kept, arriving))
    coming = {file.name for file in new.files}
    files = [*(file for file in before.files if file.name not in coming), *new.files]
    notes = {id_: _note(kept, id_) for id_ in {file.rule.corpus for file in files}}
    dated = {
        id_: CorpusRule(id_, metadata={"date": note.date} if note.date else {})
        for id_, note in notes.items()
    }
    files = [file._replace(rule=dated[file.rule.corpus]) for file in files]
    return Sources(
        tuple(sorted(files, key=lambda file: file.name)), (*before.left_out, *new.left_out), notes
    )


def describe(kept: Path, corpus: str, said: Mapping[str, str]) -> None:
    """Keep some fields of the note on a corpus; the others stay as they are. Raises OSError."""
    whole = CorpusNote.model_validate(_note(kept, corpus).model_dump() | dict(said))
    with folder_below(kept.parent, Path(kept.name, CORPORA), make=True) as folder:
        flags = os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_NOFOLLOW
        descriptor = os.open(f"{corpus}.partial", flags, 0o666, dir_fd=folder)
        with os.fdopen(descriptor, "w", encoding="utf-8") as file:
            file.write(whole.model_dump_json())
        os.replace(f"{corpus}.partial", f"{corpus}.json", src_dir_fd=folder, dst_dir_fd=folder)


def _note(kept: Path, corpus: str) -> CorpusNote:
    try:
        with open_below(kept.parent, Path(kept.name, CORPORA, f"{corpus}.json")) as file:
            return CorpusNote.model_validate_json(file.read())
    except (OSError, ValueError):  # nothing was said, or somebody else wrote there
        return CorpusNote()


def move_in(kept: Path, arriving: Path) -> ExitStack:
    """Put the arriving files in their places, over kept ones of their names.

    All of them, or none; closing what it gives brings back what was there. Raises OSError where a
    link or a folder is in the way.
    """
    files = (p for p in arriving.rglob("*") if p.is_file() and not p.is_symlink())
    names = sorted(path.relative_to(arriving) for path in files)
    root, home, job = kept.parent, Path(kept.name), arriving.relative_to(kept.parent)
    with ExitStack() as undo:
        for name in names:
            place, before = home / name, job / BEFORE / name
            _keep_beside(root, place, before)
            undo.callback(_put_back, root, place, before)
            _move(root, job / name, place)
        return undo.pop_all()


def take_out(kept: Path, name: str, job: Path) -> ExitStack:
    """Take a kept file away, to below the folder of a job; as `move_in` does."""
    root, place = kept.parent, Path(kept.name, name)
    aside = job.relative_to(root) / BEFORE / name
    with ExitStack() as undo:
        with suppress(FileNotFoundError):
            _move(root, place, aside)
            undo.callback(_move, root, aside, place)
            _remove_empty(root, place, Path(kept.name))
        return undo.pop_all()


def _put_back(root: Path, place: Path, before: Path) -> None:
    """Undo what `move_in` did with one file: that of `before`, if any, gets its place again."""
    try:
        _move(root, before, place)
    except FileNotFoundError:
        with suppress(FileNotFoundError), folder_below(root, place.parent) as folder:
            os.unlink(place.name, dir_fd=folder)
        _remove_empty(root, place, Path(*place.parts[:1]))


def _keep_beside(root: Path, place: Path, before: Path) -> None:
    """Give a kept file a second name, if there is one."""
    with (
        folder_below(root, place.parent, make=True) as folder,
        folder_below(root, before.parent, make=True) as aside,
    ):
        try:
            result = os.stat(place.name, dir_fd=folder, follow_symlinks=False)
        except FileNotFoundError:
            return
        if not stat.S_ISREG(result.st_mode):
            raise OSError(errno.EEXIST, "Something else has that name", place.name)
        try:
            os.link(place.name, before.name, src_dir_fd=folder, dst_dir_fd=aside)
        except OSError:  # some disks know no second names
            os.rename(place.name, before.name, src_dir_fd=folder, dst_dir_fd=aside)


def _move(root: Path, source: Path, target: Path) -> None:
    with (
        folder_below(root, source.parent) as here,
        folder_below(root, target.parent, make=True) as there,
    ):
        os.replace(source.name, target.name, src_dir_fd=here, dst_dir_fd=there)


def _remove_empty(root: Path, place: Path, home: Path) -> None:
    """Remove the folders that a file lay in, as far as nothing else does."""
    for folder in place.parents:
        if folder == home:
            return
        try:
            with folder_below(root, folder.parent) as above:
                os.rmdir(folder.name, dir_fd=above)
        except OSError:
            return


def _by_corpus(folder: Path | None, suffixes: frozenset[str]) -> Sources:
    if folder is None or not folder.is_dir():
        return Sources((), (), {})
    corpora = [path for path in folder.iterdir() if path.is_dir() and path.name[0] != "."]
    return by_folder([folder], suffixes, "") if corpora else Sources((), (), {})
