"""Comparing corpora: each answers for itself, then what they agree and differ about."""

import re
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from atlas_search.answer.answer import (
    Comparison,
    ComparisonPoint,
    Context,
    CorpusAnswer,
    Section,
    Writer,
)
from atlas_search.answer.check.citations import Doubt, Verification, sum_up, verify
from atlas_search.answer.conflicts import (
    Statement,
    conflicts_between,
    difference,
    may_agree,
    read,
    specific,
)
from atlas_search.answer.decide import ANSWERED, before_writing, no_corpus_answers
from atlas_search.answer.judge import judge_of, judge_points
from atlas_search.answer.prompts import Filled, prompt
from atlas_search.answer.run import AnswerRun, Evidence
from atlas_search.answer.wire import Fallback
from atlas_search.answer.write.call_model import call_model
from atlas_search.answer.write.model import fallback_for, write
from atlas_search.answer.write.relay import NOTHING, Written, not_written
from atlas_search.core.domain import CheckedSentence, Passage
from atlas_search.core.errors import ModelRefused, ModelUnavailable
from atlas_search.providers.chat import ChatModel, Message
from atlas_search.search.evidence import freshness
from atlas_search.search.flow import search
from atlas_search.search.request import SearchPlan
from atlas_search.search.result import RequiredUnmet, SearchResult, WholeResult
from atlas_search.search.run import SearchRun
from atlas_search.search.scope import joint
from atlas_search.search.unknown import UnknownWord

AGREES = 0.56  # least cosine of two sentences that say the same; below, they did not by eye
SAME_SUBJECT = 0.5  # least cosine of two sentences that may differ about one thing


@dataclass(frozen=True, slots=True)
class _Pair:
    """A sentence from each of two corpora, in the same order, and their places among all."""

    corpora: tuple[str, str]
    sentences: tuple[CheckedSentence, CheckedSentence]
    places: tuple[int, int]
    cosine: float

    @property
    def statements(self) -> tuple[Statement, Statement]:
        """Both sentences as they are compared."""
        first, second = self.sentences
        return read(first.text), read(second.text)

    @property
    def point(self) -> ComparisonPoint:
        """Both sentences, each with its corpus and markers, and no word on which is right."""
        pairs = zip(self.corpora, self.sentences, strict=True)
        text = "; ".join(f"{corpus}: {_quote(sentence)}" for corpus, sentence in pairs)
        return ComparisonPoint(f"{text}.", tuple(c for s in self.sentences for c in s.citations))


def agreements_and_differences(
    answers: Mapping[str, Sequence[CheckedSentence]],
    vectors_of: Callable[[Sequence[str]], NDArray[np.float32]],
) -> tuple[list[ComparisonPoint], list[ComparisonPoint]]:
    """Return the pairs of sentences in which two corpora agree, and those in which they differ.

    Two sentences differ if they give other numbers for one thing, or if one denies the other.
    `answers` are the sentences of each corpus, `vectors_of` gives unit vectors, one row a text.
    The closest pairs come first, then those in the order of `answers`; a sentence stands in one
    pair at most. Pairs that neither agree nor differ are left out, and so is any sentence without a
    citation or in another language than English.
    """
    candidates = [
        (corpus, sentence)
        for corpus, sentences in answers.items()
        for sentence in sentences
        if sentence.citations and all(c.passage.language == "en" for c in sentence.citations)
    ]
    if not candidates:
        return [], []
    vectors = vectors_of([sentence.text for _, sentence in candidates])
    cosines = vectors @ vectors.T
    pairs = [
        _Pair((a, b), (x, y), (i, j), float(cosines[i, j]))
        for (i, (a, x)), (j, (b, y)) in combinations(enumerate(candidates), 2)
        if a != b and cosines[i, j] >= SAME_SUBJECT
        if specific(read(x.text).subject & read(y.text).subject)
    ]
    pairs.sort(key=lambda pair: (-pair.cosine, *pair.places))
    used: set[int] = set()
    differences = _best_points([pair for pair in pairs if difference(*pair.statements)], used)
    close = [pair for pair in pairs if pair.cosine >= AGREES]
    agreements = _best_points([pair for pair in close if may_agree(*pair.statements)], used)
    return agreements, differences


def _best_points(pairs: Sequence[_Pair], used: set[int]) -> list[ComparisonPoint]:
    """The points of sentences that no better pair has used."""
    points = []
    for pair in pairs:
        if used.isdisjoint(pair.places):
            used.update(pair.places)
            points.append(pair.point)
    return points


def _quote(sentence: CheckedSentence) -> str:
    markers = " ".join(dict.fromkeys(citation.marker for citation in sentence.citations))
    return f"“{sentence.text}” {markers}"


Spoken = Mapping[str, Sequence[CheckedSentence]]
"""The verified sentences of every corpus that answers."""


@dataclass(frozen=True)
class StatedPoints:
    """The points on which corpora agree and differ; `stand_in` says why no model stated them."""

    agreements: tuple[ComparisonPoint, ...]
    differences: tuple[ComparisonPoint, ...]
    stand_in: Fallback | None = None
    struck: tuple[Doubt, ...] = ()


