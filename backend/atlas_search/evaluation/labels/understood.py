"""What is told of a label set before its questions are asked."""

from collections.abc import Iterable, Mapping, Sequence

from atlas_search.evaluation.labels.fit import Fitted
from atlas_search.evaluation.labels.label_set import Counts, LabelSet

_LISTED = 12  # categories and columns
_NAMED = 5  # quotes and ids


def understood_text(labels: LabelSet) -> str:
    """A few lines: how many labels of what kind, what each column became, and warnings."""
    understood = labels.understood
    lines = [f"{labels.path.name}, {understood.form}: {_counts(understood.counts)}."]
    read = (
        name if name == meaning else f"{name} = {meaning}"
        for name, meaning in understood.columns.meanings.items()
    )
    unused = understood.columns.unused
    not_used = f" Not used: {_some(unused)}." if unused else ""
    lines.append(f"Read: {_some(read)}.{not_used}")
    groups = (("Splits", understood.counts.splits), ("Categories", understood.counts.categories))
    lines.append(" ".join(f"{name}: {_groups(counts)}." for name, counts in groups))
    lines += [f"Warning: {warning}." for warning in understood.warnings]
    return "\n".join(lines)


def fitted_text(fitted: Fitted) -> str:
    """How gold documents and quotes were recognised; empty if there were none."""
    placed = fitted.placed
    lines = []
    if fitted.ways:
        ways = ", ".join(f"{count} by {way}" for way, count in fitted.ways.items())
        lines.append(f"Gold documents: {ways}.")
    if fitted.mentioned:
        lines.append(f"Named in a column that is not read: those of {fitted.mentioned} labels.")
    if placed.found:
        first = (
            f", {placed.repeated} at several places (the first counts)" if placed.repeated else ""
        )
        lines.append(f"Quotes found in gold documents: {placed.found}{first}.")
    if placed.missing:
        lines.append(f"Warning: in no gold document stand {_count(placed.missing, 'quotes')}.")
    if placed.unplaced:
        lines.append(f"Warning: {placed.unplaced} labels have quotes, and no known gold document.")
    if fitted.unknown:
        lines.append(f"Warning: not in the collection: {_count(fitted.unknown, 'gold ids')}.")
    return "\n".join(lines)


def split_text(asked: LabelSet, split: str) -> str:
    """Which part of a set is asked."""
    count = len(asked.read)
    return f"Asked: the {count} of the split {split}." if split else f"Asked: all {count}."


def _counts(counts: Counts) -> str:
    quotes = f", {counts.with_quotes} with quotes" if counts.with_quotes else ""
    return (
        f"{counts.labels} questions, {counts.answerable} to be answered and {counts.unanswerable} "
        f"to be declined; {counts.with_references} with references, {counts.with_gold} with gold "
        f"documents{quotes}"
    )


def _groups(counts: Mapping[str, int]) -> str:
    return _some(f"{name} {count}" for name, count in sorted(counts.items())) or "none"


def _count(names: Sequence[str], what: str) -> str:
    more = ", ..." if names[_NAMED:] else ""
    return f"{len(names)} {what} ({', '.join(names[:_NAMED])}{more})"


def _some(names: Iterable[str]) -> str:
    names = list(names)
    return ", ".join([*names[:_LISTED], *(["..."] if names[_LISTED:] else [])])
