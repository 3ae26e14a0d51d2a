"""The figures as tables for people and as JSON for machines."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict
from itertools import groupby

from rich.table import Table

from benchmarks.quality.statistics import CONFIDENCE, Estimate
from benchmarks.truth.figures import DEFAULT, LOST, Figures, Section
from benchmarks.truth.questions import Group

TITLES: Mapping[Section, str] = {
    "alone": "each set alone",
    "together": "all sets together",
}
ASKED_FOR = 0.8
"""The coverage at which off-topic questions are shown."""


def tables(found: Sequence[Figures]) -> Iterator[Table]:
    """For each section what is right, what is declined, and what the words promise."""
    for section, rows in groupby(found, key=lambda figures: figures.section):
        each = list(rows)
        yield _right(section, each)
        if unanswerable := _asked(each, "unanswerable"):
            yield _unanswerable(section, unanswerable)
        if off_topic := _asked(each, "off-topic"):
            yield _off_topic(section, off_topic)
        yield _words(section, each)


def as_json(found: Sequence[Figures]) -> dict[str, object]:
    """The same and the curves, with full precision."""
    return {"figures": [asdict(figures) for figures in found], "confidence": CONFIDENCE}


def _right(section: Section, rows: Sequence[Figures]) -> Table:
    heads = ["answered", *_at(rows, "right"), "area"]
    table = _table(f"Right answers, {TITLES[section]}", heads)
    table.caption = (
        f"{CONFIDENCE:.0%} bootstrap intervals; `answered` at the default likelihood, "
        "then the right ones of those answered at it and at each coverage of `dev`"
    )
    for row in rows:
        shares = [_estimate(cut.right) for cut in row.cuts]
        answered = _estimate(row.cuts[0].answered)
        table.add_row(_counted(row.name, row, "answerable"), answered, *shares, _estimate(row.area))
    return table


def _unanswerable(section: Section, rows: Sequence[Figures]) -> Table:
    table = _table(f"Unanswerable questions declined, {TITLES[section]}", _at(rows, "declined"))
    for row in rows:
        shares = [_estimate(cut.unanswerable_declined) for cut in row.cuts]
        table.add_row(_counted(row.set_name, row, "unanswerable"), *shares)
    return table


def _off_topic(section: Section, rows: Sequence[Figures]) -> Table:
    gates = [head for lost in LOST for head in (f"evidence, {lost:.0%} lost on dev", "good lost")]
    heads = [*gates, "whole decision, default", f"at {ASKED_FOR:g}"]
    table = _table(f"Off-topic questions declined, {TITLES[section]}", heads)
    for row in rows:
        by_evidence = [
            _estimate(value)
            for gate in row.gates
            for value in (gate.off_topic_declined, gate.good_declined)
        ]
        decided = [cut for cut in row.cuts if cut.name in (DEFAULT, f"{ASKED_FOR:g}")]
        shares = [_estimate(cut.off_topic_declined) for cut in decided]
        table.add_row(_counted(row.set_name, row, "off-topic"), *by_evidence, *shares)
    return table


def _words(section: Section, rows: Sequence[Figures]) -> Table:
    heads = [head for word in rows[0].words for head in (word.word, "right", "of all", "right")]
    table = _table(f"What the words promise, {TITLES[section]}", heads)
    table.caption = "answers to answerable questions; then `of all`, unanswerable ones included"
    for row in rows:
        cells = [
            cell
            for word in row.words
            for cell in (
                str(word.answers),
                _estimate(word.right),
                str(word.answers_of_all),
                _estimate(word.right_of_all),
            )
        ]
        table.add_row(row.name, *cells)
    return table


def _asked(rows: Sequence[Figures], group: Group) -> list[Figures]:
    """The rows with such questions, one a set: whether one is declined depends on no measure."""
    return [row for row in rows if row.questions[group] and row.is_strictest]


def _at(rows: Sequence[Figures], what: str) -> list[str]:
    default, *others = (cut.name for cut in rows[0].cuts)
    return [f"{what}, {default}", *(f"at {name}" for name in others)]


def _table(title: str, heads: Sequence[str]) -> Table:
    table = Table(title=title)
    table.add_column("set (questions)", no_wrap=True)
    for head in heads:
        table.add_column(head, justify="right", no_wrap=True)
    return table


def _counted(name: str, row: Figures, group: Group) -> str:
    return f"{name} ({row.questions[group]})"


def _estimate(found: Estimate | None) -> str:
    if found is None:
        return "-"
    return f"{found.mean:.3f} [dim]{found.low:.2f} {found.high:.2f}[/dim]"
