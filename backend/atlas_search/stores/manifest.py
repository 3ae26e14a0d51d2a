"""`manifest.json`: what a collection holds and how it was built.

It is written last and atomically, and it names the folder of the version that is live. So a
collection without a manifest does not exist, and one with a manifest is whole.
"""

import hashlib
import json
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Literal, Self

from pydantic import BaseModel, ConfigDict, ValidationError

from atlas_search.core.errors import DamagedStore, MissingStore, OutdatedStore
from atlas_search.core.targets import VectorSearch
from atlas_search.language.languages import DEFAULT_LANGUAGE
from atlas_search.providers.embedding import DEFAULT_MODEL

SCHEMA_VERSION = 8
SHARING_SCHEMA_VERSION = 9
"""Schema version of a version that shares the files of the one before."""
_NEEDED = {"embeddings/sums.npy", "ids/ends.npy", "words/ends.npy"}
"""Files with a digest that stores of other forms lack."""
FILE_NAME = "manifest.json"
SHOWN = 10  # names of other collections, where one is missing
_DIGEST = "digest"

Engine = Literal["embedded", "qdrant"]


class _Part(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class CorpusStatistics(_Part):
    """One corpus: counts, and the digest of its documents.

    `tokens` are the embedding model's, over all passages; `bytes` those of its source files;
    `seconds` what reading and cutting them took when they were last read; `language` is the one
    its words were analysed in, as a key of `atlas_search.language.languages.LANGUAGES`. `date` is
    that of documents that state none, `description` what somebody says of it; empty if nobody does.
    `reads_like` is the language that its texts seem to be in, empty if unsure.
    """

    id: str
    label: str
    documents: int
    passages: int
    characters: int
    words: int
    tokens: int
    bytes: int
    seconds: float
    digest: str
    language: str
    date: str = ""
    description: str = ""
    reads_like: str = ""


class EmbeddingModel(_Part):
    """The model whose vectors are stored.

    `digest` is the SHA-256 of its weights, `fingerprint` that of all that makes passage vectors
    comparable, `runtime` what ran it when the version was made.
    """

    name: str
    provider: str
    digest: str
    fingerprint: str
    dimension: int
    pooling: str
    max_tokens: int
    passage_prefix: str
    query_prefix: str
    runtime: str = ""


class Index(_Part):
    """The index by which passages are found.

    `context` names what is embedded and indexed with a passage's text; in the vectors the title,
    and what follows it, have at most `context_characters` each. `corpora` are those with a vector
    index, by `vector_search`: large ones by `auto`, every one by `hnsw`, none by `exact`; the
    vectors of others are all compared. `engine` finds candidates: the parts of the version, or a
    collection of Qdrant with that `name`, whose weights take `mean_length` for the mean number of
    words of a passage. `algorithm` to `max_neighbors` are those of the
    vector index; it is built anew once `rebuild_share` of its vectors are tombstones.
    """

    context: tuple[str, ...]
    context_characters: int
    corpora: tuple[str, ...] = ()
    vector_search: VectorSearch = "auto"
    engine: Engine = "embedded"
    name: str = ""
    mean_length: float = 0.0
    algorithm: str
    space: str
    ef_construction: int
    ef_search: int
    max_neighbors: int
    rebuild_share: float
    keywords: str


class IndexRecall(_Part):
    """Recall of a corpus's vector index: the share of the 200 nearest passages that it found when
    it was measured, with the `ef_search` that was set for that."""

    ef_search: int
    recall: float


class Origin(_Part):
    """One kind of source the collection was built from, and how its documents were cut.

    `arguments` are those of `atlas create <kind>`, so that a repair can read the sources again.
    """

    arguments: Mapping[str, Any]
    splitter: str
    size: int
    overlap: int
    unit: str
    across_pages: bool
    across_sections: bool
    documents: int
    passages: int


class Field(_Part):
    """One metadata field: how many documents have it, and its most frequent values.

    `values` counts distinct values; if `capped`, there are more.
    """

    type: str
    documents: int
    values: int
    capped: bool
    counts: Mapping[str, int]


class Calibration(_Part):
    """The evidence that an answer needs in this collection, and what that did when it was chosen.

    `lost` is the share of `good` questions with less evidence than `threshold`, `rejected` that of
    `off_topic` ones: both numbers of questions, from labels or made from the passages.
    `content_digest` is that of the contents they were asked of.
    """

    threshold: float
    basis: Literal["labels", "made"]
    good: int
    off_topic: int
    lost: float
    rejected: float
    content_digest: str
    created: str


class Manifest(_Part):
    """A built collection. Durations are in seconds, sizes in bytes.

    `vector_tombstones` counts vectors that were removed from or replaced in the present index
    since it was last built anew; `index_recalls` are those of the corpora whose searches ask the
    index; `files` are digests of all files of the version, as `file_digest` gives them.
    """

    schema_version: int
    collection: str
    version: str
    content_digest: str
    created: str
    corpora: tuple[CorpusStatistics, ...]
    embedding: EmbeddingModel
    index: Index
    origins: Mapping[str, Origin]
    analyser: int
    truncated_share: float
    fields: Mapping[str, Field]
    built_with: Mapping[str, str]
    durations: Mapping[str, float]
    sizes: Mapping[str, int]
    files: Mapping[str, str]
    vector_tombstones: int
    calibration: Calibration | None = None
    index_recalls: Mapping[str, IndexRecall] = {}

    def ef_search(self, corpus: str) -> int:
        """Return how many neighbours a search of a corpus looks at in its index."""
        own = self.index_recalls.get(corpus)
        return own.ef_search if own else self.index.ef_search

    @property
    def calibration_is_stale(self) -> bool:
        """Return whether the contents have changed since the calibration was made."""
        made_for = self.calibration and self.calibration.content_digest
        return made_for not in (None, self.content_digest)

    @property
    def passages(self) -> int:
        return sum(corpus.passages for corpus in self.corpora)

    @property
    def documents(self) -> int:
        return sum(corpus.documents for corpus in self.corpora)

    @property
    def in_other_languages(self) -> tuple[CorpusStatistics, ...]:
        """The corpora whose language the default model, if it embedded them, does not know."""
        if self.embedding.name != DEFAULT_MODEL:
            return ()
        return tuple(corpus for corpus in self.corpora if corpus.language != DEFAULT_LANGUAGE)

    @property
    def unnamed_languages(self) -> dict[str, str]:
        """The languages that corpora seem to be in that are analysed as English, by corpus."""
        english = (corpus for corpus in self.corpora if corpus.language == DEFAULT_LANGUAGE)
        likely = {corpus.id: corpus.reads_like for corpus in english}
        return {id_: code for id_, code in likely.items() if code not in ("", DEFAULT_LANGUAGE)}

    @property
    def languages(self) -> dict[str, str]:
        return {corpus.id: corpus.language for corpus in self.corpora}

    def write(self, folder: Path) -> None:
        """Replace the manifest in `folder` in one atomic step, with a digest of all it says."""
        temporary = folder / f".{FILE_NAME}.partial"
        content = self.model_dump(mode="json")
        content |= {_DIGEST: _digest(content)}
        with temporary.open("w", encoding="utf-8") as file:
            file.write(json.dumps(content, indent=2, ensure_ascii=False))
            file.write("\n")
            file.flush()
            os.fsync(file.fileno())
        temporary.replace(folder / FILE_NAME)
        bring_to_disk(folder)

    @classmethod
    def read(cls, folder: Path) -> Self:
        """Read the manifest of the collection in `folder`.

        Raises MissingStore without one, OutdatedStore for one of another schema, and DamagedStore.
        """
        path = folder / FILE_NAME
        try:
            text = path.read_bytes()
        except (FileNotFoundError, NotADirectoryError):
            raise MissingStore(_missing(folder)) from None
        except OSError as error:
            raise DamagedStore(
                f"{path} cannot be read ({error.strerror}). Give the user who runs Atlas the right "
                "to read it, or reconnect its disk."
            ) from error
        return cls.parse(text, path)

    @classmethod
    def parse(cls, text: bytes, path: Path) -> Self:
        """Read what a manifest at `path` says. Raises OutdatedStore and DamagedStore."""
        folder = path.parent
        try:
            content = json.loads(text.decode())
        except ValueError as error:
            raise DamagedStore(
                f"{path} is not valid JSON ({error}). Run `atlas store repair {folder.name}`."
            ) from error
        if _is_outdated(content):
            raise OutdatedStore(
                f"{path} was written by another version of Atlas, in a form that this one does not "
                "read. Build the collection again with `atlas create`, or the bundled demo with "
                "`atlas demo`."
            )
        digest = content.pop(_DIGEST, "") if isinstance(content, dict) else ""
        if digest != _digest(content):
            raise DamagedStore(
                f"{path} is not as it was written. Run `atlas store repair {folder.name}`."
            )
        try:
            return cls.model_validate(content)
        except ValidationError as error:
            raise DamagedStore(
                f"{path} does not describe a collection: {error}. "
                f"Run `atlas store repair {folder.name}`."
            ) from error


def readable_manifest(folder: Path) -> Manifest | None:
    """Read the manifest of a collection or version; None without one that can be read."""
    try:
        return Manifest.read(folder)
    except (MissingStore, DamagedStore):
        return None


def _is_outdated(content: Any) -> bool:
    """Return whether a manifest says that its version has another form than today's."""
    if not isinstance(content, dict):
        return False
    schema, files = content.get("schema_version"), content.get("files")
    is_other = isinstance(schema, int) and schema not in (SCHEMA_VERSION, SHARING_SCHEMA_VERSION)
    return is_other or (isinstance(files, dict) and not files.keys() >= _NEEDED)


def _digest(content: Mapping[str, Any]) -> str:
    return hashlib.sha256(json.dumps(content).encode()).hexdigest()


def bring_to_disk(*paths: Path) -> None:
    """Make the content of files, and the names in folders, outlast a power failure."""
    for path in paths:
        descriptor = os.open(path, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)


def _missing(folder: Path) -> str:
    what = f"There is no collection at {folder}: {FILE_NAME} is missing."
    if any(folder.glob(f"[0-9]*/{FILE_NAME}")):  # of versions
        return f"{what} Versions of it are there: run `atlas store repair {folder.name}`."
    return (
        f"{what} {_others(folder)}`atlas demo` builds the bundled demo; `atlas create files SOURCE "
        f"--collection {folder.name}` builds one from your own files."
    )


def _others(folder: Path) -> str:
    """Name the collections beside a folder that is none."""
    names = sorted(path.parent.name for path in folder.parent.glob(f"*/{FILE_NAME}"))
    listed = f"{', '.join(names[:SHOWN])}{' ...' if len(names) > SHOWN else ''}"
    return f"Collections there: {listed}. " if names else ""
