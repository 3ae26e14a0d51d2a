"""Metrics of one question, each a function of its label and of the reply."""

import csv
import re
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Literal, Protocol

import numpy as np
from numpy.typing import NDArray
from pydantic import BaseModel, ConfigDict, TypeAdapter

from atlas_search.answer.decide import mean_evidence
from atlas_search.answer.wire import AnswerDocument
from atlas_search.core.domain import MARKER
from atlas_search.core.wire import RankedPassageOut
from atlas_search.evaluation.labels import Decision, GoldSpan, Label
from atlas_search.language.text import fold_words, words
from atlas_search.search.result import RetrievalOut, SearchOut
from atlas_search.search.trace import imbalance


class Reply(BaseModel):
    """Reply to the question of the label `label_id`, after `seconds`.

    `answer` (with its passages) of a question that was asked, `found` of one that was only
    searched for; neither where `error` says why nothing came back. A busy server is asked several
    times (`tries`): the seconds are those of the last.
    """

    model_config = ConfigDict(frozen=True)

    label_id: str
    seconds: float
    error: str = ""
    tries: int = 1
    answer: AnswerDocument | None = None
    found: SearchOut | None = None

    @property
    def passages(self) -> Sequence[RankedPassageOut]:
        """The passages, best first."""
        came = self.answer or self.found
        return (came.passages or ()) if came else ()

    @property
    def documents(self) -> tuple[str, ...]:
        """Ids of the passages' documents, best first, each once."""
        return tuple(dict.fromkeys(passage.document_id for passage in self.passages))

    @property
    def retrieval(self) -> RetrievalOut:
        """Account of the retrieval."""
        came = self.answer or self.found
        return came.retrieval if came else RetrievalOut()

    @property
    def evidence(self) -> float:
        """Evidence for the question in the collection, in [0, 1], as decisions have it."""
        confidence = self.retrieval.confidence
        return mean_evidence(confidence.max, confidence.support)

    @property
    def timings_ms(self) -> Mapping[str, float]:
        """Milliseconds of each stage, as whoever answered measured them."""
        came = self.answer or self.found
        return came.timings_ms if came else {}

    @property
    def answered(self) -> bool:
        """Return whether there is an answer."""
        return self.answer is not None and self.answer.decision == "ANSWER"

    @property
    def text(self) -> str:
        """The answer without its citation tokens; empty if there is none."""
        return without_markers(self.answer.answer or "") if self.answer and self.answered else ""


def without_markers(answer: str) -> str:
    """An answer without its citation tokens."""
    return " ".join(MARKER.sub(" ", answer).split())


Group = Literal[
    "retrieval",
    "balance",
    "spans",
    "decisions",
    "answers",
    "citations",
    "sources",
    "overlap",
    "tokens",
    "confidence",
    "judge",
]
"""What a metric says something about.

`overlap` are estimates by shared words, which a judge replaces; `tokens` are those of
bedrock-rag-eval by its own definitions, which nothing replaces; `judge` is about the judge itself.
"""


@dataclass(frozen=True)
class Metric:
    """A figure of a question, in [0, 1] unless its description says otherwise.

    `better` is where a change for the better goes; `none` for what is told and not judged. `of`
    says which questions have it. A name that ends with `@` or `.` stands for a figure at each depth
    or of each corpus: `recall@` for `recall@5`, `kept_share.` for `kept_share.legal_us`.
    """

    name: str
    group: Group
    of: str
    description: str
    better: Literal["higher", "lower", "none"] = "higher"


def _read_catalogue() -> dict[str, Metric]:
    with Path(__file__).with_suffix(".csv").open(encoding="utf-8", newline="") as file:
        return {row["name"]: _METRIC.validate_python(row) for row in csv.DictReader(file)}


_METRIC = TypeAdapter(Metric)
METRICS: Mapping[str, Metric] = _read_catalogue()
"""Every metric by its name, in the order of reports."""

_NAME = re.compile(r"\w+[@.]?")


def metric_of(figure: str) -> Metric:
    """Return the metric of a figure: that of `recall@` for `recall@5`. Raises KeyError."""
    name = _NAME.match(figure)
    return METRICS[name.group() if name else figure]


