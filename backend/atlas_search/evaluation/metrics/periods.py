"""How much of the time that was searched the passages are of."""

from atlas_search.evaluation.metrics.metric import Case, Metric
from atlas_search.language.dates import bounds

_YEARS = 10

METRICS = (
    Metric(
        "period_coverage",
        "balance",
        "questions whose searched documents are of several years",
        "Share of the decades from the first to the last date searched (of the years, within one "
        "decade) of which a passage is",
        "none",
    ),
)


def measure(case: Case) -> dict[str, float]:
    """The figures of METRICS."""
    came = case.reply.answer or case.reply.found
    dates = came.scope.dates if came and came.scope else None
    if dates is None or not (dates.first and dates.last) or not case.reply.passages:
        return {}
    kept = [passage.date for passage in case.reply.passages if passage.date]
    return coverage(int(dates.first[:4]), int(dates.last[:4]), kept)


def coverage(first: int, last: int, dates: list[str]) -> dict[str, float]:
    """The figure for years `first` to `last`; a date that may be of two periods is of none."""
    length = 1 if first // _YEARS == last // _YEARS else _YEARS
    periods = range(first // length, last // length + 1)
    if len(periods) < 2:
        return {}
    known = [days for date in dates if (days := bounds(date))]
    ends = [(int(start[:4]) // length, int(end[:4]) // length) for start, end in known]
    found = {start for start, end in ends if start == end and start in periods}
    return {"period_coverage": len(found) / len(periods)}
