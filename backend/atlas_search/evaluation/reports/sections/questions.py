"""Single questions: what to look at, which went worst and what was found instead, which failed."""

from collections.abc import Iterator, Sequence

from atlas_search.core.locator import page_unit, place_in_words
from atlas_search.evaluation.reports.analysis import Analysis
from atlas_search.evaluation.reports.blocks import Block, Section, Table, Words, of_runs
from atlas_search.evaluation.reports.outcomes import cited_documents, found, gold_of, worst
from atlas_search.evaluation.reports.wording import ids, number, share, shortened
from atlas_search.evaluation.scored import Scored
from atlas_search.output.search_document import RankedPassageOut

_WORST, _WORST_OF_MANY = 10, 3
_PASSAGES = 5
_ERRORS = 10

_RULE = (
    "Wrong decisions come first, then questions of which nothing gold was found, then those with "
    "the lowest F1 (of searches the lowest reciprocal rank)."
)


def to_look_at(runs: Sequence[Analysis]) -> Section:
    """The rules that hold of questions."""
    rows = tuple(
        (run.name, each.stage, each.rule, share(len(each.questions), each.of), ids(each.questions))
        for run in runs
        for each in run.findings
    )
    if not rows:
        return Section("What to look at", (Words("No rule holds of any question."),))
    heads = ("Run", "Stage", "What happened", "Questions", "Which")
    table = Table("By rule, most first", heads, rows, texts=5)
    return Section("What to look at", (of_runs(len(runs), table),))


def worst_questions(runs: Sequence[Analysis]) -> Section:
    """The worst of each run, with what was retrieved instead."""
    most = _WORST if len(runs) == 1 else _WORST_OF_MANY
    blocks: list[Block] = [Words(_RULE)]
    for run in runs:
        told = worst(run.of.scored)
        of = f" of {run.name}" if len(runs) > 1 else ""
        if not told:
            blocks.append(Words(f"Nothing is wrong with a question{of}."))
        elif len(told) > most:
            blocks.append(Words(f"The first {most} of {len(told)} questions{of}."))
        blocks.extend(_question(one) for one in told[:most])
    return Section("Worst questions", tuple(blocks))


def errors(runs: Sequence[Analysis]) -> Section:
    """Why nothing came back."""
    rows = tuple(
        (run.name, shortened(error), ids(questions), str(len(questions)))
        for run in runs
        for error, questions in list(run.errors.items())[:_ERRORS]
    )
    if not rows:
        return Section("Errors", (Words("Every question that was asked has a reply."),))
    heads = ("Run", "Error", "Questions", "Count")
    table = Table("Most frequent first", heads, rows, texts=3)
    return Section("Errors", (of_runs(len(runs), table),))


def _question(one: Scored) -> Section:
    facts = Table(f"Question {one.label.id}", ("", ""), tuple(_facts(one)), texts=2)
    passages = tuple(
        _passage(rank, passage, one)
        for rank, passage in enumerate(one.reply.passages[:_PASSAGES], start=1)
    )
    title = shortened(one.label.question, 200)
    if not passages:
        return Section(title, (facts, Words("No passage came back.")))
    heads = ("Retrieved", "Place", "Gold", "Best signal", "Rank", "Score")
    return Section(title, (facts, Table("What was retrieved", heads, passages, texts=4)))


def _facts(one: Scored) -> Iterator[tuple[str, str]]:
    answer = one.reply.answer
    yield "Id, category", f"{one.label.id}, {one.label.category or '-'}"
    if answer:
        yield "Decision", f"{answer.decision}: {answer.reason.message or answer.reason.code}"
        yield "Answer", shortened(answer.answer or "-")
    yield "Reference", " | ".join(shortened(text) for text in one.label.answers[:3]) or "-"
    yield "Gold", ids(gold_of(one)) or "none: the collection does not hold the answer"
    yield "Gold found", {True: "yes", False: "no", None: "-"}[found(one)]
    if answer:
        yield "Cited", ids(cited_documents(one)) or "-"
    names = ("decided", "recall", "mrr", "f1", "sentence_groundedness")
    known = (f"{name} {number(one.figures[name])}" for name in names if name in one.figures)
    yield "Figures", ", ".join(known)


def _passage(rank: int, passage: RankedPassageOut, one: Scored) -> tuple[str, ...]:
    gold = {*one.label.relevance, *one.label.gold_passage_ids}
    is_gold = passage.document_id in gold or passage.passage_id in gold
    unit = page_unit(passage.metadata.get("pages_are"))
    place = place_in_words(passage.locator or "", passage.page, passage.printed_page or "", unit)
    return (
        shortened(f"{passage.title} ({passage.document_id})", 160),
        shortened(place, 80),
        "gold" if is_gold else "-",
        _best_signal(passage),
        str(rank),
        number(passage.score, 3),
    )


def _best_signal(passage: RankedPassageOut) -> str:
    if not passage.signals:
        return "-"
    name = max(sorted(passage.signals), key=lambda signal: passage.signals[signal])
    return f"{name} {number(passage.signals[name])}"
