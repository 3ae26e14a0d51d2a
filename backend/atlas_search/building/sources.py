"""Corpora of source files: by folder, `corpora.toml`, or a metadata field."""

import gc
import hashlib
import os
import re
import threading
import tomllib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field, replace
from errno import ENAMETOOLONG
from functools import cache, lru_cache
from html import unescape
from itertools import pairwise, repeat, takewhile
from operator import attrgetter
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING, Annotated, Any, NamedTuple
from urllib.parse import unquote

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, ValidationError

from atlas_search.building.source_file import CorpusRule, SourceFile
from atlas_search.core.errors import SourceError
from atlas_search.core.ids import check_id
from atlas_search.language.languages import LANGUAGES, without_marks
from atlas_search.readers import Reader
from atlas_search.readers.metadata import name_of
from atlas_search.readers.records import bib
from atlas_search.readers.tables import DELIMITERS
from atlas_search.readers.titles import closed

if TYPE_CHECKING:
    from atlas_search.building.backup_form import CorpusPart
    from atlas_search.stores.manifest import CorpusStatistics

_NEW_OBJECTS = 1_000_000
"""After so many the youngest are searched; Python does after some hundreds. Of one changed document
in a million passages the searches took half of the time, and found nothing. After 100,000 they took
a tenth of what was left."""

_lock = threading.Lock()
_before: list[tuple[int, int, int]] = []


@contextmanager
def rare_collections() -> Iterator[None]:
    """Search rarely, in this process; what nobody refers to goes at once as ever.

    As a decorator it lets go of what a function holds before Python searches again. Threads may be
    inside at once: the last one out puts things back.
    """
    with _lock:
        before = gc.get_threshold()
        _before.append(before)
        gc.set_threshold(max(_NEW_OBJECTS, before[0]) if before[0] else 0, *before[1:])
    try:
        yield
    finally:
        with _lock:
            before = _before.pop()
            if not _before:
                gc.set_threshold(*before)


LEADS_OUT = "a link that leads out of the source folder, which is not followed"
"""Why a file or folder is left out."""

_UNPRINTABLE = "its name is not UTF-8: rename it"


class ExcludedFile(NamedTuple):
    """A file below a folder that is not to be read: its absolute path, its name from the folder,
    and why."""

    location: str
    name: str
    reason: str


class Walk(NamedTuple):
    """Content of a folder: the absolute path of each file to read, in the same order its name from
    there, and the others.

    Text, not a Path: there are tens of thousands of them, of which few are read.
    """

    locations: list[str]
    names: list[str]
    left_out: list[ExcludedFile]


def real_paths(roots: Iterable[Path]) -> list[Path]:
    """Return where sources really are. Whoever names a link as a source means what it leads to."""
    return [root.resolve() for root in roots]


def leads_out(path: Path, roots: Sequence[Path]) -> bool:
    """Return whether `path` is a link to what is in none of `roots`, as `real_paths` gives them."""
    return path.is_symlink() and not any(path.resolve().is_relative_to(root) for root in roots)


def walk(root: Path, suffixes: frozenset[str], inside: Sequence[Path]) -> Walk:
    """Find each file below `root`, in no order, or `root` itself.

    Links that lead out of `inside` are not followed. Names that begin with a dot are passed over.
    Raises SourceError for a folder that cannot be listed: its documents would seem to be gone.
    """
    top = str(root.absolute())
    result = Walk([], [], [])
    if root.is_file():
        _sort_in(result, top, root.name, _refusal(root, suffixes, real_paths([root])))
        return result
    if not root.is_dir():
        raise SourceError(f"{root} does not exist. Give a file or a folder of sources.")
    endings = tuple(suffixes)
    above = len(top.rstrip(os.sep)) + 1
    for folder, plain, others in _folders(top):
        before = f"{folder[above:]}{os.sep}".replace(os.sep, "/") if folder != top else ""
        for location, own in plain:  # of tens of thousands, nothing more is asked
            name = before + own
            if name.isascii() and own.lower().endswith(endings):
                result.locations.append(location)
                result.names.append(name)
            else:
                _sort_in(result, location, name, _refusal_by_name(location, endings))
        for location in others:
            name = location[above:].replace(os.sep, "/")
            _sort_in(result, location, name, _refusal(Path(location), suffixes, inside))
    return result