_LINE = re.compile(r"^\W*(AGREE|DIFFER)\W*:\s*(.+)$", re.MULTILINE)


def search_each(run: SearchRun) -> dict[str, WholeResult]:
    """Put the question to every corpus alone."""
    return {
        corpus: search(
            SearchRun(
                run.searcher,
                replace(run.request, corpora=(corpus,), every_corpus=False),
                run.target,
                stop=run.stop,
            )
        )
        for corpus in run.request.corpora
    }


def together(results: Mapping[str, WholeResult], request: SearchPlan) -> SearchResult:
    """The results as if they were one: all kept passages, best first."""
    first = next(iter(results.values()))
    every = [item for result in results.values() for item in result.passages]
    passages = sorted(every, key=lambda item: (-item.ranked.score, item.passage.row))
    best = max((result.confidence for result in results.values()), key=lambda c: c.max)
    support = max(result.confidence.support for result in results.values())
    unknown = _unknown_to_all(results.values())
    return replace(
        first.kept_only(),
        passages=tuple(passages),
        per_corpus={c: counts for r in results.values() for c, counts in r.per_corpus.items()},
        confidence=replace(best, support=support, hit_count=len(passages)),
        freshness=freshness(passages, request.freshness_days, request.today),
        unknown_words=unknown,
        scope=joint([r.scope for r in results.values()], [each.word for each in unknown]),
        required_unmet=_unmet_by_any(results.values()),
        notes=tuple(dict.fromkeys(note for r in results.values() for note in r.notes)),
        # what is said of words is said of each corpus
        warnings=tuple(dict.fromkeys(w for r in results.values() for w in r.warnings)),
        timings_ms=_sum_timings(results.values()),
    )


def compare(run: AnswerRun, results: Mapping[str, SearchResult]) -> tuple[Written, Comparison]:
    """Let every corpus answer for itself, and say where they agree and differ.

    The context holds the prompts of all corpora, one after the other.
    """
    written = {corpus: _corpus_answer(run, corpus, result) for corpus, result in results.items()}
    answers = tuple(
        CorpusAnswer(corpus, of.outcome, of.text, of.verification, of.writer, of.confidence)
        for corpus, of in written.items()
    )
    spoken = {a.corpus: a.verification.sentences for a in answers if a.outcome is ANSWERED}
    stand_in = next(filter(None, (part.writer.fallback for part in written.values())), None)
    stated = _state_points(run, spoken, stand_in)
    joint = _joint(run, answers, list(written.values()), stated)
    return joint, Comparison(answers, stated.agreements, stated.differences)


def _joint(
    run: AnswerRun,
    answers: Sequence[CorpusAnswer],
    parts: Sequence[Written],
    stated: StatedPoints,
) -> Written:
    """All answers as one text, which is verified as its least verified part is."""
    text = "\n\n".join(answer.text for answer in answers if answer.text)
    checked = [part.verification for part in parts if part.text or not text]
    sentences = [sentence for each in checked for sentence in each.sentences]
    verifiers = {each.verified_by for each in checked}
    return Written(
        text=text,
        verification=replace(
            sum_up(sentences) if text else NOTHING,
            verified_by=verifiers.pop() if len(verifiers) == 1 else "citations",
            struck=(*(doubt for each in checked for doubt in each.struck), *stated.struck),
        ),
        outcome=ANSWERED if text else no_corpus_answers({a.corpus: a.outcome for a in answers}),
        writer=_joint_writer(run, parts, stated.stand_in),
        context=_joint_context([part.context for part in parts]),
        notes=_joint_notes(answers, parts),
    )


def _corpus_answer(run: AnswerRun, corpus: str, result: SearchResult) -> Written:
    """The answer of one corpus."""
    with run.stage("answer", of=corpus) as stage:
        run.tell(Section(corpus))
        outcome = before_writing(result, run.threshold)
        if outcome is not ANSWERED:
            return stage.done(not_written(run, outcome))
        conflicts = conflicts_between(run.question, result.valid)
        return stage.done(write(run, Evidence(result, conflicts)))


def _joint_writer(run: AnswerRun, parts: Sequence[Written], stand_in: Fallback | None) -> Writer:
    """All who wrote, joined by ` + ` if several did; `stand_in` says why it was not all one."""
    wrote = [part.writer for part in parts if part.text]
    wrote = wrote or [part.writer for part in parts if part.writer.attempts] or [parts[0].writer]
    provider = " + ".join(dict.fromkeys(writer.provider for writer in wrote))
    model = " + ".join(dict.fromkeys(writer.model for writer in wrote))
    attempts = max(part.writer.attempts for part in parts)
    return replace(run.writer(provider, model, attempts), fallback=stand_in)


def _joint_notes(answers: Sequence[CorpusAnswer], parts: Sequence[Written]) -> tuple[str, ...]:
    """Return the notes of the corpora that answer: what one leaves open, another may speak of."""
    return tuple(
        f"{answer.corpus}: {note}"
        for answer, part in zip(answers, parts, strict=True)
        for note in part.notes
        if answer.text
    )


