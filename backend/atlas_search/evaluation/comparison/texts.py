"""A comparison in words: rows of a table, lines, and all of it as Markdown."""

from collections.abc import Iterable, Sequence

from atlas_search.evaluation.comparison.compare import Comparison
from atlas_search.evaluation.comparison.differences import Difference
from atlas_search.evaluation.comparison.pairs import Pairs
from atlas_search.evaluation.comparison.sides import ChangedQuestion, Outcome
from atlas_search.evaluation.comparison.specs import Change
from atlas_search.evaluation.run import RunSpec

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


def heading(comparison: Comparison) -> list[str]:
    """Lines that say what is compared, and what makes it less than that."""
    a, b = comparison.a, comparison.b
    return [
        f"A: {_run_text(a)}",
        f"B: {_run_text(b)}",
        pairs_text(comparison.pairs, "A", "B"),
        *comparison.gaps,
        *(f"Not the same: {change_text(change)}" for change in comparison.basis),
        *(f"Option {change_text(change)}" for change in comparison.options),
    ]


def conclusion(comparison: Comparison) -> str:
    """How many figures differ."""
    found = len(comparison.significant)
    tested = len(comparison.differences)
    return (
        f"{found or 'None'} of {tested} figures {'differs' if found == 1 else 'differ'} by more "
        f"than chance (corrected p < {comparison.alpha:g})."
    )


def pairs_text(found: Pairs, a: str, b: str) -> str:
    """How many questions are compared, and how many are not."""
    left_out = {
        f"only in {a}": found.only_a,
        f"only in {b}": found.only_b,
        "in other words": found.reworded,
    }
    told = ", ".join(f"{count} {why}" for why, count in left_out.items() if count)
    return f"{len(found.common)} questions in common; left out: {told or 'none'}."


def change_text(change: Change) -> str:
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


def markdown(comparison: Comparison) -> str:
    """The whole comparison, significant figures before all."""
    lines = ["# Comparison", "", *_bullets(heading(comparison)), "", conclusion(comparison), ""]
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


def _outcome_text(outcome: Outcome) -> str:
    if outcome.error:
        return f"no reply: {outcome.error}"
    found = f"found {', '.join(outcome.documents) or 'nothing'}"
    return " ".join(filter(None, (outcome.decision, outcome.answer or found)))


def _table(rows: Iterable[Difference]) -> list[str]:
    aligned = ("---", "---", *["---:"] * (len(HEADS) - 3), "---")
    return [_line(HEADS), _line(aligned), *(_line(map(_plain, row(one))) for one in rows)]


def _line(cells: Iterable[str]) -> str:
    return f"| {' | '.join(cells)} |"


def _bullets(lines: Sequence[str]) -> list[str]:
    return [f"- {_plain(line)}" for line in lines]


def _plain(text: str) -> str:
    """What Markdown shows as written, on one line."""
    escaped = "".join(f"\\{letter}" if letter in "\\`*_[]<>|#" else letter for letter in text)
    return " ".join(escaped.split())