def _sort_in(found: Walk, location: str, name: str, reason: str) -> None:
    """Add a file, which is left out for a `reason`, if there is one, or for its name."""
    said = printable(name)
    if said != name:  # a folder may be called so, too
        reason = _UNPRINTABLE
    if reason:
        found.left_out.append(ExcludedFile(location, said, reason))
    else:
        found.locations.append(location)
        found.names.append(name)


def _folders(top: str) -> Iterator[tuple[str, list[tuple[str, str]], list[str]]]:
    """Every folder from `top` on: what are surely its files, with their names, and what else there
    is but folders. That is links, say, or the folder itself if it is too deep to be listed."""
    waiting = [top]  # not os.walk, which calls itself: a thousand folders in folders are too many
    while waiting:
        folder = waiting.pop()
        try:
            entries = [entry for entry in os.scandir(folder) if entry.name[0] != "."]
        except OSError as error:
            if error.errno != ENAMETOOLONG:
                raise SourceError(
                    f"{folder} cannot be listed: {error.strerror}. Mend that first."
                ) from error
            yield folder, [], [folder]
            continue
        plain, others = [], []
        for entry in entries:
            if entry.is_file(follow_symlinks=False):
                plain.append((entry.path, entry.name))
            elif entry.is_dir(follow_symlinks=False):
                waiting.append(entry.path)
            else:
                others.append(entry.path)
        yield folder, plain, others


def _refusal_by_name(path: str, endings: tuple[str, ...]) -> str:
    if not path.lower().endswith(endings) and not is_sheet(path):
        return f"not a {' or '.join(sorted(endings))} file"
    return ""


def _refusal(path: Path, suffixes: frozenset[str], inside: Sequence[Path]) -> str:
    try:
        is_folder, is_file = path.is_dir(), path.is_file()
    except OSError:
        return "its path is too long for the system: move it up"
    if is_folder:
        return "a link to a folder, which is not followed: name that folder as a source"
    if not is_file:
        return "a link to nothing" if path.is_symlink() else "not a regular file"
    by_name = _refusal_by_name(str(path), tuple(suffixes))
    return LEADS_OUT if not by_name and leads_out(path, inside) else by_name


def printable(name: str) -> str:
    """Return a name of the file system as text."""
    return name if name.isascii() else os.fsencode(name).decode("utf-8", "replace")


FILE_NAME = "corpora.toml"


# TOML writes days and years without quotes
_OneLine = Annotated[str, BeforeValidator(lambda value: " ".join(str(value).split()))]


