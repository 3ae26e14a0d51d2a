"""The nouns: documents, passages and what is said about them."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

from atlas_search.core.locator import TOKEN_PLACE, common, is_locator, token_place
from atlas_search.core.metadata import Metadata

if TYPE_CHECKING:
    # who only reads files starts without pydantic: forms are imported where they are made
    from atlas_search.core.wire import CitationOut, Highlight, RankedPassageOut

Leg = Literal["dense", "lexical", "sparse"]
Decision = Literal["ANSWER", "ABSTAIN", "BLOCK"]
LEGS: tuple[Leg, ...] = ("dense", "lexical")
"""The legs that every collection has; `sparse` needs a SPARSE_MODEL."""


MARKER = re.compile(rf"\[[^\[\]\s]+ {TOKEN_PLACE}\]")
"""A citation token, as `Passage.marker` writes it."""

MARKER_LIKE = re.compile(rf"\[[^\[\]]*\bpp?\.?\s*\d[^\[\]]*\]|{MARKER.pattern}")
"""Text that a reader would take for a citation token."""

CONTEXT_JOINT = " > "
"""Between the parts of a section path, and of a passage's context."""

LONGEST_CONTEXT = 200
"""Characters of a title or a section path: about a fifth of what the default model reads."""


@dataclass(frozen=True, slots=True)
class Corpus:
    """A named set of documents, the unit of balance.

    `language` is the one its words are analysed in, as a key of `languages.LANGUAGES`; `date` that
    of documents that state none.
    """

    id: str
    label: str
    documents: int
    passages: int
    language: str
    date: str = ""
    description: str = ""


@dataclass(frozen=True, slots=True)
class Segment:
    """A stretch of a document from `start` to the next segment: a section, or one speech.

    `section` is the path of headings (`Part 2 > Right to silence`), `locator` how the source cites
    the place (`s 10(1)`); each is empty if unknown.
    """

    start: int
    section: str = ""
    speaker: str = ""
    locator: str = ""


class Located(NamedTuple):
    """The source's own name for the place from the character `start` of a passage on, or empty.

    `section` is the path of headings there, None where it is the one at which the passage begins.
    """

    start: int
    locator: str
    section: str | None = None


@dataclass(frozen=True, slots=True)
class Document:
    """One source file or record. `pages` are the offsets in `text` at which its pages begin.

    `printed_pages` are the numbers that stand on them (`xii`), one for each page or none at all,
    empty where one has none. `segments` are in order of `start`; text before the first belongs to
    no section. Without `is_titled` the title is but the beginning of the text.
    """

    id: str
    corpus: str
    title: str
    text: str
    metadata: Metadata
    source: str
    pages: tuple[int, ...] = (0,)
    segments: tuple[Segment, ...] = ()
    printed_pages: tuple[str, ...] = ()
    is_titled: bool = True

    @property
    def context_title(self) -> str:
        """The title that its passages are found by; empty if it only begins the text."""
        return self.title if self.is_titled else ""

    def to_dict(self, passages: Sequence["Passage"] = ()) -> dict[str, Any]:
        """Plain values, with its `passages`."""
        from atlas_search.core.wire import DocumentOut, PassageOut

        own = [PassageOut.model_validate(passage) for passage in passages]
        return DocumentOut.model_validate(self).model_copy(update={"passages": own}).to_dict()


class Successor(NamedTuple):
    """Title of what took a document's place, and its id; empty if it is not held."""

    title: str
    document_id: str = ""


OCR_CONFIDENCE = "ocr_confidence"
"""The field of the mean confidence, from 0 to 1, with which the words of a scan were recognised."""

PAGE_URLS = "page_urls"
"""The field of the address of each page, with a blank between them; `-` where a page has none."""


@dataclass(frozen=True, slots=True)
class Passage:
    """A piece of a document: `text == document.text[start:end]`, page and line from 1.

    `section` is where it begins, `speaker` who speaks in it (several joined by `; `), `locators`
    how the source cites its parts and which sections those are in, `printed_page` the number that
    stands on the page; each is empty if the source does not say. `date` is the document's as
    written (`1954-05-17`, `c. 1957`), empty if unknown; so is `url`. `language` is that of its
    corpus, `successors` are what the document's `superseded_by` names. `metadata` is that of
    the document; its `ocr_confidence` is of the passage's own words, if the scan states it by word.
    """

    row: int
    id: str
    document_id: str
    corpus: str
    title: str
    text: str
    start: int
    end: int
    page: int
    line: int
    section: str
    speaker: str
    date: str
    url: str
    metadata: Metadata
    language: str = "en"
    locators: tuple[Located, ...] = ()
    printed_page: str = ""
    is_titled: bool = True
    successors: tuple[Successor, ...] = ()

    @property
    def locator(self) -> str:
        """The smallest part of the source that holds the whole passage (`s 10`), or empty."""
        return common([place.locator for place in self.locators if place.locator])

    @property
    def marker(self) -> str:
        """The citation token an answer must use for this passage: `[id s10(1)]` or `[id p3]`."""
        locator = self.locator
        place = token_place(locator) if is_locator(locator) else f"p{self.page}"
        return f"[{self.document_id} {place}]"

    def cite(self, start: int, end: int) -> "Citation":
        """The characters of its text from `start` to `end` as a citation."""
        at = self.start
        return Citation(self.marker, self, at + start, at + end, self.text[start:end])

    @property
    def ocr_confidence(self) -> float | None:
        """The mean confidence with which its words were recognised; None where none is known."""
        stated = self.metadata.get(OCR_CONFIDENCE)
        return stated if isinstance(stated, float) else None

    @property
    def embedded(self) -> str:
        """The text of its vector: context and text; only the text if it came with its vector."""
        if self.id != passage_id(self.document_id, self.start, self.end):
            return self.text
        title = self.title if self.is_titled else ""
        return embedded_text(title, self.section, self.speaker, self.text)

    def locator_at(self, start: int) -> str:
        """The source's citation of the place at the character `start` of the document."""
        before = [f.locator for f in self._located(start) if f.locator]
        return before[-1] if before else self.locator

    def section_at(self, start: int) -> str:
        """The path of headings above the character `start` of the document."""
        before = [f.section for f in self._located(start) if f.section is not None]
        return before[-1] if before else self.section

    def _located(self, start: int) -> list[Located]:
        """The places that begin at the character `start` of the document or before it."""
        return [place for place in self.locators if place.start <= start - self.start]

    def to_dict(self) -> dict[str, Any]:
        """Plain values, as the API sends them; None where the source does not say."""
        from atlas_search.core.wire import PassageOut

        return PassageOut.model_validate(self).to_dict()


