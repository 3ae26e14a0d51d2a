"""What the columns of other projects' label sets are called, and what they mean here."""

import re
from collections.abc import Container, Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Literal, Self

Meaning = Literal[
    "id",
    "question",
    "answers",
    "gold documents",
    "gold passages",
    "gold places",
    "quotes",
    "grades",
    "should answer",
    "should decline",
    "expected decision",
    "category",
    "kind",
    "corpora",
    "filters",
    "split",
]

NAMES: Mapping[Meaning, str] = {
    "id": "id qid question_id query_id label_id example_id",
    "question": "question query prompt user_input",
    "answers": (
        "answer answers reference references reference_answer reference_answers ground_truth "
        "ground_truths ground_truth_answer ground_truth_answers gold_answer gold_answers "
        "expected_answer expected_answers expected_output correct_answer correct_answers"
    ),
    "gold documents": (
        "gold_document_ids gold_document_id gold_documents gold_document gold_doc_ids gold_doc_id "
        "gold_docs gold_doc doc_ids doc_id document_ids document_id relevant_docs relevant_doc_ids "
        "relevant_documents relevant_document_ids relevant_ids source_documents source_document "
        "source_docs source_doc expected_documents expected_document_ids expected_docs "
        "expected_doc_ids expected_sources"
    ),
    "gold passages": (
        "gold_passage_ids gold_passage_id gold_passages gold_chunk_ids gold_chunk_id gold_chunks "
        "relevant_chunks relevant_chunk_ids relevant_passages relevant_passage_ids chunk_ids "
        "chunk_id passage_ids passage_id expected_chunk_ids expected_chunks expected_passage_ids "
        "expected_passages context_ids contexts_ids reference_context_ids"
    ),
    "gold places": "gold_spans gold_span spans",
    "quotes": (
        "quote quotes evidence evidences evidence_text reference_contexts reference_context "
        "ground_truth_context ground_truth_contexts gold_context gold_contexts gold_snippet "
        "gold_snippets gold_text expected_context expected_contexts"
    ),
    "grades": "grades relevance relevances graded_relevance qrels",
    "should answer": "should_answer answerable is_answerable has_answer",
    "should decline": (
        "is_impossible unanswerable is_unanswerable is_negative should_decline should_abstain "
        "no_answer"
    ),
    "expected decision": "expected_decision decision",
    "category": "category question_type query_type synthesizer_name",
    "kind": "kind",
    "corpora": "corpus_filter corpora corpus collection_filter",
    "filters": "filters filter metadata_filters metadata_filter",
    "split": "split",
}
"""The names of each meaning; case, `_`, `-` and blanks do not matter."""

WEAK: Mapping[Meaning, str] = {
    "question": "text input",
    "category": "type",
    "split": "set",
    "quotes": "contexts context",
}
"""Names with this meaning only where no column has one of NAMES."""

INSIDE = "metadata."
"""Begins the names of fields inside a field `metadata`."""

IN_METADATA: frozenset[Meaning] = frozenset(
    {"should answer", "should decline", "category", "kind", "split"}
)
"""What is also read from inside it: what else stands there speaks of the source."""

_SAYS_WHAT: tuple[Meaning, ...] = (
    *("answers", "gold documents", "gold passages", "gold places", "quotes", "grades"),
    *("should answer", "should decline", "expected decision"),
)
# beside references they are what a system said and found when it was asked
_OF_A_SYSTEM, _REFERENCES = {"answer", "contexts"}, {"groundtruth", "groundtruths", "reference"}
_EXPORTED = {"qaid", "decision"}
# what RAGAS and DeepEval call what a system said and found, and what tables of runs do
_ALWAYS_OF_A_SYSTEM = re.compile(r"responses?|actualoutput|(retriev|predict)\w*")


@dataclass(frozen=True)
class Columns:
    """What each column means, by its name as written, and the names that mean nothing here.

    Of these some are `of_a_system`: what it said and found when it was asked.
    """

    meanings: Mapping[str, Meaning]
    unused: tuple[str, ...]
    of_a_system: frozenset[str] = frozenset()

    @property
    def says_what_is_right(self) -> bool:
        """Whether any column says what the right answer is, or whether there is one."""
        return not set(_SAYS_WHAT).isdisjoint(self.meanings.values())

    def used_as_filter(self, field: str) -> Self:
        """The same, where an unused column of this name, inside `metadata` too, is a filter."""
        names = {field, f"{INSIDE}{field}"}
        used: dict[str, Meaning] = {name: "filters" for name in self.unused if name in names}
        unused = tuple(name for name in self.unused if name not in used)
        return replace(self, meanings={**self.meanings, **used}, unused=unused)


def columns_of(names: Iterable[str]) -> Columns:
    """What columns with these names mean together."""
    names = tuple(dict.fromkeys(names))
    asked = _of_the_system(names)
    known = {
        name: meaning
        for name in names
        if (meaning := _STRONG.get(_plain(name))) and _plain(name) not in asked
    }
    taken = set(known.values())
    # a `type` in metadata is the question's, a `text` or `context` there is not
    for name in names:
        meaning = _WEAK.get(_plain(name.removeprefix(INSIDE)))
        own = not name.startswith(INSIDE) or meaning in IN_METADATA
        if meaning and own and meaning not in taken and _plain(name) not in asked:
            known[name] = meaning
            taken.add(meaning)
    for name in names:
        meaning = _STRONG.get(_plain(name.removeprefix(INSIDE)))
        if name.startswith(INSIDE) and meaning in IN_METADATA and meaning not in taken:
            known[name] = meaning
            taken.add(meaning)
    ordered = {name: known[name] for name in names if name in known}
    unused = tuple(name for name in names if name not in known)
    return Columns(ordered, unused, frozenset(n for n in unused if _is_of_a_system(n, asked)))


def are_exported_answers(names: Iterable[str]) -> bool:
    """Whether a table holds what was answered, as Atlas exports it, and not what is right."""
    return {_plain(name) for name in names} >= _EXPORTED


def understood_names() -> str:
    """The names of a question and of what is most often known, for a message."""
    shown: tuple[Meaning, ...] = ("question", "answers", "gold documents")
    return "; ".join(f"{meaning}: {', '.join(NAMES[meaning].split()[:4])}" for meaning in shown)


def _of_the_system(names: Iterable[str]) -> set[str]:
    found = {_plain(name) for name in names}
    return _OF_A_SYSTEM if found >= _OF_A_SYSTEM and found & _REFERENCES else set()


def _is_of_a_system(name: str, asked: Container[str]) -> bool:
    plain = _plain(name.removeprefix(INSIDE))
    return plain in asked or bool(_ALWAYS_OF_A_SYSTEM.fullmatch(plain))


def _plain(name: str) -> str:
    return re.sub(r"[\s_-]+", "", name).casefold()


def _by_name(meanings: Mapping[Meaning, str]) -> dict[str, Meaning]:
    return {_plain(name): meaning for meaning, names in meanings.items() for name in names.split()}


_STRONG, _WEAK = _by_name(NAMES), _by_name(WEAK)