class CorpusNote(BaseModel):
    """Words on a corpus: its name for readers, the date of documents that state none, and what it
    holds in a sentence or two. Each is empty if nobody says it."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    label: _OneLine = ""
    date: _OneLine = ""
    description: _OneLine = ""


@dataclass(frozen=True)
class Sources:
    """The files to read in order of name, files left out with the reason, and notes on corpora.

    `sheets` are the tables of metadata and lists of literature that say something of the files
    (`with_sheets`), with what is wrong in each. With `only_named` no other files are read.
    """

    files: tuple[SourceFile, ...]
    left_out: tuple[tuple[str, str], ...]
    notes: Mapping[str, CorpusNote]
    sheets: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    only_named: bool = False


class _Corpus(CorpusNote):
    id: str
    include: list[str] = Field(min_length=1)
    encoding: str = ""
    language: str = ""
    metadata: dict[str, Any] = Field(default_factory=dict)


class _Document(BaseModel):
    model_config = ConfigDict(extra="forbid")

    include: list[str] = Field(min_length=1)
    metadata: dict[str, Any] = Field(min_length=1)


class _Mapping(BaseModel):
    model_config = ConfigDict(extra="forbid")

    corpus: list[_Corpus] = Field(min_length=1)
    document: list[_Document] = Field(default_factory=list)
    ignore: list[str] = Field(default_factory=list)


@rare_collections()
def by_folder(roots: Sequence[Path], suffixes: frozenset[str], encoding: str) -> Sources:
    """Make one corpus of each sub-folder of the only root.

    A root without one is a corpus itself, and so is each of several roots, and one that holds a
    file whose whole name is read (`corpus.jsonl`). A file is a corpus by its own name, and one of
    several roots belongs to that of its folder. A name that can be no id gives a similar id, and is
    the label. Raises SourceError for two names that give the same.
    """
    inside = real_paths(roots)
    single = len(roots) == 1 and not any((roots[0] / name).is_file() for name in suffixes)
    inner = sorted(roots[0].iterdir()) if single and roots[0].is_dir() else []
    visible = [path for path in inner if not path.name.startswith(".")]
    folders = [path for path in visible if path.is_dir()]
    outside = visible if folders else []
    files: list[SourceFile] = []
    left_out: list[tuple[str, str]] = []
    for path in filter(Path.is_file, outside):
        says_of_files = is_sheet(str(path)) or bib.names_files(str(path))
        if says_of_files and not leads_out(path, inside):
            files.append(_alone(str(path.absolute()), path.name, encoding))
        else:
            left_out.append((printable(path.name), OUTSIDE))
    names: dict[str, str] = {}
    for source in folders or roots:
        if folders and leads_out(source, inside):
            left_out.append((printable(source.name), LEADS_OUT))
            continue
        name = _corpus_name(source, alone=len(roots) == 1)
        corpus = corpus_id(name)
        if names.setdefault(corpus, name) != name:
            raise SourceError(
                f"{names[corpus]!r} and {name!r} would both be the corpus {corpus!r}. Rename one."
            )
        below = walk(source, suffixes, inside)
        _add_walk(below, f"{corpus}/", CorpusRule(corpus, encoding=encoding), files, left_out)
    notes = {id_: CorpusNote(label=name) for id_, name in names.items() if id_ != name}
    return _sources(files, left_out, notes)


OUTSIDE = "outside the folders of the corpora: put it into one of them, or give --corpus"


def _corpus_name(source: Path, *, alone: bool) -> str:
    if not source.is_file():
        return printable(source.name or source.resolve().name)
    return printable(source.stem if alone else source.resolve().parent.name)


def corpus_id(name: str) -> str:
    """Make a corpus id of a name that may be none: of `Briefe 1866` `Briefe_1866`.

    A name of which nothing can stay gives its digest.
    """
    plain = re.sub(r"[^A-Za-z0-9_-]+", "_", without_marks(name)).strip("_-")
    if plain in ("", "all"):
        return f"corpus_{hashlib.sha256(name.encode()).hexdigest()[:6]}"
    return plain


@rare_collections()
def by_rule(roots: Sequence[Path], suffixes: frozenset[str], rule: CorpusRule) -> Sources:
    """Put every file below `roots` under one rule: a corpus for all, or the field that names it."""
    files: list[SourceFile] = []
    left_out: list[tuple[str, str]] = []
    inside = real_paths(roots)
    for root in roots:
        above = "" if len(roots) == 1 or root.is_file() else f"{printable(root.name)}/"
        _add_walk(walk(root, suffixes, inside), above, rule, files, left_out)
    return _sources(files, left_out, {})


def _add_walk(
    below: Walk,
    above: str,
    rule: CorpusRule,
    files: list[SourceFile],
    left_out: list[tuple[str, str]],
) -> None:
    """Add what lies below a folder, under one rule; names get the folder `above` before them."""
    names = [f"{above}{inner}" for inner in below.names]
    files += map(SourceFile, below.locations, names, below.names, repeat(rule))
    left_out += [(f"{above}{inner}", reason) for _, inner, reason in below.left_out]


@rare_collections()
def by_mapping(root: Path, mapping: Path, suffixes: frozenset[str], encoding: str) -> Sources:
    """Return the corpora that a `corpora.toml` describes; its globs are relative to `root`.

    The first corpus that includes a file gets it. Raises SourceError for a file that cannot be
    understood.
    """
    corpora = _read_mapping(mapping)
    files, left_out = [], []
    by_id = {corpus.id: corpus for corpus in corpora.corpus}

    @cache  # what a rule says is written down for each, and files share few
    def rule_of(id_: str, entries: tuple[int, ...]) -> CorpusRule:
        corpus = by_id[id_]
        metadata = ({"date": corpus.date} if corpus.date else {}) | corpus.metadata
        for entry in entries:
            metadata |= corpora.document[entry].metadata
        return CorpusRule(id_, "", metadata, corpus.encoding or encoding, corpus.language)

    own = str(mapping.absolute())
    walked = walk(root, suffixes, real_paths([root]))
    taken = zip(walked.locations, walked.names, repeat(""))
    for location, name, reason in (*taken, *walked.left_out):
        if (
            name == FILE_NAME
            or location == own
            or any(_matches(name, pattern) for pattern in corpora.ignore)
        ):
            continue
        match = _first_match(name, corpora.corpus)
        if match is None and not reason and is_sheet(location):
            files.append(_alone(location, name, encoding))
        elif match is None:
            left_out.append((name, f"no corpus of {mapping.name} includes it"))
        elif reason:
            left_out.append((name, reason))
        else:
            corpus, pattern = match
            rule = rule_of(corpus.id, _entries(name, corpora.document))
            stem = name.removeprefix(_fixed_folders(pattern))
            files.append(SourceFile(location, name, stem, rule))
    return _sources(files, left_out, {c.id: note_of(c) for c in corpora.corpus})


def _alone(location: str, name: str, encoding: str) -> SourceFile:
    """Return a table of metadata, or a list of literature, that lies in no corpus."""
    return SourceFile(location, name, name, CorpusRule(encoding=encoding))


SHEET = "metadata.csv"
"""Name of a table, written by hand, that says something of the files beside and below it."""

FILE_COLUMNS = ("file", "filename", "file_name")
_LONGEST_HEADS = 10_000  # characters


def is_sheet(path: str) -> bool:
    """Return whether a file is such a table: by its name, and a column `file` or `filename`."""
    if os.path.basename(path).lower() != SHEET:
        return False
    try:
        with open(path, encoding="utf-8-sig", errors="replace") as file:
            heads = re.split(f"[{DELIMITERS}]", file.readline(_LONGEST_HEADS))
            columns = {name_of(part) for part in heads}
    except OSError:
        return False
    return not columns.isdisjoint(FILE_COLUMNS)


DATES = "write 1866, 1860s, May 1866 or 1866-05-17, for instance"


def check_language(language: str, where: str) -> str:
    """Return `language`, if words can be analysed in it.

    Raises SourceError saying `where` it stands.
    """
    if language not in LANGUAGES:
        raise SourceError(
            f"{where}: {language!r} is no language whose words Atlas can analyse. Give one of "
            f"{', '.join(LANGUAGES)}."
        )
    return language


def in_language(sources: Sources, language: str) -> Sources:
    """Put corpora that state no language into this one. Raises SourceError."""
    if not language:
        return sources
    check_language(language, "--language")
    # by the object: thousands of files share few rules, and a rule is no key
    spoken = {
        id(rule): replace(rule, language=rule.language or language)
        for rule in (file.rule for file in sources.files)
    }
    files = (file._replace(rule=spoken[id(file.rule)]) for file in sources.files)
    return replace(sources, files=tuple(files))


def note_of(corpus: "_Corpus | CorpusStatistics | CorpusPart") -> CorpusNote:
    """Return what was said of a corpus; a label that is made of its id is none."""
    label = "" if corpus.label == label_of(corpus.id) else closed(corpus.label)
    return CorpusNote(label=label, date=corpus.date, description=closed(corpus.description))


def label_of(corpus: str) -> str:
    """Return a readable label for a corpus id: `legal_us` becomes `Legal US`."""
    return " ".join(
        part.upper() if len(part) <= 2 else part.capitalize() for part in re.split("[_-]", corpus)
    )


def _read_mapping(path: Path) -> _Mapping:
    try:
        mapping = _Mapping.model_validate(tomllib.loads(path.read_text(encoding="utf-8")))
    except OSError as error:
        raise SourceError(f"{path} cannot be read: {error.strerror}.") from error
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise SourceError(f"{path} is not valid TOML: {error}.") from error
    except ValidationError as error:
        first = error.errors()[0]
        where = ".".join(map(str, first["loc"]))
        raise SourceError(f"{path}: `{where}`: {first['msg']}.") from error
    seen = set()
    for corpus in mapping.corpus:
        check_id(corpus.id, str(path))
        if corpus.language:
            check_language(corpus.language, f"{path}: `language` of {corpus.id!r}")
        if corpus.id in seen:
            raise SourceError(f"{path}: the corpus {corpus.id!r} stands there twice. Join them.")
        seen.add(corpus.id)
    return mapping


def _first_match(name: str, corpora: Iterable[_Corpus]) -> tuple[_Corpus, str] | None:
    pairs = ((corpus, pattern) for corpus in corpora for pattern in corpus.include)
    return next((pair for pair in pairs if _matches(name, pair[1])), None)


def _entries(name: str, documents: Sequence[_Document]) -> tuple[int, ...]:
    """Return the entries of the mapping that say something about one file; the last counts."""
    return tuple(
        number
        for number, document in enumerate(documents)
        if any(_matches(name, pattern) for pattern in document.include)
    )


def _matches(name: str, pattern: str) -> bool:
    return bool(_compile_glob(pattern).fullmatch(name))


@lru_cache(maxsize=1024)
def _compile_glob(pattern: str) -> re.Pattern[str]:
    """Return a glob as a regular expression: `**` crosses folders, `*` and `?` do not."""
    parts = re.split(r"(\*\*/|\*\*|\*|\?)", pattern.removeprefix("./"))
    wild = {"**/": "(?:.*/)?", "**": ".*", "*": "[^/]*", "?": "[^/]"}
    return re.compile("".join(wild.get(part, re.escape(part)) for part in parts), re.DOTALL)


@lru_cache(maxsize=1024)
def _fixed_folders(pattern: str) -> str:
    fixed = takewhile(lambda part: not re.search(r"[*?]", part), PurePosixPath(pattern).parts[:-1])
    return "".join(f"{part}/" for part in fixed)


def _sources(
    files: Iterable[SourceFile],
    left_out: Iterable[tuple[str, str]],
    notes: Mapping[str, CorpusNote],
) -> Sources:
    ordered = sorted(_with_parts(list(files)), key=attrgetter("name"))
    for before, file in pairwise(ordered):
        if before.name == file.name:
            raise SourceError(
                f"{before.location} and {file.location} would both be called {file.name!r}. "
                "Rename a folder, or give one that holds both."
            )
    return Sources(tuple(ordered), tuple(sorted(left_out)), notes)


_SCAN = re.compile(rb"<(?:\w+:)?(?:alto|PcGts|(mets))[\s>]")
_HEAD = 4000  # bytes in which the root of a file stands
_MOST_OF_METS = 32_000_000  # bytes
_NAMED = re.compile(rb"""\bhref\s*=\s*["'](?:file://)?([^"'<>]{1,1000}\.xml)["']""", re.IGNORECASE)


def _with_parts(files: list[SourceFile]) -> list[SourceFile]:
    """Give each METS file the pages among the sources that it, or a METS that it names, names.

    They lie below its folder, and are no sources of their own. Nothing is parsed here: that is done
    in a process with limits. Texts that it names, such as TEI, are documents of their own.
    """
    wholes = [file.location for file in files if file.location.lower().endswith(".xml")]
    wholes = [location for location in wholes if (root := _scan_in(location)) and root[1]]
    if not wholes:
        return files
    by_path = {os.path.normpath(file.location): file.location for file in files}
    parts = {whole: _named_below(whole, by_path) for whole in wholes}
    pages = {part for each in parts.values() for part in each}
    return [
        file._replace(parts=parts.get(file.location, ()))
        for file in files
        if file.location not in pages
    ]


def _named_below(whole: str, by_path: Mapping[str, str]) -> tuple[str, ...]:
    folder = os.path.dirname(os.path.normpath(whole))
    named = {whole: None}
    waiting = [whole]
    while waiting:
        at = waiting.pop()
        with suppress(OSError), open(at, "rb") as file:  # it is told when it is read
            for match in _NAMED.finditer(file.read(_MOST_OF_METS)):
                address = unquote(unescape(match[1].decode(errors="replace")))
                path = os.path.normpath(os.path.join(os.path.dirname(at), address))
                location = by_path.get(path, whole)
                is_below = path.startswith(folder + os.sep)
                if location in named or not is_below or not (root := _scan_in(location)):
                    continue
                named[location] = None
                if root[1]:
                    waiting.append(location)
    return tuple(named)[1:]


def _scan_in(location: str) -> re.Match[bytes] | None:
    """Return the root of a file of text recognition; its group 1 is that of METS."""
    try:
        descriptor = os.open(location, os.O_RDONLY)  # half the time of `open`, of each XML file
        try:
            return _SCAN.search(os.read(descriptor, _HEAD))
        finally:
            os.close(descriptor)
    except OSError:
        return None  # it is told when it is read


def find_sources(
    source: Sequence[Path],
    reader: Reader,
    *,
    corpora: Path | None = None,
    corpus_field: str = "",
    corpus: str = "",
    encoding: str = "",
) -> Sources:
    """Return the files of `source` that `reader` reads. Raises SourceError.

    Their corpus is the one `corpus`, or named by their metadata field `corpus_field`, or said by a
    mapping (`corpora`, or `corpora.toml` in the source), or else their folder (`by_folder`).
    """
    for path in source:
        if not path.exists():
            raise SourceError(f"{path} does not exist. Give a file or a folder of sources.")
    suffixes = reader.suffixes
    if corpus or corpus_field:
        id_ = check_id(corpus, "--corpus") if corpus else ""
        return by_rule(source, suffixes, CorpusRule(id_, corpus_field, encoding=encoding))
    mapping = corpora or _mapping_beside(source)
    if mapping:
        if len(source) > 1 or not source[0].is_dir():
            raise SourceError(f"With {mapping} give one folder as the source.")
        return by_mapping(source[0], mapping, suffixes, encoding)
    return by_folder(source, suffixes, encoding)


NOT_HERE = "Zotero does not have it here: open it there once"

ZOTERO = "zotero"
"""The corpus of Zotero's items, and the folder of their list inside that of the collection."""


