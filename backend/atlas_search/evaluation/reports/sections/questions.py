"""Single questions: what to look at, which went worst and what was found instead, which failed."""

from collections.abc import Iterator, Sequence

from atlas_search.core.locator import page_unit, place_in_words
from atlas_search.documents.search import RankedPassageOut
from atlas_search.evaluation.reports.analysis import Analysis
from atlas_search.evaluation.reports.blocks import Block, Section, Table, Words, of_runs
from atlas_search.evaluation.reports.outcomes import (
    cited_documents,
    closeness,
    found,
    gold_of,
    is_wrong,
    worst,
    wrongly_decided,
)
from atlas_search.evaluation.reports.wording import ids, number, share, shortened
from atlas_search.evaluation.scored import Scored

_WORST = 10
_PASSAGES = 5
_ERRORS = 10

_CLOSENESS = {False: "F1", True: "Reciprocal rank"}
"""What `closeness` is, by whether a run only searched."""

_RULE = (
    "Wrong decisions come first, then questions of which nothing gold was found, then those with "
    "the lowest F1 (of searches the lowest reciprocal rank)."
)


def to_look_at(runs: Sequence[Analysis]) -> Section:
    """The rules that hold of questions."""
    table = _rules(runs[0]) if len(runs) == 1 else _rules_of_runs(runs)
    told = table if table.rows else Words("No rule holds of any question.")
    return Section("What to look at", (told,))


def _rules(run: Analysis) -> Table:
    rows = tuple(
        (each.stage, each.rule, share(len(each.questions), each.of), ids(each.questions))
        for each in run.findings
    )
    heads = ("Stage", "What happened", "Questions", "Which")
    return Table("By rule, most first", heads, rows, texts=4)


def _rules_of_runs(runs: Sequence[Analysis]) -> Table:
    """How many questions of each run."""
    found = {
        (each.stage, each.rule, run.name): f"{len(each.questions)} of {each.of}"
        for run in runs
        for each in run.findings
    }
    rules = dict.fromkeys((stage, rule) for stage, rule, _ in found)
    rows = tuple((*rule, *(found.get((*rule, run.name), "0") for run in runs)) for rule in rules)
    heads = ("Stage", "What happened", *(run.name for run in runs))
    return Table("Questions by rule", heads, rows, texts=2)


def worst_questions(runs: Sequence[Analysis]) -> Section:
    """The worst, with what was retrieved instead; of several runs those that most get wrong."""
    if len(runs) > 1:
        return Section("Worst questions", (_of_most_runs(runs),))
    told = worst(runs[0].of.scored)
    if not told:
        return Section("Worst questions", (Words("Nothing is wrong with a question."),))
    of = f" The first {_WORST} of {len(told)}:" if len(told) > _WORST else ""
    return Section("Worst questions", (Words(_RULE + of), *map(_question, told[:_WORST])))


def _of_most_runs(runs: Sequence[Analysis]) -> Block:
    asked: dict[str, list[Scored]] = {}
    for run in runs:
        for one in run.of.scored:
            if not one.reply.error:
                asked.setdefault(one.label.id, []).append(one)

    def order(id_: str) -> tuple[int, int, float, str]:
        same, near = asked[id_], _mean_closeness(asked[id_])
        return (-_wrong(same), -_missed(same), 1.0 if near is None else near, id_)

    ids_ = sorted((id_ for id_, same in asked.items() if any(map(is_wrong, same))), key=order)
    if not ids_:
        return Words("Nothing is wrong with a question.")
    rows = tuple(
        (
            id_,
            shortened(asked[id_][0].label.question, 200),
            share(_wrong(asked[id_]), len(asked[id_])),
            share(_missed(asked[id_]), len(asked[id_])),
            number(_mean_closeness(asked[id_])),
        )
        for id_ in ids_[:_WORST]
    )
    near = " or ".join(dict.fromkeys(_CLOSENESS[run.of.spec.search_only] for run in runs))
    heads = ("Id", "Question", "Runs that decided wrongly", "Runs that found nothing gold", near)
    caption = "Questions that most runs get wrong; the report of a run has its passages"
    return Table(caption, heads, rows, texts=2)


def _wrong(same: Sequence[Scored]) -> int:
    return sum(map(wrongly_decided, same))


def _missed(same: Sequence[Scored]) -> int:
    return sum(found(one) is False for one in same)


def _mean_closeness(same: Sequence[Scored]) -> float | None:
    known = [near for one in same if (near := closeness(one)) is not None]
    return sum(known) / len(known) if known else None


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
    nothing = "not known" if one.label.answerable else "none: the collection lacks the answer"
    yield "Gold", ids(gold_of(one)) or nothing
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