@dataclass(frozen=True, slots=True)
class RankedPassage:
    """A passage with the score that placed it and the signals behind the score.

    `duplicates` are the ids of candidates that say nearly the same and were left out for it.
    """

    passage: Passage
    score: float
    signals: Mapping[str, float]
    duplicates: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class CheckedPassage:
    """A ranked passage after the evidence check.

    `valid` says whether its similarity or its keyword overlap clears the target's threshold.
    """

    ranked: RankedPassage
    valid: bool
    overlap: float
    highlights: tuple["Highlight", ...]

    @property
    def passage(self) -> Passage:
        """The passage itself."""
        return self.ranked.passage

    def form(self) -> "RankedPassageOut":
        """Its form: that of the passage, and why it is where it is."""
        from atlas_search.core.wire import PassageOut, RankedPassageOut

        return RankedPassageOut.model_validate(
            dict(PassageOut.model_validate(self.passage))
            | {
                "score": self.ranked.score,
                "signals": self.ranked.signals,
                "valid": self.valid,
                "overlap": self.overlap,
                "highlights": self.highlights,
                "duplicates": self.ranked.duplicates,
            }
        )


@dataclass(frozen=True, slots=True)
class ChatTurn:
    """One earlier message of a conversation; not `whole` if only its beginning was kept."""

    role: Literal["user", "assistant"]
    content: str
    whole: bool = True


@dataclass(frozen=True, slots=True)
class Citation:
    """A marker that was verified: where exactly the quoted text stands in the document."""

    marker: str
    passage: Passage
    start: int
    end: int
    quote: str

    @property
    def place(self) -> tuple[str, int, int]:
        """The identity of a citation."""
        return self.marker, self.start, self.end

    @property
    def locator(self) -> str:
        """The source's citation of the place at which the quote begins: `s 10(1)`, or empty."""
        return self.passage.locator_at(self.start)

    @property
    def section(self) -> str:
        """The path of headings above the place at which the quote begins, or empty."""
        return self.passage.section_at(self.start)

    @property
    def line(self) -> int:
        """The line of the document, from 1, at which the quote begins."""
        passage = self.passage
        return passage.line + passage.text.count("\n", 0, self.start - passage.start)

    def form(self) -> "CitationOut":
        """Its form: where the quote stands, and what the document is."""
        from atlas_search.core.wire import CitationOut, PassageOut

        return CitationOut.model_validate(
            dict(PassageOut.model_validate(self.passage))
            | {
                "marker": self.marker,
                "locator": self.locator,
                "section": self.section,
                "line": self.line,
                "start": self.start,
                "end": self.end,
                "quote": self.quote,
            }
        )


@dataclass(frozen=True, slots=True)
class CheckedSentence:
    """One sentence of an answer without its markers, and what its verification found.

    `grounded` if any citation is valid. A `caveat` only says what the passages do not hold, so it
    needs no citation. An error makes the answer unusable, a warning does not. `support` is what a
    judge says of it, empty if none was asked.
    """

    text: str
    citations: tuple[Citation, ...]
    grounded: bool
    caveat: bool = False
    errors: tuple[str, ...] = ()
    warnings: tuple[str, ...] = ()
    support: Literal["", "supported", "not_judged"] = ""

    @property
    def line(self) -> str:
        """The sentence with its valid markers."""
        return " ".join([self.text, *(citation.marker for citation in self.citations)])


def passage_id(document_id: str, start: int, end: int) -> str:
    """The id of a passage that did not come with one."""
    return f"{document_id}:{start}-{end}"


def embedded_text(title: str, section: str, speaker: str, text: str) -> str:
    """The text below a line `title > sections > speaker`, in which nothing is said twice.

    The title keeps its first LONGEST_CONTEXT characters, the others their last. What this gains is
    in docs/measurements.md.
    """
    below = [*section.split(CONTEXT_JOINT), speaker]
    names = [part for part in dict.fromkeys(below) if part not in ("", title)]
    path = CONTEXT_JOINT.join(names)[-LONGEST_CONTEXT:]
    context = CONTEXT_JOINT.join(filter(None, (title[:LONGEST_CONTEXT], path)))
    return f"{context}\n{text}" if context else text


SUCCESSOR = "superseded_by"  # the field that names what took a document's place
