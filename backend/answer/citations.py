"""Verifying citations: every marker must name a passage the answer was written from."""

import re
from collections.abc import Sequence
from dataclasses import dataclass

from backend.domain import MARKER, MARKER_LIKE, AnswerSentence, Citation, Passage
from backend.languages import DEFAULT_LANGUAGE
from backend.text import Span, content_terms, lines, sentences

_NUMBER = re.compile(r"\d[\d,.]*\d|\d")


@dataclass(frozen=True)
class Verification:
    """What was found in an answer.

    An error makes the answer unusable, a warning does not. Groundedness is the share of sentences
    with at least one valid marker, in [0, 1].
    """

    sentences: tuple[AnswerSentence, ...]
    errors: tuple[str, ...]
    warnings: tuple[str, ...]

    @property
    def valid(self) -> bool:
        """Whether all citations hold."""
        return not self.errors

    @property
    def citations(self) -> tuple[Citation, ...]:
        """The valid citations in order, each place in a document once."""
        found = {
            (citation.marker, citation.start, citation.end): citation
            for sentence in self.sentences
            for citation in sentence.citations
        }
        return tuple(found.values())

    @property
    def sentence_groundedness(self) -> float:
        """Share of grounded sentences; 0 for an answer without sentences."""
        if not self.sentences:
            return 0.0
        return sum(sentence.grounded for sentence in self.sentences) / len(self.sentences)

    @property
    def answer_grounded(self) -> bool:
        """Whether every sentence is grounded."""
        return self.sentence_groundedness == 1.0


def verify(answer: str, given: Sequence[Passage], citation_limit: int) -> Verification:
    """Check every marker of `answer` against the passages it was `given`."""
    plain, markers = _without_markers(answer)
    spans = _sentences(plain, markers, given)
    if not spans:
        return Verification((), ("The answer holds no sentence.",), ())
    errors = [f"{fake} is not a citation token." for fake in MARKER_LIKE.findall(plain)]
    warnings: list[str] = []
    checked = []
    places: dict[tuple[str, int, int], Citation] = {}  # overlapping passages share a place
    for number, span in enumerate(spans, start=1):
        text = plain[span.start : span.end]
        cited = [marker for marker, offset in markers if _belongs(offset, number - 1, spans)]
        citations = []
        for marker in dict.fromkeys(cited):
            candidates = [passage for passage in given if passage.marker == marker]
            if candidates:
                found = _citation(marker, text, candidates)
                citations.append(places.setdefault((marker, found.start, found.end), found))
            else:
                errors.append(f"Sentence {number} cites {marker}, which was not retrieved.")
        if not cited:
            errors.append(f"Sentence {number} has no citation.")
        warnings += _warnings(number, text, citations)
        checked.append(AnswerSentence(text, tuple(citations), grounded=bool(citations)))
    verification = Verification(tuple(checked), tuple(errors), tuple(warnings))
    if len(verification.citations) > citation_limit:
        errors.append(f"{len(verification.citations)} citations, more than {citation_limit}.")
    return Verification(tuple(checked), tuple(errors), tuple(warnings))


def _without_markers(answer: str) -> tuple[str, list[tuple[str, int]]]:
    """The text without markers, and each marker with the offset at which it stood."""
    plain = ""
    markers = []
    last = 0
    for match in MARKER.finditer(answer):
        plain = (plain + answer[last : match.start()]).rstrip(" ")
        markers.append((match.group(), len(plain.rstrip())))
        last = match.end()
    return plain + answer[last:], markers


def _sentences(
    plain: str, markers: Sequence[tuple[str, int]], given: Sequence[Passage]
) -> list[Span]:
    """The sentences of an answer, each line in the language of what it cites first."""
    languages = {passage.marker: passage.language for passage in given}
    usual = given[0].language if given else DEFAULT_LANGUAGE
    spans = []
    for start, end in lines(plain):
        cited = (languages[m] for m, offset in markers if m in languages and start < offset <= end)
        inner = sentences(plain[start:end], next(cited, usual))
        spans += [Span(start + span.start, start + span.end) for span in inner]
    return spans


def _belongs(offset: int, index: int, spans: Sequence[Span]) -> bool:
    """A marker belongs to the last sentence that begins before it, else to the first."""
    begun = [number for number, span in enumerate(spans) if span.start < offset]
    return (begun[-1] if begun else 0) == index


def _citation(marker: str, sentence: str, candidates: Sequence[Passage]) -> Citation:
    """The place in the named page that supports the sentence best."""
    passage, span = max(
        ((passage, span) for passage in candidates for span in _places(passage, sentence)),
        key=lambda place: _overlap(sentence, *place),
    )
    return Citation(
        marker=marker,
        passage=passage,
        start=passage.start + span.start,
        end=passage.start + span.end,
        quote=passage.text[span.start : span.end],
    )


def _places(passage: Passage, sentence: str) -> list[Span]:
    at = passage.text.find(sentence)
    if at >= 0:
        return [Span(at, at + len(sentence))]
    return sentences(passage.text, passage.language) or [Span(0, len(passage.text))]


def _overlap(sentence: str, passage: Passage, place: Span) -> float:
    asked = content_terms(sentence, passage.language)
    found = content_terms(passage.text[place.start : place.end], passage.language)
    return len(asked & found) / max(len(asked | found), 1)


def _warnings(number: int, text: str, citations: Sequence[Citation]) -> list[str]:
    if not citations:
        return []
    cited = " ".join(citation.passage.text for citation in citations)
    missing = sorted(set(_NUMBER.findall(text)) - set(_NUMBER.findall(cited)))
    warnings = [f"Sentence {number}: {value} is in no cited passage." for value in missing]
    warnings += [
        f"Sentence {number} cites {citation.passage.title}, which was superseded by {successor}."
        for citation in citations
        if (successor := citation.passage.metadata.get("superseded_by"))
    ]
    if not any(_shares_a_word(text, citation.passage) for citation in citations):
        warnings.append(f"Sentence {number} shares no word with what it cites.")
    return warnings


def _shares_a_word(text: str, passage: Passage) -> bool:
    language = passage.language
    return bool(content_terms(text, language) & content_terms(passage.text, language))
