"""Questions that the sources read in several ways: a term or rule, and what each of them says."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal

from atlas_search.answer.check.phrases import is_superseded
from atlas_search.answer.conflicts import (
    Statement,
    difference,
    is_sentence,
    may_agree,
    read,
    specific,
)
from atlas_search.answer.decide import Outcome
from atlas_search.answer.request import AnswerPlan
from atlas_search.core.domain import CheckedPassage, Citation, Passage
from atlas_search.language.dates import bounds, iso_day
from atlas_search.language.english import any_of
from atlas_search.language.languages import DEFAULT_LANGUAGE, fold
from atlas_search.language.lines import unwrap
from atlas_search.language.text import content_terms, sentences, trim, words

YEARS_APART = 20
"""From so many years on two documents of one corpus are of different periods."""

SAME_WORDS = 0.6
"""Share of the words of two definitions, of those of both, from which on they say the same."""

Relation = Literal["same", "other", "unclear"]

_TERM_ASKED = re.compile(
    r"^(?:what (?:does|do) (?P<a>.+?) mean\b|what is meant by (?P<b>.+)|how (?:is|are) (?P<c>.+?) "
    r"defined\b|define (?P<d>.+)|what is an? (?P<e>.+)|"
    r"what(?: is|['’]s) the (?:\w+ )?(?:definition|meaning) of (?P<f>.+))",
    re.IGNORECASE,
)
_RULE_ASKED = re.compile(
    r"^(?:(?:what|which)(?: (?:is|are|['’]s))?(?: the)? (?:\w+ ){0,3}?(?:rule|limit|fee|age|"
    r"penalty|fine|period|term|rate|deadline|charge|price|cost|maximum|minimum|quota|threshold|punishment|"
    r"notice|interest|tax|number|amount|length)s?\b|at what age\b|"
    r"how (?:much|many|long|old|soon|often|fast|high|large)\b|"
    r"(?:is|are|may|must|can|do|does|shall)\b)",
    re.IGNORECASE,
)
_HOW = re.compile(r"^how \w+", re.IGNORECASE)
_NOT_NOW = re.compile(any_of("was were did had been would could might"))
_PERIOD = re.compile(any_of("now today current currently former formerly previously originally"))
_DEFINES = re.compile(
    r"^(?:(?:in|for|under|within)\b[^,]{3,80},\s+)?(?:the\s+(?:term|word|expression)s?\s+)?"
    r"[\"“‘'*_]*(?P<term>[^\"“”‘*_.,;:]{2,60}?)[\"”’'*_]*,?\s+"
    r"(?:means?|is\s+defined\s+as|are\s+defined\s+as|refers?\s+to)\s+(?P<meaning>\S.*)",
    re.DOTALL | re.IGNORECASE,
)
_REFERS = re.compile(
    r"\b(?:same meaning|meaning (?:given|assigned|set out|ascribed)|as defined (?:in|by|under))\b"
)
_LAW = re.compile(r"\b(?:Act|Code|Regulations?|Ordinance|Statute|By-?law|Constitution)\b")
_SENTENCE = re.compile(r"([\s\S]+)")
_CLAUSE = re.compile(r"\s*(?:\([^()]{1,80}\)\s*)*([^;]+)")
"""A definition in a list within one sentence, without the foreign name behind the one before."""
_DIGIT = re.compile(r"\d")
_AROUND = frozenset("definition meaning term word expression phrase".split())


@dataclass(frozen=True, slots=True)
class Reading:
    """One way to read a question: what the sources of a corpus, a period or a law say of it.

    `label` names them for people. `documents` say the same, the best ranked first, and
    `corpora` hold them. `citation` is the sentence that says it. With `filters` and the corpora
    the question has this reading alone.
    """

    label: str
    corpora: tuple[str, ...]
    documents: tuple[str, ...]
    filters: Mapping[str, tuple[str, ...]]
    citation: Citation


@dataclass(frozen=True, slots=True)
class _Assertion:
    """A sentence of one document: a definition has a `meaning`, a rule a `statement`."""

    citation: Citation
    meaning: frozenset[str] = frozenset()
    statement: Statement | None = None

    @property
    def passage(self) -> Passage:
        return self.citation.passage


def readings(
    question: str, passages: Sequence[CheckedPassage], labels: Mapping[str, str]
) -> tuple[Reading, ...]:
    """The ways in which the passages read a question, best ranked first; none unless several.

    Only a question counts that asks what a term means or what a rule is, and that names no corpus
    (by an id or one of the `labels`), law or period itself. Only a sentence counts that holds all
    informative words of the question, of a passage that is evidence, in English and not
    superseded. Two corpora, two laws, or two times YEARS_APART can read it differently; where
    anything else does, the sources contradict each other or speak of several things, and there is
    no reading. Rather few are found than false ones.
    """
    usable = [item.passage for item in passages if item.valid and _is_usable(item.passage)]
    if _names_its_source(question, usable, labels):
        return ()
    groups: list[list[_Assertion]] = []
    for assertion in _assertions_by_document(question, usable):
        relations = [_relation(group[0], assertion) for group in groups]
        if "same" in relations:
            groups[relations.index("same")].append(assertion)
        elif all(relation == "other" for relation in relations):
            groups.append([assertion])
    if len(groups) < 2:
        return ()
    return tuple(_reading(group, groups, labels) for group in groups)


def must_choose(choices: Sequence[Reading], request: AnswerPlan) -> bool:
    """Return True if the request asks for a choice, or an answer has no room for all readings."""
    several = len(choices) > 1
    return several and (request.clarify or len(choices) > request.target.answer_sentences)


def clarify(choices: Sequence[Reading]) -> Outcome:
    """Abstain: the question must say which reading it means."""
    labels = "; ".join(reading.label for reading in choices)
    return Outcome(
        "ABSTAIN",
        "clarify",
        f"The sources read the question in {len(choices)} ways ({labels}). Say which is meant.",
        {"readings": len(choices)},
    )


def _is_usable(passage: Passage) -> bool:
    return passage.language == DEFAULT_LANGUAGE and not is_superseded(passage)


def _names_its_source(
    question: str, passages: Sequence[Passage], labels: Mapping[str, str]
) -> bool:
    """Check if a question says where or when: with a name, a number, a period or a corpus."""
    question_words = words(question)
    has_name = any(
        question[word.start].isupper() and not question[word.start : word.end].isupper()
        for word in question_words[1:]
    )
    if has_name or _DIGIT.search(question) or _PERIOD.search(question) or _NOT_NOW.search(question):
        return True
    corpora = {passage.corpus for passage in passages}
    parts = [content_terms(f"{name} {labels.get(name, '')}".replace("_", " ")) for name in corpora]
    shared = frozenset.intersection(*parts) if len(parts) > 1 else frozenset()
    return any((part - shared) & {word.term for word in question_words} for part in parts)


def _assertions_by_document(question: str, passages: Sequence[Passage]) -> list[_Assertion]:
    """Return one sentence of each document, in order of rank.

    A document whose sentences say different things is left out.
    """
    by_document: dict[str, list[_Assertion]] = {}
    for passage in passages:
        by_document.setdefault(passage.document_id, []).extend(_assertions_in(question, passage))
    return [
        assertions[0]
        for assertions in by_document.values()
        if assertions
        and not any(_compare(assertions[0], other) == "other" for other in assertions[1:])
    ]


def _assertions_in(question: str, passage: Passage) -> list[_Assertion]:
    if term := _term_asked(question):
        meanings = [(part, _meaning(term, part.quote)) for part in _parts(passage, _CLAUSE)]
        return [_Assertion(part, meaning=meaning) for part, meaning in meanings if meaning]
    if terms := _rule_asked(question):
        rules = [(part, _rule(terms, unwrap(part.quote))) for part in _parts(passage, _SENTENCE)]
        return [_Assertion(part, statement=rule) for part, rule in rules if rule]
    return []


def _parts(passage: Passage, pattern: re.Pattern[str]) -> list[Citation]:
    """The sentences of a passage, or their parts that a pattern names, where they stand."""
    places = [
        trim(passage.text, *match.span(1))
        for span in sentences(passage.text)
        for match in pattern.finditer(passage.text, span.start, span.end)
    ]
    return [passage.cite(start, end) for start, end in places]


def _term_asked(question: str) -> frozenset[str]:
    """The words of the term whose meaning is asked; empty if none is."""
    match = _TERM_ASKED.match(question.strip())
    term = next((text for text in match.groups() if text), "") if match else ""
    return _singular(term) - _AROUND


def _rule_asked(question: str) -> frozenset[str]:
    """The stems of what a rule is asked about; empty if none is, or only of common things."""
    match = _RULE_ASKED.match(question)
    subject = read(_HOW.sub("", question)).subject if match else frozenset()
    return subject if specific(subject) else frozenset()


def _meaning(term: frozenset[str], sentence: str) -> frozenset[str]:
    """The stems by which a sentence defines the term; empty if it does not, or only refers."""
    match = _DEFINES.match(sentence)
    if not match or _REFERS.search(sentence) or _singular(match["term"]) - _AROUND != term:
        return frozenset()
    return content_terms(match["meaning"])


def _singular(text: str) -> frozenset[str]:
    """The informative words of a text, not their stems: an office is no officer."""
    return frozenset(word.folded.removesuffix("s") for word in words(text) if word.informative)


def _rule(terms: frozenset[str], sentence: str) -> Statement | None:
    """A sentence that states a rule or an amount and holds all that is asked of."""
    if not is_sentence(sentence):
        return None
    statement = read(sentence)
    if not statement.free or statement.past or not terms <= statement.terms:
        return None
    return statement if statement.quantities or statement.force else None


def _relation(one: _Assertion, other: _Assertion) -> Relation:
    relation = _compare(one, other)
    return relation if relation != "other" or _are_apart(one.passage, other.passage) else "unclear"


def _compare(one: _Assertion, other: _Assertion) -> Relation:
    """Compare two sentences: do they say the same of what was asked, or something else?"""
    if one.statement is None or other.statement is None:
        if not (one.meaning and other.meaning):
            return "unclear"
        shared = len(one.meaning & other.meaning) / len(one.meaning | other.meaning)
        return "same" if shared >= SAME_WORDS else "other"
    first, second = _without_names(one.statement), _without_names(other.statement)
    titles = content_terms(f"{one.passage.title} {other.passage.title}")
    if difference(first, second, titles):
        return "other"
    alike = {q.unit for q in first.quantities} == {q.unit for q in second.quantities}
    return "same" if alike and may_agree(first, second) else "unclear"


def _without_names(statement: Statement) -> Statement:
    """Drop names and labels, which say where a statement holds."""
    return replace(
        statement,
        subject=statement.subject - statement.names,
        names=frozenset(),
        labels=frozenset(),
    )


def _are_apart(one: Passage, other: Passage) -> bool:
    """Check if each can be right for itself: in another corpus, law or period."""
    if one.corpus != other.corpus:
        return True
    if _LAW.search(one.title) and _LAW.search(other.title):
        return fold(one.title) != fold(other.title)
    years = [
        int(iso_day(days[0])[:-6]) for p in (one, other) if p.date and (days := bounds(p.date))
    ]
    return len(years) == 2 and abs(years[0] - years[1]) >= YEARS_APART


def _reading(
    group: Sequence[_Assertion], groups: Sequence[Sequence[_Assertion]], labels: Mapping[str, str]
) -> Reading:
    corpora = _corpora(group)
    documents = tuple(assertion.passage.document_id for assertion in group)
    shared = any(set(corpora) & set(_corpora(other)) for other in groups if other is not group)
    label = "; ".join(labels.get(corpus, corpus) for corpus in corpora)
    if shared:
        best = group[0].passage
        label = f"{best.title} ({best.date})" if best.date else best.title
    filters = {"document_id": documents} if shared else {}
    return Reading(label, corpora, documents, filters, group[0].citation)


def _corpora(group: Sequence[_Assertion]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(assertion.passage.corpus for assertion in group))
