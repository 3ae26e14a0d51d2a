"""From a source file to what is staged: parsed, typed, cut into passages and analysed."""

import hashlib
import json
import re
import unicodedata
from bisect import bisect_left
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, astuple, dataclass, field, replace
from errno import EINVAL
from functools import cached_property
from json.encoder import encode_basestring_ascii as _as_json_string
from pathlib import Path
from statistics import fmean

from atlas_search.building.chunking import Chunking, TokenSpans, is_title, passage_spans, positions
from atlas_search.building.source_file import CorpusRule, SourceFile, sha256_of
from atlas_search.core.addresses import Linked, with_link
from atlas_search.core.domain import Document, Segment, embedded_text
from atlas_search.core.errors import SourceError
from atlas_search.core.ids import check_id
from atlas_search.core.metadata import Metadata
from atlas_search.language.languages import DEFAULT_LANGUAGE
from atlas_search.language.text import ANALYSER_VERSION, TextSpan, terms_and_parts
from atlas_search.readers import Draft, EmbeddedDraft, Read, Reader, ScanDraft, Skipped
from atlas_search.readers.elsewhere import (
    ENOUGH,
    FEWEST,
    LEAST,
    has_places,
    wordiest_place,
    words_of,
)
from atlas_search.readers.metadata import is_empty, name_of, typed_metadata
from atlas_search.readers.speeches import with_speeches
from atlas_search.readers.titles import clean_title, closed, title_from
from atlas_search.stores.record_writer import PassageRow, Provenance
from atlas_search.stores.staged import KeptDocument, StagedDocument, StagedPassage, text_digest

VERSION = 13
"""Raised when the same drafts give other documents or passages: all sources are read again then."""

_LONGEST = 120  # characters of one part of an id
_SURROGATE = re.compile("[\ud800-\udfff]")
_POSITION = re.compile(r"[a-z]+-\d+")
_OF_DAMAGE = (None, EINVAL)
"""Of an OSError that is about what a file holds: of a library's own, or of a place before its
beginning. Any other is about how to get at the file."""


@dataclass(frozen=True)
class Preparation:
    """Way to read and cut the sources of one origin; `token_spans` serves sizes in tokens.

    `languages` are those of corpora that other origins fill, too. `rename` are new names of
    metadata fields by their old ones, both as `name_of` writes them.
    """

    origin: str
    reader: Reader
    chunking: Chunking
    token_spans: TokenSpans
    tokenizer: str
    """Identifies what `token_spans` does."""
    languages: Mapping[str, str] = field(default_factory=dict)
    rename: Mapping[str, str] = field(default_factory=dict)

    def language(self, rule: CorpusRule, corpus: str) -> str:
        """Return the language of a corpus that a rule fills."""
        return rule.language or self.languages.get(corpus, DEFAULT_LANGUAGE)

    def fingerprint(
        self, file: SourceFile, digest_of: Callable[[Path | str], bytes] = sha256_of
    ) -> bytes:
        """Return a digest that is equal for equal bytes, read and cut in one way. Raises OSError.

        `digest_of` gives the SHA-256 of a file's bytes.
        """
        try:
            content = b"".join(map(digest_of, [file.location, *file.parts]))
        except IsADirectoryError:
            content = b"".join(digest_of(part) for part in _parts(file.path))
        return self.fingerprint_of(file, content)

    def fingerprint_of(self, file: SourceFile, content: bytes) -> bytes:
        """Return the fingerprint of a file whose bytes have the SHA-256 `content`."""
        return self.fingerprints_of([file], [content])[0]

    def fingerprints_of(
        self, files: Iterable[SourceFile], contents: Iterable[bytes]
    ) -> list[bytes]:
        # the parts of one list, of which those that all files share are written once
        begun, said_of, sha256 = self._begun, self._said_of, hashlib.sha256
        return [
            sha256(
                f"{begun}{_as_json_string(file.stem)}, {said_of(file.rule)}"
                f"{as_json(file.metadata) if file.metadata else ''}"
                f"{as_json(file.replaced) if file.replaced else ''}]".encode()
                + content
            ).digest()
            for file, content in zip(files, contents, strict=True)
        ]

    @cached_property
    def _begun(self) -> str:
        said = [
            VERSION,
            ANALYSER_VERSION,
            self.reader.options,
            asdict(self.chunking),
            self.tokenizer if self.chunking.unit == "tokens" else "",
        ]
        return f"[{', '.join(map(as_json, said))}, "

    def _said_of(self, rule: CorpusRule) -> str:
        known = self._rules.get(id(rule))
        if known is None or known[0] is not rule:
            of_rule = asdict(rule) | {"language": self._languages(rule)}
            said = f"{as_json(dict(self.rename))}, {as_json(of_rule)}"
            known = self._rules[id(rule)] = rule, said  # which keeps the rule, and so its id
        return known[1]

    @cached_property
    def _rules(self) -> dict[int, tuple[CorpusRule, str]]:
        return {}

    def _languages(self, rule: CorpusRule) -> str | Mapping[str, str]:
        """Return all that the language of a file's documents depends on."""
        if rule.corpus or rule.language:
            return self.language(rule, rule.corpus)
        others = self.languages.items()
        return {corpus: code for corpus, code in others if code != DEFAULT_LANGUAGE}