def known_metric(figure: str) -> Metric | None:
    """Return the metric of a figure; None of one that another version wrote."""
    try:
        return metric_of(figure)
    except KeyError:
        return None


class TextEmbedder(Protocol):
    """A model that embeds texts, each as a row of length 1. Raises EmbeddingUnavailable."""

    def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Embed texts."""


@dataclass(frozen=True)
class Tools:
    """Tools that metrics need besides: a model for similarity, depths, and the corpora asked.

    `limit` is how many passages each question was to bring (`SEARCH_K`), 0 if that is not known.
    """

    embedder: TextEmbedder
    depths: tuple[int, ...] = (1, 3, 5, 10)
    corpora: tuple[str, ...] = ()
    limit: int = 0


@dataclass(frozen=True)
class Case:
    """A question, what is known about it, and what came back."""

    label: Label
    reply: Reply
    tools: Tools

    @property
    def limit(self) -> int:
        """Depth that was asked, below which there is no figure; else the passages that came."""
        return self.tools.limit or len(self.reply.passages)


Measure = Callable[[Case], Mapping[str, float]]
"""Figures of a question by name, without those that say nothing of it."""


class CharacterSpan(Protocol):
    """Characters of a document's text from `start` to before `end`."""

    @property
    def document_id(self) -> str:
        """Id of the document."""

    @property
    def start(self) -> int:
        """The first character."""

    @property
    def end(self) -> int:
        """The character after the last."""


class InPassage(CharacterSpan, Protocol):
    """A passage, or a place in one."""

    @property
    def passage_id(self) -> str:
        """Id of the passage."""


Intervals = Mapping[str, tuple[tuple[int, int], ...]]
"""Characters by document: apart from each other, ascending."""


def gold_places(label: Label) -> frozenset[str | GoldSpan]:
    """The passages and spans that answer."""
    return frozenset((*label.gold_passage_ids, *label.gold_spans))


def held_places(found: InPassage, label: Label) -> frozenset[str | GoldSpan]:
    """The gold places that a passage or a citation holds: itself by its id, and spans."""
    spans = (span for span in label.gold_spans if holds(found, span))
    return frozenset((*({found.passage_id} & label.gold_passage_ids), *spans))


def gold_of(label: Label) -> frozenset[str | GoldSpan]:
    """The gold places; the gold documents where no place is known."""
    return gold_places(label) or frozenset(label.relevance)


def held_gold(found: Iterable[InPassage], label: Label) -> list[frozenset[str | GoldSpan]]:
    """Return the gold that each of some passages or citations holds."""
    if gold_places(label):
        return [held_places(one, label) for one in found]
    return [frozenset({one.document_id} & label.relevance.keys()) for one in found]


def holds(place: CharacterSpan, span: CharacterSpan) -> bool:
    """Return whether they share at least half of the shorter one."""
    if place.document_id != span.document_id:
        return False
    shared = min(place.end, span.end) - max(place.start, span.start)
    shorter = min(place.end - place.start, span.end - span.start)
    return shared > 0 and 2 * shared >= shorter


def union(places: Iterable[CharacterSpan]) -> Intervals:
    """All characters of the places, each once."""
    by_document: dict[str, list[tuple[int, int]]] = defaultdict(list)
    for place in sorted(places, key=lambda one: (one.document_id, one.start, one.end)):
        merged = by_document[place.document_id]
        if merged and place.start <= merged[-1][1]:
            merged[-1] = (merged[-1][0], max(merged[-1][1], place.end))
        elif place.start < place.end:
            merged.append((place.start, place.end))
    return {document: tuple(found) for document, found in by_document.items() if found}


def size(places: Intervals) -> int:
    """Count the characters."""
    return sum(end - start for found in places.values() for start, end in found)


def shared_size(first: Intervals, second: Intervals) -> int:
    """Count the characters that are in both."""
    return sum(
        max(0, min(end, other_end) - max(start, other_start))
        for document in first.keys() & second.keys()
        for start, end in first[document]
        for other_start, other_end in second[document]
    )


_ARTICLES = frozenset({"a", "an", "the"})
_NO_WORD = re.compile(r"[^\w\s]|_")