def zotero_sources(
    source: Sequence[Path],
    reader: Reader,
    folder: Path,
    *,
    address: str = "",
    library: str = "",
    corpus: str = ZOTERO,
) -> Sources:
    """Return the files of a folder that Zotero exported; without one, those of a running Zotero.

    Without an `address` and a `library` that is the one on this machine, and its user's own. The
    collection is in `folder`. Raises SourceError.
    """
    if source:
        return find_sources(source, reader, corpus=corpus)
    from atlas_search.providers.zotero import LOCAL  # 0.1 s: only who asks Zotero pays
    from atlas_search.readers.zotero import OWN, fetch_library
    from atlas_search.stores.versions import make_folder

    rule = CorpusRule(check_id(corpus, "--corpus"))
    path = folder.absolute() / ZOTERO / "library.json"
    listed, fetched = fetch_library(address or LOCAL, reader.suffixes, library=library or OWN)
    make_folder(path.parent, 0o700)  # notes are private
    path.write_text(listed, encoding="utf-8")
    stored = [("", path.name, path), *fetched]
    files, left_out = [], []
    for key, own_name, own_path in stored:
        name = os.path.join(key, own_name)
        reason = _refusal_by_name(own_name, tuple(reader.suffixes)) if own_path else NOT_HERE
        if reason:
            left_out.append((f"{ZOTERO}/{name}", reason))
        else:
            files.append(SourceFile(str(own_path), f"{ZOTERO}/{name}", name, rule))
    return _sources(files, left_out, {})


def _mapping_beside(source: Sequence[Path]) -> Path | None:
    path = source[0] / FILE_NAME
    if leads_out(path, real_paths(source)):
        raise SourceError(f"{path} is {LEADS_OUT}. Name the file with --corpora.")
    return path if path.is_file() else None