def as_json(value: object) -> str:
    """Write a value so that equal ones are written alike."""
    return json.dumps(value, sort_keys=True, default=str)


@dataclass(frozen=True, slots=True)
class Remark:
    """Something to say about a file, or about its record `key`."""

    text: str
    key: str = ""


@dataclass(frozen=True, slots=True)
class VectoredDocument:
    """A document that came with the vectors of its passages."""

    staged: StagedDocument
    vectors: Sequence[Sequence[float]]


Prepared = StagedDocument | VectoredDocument | KeptDocument | Remark


_ELSEWHERE = (
    "its text seems to stand in `{place}`, which holds {words:,} different words, and only "
    "{reached:,} were read. Convert it to plain text; if it is JSON, name the field of the text to "
    "`atlas create files` by `--text-column`"
)


class TextElsewhere(Exception):
    """Hardly any of a file's words are in the documents that it gave; the message says where they
    are."""


class Unreadable(Exception):
    """A file cannot be read now, and may well be the next time: its disk is away, say."""


def prepare(preparation: Preparation, file: SourceFile) -> Iterator[Prepared]:
    """Read what one file gives, in its order. Whatever is wrong with it is a remark, never an
    error.

    Raises Unreadable, and TextElsewhere behind all else.
    """
    keys: set[str] = set()
    is_empty = True
    is_looked_at = has_places(file.path) and not file.replaced
    enough = ENOUGH * size_of(file) if is_looked_at else 0
    characters = 0
    reached: set[str] = set()
    for read in _or_abstract(_read(preparation.reader, file), file):
        is_empty = False
        if read.key in file.replaced:
            continue
        if isinstance(read, Skipped):
            yield Remark(read.reason, read.key)
            continue
        if read.key in keys:
            yield Remark(f"its id {read.key!r} occurs twice; the first is kept", read.key)
            continue
        metadata, refused = _metadata(preparation, file, read)
        staged = _stage(preparation, file, read, metadata)
        if isinstance(staged, Skipped):
            yield Remark(staged.reason, staged.key)
            continue
        keys.add(read.key)
        if characters < enough:
            characters += len(read.text)
            reached |= words_of(read.text)
        for remark in (read.remark, refused):
            if remark:
                yield Remark(remark, read.key)
        if isinstance(read, EmbeddedDraft) and isinstance(staged, StagedDocument):
            yield VectoredDocument(staged, [each.vector for each in read.passages])
        else:
            yield staged
    if is_empty:
        yield Remark("it holds no document")
    if keys and characters < enough and not _is_place_named(preparation.reader):
        place, words = wordiest_place(file.path)
        if words >= FEWEST and len(reached) < LEAST * words:
            raise TextElsewhere(_ELSEWHERE.format(place=place, words=words, reached=len(reached)))


def size_of(file: SourceFile) -> int:
    """Return the bytes of a source; 0 for one that is gone or cannot be reached."""
    try:
        return sum(path.stat().st_size for path in _parts(file.path))
    except OSError:
        return 0


def content_of(file: SourceFile, digest_of: Callable[[Path | str], bytes] = sha256_of) -> bytes:
    """Return the SHA-256 of a file's bytes; empty of a folder, and of what is gone."""
    try:
        return digest_of(file.location)
    except OSError:
        return b""


