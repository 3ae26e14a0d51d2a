"""Verifying citations: every marker must name a passage the answer was written from."""

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

from atlas_search.answer.check.markers import MarkedSentence, read_marked
from atlas_search.answer.check.phrases import (
    SourceWords,
    is_caveat,
    is_heading,
    lookalikes,
    successors_of,
)
from atlas_search.answer.check.support import (
    Effort,
    ReadPassage,
    ReadSentence,
    missing_support,
    place_of,
    shorten_token,
)
from atlas_search.core.domain import CheckedSentence, Citation, Passage
from atlas_search.language.languages import DEFAULT_LANGUAGE

Verifier = Literal["citations", "model", "nli"]
"""Who checked an answer: the citation check alone, or a judge behind it."""


@dataclass(frozen=True, slots=True)
class Doubt:
    """A sentence by its number from 1 that its passages do not support, or that nobody judged."""

    number: int
    sentence: str
    verdict: Literal["unsupported", "contradicted", "not_judged"]
    reason: str


@dataclass(frozen=True)
class Verification:
    """The result of checking the citations of an answer, and what a judge says of it.

    An error makes the answer unusable, a warning does not; those of a sentence name its number.
    Groundedness is the share of sentences with at least one valid marker, in [0, 1]. The sentences
    of the doubts that are `struck` were taken out of the answer.
    """

    sentences: tuple[CheckedSentence, ...]
    errors: tuple[str, ...]
    warnings: tuple[str, ...]
    verified_by: Verifier = "citations"
    doubts: tuple[Doubt, ...] = ()
    struck: tuple[Doubt, ...] = ()

    @property
    def valid(self) -> bool:
        """True if all citations hold."""
        return not self.errors

    @property
    def citations(self) -> tuple[Citation, ...]:
        """The valid citations in order, each place in a document once."""
        citations = (citation for sentence in self.sentences for citation in sentence.citations)
        return tuple({citation.place: citation for citation in citations}.values())

    @property
    def sentence_groundedness(self) -> float:
        """Share of grounded sentences; 0 for an answer without sentences."""
        if not self.sentences:
            return 0.0
        return sum(sentence.grounded for sentence in self.sentences) / len(self.sentences)

    @property
    def answer_grounded(self) -> bool:
        """True if every sentence is grounded."""
        return self.sentence_groundedness == 1.0


class Checker:
    """Checks the sentences of one answer, in order, against the passages it was `given`.

    `effort` bounds what is compared; without it nothing does.
    """

    def __init__(self, given: Sequence[Passage], citation_limit: int, effort: Effort | None = None):
        usual = given[0].language if given else DEFAULT_LANGUAGE
        self._limit = citation_limit
        self._document_ids = frozenset(passage.document_id for passage in given)
        self._read: dict[str, list[ReadPassage]] = {}
        for passage in given:
            self._read.setdefault(passage.marker, []).append(ReadPassage(passage, effort))
        self._sources = SourceWords(
            [r for passages in self._read.values() for r in passages], usual
        )
        self._passages = given
        self._superseded_ids: set[str] = set()
        # overlapping passages share a place
        self._places: dict[tuple[str, int, int], Citation] = {}

    def check(self, written: MarkedSentence) -> CheckedSentence:
        """Return the sentence with its citations; its errors and warnings are predicates of it.

        Raises what the effort does.
        """
        text, read = written.text, ReadSentence(written.text)
        markers = tuple(dict.fromkeys(written.markers))
        cited = [passage for marker in markers for passage in self._read.get(marker, ())]
        before = len(self._places)
        citations = tuple(self._citation(m, read) for m in markers if m in self._read)
        errors = self._faults(read, markers, cited)
        errors += [
            f"cites {shorten_token(marker)} more than once."
            for marker, times in Counter(written.markers).items()
            if times > 1
        ]
        bare = not markers and not errors
        # it may name what the passages do not hold, but has no figures of its own
        caveat = bare and is_caveat(text) and self._sources.hold_numbers(text)
        excused = caveat or (bare and is_heading(text, self._sources))
        if not markers and not excused:
            errors.append("has no citation.")
        if len(self._places) > max(before, self._limit):
            errors.append(f"brings the citations to {len(self._places)}, more than {self._limit}.")
        return CheckedSentence(
            text=text,
            citations=citations,
            grounded=bool(citations),
            caveat=caveat,
            errors=tuple(errors),
            warnings=(
                *(["has no citation."] if excused else []),
                *(missing_support(read, cited) if citations else []),
                *self._superseded(citations),
            ),
        )

    def _superseded(self, citations: Sequence[Citation]) -> Iterator[str]:
        """Warn of cited documents that another took the place of, once for each in an answer."""
        for passage in (citation.passage for citation in citations):
            successors = successors_of(passage, self._passages)
            if successors and passage.document_id not in self._superseded_ids:
                self._superseded_ids.add(passage.document_id)
                yield f"cites {passage.title}, which was superseded by {successors}."

    def _faults(
        self, sentence: ReadSentence, markers: Sequence[str], cited: Sequence[ReadPassage]
    ) -> list[str]:
        """List the tokens that are no citations, or none of a given passage."""
        fakes = lookalikes(sentence.text, self._document_ids, cited)
        faults = [f"writes {shorten_token(fake)}, which is not a citation token." for fake in fakes]
        faults += [
            f"cites {shorten_token(marker)}, which was not retrieved."
            for marker in markers
            if marker not in self._read
        ]
        return faults

    def _citation(self, marker: str, sentence: ReadSentence) -> Citation:
        passage, span = place_of(sentence, self._read[marker])
        citation = passage.cite(*span)
        return self._places.setdefault(citation.place, citation)


def verify(
    answer: str, given: Sequence[Passage], citation_limit: int, effort: Effort | None = None
) -> Verification:
    """Check every sentence and every marker of `answer` against the passages it was `given`.

    A marker is valid if it is exactly that of a given passage. A sentence needs a valid one,
    unless it is a heading in the passages' own words, or only says what they do not hold. Raises
    what `effort` does.
    """
    checker = Checker(given, citation_limit, effort)
    return sum_up([checker.check(written) for written in read_marked(answer, given)])


def sum_up(checked: Sequence[CheckedSentence]) -> Verification:
    """The verification of an answer from that of all its sentences, in order."""
    if not checked:
        return Verification((), ("The answer holds no sentence.",), ())
    numbered = list(enumerate(checked, start=1))
    errors = [f"Sentence {n} {error}" for n, sentence in numbered for error in sentence.errors]
    warnings = [f"Sentence {n} {warning}" for n, each in numbered for warning in each.warnings]
    if not errors and not any(sentence.grounded for sentence in checked):
        errors.append("No sentence has a citation.")
    return Verification(tuple(checked), tuple(errors), tuple(warnings))