def token_f1(answer: str, references: Sequence[str]) -> float:
    """Harmonic mean of word precision and recall against the best reference (SQuAD's F1).

    Articles do not count, as in SQuAD; words are Atlas' own.
    """
    found = _without_articles(answer)
    return max((_f1(found, _without_articles(one)) for one in references), default=0.0)


def contains_reference(answer: str, references: Sequence[str]) -> bool:
    """Return whether the answer holds all the words of a reference that has any, in order."""
    padded = _padded(answer)
    return any(bool(known.strip()) and known in padded for known in map(_padded, references))


def exact_match(answer: str, references: Sequence[str]) -> bool:
    """Return whether an answer is a reference but for case, punctuation, articles (SQuAD's EM)."""
    found = _without_articles(answer)
    return bool(found) and any(found == _without_articles(one) for one in references)


def similarity(answer: str, references: Sequence[str], embedder: TextEmbedder) -> float:
    """Cosine of the answer and the closest reference, both normalised; 0 where either is empty.

    The mean over answers is `Sem = mean_i max_j cosine(emb(pred_i), emb(gold_j))`.
    """
    found, *known = (normalise(text) for text in (answer, *references))
    known = [text for text in known if text]
    if not found or not known:
        return 0.0
    vectors = embedder.embed([found, *known])
    return float((vectors[1:] @ vectors[0]).max())


def normalise(text: str) -> str:
    """Lower case, without punctuation, single spaces."""
    return " ".join(_NO_WORD.sub(" ", text.lower()).split())


_padded = lru_cache(maxsize=1 << 12)(fold_words)  # the same passages are found again and again


def _without_articles(text: str) -> list[str]:
    """The words; articles too if there are no others."""
    found = [word.folded for word in words(text)]
    return [word for word in found if word not in _ARTICLES] or found


def _f1(answer: list[str], reference: list[str]) -> float:
    shared = sum((Counter(answer) & Counter(reference)).values())
    if not shared:
        return 0.0
    precision, coverage = shared / len(answer), shared / len(reference)
    return 2 * precision * coverage / (precision + coverage)


def measure_answers(case: Case) -> dict[str, float]:
    """Return the figures of the group `answers`, but for that of `measure_meaning`."""
    return _near(case) | _right(case)


def measure_meaning(case: Case) -> dict[str, float]:
    """Return `similarity`, by itself: it needs the embedding model. Raises EmbeddingUnavailable."""
    references = case.label.answers
    if not (case.label.answerable and references and case.reply.answered):
        return {}
    return {"similarity": similarity(case.reply.text, references, case.tools.embedder)}


def _near(case: Case) -> dict[str, float]:
    references, text = case.label.answers, case.reply.text
    if case.reply.answer is None or not (case.label.answerable and references):
        return {}
    return {
        "exact_match": float(exact_match(text, references)),
        "f1": token_f1(text, references),
        "contains": float(contains_reference(text, references)),
    }


def _right(case: Case) -> dict[str, float]:
    """Return whether an answer is right, as far as labels tell.

    A reference that a passage holds word for word could have been given. Any other is a paraphrase,
    which no right answer need hold: there the answer is right if it cites what is gold.
    """
    label, answer, text = case.label, case.reply.answer, case.reply.text
    if answer is None or not case.reply.answered:
        return {}
    if not label.answerable or not (label.answers or label.located):
        return {} if label.answerable else {"right": 0.0}
    if contains_reference(text, label.answers):
        return {"right": 1.0}
    literal = any(contains_reference(one.text, label.answers) for one in case.reply.passages)
    return {"right": float(not literal and any(held_gold(answer.citations, label)))}


def measure_balance(case: Case) -> dict[str, float]:
    """Return the figures of the group `balance`.

    They are told and not judged, for a question may be about one corpus.
    """
    if case.label.corpus_filter:
        return {}
    counted = case.reply.retrieval.per_corpus
    corpora = case.tools.corpora or tuple(counted)
    figures: dict[str, float] = {}
    for stage in ("candidates", "kept"):
        counts = {id_: getattr(counted[id_], stage) if id_ in counted else 0 for id_ in corpora}
        total = sum(counts.values())
        if len(counts) > 1 and total:
            figures |= {f"{stage}_share.{id_}": count / total for id_, count in counts.items()}
            figures[f"{stage}_imbalance"] = imbalance(counts)
    return figures