def _read(reader: Reader, file: SourceFile) -> Iterator[Draft | Skipped]:
    try:
        yield from reader.read(file.path, file.rule.encoding)
    except OSError as error:
        reason = f"cannot be read: {error.strerror or error}"
        if error.errno not in _OF_DAMAGE:
            raise Unreadable(reason) from error
        yield Skipped(reason)
    except SourceError as error:
        yield Skipped(str(error))
    except MemoryError:
        raise  # what is left is too little to go on with
    except Exception as error:
        # a parser met a file its authors did not think of; thousands of others must not wait
        yield Skipped(f"cannot be read: {type(error).__name__}: {error}")


def _or_abstract(reads: Iterator[Read], file: SourceFile) -> Iterator[Read]:
    """Drafts of a file; where they hold no text, the abstract of the record that names it."""
    has_text = False
    for read in reads:
        has_text = has_text or (isinstance(read, Draft) and bool(read.text.strip()))
        yield read
    if not has_text and (abstract := file.metadata.get("abstract")):
        yield Draft(str(abstract), metadata={"content_type": "abstract"}, remark=_ABSTRACT)


_ABSTRACT = "it has no text: the abstract of its record is read in its place"


def _is_place_named(reader: Reader) -> bool:
    """Return whether an option says where the text of a file stands."""
    named = getattr(reader, "text_column", "") or reader.options.get("text_column")
    return bool(named or reader.options.get("documents_at"))


def _metadata(preparation: Preparation, file: SourceFile, draft: Draft) -> Linked:
    """Return what is said about the document, and a remark if its address can be no link."""
    renamed = _rename(draft.metadata, preparation.rename)
    metadata = typed_metadata(renamed, file.rule.metadata)
    metadata |= typed_metadata(_rename(file.metadata, preparation.rename))
    if "title" in metadata:
        metadata["title"] = str(metadata["title"])  # `1984` is a number in YAML
    metadata.setdefault("content_type", file.path.suffix.lower().removeprefix(".") or "chroma")
    return with_link(metadata)


def _stage(
    preparation: Preparation, file: SourceFile, draft: Draft, metadata: Metadata
) -> StagedDocument | KeptDocument | Skipped:
    text = draft.text
    if not text.strip():
        return Skipped("it holds no text", draft.key)
    try:
        corpus = file.rule.corpus or _corpus_of(metadata, file.rule.corpus_field)
    except SourceError as error:
        return Skipped(str(error), draft.key)
    given = _stated_title(preparation, file, draft, str(metadata.get("title") or ""))
    title = given or title_from(text)
    document = Document(
        id="",
        corpus=corpus,
        title=closed(title),
        text=text,
        metadata=metadata,
        source=file.name,
        pages=draft.pages,
        segments=_segments(draft),
        printed_pages=draft.printed_pages,
        is_titled=bool(given) or is_title(title, text),
    )
    if _has_half_characters(document):
        return Skipped("it holds half a character (a lone surrogate): mend it", draft.key)
    digest = document_digest(document)
    if file.known.get(draft.key) == digest and not isinstance(draft, EmbeddedDraft):
        return KeptDocument(draft.key, digest, characters_of(document))
    name = draft.name if isinstance(draft, EmbeddedDraft) else ""
    stem = slug(name) if name else _stem(file, draft.key)
    provenance = Provenance(preparation.origin, draft.key, stem, digest)
    language = preparation.language(file.rule, corpus)
    passages = _passages(preparation, document, draft, language)
    return StagedDocument(document, provenance, tuple(passages))


def _segments(draft: Draft) -> tuple[Segment, ...]:
    """Return sections, and who speaks, if the source does not say it and the text does."""
    is_known = draft.speeches_known or any(segment.speaker for segment in draft.segments)
    segments = draft.segments if is_known else with_speeches(draft.text, draft.segments)
    return tuple(
        replace(each, section=closed(each.section), speaker=closed(each.speaker))
        for each in segments
    )


def characters_of(document: Document) -> int:
    """Count the characters of its text and of all metadata."""
    return len(document.text) + sum(len(str(value)) for value in document.metadata.values())


def _has_half_characters(document: Document) -> bool:
    """Return whether there is what no encoding can write; a reader of another package may not
    look."""
    sections = (f"{each.section} {each.speaker} {each.locator}" for each in document.segments)
    said = (document.text, document.title, *sections)  # `typed_metadata` mends its own
    return any(_SURROGATE.search(text) for text in said)


