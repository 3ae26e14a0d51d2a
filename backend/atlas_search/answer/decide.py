"""The decision whether to answer: each outcome has a reason for programs and one for people."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from atlas_search.answer.check.citations import Verification
from atlas_search.answer.conflicts import Contradiction
from atlas_search.answer.quotes.choose import Chosen
from atlas_search.answer.quotes.scores import told_by_metadata
from atlas_search.core.domain import Decision
from atlas_search.language.dates import year_name
from atlas_search.search.result import SearchResult
from atlas_search.search.scope import Dates, Extent

DEFAULT_THRESHOLD = 0.25
"""Evidence a language model needs where neither the target nor a calibration says otherwise.

It leaves out what is about another subject; whether the passages answer is for the model to say.
"""
RISKY_THRESHOLD = 0.334
"""Evidence it needs at least for a question with one of the target's words of RISK."""

_SHOWN = 200  # characters of the nearest quote


@dataclass(frozen=True)
class Outcome:
    """The decision, a fixed `code` for programs, a sentence for people, and the numbers behind.

    `missing` are sentences on what the nearest quotes lack; the message has them too.
    """

    decision: Decision
    code: str
    message: str
    numbers: Mapping[str, float] = field(default_factory=dict)
    missing: tuple[str, ...] = ()


ANSWERED = Outcome("ANSWER", "answered", "The passages support an answer.")


def evidence_of(result: SearchResult) -> float:
    """Return the evidence that the collection holds for the question, in [0, 1]."""
    return mean_evidence(result.confidence.max, result.confidence.support)


def mean_evidence(similarity: float, support: float) -> float:
    """Return the evidence as the mean of the best similarity and the best score.

    It tells absent subjects from paraphrased questions better than either alone.
    """
    return (similarity + support) / 2


def before_writing(result: SearchResult, threshold: float) -> Outcome:
    """Decide whether the evidence is worth writing from."""
    if not result.query.has_subject:
        return _abstain("no_subject", "The question does not say what it is about.")
    if not result.passages:
        return _abstain("no_passages", "No passage was found under this filter.")
    evidence = evidence_of(result)
    if result.confidence.low:
        return _abstain(
            "no_evidence",
            "No passage is similar enough to the question or shares enough of its words.",
            similarity=result.confidence.max,
            similarity_needed=result.target.similarity_threshold,
            overlap=max(item.overlap for item in result.passages),
            overlap_needed=result.target.overlap_threshold,
        )
    if evidence < threshold:
        return _abstain(
            "weak_evidence",
            f"The evidence is {evidence:.2f} (the mean of the best similarity, "
            f"{result.confidence.max:.2f}, and the best score, {result.confidence.support:.2f}); "
            f"{threshold:.2f} is needed.",
            evidence=evidence,
            needed=threshold,
        )
    freshness = result.freshness
    if freshness.stale:
        return _abstain(
            "stale_evidence",
            f"Every passage is older than {freshness.freshness_days} days.",
            freshness_days=freshness.freshness_days,
            older=freshness.violations,
        )
    return ANSWERED


def before_quoting(chosen: Chosen, needed: float) -> Outcome:
    """Decide whether quotes are likely enough to answer, `needed` in [0, 1].

    If they are not, the message gives the nearest one.
    """
    whole = chosen.whole
    if chosen.answers(needed):
        return ANSWERED
    if not whole.quotes:
        return _abstain("no_answer", "The passages hold no sentence that answers.")
    nearest = whole.quotes[0].text
    shown = nearest if len(nearest) <= _SHOWN else f"{nearest[:_SHOWN].rstrip()}…"
    metadata = told_by_metadata(whole.question, whole.quotes)
    missing = (*filter(None, [metadata]), *whole.grounds.against)
    message = " ".join([f"No passage clearly answers this. The nearest says: “{shown}”", *missing])
    numbers = {"likelihood": whole.grounds.likelihood, "needed": needed}
    return replace(_abstain("not_held", message, **numbers), missing=missing)


def after_writing(
    text: str,
    verification: Verification,
    concealed: tuple[Contradiction, ...],
    fault: Outcome | None = None,
) -> Outcome:
    """Decide whether the text may be sent; `fault` blocks one whose citations are valid."""
    if not text.strip():
        return _abstain("no_answer", "The passages hold no sentence that answers.")
    if not verification.valid:
        return Outcome(
            "BLOCK",
            "invalid_citations",
            " ".join(verification.errors),
            {
                "errors": len(verification.errors),
                "sentence_groundedness": verification.sentence_groundedness,
            },
        )
    if fault:
        return fault
    if concealed:
        first = concealed[0]
        return _abstain(
            "conflicting_sources",
            f"The sources contradict each other, and the answer gives one side only: "
            f"{first.detail}",
            conflicts=len(concealed),
        )
    return ANSWERED


def refuse(result: SearchResult) -> Outcome:
    """Abstain: the model found no answer in the passages, and no quote of them is likely one."""
    return _abstain(
        "model_refused",
        "The language model found no answer in the passages.",
        evidence=evidence_of(result),
    )


def leans_on(words: str, read_as: str) -> Outcome:
    """Ask what is meant by a question that leans on what was said before."""
    if read_as:
        message = f"The question leans on what was said before. Is this meant: “{read_as}”"
    else:
        message = f"It is not clear what “{words}” points to. Ask with the name in its place."
    return _abstain("unclear", message)


@dataclass(frozen=True)
class Counted:
    """The exact count of some words: `hits` in `documents`, out of `of_documents` searched.

    `query` finds them in a concordance.
    """

    words: str
    query: str
    hits: int
    documents: int
    of_documents: int


def give_count(of: Counted) -> Outcome:
    """Give an exact count: no passage says how many documents say something."""
    sentence = f"{of.documents} of {of.of_documents} documents say “{of.words}”"
    often = f", {of.hits} {'time' if of.hits == 1 else 'times'}" if of.hits else ""
    return _abstain(
        "counted",
        f"Counted exactly: {sentence}{often}. No passage itself gives a number.",
        hits=of.hits,
        documents=of.documents,
        of_documents=of.of_documents,
    )


def describe_collection(scope: Extent) -> Outcome:
    """Describe the collection by its manifest, as none of its passages does."""
    parts = [f"{part.label}, {_documents(part.documents, part.dates)}" for part in scope.corpora]
    return _abstain(
        "collection",
        f"The collection holds {_documents(scope.documents, scope.dates)}: {'; '.join(parts)}.",
        corpora=len(scope.corpora),
        documents=scope.documents,
    )


def _documents(count: int, dates: Dates) -> str:
    counted = f"{count:,} {'document' if count == 1 else 'documents'}"
    first, last = (year_name(int(day[:-6])) if day else "" for day in (dates.first, dates.last))
    if not first:
        return counted
    return f"{counted} of {first}" if first == last else f"{counted} of {first} to {last}"


def no_corpus_answers(outcomes: Mapping[str, Outcome]) -> Outcome:
    """Abstain: none of the compared corpora answers."""
    reasons = "; ".join(f"{corpus}: {outcome.message}" for corpus, outcome in outcomes.items())
    return _abstain("no_corpus_answers", f"No corpus answers. {reasons}", corpora=len(outcomes))


def _abstain(code: str, message: str, **numbers: float) -> Outcome:
    rounded = {name: round(float(value), 6) for name, value in numbers.items()}
    return Outcome("ABSTAIN", code, message, rounded)