def measure_citations(case: Case) -> dict[str, float]:
    """Return the figures of the group `citations`."""
    answer, gold = case.reply.answer, case.label.relevance
    if answer is None:
        return {}
    checked = answer.validation
    figures = {"citation_valid": float(checked.citation_valid)}
    if case.reply.answered:
        figures["sentence_groundedness"] = checked.sentence_groundedness
        figures["grounded"] = float(checked.sentence_groundedness == 1)
    if case.label.answerable and gold:
        cited = {citation.document_id for citation in answer.citations}
        figures["cites_gold"] = float(bool(cited & gold.keys()))
    return figures | _of_gold(case, answer)


def _of_gold(case: Case, answer: AnswerDocument) -> dict[str, float]:
    """Precision and recall of the citations, after ALCE (Gao et al. 2023), by what is gold.

    There an entailment model judges; here labels do.
    """
    gold = gold_of(case.label)
    if not (case.label.answerable and gold):
        return {}
    held = held_gold(answer.citations, case.label)
    figures = {"citation_recall": len(frozenset().union(*held)) / len(gold)}
    if case.reply.answered:
        figures["citation_precision"] = sum(map(bool, held)) / len(held) if held else 0.0
    return figures


def measure_decisions(case: Case) -> dict[str, float]:
    """Return the figures of the group `decisions`."""
    answer, label = case.reply.answer, case.label
    if answer is None:
        return {}
    answered, answerable = case.reply.answered, label.answerable
    own = (
        {"answered": float(answered), "false_refusal": float(not answered)}
        if answerable
        else {"rejected": float(not answered), "false_accept": float(answered)}
    )
    expected = label.expected_decision
    known = {"as_expected": float(answer.decision == expected)} if expected else {}
    return own | known | {"decided": float(answered is answerable)}


def confusion(asked: Iterable[tuple[Label, Reply]]) -> Mapping[tuple[Decision, Decision], int]:
    """Return how many questions with each pair of expected and taken decision.

    ANSWER is expected of an answerable question, ABSTAIN of another, unless its label says it.
    """
    usual: Mapping[bool, Decision] = {True: "ANSWER", False: "ABSTAIN"}
    return Counter(
        (label.expected_decision or usual[label.answerable], reply.answer.decision)
        for label, reply in asked
        if reply.answer is not None
    )


def measure_sources(case: Case) -> dict[str, float]:
    """Return the figures of the group `sources`."""
    answer = case.reply.answer
    figures = _ages(case)
    if answer is None or not case.reply.answered:
        return figures
    return figures | _superseded(case.label, answer) | _conflicts(case.label, answer)


def _ages(case: Case) -> dict[str, float]:
    freshness = case.reply.retrieval.freshness
    valid = sum(passage.valid for passage in case.reply.passages)
    if not (freshness.freshness_days and valid):
        return {}
    return {
        "freshness_violations": freshness.violations / valid,
        "stale": float(freshness.stale),
    }


def _superseded(label: Label, answer: AnswerDocument) -> dict[str, float]:
    """Elsewhere a question may be about what was: who decided an overruled case."""
    if not (answer.citations and {label.category, label.kind} & {"stale", "conflicting"}):
        return {}
    old = all("superseded_by" in citation.metadata for citation in answer.citations)
    cited = {citation.document_id for citation in answer.citations}
    return {"superseded": float(old and bool(label.relevance.keys() - cited))}


def _conflicts(label: Label, answer: AnswerDocument) -> dict[str, float]:
    stated = [conflict.kind for conflict in answer.conflicts if conflict.stated]
    said = {label.category, label.kind}
    if "conflicting" in said:
        return {"conflict_stated": float(bool(stated))}
    # that a source was superseded is true whatever is asked
    false = any(kind != "repealed" for kind in stated)
    return {} if "stale" in said else {"false_conflict": float(false)}