def _stated_title(preparation: Preparation, file: SourceFile, draft: Draft, stated: str) -> str:
    """Return the draft's title, unless another was given or another field was renamed to be it;
    empty without one."""
    is_other = "title" in preparation.rename.values() or "title" in file.metadata
    names = (stated, draft.title) if is_other else (draft.title, stated)
    return next(filter(None, map(clean_title, names)), "")


def _passages(
    preparation: Preparation, document: Document, draft: Draft, language: str
) -> Iterator[StagedPassage]:
    given = draft.passages if isinstance(draft, EmbeddedDraft) else ()
    spans = [TextSpan(each.start, each.end) for each in given] or passage_spans(
        document, preparation.chunking, preparation.token_spans
    )
    ids = [each.id for each in given] or [""] * len(spans)
    for id_, span, position in zip(ids, spans, positions(document, spans), strict=True):
        row = PassageRow(id_, span, *position, _confidence(draft, span))
        yield staged_passage(row, document, language)


def staged_passage(row: PassageRow, document: Document, language: str) -> StagedPassage:
    """Return a passage with all that is worked out from its text."""
    text = document.text[row.span.start : row.span.end]
    # what came with an id came with the vector of its text alone
    embedded = (
        text if row.id else embedded_text(document.context_title, row.section, row.speaker, text)
    )
    return StagedPassage(row, embedded, text_digest(embedded), *terms_and_parts(text, language))


def _confidence(draft: Draft, span: TextSpan) -> float | None:
    """Return the mean confidence of the words of a passage; None where a scan states none."""
    if not isinstance(draft, ScanDraft):
        return None
    first, end = (bisect_left(draft.confidences, (at,)) for at in span)
    own = [confidence for _, confidence in draft.confidences[first:end]]
    return round(fmean(own), 3) if own else None


def document_digest(document: Document) -> bytes:
    """Return the SHA-256 of all that a document says; its id and the cuts are not part of it."""
    said = (
        document.corpus,
        document.title,
        document.text,
        document.metadata,
        document.pages,
        [astuple(segment) for segment in document.segments],
        document.printed_pages,
        document.is_titled,
    )
    return hashlib.sha256(
        json.dumps(said, sort_keys=True, default=list).encode("utf-8", "surrogatepass")
    ).digest()


def _corpus_of(metadata: Mapping[str, object], field_name: str) -> str:
    value = metadata.get("_".join(field_name.lower().split()))
    if value is None:
        raise SourceError(f"no corpus: it has no metadata field `{field_name}`")
    # a meeting called `covid 0` can be a corpus, but its id must fit into a URL
    corpus = re.sub(r"[^A-Za-z0-9_-]+", "-", str(value)).strip("-_")
    return check_id(corpus, f"metadata field `{field_name}` is {value!r}")


def _stem(file: SourceFile, key: str) -> str:
    """Return what the id of a document is made of: the file, the record's own id, or both.

    `2019/Case name.txt` gives `2019.Case-name`.
    """
    path = ".".join(slug(part) for part in Path(file.stem).with_suffix("").parts)
    if not key:
        return path
    return f"{path}.{key}" if _POSITION.fullmatch(key) else slug(key)


def slug(text: str) -> str:
    """Return a name or an id as it is part of a document's id."""
    # letters of any script stay; a decomposed name is the same name
    slug = re.sub(r"[^\w-]+", "-", unicodedata.normalize("NFC", text)).strip("-") or "x"
    if len(slug) <= _LONGEST:
        return slug
    return f"{slug[:_LONGEST]}-{hashlib.sha256(text.encode()).hexdigest()[:8]}"


def _rename(metadata: Mapping[str, object], rename: Mapping[str, str]) -> dict[str, object]:
    """Rename fields; what is renamed takes the place of a field of that name."""
    renamed: dict[str, object] = {}
    for name, value in metadata.items():
        new = rename.get(name_of(str(name)), "")
        if new and not is_empty(value):
            renamed.setdefault(new, value)
    kept = {name: metadata[name] for name in metadata if name_of(str(name)) not in rename}
    return kept | renamed


def _parts(path: Path) -> list[Path]:
    """Return the file itself, or all files of a folder that is one source."""
    return sorted(p for p in path.rglob("*") if p.is_file()) if path.is_dir() else [path]