def _joint_context(parts: Sequence[Context]) -> Context:
    """All prompts, and the sums of what was given and dropped."""
    sums = {
        each.name: sum(getattr(part, each.name) for part in parts)
        for each in fields(Context)
        if each.name != "messages"
    }
    return Context(tuple(message for part in parts for message in part.messages), **sums)


def _state_points(run: AnswerRun, spoken: Spoken, stand_in: Fallback | None) -> StatedPoints:
    """Agreements and differences, stated by the target's model, or by rule if it has none.

    By rule too where the model cannot be used and the target has a fallback: then with the reason.
    """
    # an entailment model reads one source at a time, and could support no point
    by_rule = stand_in or len(spoken) < 2 or run.target.verify == "nli"
    with run.stage("compare") as stage:
        if run.model and not by_rule:
            try:
                stated = _points_by_model(run, run.model, spoken)
            except (ModelRefused, ModelUnavailable) as error:
                if run.target.llm_fallback != "extractive":
                    raise
                stated = _points_by_rule(run, spoken, fallback_for(error))
        else:
            stated = _points_by_rule(run, spoken, stand_in)
        return stage.done(stated)


def _points_by_rule(run: AnswerRun, spoken: Spoken, stand_in: Fallback | None) -> StatedPoints:
    embed = run.answerer.searcher.embedder.embed
    agreements, differences = agreements_and_differences(spoken, embed)
    return StatedPoints(tuple(agreements), tuple(differences), stand_in)


def _points_by_model(run: AnswerRun, model: ChatModel, spoken: Spoken) -> StatedPoints:
    """Let the model state points, and keep the lines that can be verified like an answer."""
    messages = (
        Message("system", prompt("compare").template),
        Message("user", f"{_quote_all(spoken)}\n\nQuestion: {run.question}"),
    )
    filled = Filled("compare", prompt("compare"), {"question": run.question})
    done = call_model(run, model, messages, filled=filled)
    passages = _cited_by(spoken)
    checked = [
        (kind, line.strip(), verification)
        for kind, line in _LINE.findall(done.text)
        if (verification := _verify_point(line, passages))
    ]
    struck: tuple[Doubt, ...] = ()
    if judge := judge_of(run, model):
        verdicts, struck = judge_points(run, judge, [point[-1] for point in checked], passages)
        checked = [point for point, is_kept in zip(checked, verdicts, strict=True) if is_kept]
    stated: dict[str, list[ComparisonPoint]] = {"AGREE": [], "DIFFER": []}
    for kind, line, verification in checked:
        stated[kind].append(ComparisonPoint(line, verification.citations))
    return StatedPoints(tuple(stated["AGREE"]), tuple(stated["DIFFER"]), struck=struck)


def _verify_point(line: str, passages: Sequence[Passage]) -> Verification | None:
    """Return the verification of a line; None unless all of it is cited, from several corpora."""
    checked = verify(line, passages, len(passages))
    corpora = {citation.passage.corpus for citation in checked.citations}
    return checked if checked.valid and len(corpora) > 1 else None


def _cited_by(spoken: Spoken) -> list[Passage]:
    """The passages that the answers cite, each once."""
    cited = [
        citation for sentences in spoken.values() for one in sentences for citation in one.citations
    ]
    return list({citation.passage.id: citation.passage for citation in cited}.values())


def _quote_all(spoken: Spoken) -> str:
    """The sentences of every corpus with their tokens."""
    return "\n\n".join(
        "\n".join([f"{corpus}:", *(sentence.line for sentence in sentences)])
        for corpus, sentences in spoken.items()
    )


def _unknown_to_all(results: Collection[SearchResult]) -> tuple[UnknownWord, ...]:
    """The words that no corpus holds, as the first one that knows another spelling has them."""
    by_word: dict[str, list[UnknownWord]] = {}
    for result in results:
        for unknown in result.unknown_words:
            by_word.setdefault(unknown.word, []).append(unknown)
    to_all = [each for each in by_word.values() if len(each) == len(results)]
    return tuple(next((u for u in each if u.suggestions), each[0]) for each in to_all)


def _unmet_by_any(results: Collection[SearchResult]) -> RequiredUnmet | None:
    """Join the requirements that corpora do not meet, their passages added up; None if all do."""
    unmet = [result.required_unmet for result in results if result.required_unmet]
    if not unmet:
        return None
    kept_ids = [
        result.required_unmet.kept
        if result.required_unmet
        else [item.passage.id for item in result.passages]
        for result in results
    ]
    count = sum(each.passages for each in unmet)
    return RequiredUnmet(unmet[0].phrases, count, tuple(id_ for ids in kept_ids for id_ in ids))


def _sum_timings(results: Iterable[WholeResult]) -> dict[str, float]:
    """The milliseconds of every stage over all results."""
    total: dict[str, float] = {}
    for result in results:
        for stage, milliseconds in result.timings_ms.items():
            total[stage] = round(total.get(stage, 0.0) + milliseconds, 3)
    return total
