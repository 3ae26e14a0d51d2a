"""Two runs compared, question by question."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any, Literal

from atlas_search.core.errors import SourceError
from atlas_search.evaluation.compare_figures import (
    ALPHA,
    NO_PAIRS,
    SAME,
    Baseline,
    Difference,
    QuestionPairs,
    differences,
    pairs,
    run_figures,
    unlike_sources,
)
from atlas_search.evaluation.run import EvalRun, JudgeUsed, RunSpec
from atlas_search.evaluation.scored import ALL, Scored, slices

Side = Literal["better", "worse"]

DECIDED = "decided"
TOLD = ("f1", "recall")
"""Figures whose greatest changes are told beside the questions that changed sides."""

MOST = 10
"""So many are told of the greatest changes of each."""

DOCUMENTS = 5
"""Of those found are told, best first."""


@dataclass(frozen=True)
class QuestionOutcome:
    """Outcome of a question in one run. `decision` is empty where it was only searched for."""

    decision: str
    answer: str
    documents: tuple[str, ...]
    figures: Mapping[str, float]
    error: str


@dataclass(frozen=True)
class ChangedQuestion:
    """A question whose `figure` changed by `change` for the better or worse."""

    label_id: str
    question: str
    category: str
    references: tuple[str, ...]
    figure: str
    change: float
    side: Side
    a: QuestionOutcome
    b: QuestionOutcome


def changed_questions(
    a: Mapping[str, Scored], b: Mapping[str, Scored], ids: Sequence[str]
) -> list[ChangedQuestion]:
    """List the questions that only one run decided rightly, then the greatest changes of TOLD.

    By the size of the change, worse before better, then by id. Each question is there once.
    """
    changed = _by_size([_changed(a[id_], b[id_], DECIDED) for id_ in ids])
    for figure in TOLD:
        told = {one.label_id for one in changed}
        others = [_changed(a[id_], b[id_], figure) for id_ in ids if id_ not in told]
        changed += _by_size(others)[:MOST]
    return changed


def _by_size(changed: Sequence[ChangedQuestion | None]) -> list[ChangedQuestion]:
    known = [one for one in changed if one]
    return sorted(known, key=lambda one: (-abs(one.change), one.change, one.label_id))


def _changed(a: Scored, b: Scored, figure: str) -> ChangedQuestion | None:
    """None where it did not change, or one run does not have it."""
    before, after = a.figures.get(figure), b.figures.get(figure)
    if before is None or after is None or abs(after - before) < SAME:
        return None
    return ChangedQuestion(
        label_id=a.label.id,
        question=a.label.question,
        category=a.label.category,
        references=a.label.answers,
        figure=figure,
        change=after - before,
        side="better" if after > before else "worse",
        a=_outcome(a),
        b=_outcome(b),
    )


def _outcome(one: Scored) -> QuestionOutcome:
    answer = one.reply.answer
    return QuestionOutcome(
        decision=answer.decision if answer else "",
        answer=(answer.answer or "") if answer else "",
        documents=one.reply.documents[:DOCUMENTS],
        figures=one.figures,
        error=one.reply.error,
    )


UNSET = "(not there)"


@dataclass(frozen=True)
class ChangedValue:
    """Value called `name` in either run; UNSET where one has no such thing."""

    name: str
    a: Any
    b: Any


def changed_options(a: RunSpec, b: RunSpec) -> list[ChangedValue]:
    """Options of the targets that differ, by name."""
    return _changes(a.options, b.options)


def changed_basis(a: EvalRun | Baseline, b: EvalRun | Baseline) -> list[ChangedValue]:
    """List what else differs that figures depend on.

    Questions, collection, who was asked and who judged, settings, versions.
    """
    changes = _changes(_basis(a), _basis(b))
    if a.judge and b.judge:
        changes += _changes(_prompts(a.judge), _prompts(b.judge))
    changes += _changes(a.spec.settings, b.spec.settings)
    return changes + _changes(a.spec.versions, b.spec.versions)


def _basis(run: EvalRun | Baseline) -> dict[str, Any]:
    spec, judge = run.spec, run.judge
    drawn = "all" if spec.limit is None else f"{spec.limit} with seed {spec.seed}"
    return {
        "labels": spec.labels.name,
        "contents of the labels": spec.labels.sha256[:12],
        "split": spec.labels.split or "all",
        "collection": spec.collection,
        "version of the collection": spec.collection_version,
        "corpora": ", ".join(spec.corpora),
        "only searched": spec.search_only,
        "asked": spec.where,
        "passages wanted": spec.options.get("search_k", UNSET) if spec.k is None else spec.k,
        "today": UNSET if spec.today is None else str(spec.today),
        "questions drawn": drawn,
        "figures by": run.metrics_source,
        "judge": _judge(judge) if judge else "none",
    }


def _judge(judge: JudgeUsed) -> str:
    return f"{judge.provider} {judge.model}, {judge.votes} votes"


def _prompts(judge: JudgeUsed) -> dict[str, str]:
    return {f"prompt of the judge: {name}": version for name, version in judge.prompts.items()}


def _changes(a: Mapping[str, Any], b: Mapping[str, Any]) -> list[ChangedValue]:
    names = sorted(a.keys() | b.keys())
    changes = (ChangedValue(name, a.get(name, UNSET), b.get(name, UNSET)) for name in names)
    return [change for change in changes if change.a != change.b]


@dataclass(frozen=True, kw_only=True)
class CommonGround:
    """Questions that two runs have in common, and what makes it less than a comparison of the same
    questions asked of the same collection: `gaps` are what either run lacks, and figures that
    cannot be compared, `options` are those of the targets."""

    pairs: QuestionPairs = NO_PAIRS
    gaps: tuple[str, ...] = ()
    basis: tuple[ChangedValue, ...] = ()
    options: tuple[ChangedValue, ...] = ()

    def lines(self, a: str, b: str) -> list[str]:
        """Say all of it of runs of these names."""
        return [
            pairs_text(self.pairs, a, b),
            *self.gaps,
            *(f"Not the same: {change_text(change)}" for change in self.basis),
            *(f"Option {change_text(change)}" for change in self.options),
        ]

    @property
    def plain(self) -> dict[str, Any]:
        """All of it as values of JSON, the questions as numbers."""
        left_out = asdict(self.pairs)
        return {
            "questions_in_common": len(left_out.pop("common")),
            "left_out": left_out,
            "gaps": list(self.gaps),
            "basis": [asdict(change) for change in self.basis],
            "options": [asdict(change) for change in self.options],
        }


@dataclass(frozen=True, kw_only=True)
class RunComparison(CommonGround):
    """Changes from run `a` to run `b`: of figures and questions."""

    a: RunSpec
    b: RunSpec
    alpha: float
    differences: tuple[Difference, ...]
    questions: tuple[ChangedQuestion, ...]

    @property
    def significant(self) -> list[Difference]:
        """Worse ones first, then better ones, then others; each by p, slice and name."""
        order = ("worse", "better", "differs")
        found = [one for one in self.differences if one.verdict in order]
        return sorted(found, key=lambda d: (order.index(d.verdict), d.corrected, d.slice, d.figure))


def compare(a: EvalRun, b: EvalRun, *, alpha: float = ALPHA) -> RunComparison:
    """Compare the questions that both runs were asked. Raises SourceError if there are none."""
    before, after = run_figures(a), run_figures(b)
    found = pairs(before, after)
    if not found.common:
        raise SourceError(f"The runs {a.spec.id} and {b.spec.id} have no question in common.")
    scored_a, scored_b = _by_id(a), _by_id(b)
    parts = _parts(scored_b, found.common, {*a.spec.corpora, *b.spec.corpora})
    return RunComparison(
        a=a.spec,
        b=b.spec,
        alpha=alpha,
        pairs=found,
        basis=tuple(changed_basis(a, b)),
        gaps=(
            *gaps(a, "A"),
            *gaps(b, "B"),
            *source_gaps(unlike_sources(before, after, found.common)),
        ),
        options=tuple(changed_options(a.spec, b.spec)),
        differences=tuple(differences(before, after, parts, alpha=alpha)),
        questions=tuple(changed_questions(scored_a, scored_b, found.common)),
    )


def gaps(run: EvalRun, name: str) -> list[str]:
    """Count the questions of a run without figures or reply, a sentence each."""
    asked, wanted = len(run.scored), run.spec.labels.questions
    failed = len(run.failed)
    told = []
    if asked < wanted:
        told.append(f"{name} has figures of {asked} of its {wanted} questions.")
    if failed:
        told.append(f"{name} got no reply to {failed} of {asked} questions.")
    return told


def source_gaps(unlike: Mapping[str, int]) -> list[str]:
    """Say which figures of how many questions are left out, given `unlike_sources`."""
    return [
        f"{figure} of {count} questions is left out: a judge gave it in one run, and shared words "
        "in the other."
        for figure, count in unlike.items()
    ]


def _by_id(run: EvalRun) -> dict[str, Scored]:
    return {one.label.id: one for one in run.scored}


def _parts(
    scored: Mapping[str, Scored], common: Sequence[str], corpora: Collection[str]
) -> dict[str, list[str]]:
    """The slices, without those of all questions: the same figures would be tested twice."""
    found = slices((scored[id_].label for id_ in common), corpora)
    return {name: ids for name, ids in found.items() if name == ALL or len(ids) < len(common)}


HEADS = ("slice", "figure", "n", "A", "B", "change", "95% interval", "p", "corrected", "verdict")

MEANING = (
    "The change is B - A with the interval of its mean; p is that of the figure alone, corrected "
    "for all that were tested (Holm). The verdict is B's."
)


def row(one: Difference) -> tuple[str, ...]:
    """The cells below HEADS."""
    return (
        one.slice,
        one.figure,
        str(one.questions),
        f"{one.a:.3f}",
        f"{one.b:.3f}",
        f"{one.change:+.3f}",
        f"[{one.low:+.3f}, {one.high:+.3f}]",
        p_text(one.p),
        p_text(one.corrected),
        one.verdict,
    )


def p_text(p: float) -> str:
    """A p value to four places."""
    return "<0.0001" if p < 0.0001 else f"{p:.4f}"


def heading(comparison: RunComparison) -> list[str]:
    """Lines that say what is compared, and what makes it less than that."""
    a, b = comparison.a, comparison.b
    return [
        f"A: {_run_text(a)}",
        f"B: {_run_text(b)}",
        *comparison.lines("A", "B"),
    ]


def conclusion(comparison: RunComparison) -> str:
    """Say how many figures differ."""
    found = len(comparison.significant)
    tested = len(comparison.differences)
    return (
        f"{found or 'None'} of {tested} figures {'differs' if found == 1 else 'differ'} by more "
        f"than chance (corrected p < {comparison.alpha:g})."
    )


def pairs_text(found: QuestionPairs, a: str, b: str) -> str:
    """Say how many questions are compared, and how many are not."""
    left_out = {
        f"only in {a}": found.only_a,
        f"only in {b}": found.only_b,
        "in other words": found.reworded,
    }
    told = ", ".join(f"{count} {why}" for why, count in left_out.items() if count)
    return f"{len(found.common)} questions in common; left out: {told or 'none'}."


def change_text(change: ChangedValue) -> str:
    """The name of what changed, before and after."""
    return f"{change.name}: {change.a} → {change.b}"


def question_lines(one: ChangedQuestion) -> list[str]:
    """A question that went otherwise, and what became of it in both runs."""
    category = f" ({one.category})" if one.category else ""
    head = f"{one.label_id}{category} {one.side}: {one.figure} {one.change:+.3f}"
    wanted = " | ".join(one.references)
    return [
        f"{head}: {one.question}",
        *([f"wanted: {wanted}"] if wanted else []),
        f"A: {_outcome_text(one.a)}",
        f"B: {_outcome_text(one.b)}",
    ]


def markdown(comparison: RunComparison) -> str:
    """The whole comparison, significant figures before all."""
    lines = [
        "# Comparison",
        "",
        *(f"- {_plain(line)}" for line in heading(comparison)),
        "",
        conclusion(comparison),
        "",
    ]
    if comparison.significant:
        lines += [*_table(comparison.significant), "", MEANING, ""]
    lines += ["## Questions that changed", ""]
    for question in comparison.questions:
        first, *rest = question_lines(question)
        lines += [f"- {_plain(first)}", *(f"  - {_plain(line)}" for line in rest)]
    lines += [] if comparison.questions else ["None."]
    lines += ["", "## All figures", "", *_table(comparison.differences)]
    return "\n".join(lines) + "\n"


def _run_text(spec: RunSpec) -> str:
    return f"{spec.id}, {spec.composite_target}, {spec.collection}, {spec.started:%Y-%m-%d %H:%M}"


def _outcome_text(outcome: QuestionOutcome) -> str:
    if outcome.error:
        return f"no reply: {outcome.error}"
    found = f"found {', '.join(outcome.documents) or 'nothing'}"
    return " ".join(filter(None, (outcome.decision, outcome.answer or found)))


def _table(rows: Iterable[Difference]) -> list[str]:
    aligned = ("---", "---", *["---:"] * (len(HEADS) - 3), "---")
    return [_line(HEADS), _line(aligned), *(_line(map(_plain, row(one))) for one in rows)]


def _line(cells: Iterable[str]) -> str:
    return f"| {' | '.join(cells)} |"


def _plain(text: str) -> str:
    """Escape a text for Markdown, on one line."""
    escaped = "".join(f"\\{letter}" if letter in "\\`*_[]<>|#" else letter for letter in text)
    return " ".join(escaped.split())
