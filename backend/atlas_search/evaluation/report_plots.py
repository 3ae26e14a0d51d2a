"""Sections of a report with plots: quality by category and corpus; confidence."""

from collections.abc import Mapping, Sequence
from dataclasses import replace

from atlas_search.evaluation.plots import (
    MOST,
    PlotPoint,
    PlotRow,
    Series,
    bands,
    calibration,
    rows,
)
from atlas_search.evaluation.report_analysis import Analysis
from atlas_search.evaluation.report_blocks import (
    Block,
    Plot,
    ReportSection,
    ReportText,
    Table,
    of_runs,
)
from atlas_search.evaluation.scored import number, present, shortened, title_of, with_interval
from atlas_search.evaluation.statistics import Figure, share_interval


def confidence(runs: Sequence[Analysis]) -> ReportSection:
    """Reliability of the likelihood, and precision at each coverage."""
    return ReportSection("Confidence", (_reliability(runs), _coverage(runs)))


def _reliability(runs: Sequence[Analysis]) -> Block:
    told = [run for run in runs if run.reliability]
    if not told:
        return ReportText(
            "No answer that can be judged states a likelihood: nothing to be calibrated."
        )
    series = tuple(
        Series(
            run.name,
            tuple(
                PlotPoint(
                    each.likelihood,
                    each.right,
                    *share_interval(each.right * each.answers, each.answers),
                )
                for each in run.reliability
            ),
        )
        for run in told
    )
    cells = tuple(
        (
            run.name,
            f"{own.low:.1f} to {own.high:.1f}",
            str(own.answers),
            number(own.likelihood),
            number(each.y),
            f"{number(each.low)} to {number(each.high)}",
        )
        for run, line in zip(told, series, strict=True)
        for own, each in zip(run.reliability, line.points, strict=True)
    )
    said = "; ".join(f"{c[1]}: {c[4]} of {c[2]} answers right" for c in cells[:12])
    return Plot(
        "Reliability of the likelihood",
        "Share of right answers against the likelihood that they stated; on the dotted line both "
        f"are the same. Bars count the answers of each bin.{_first(len(told), 'runs')} {said}.",
        lambda: calibration("reliability", series, [run.reliability for run in told]),
        of_runs(
            len(runs),
            Table(
                "Answers by the likelihood that they stated (intervals by Wilson's score)",
                ("Run", "Likelihood", "Answers", "Its mean", "Share right", "95% interval"),
                cells,
                texts=2,
            ),
        ),
    )


def _coverage(runs: Sequence[Analysis]) -> Block:
    told = [run for run in runs if run.curve]
    if not told:
        return ReportText("No answer can be judged right or wrong: no precision to be told.")
    series = tuple(Series(run.name, _points(run)) for run in told)
    cells = tuple(
        (run.name, number(each.x), number(each.y), f"{number(each.low)} to {number(each.high)}")
        for run, line in zip(told, series, strict=True)
        for each in _some(line.points)
    )
    said = "; ".join(
        f"{line.name}: from {number(line.points[0].y)} at {number(line.points[0].x)} to "
        f"{number(line.points[-1].y)} at {number(line.points[-1].x)}"
        for line in series
    )
    return Plot(
        "Coverage against precision",
        "Precision of the answers against the share of all questions that is answered, as the "
        f"least confident answers are given up.{_first(len(told), 'runs')} Precision: {said}.",
        lambda: bands("coverage", series, "Coverage: share answered", "Precision: share right"),
        of_runs(
            len(runs),
            Table(
                "Precision at each coverage (intervals by Wilson's score)",
                ("Run", "Coverage", "Precision", "95% interval"),
                cells,
            ),
        ),
    )


def _points(run: Analysis) -> tuple[PlotPoint, ...]:
    found = []
    for each in run.curve:
        answers = each.coverage * run.judged_questions
        low, high = share_interval(each.precision * answers, answers)
        found.append(PlotPoint(each.coverage, each.precision, low, high))
    return tuple(found)


def _some(points: Sequence[PlotPoint], most: int = 10) -> list[PlotPoint]:
    """At most so many, evenly chosen, with the first and the last."""
    if len(points) <= most:
        return list(points)
    return [points[round(place * (len(points) - 1) / (most - 1))] for place in range(most)]


def _first(count: int, what: str) -> str:
    return "" if count <= MOST else f" The plot shows the first {MOST} {what}."


_SHOWN = ("decided", "recall", "f1", "cites_gold")
_DRAWN = ("decided", "recall", "f1")
_SLICED = ("f1", "decided", "recall")
_ROWS = 14  # that a plot shows; the table has all


def by_category(runs: Sequence[Analysis]) -> ReportSection:
    """A row for each category."""
    return ReportSection("By category", _of_kind(runs, "category"))


def by_corpus(runs: Sequence[Analysis]) -> ReportSection:
    """A row for the questions whose gold documents are in each corpus; then the balance."""
    return ReportSection("By corpus", (*_of_kind(runs, "corpus"), *_balance(runs)))


def by_split(runs: Sequence[Analysis]) -> ReportSection:
    """A row for each split."""
    return ReportSection("By split", _of_kind(runs, "split", drawn=False))


def _of_kind(runs: Sequence[Analysis], kind: str, *, drawn: bool = True) -> tuple[Block, ...]:
    slices = _slices(runs, kind)
    if not slices:
        return (ReportText(f"No question has a {kind}."),)
    table, *others = _tables(runs, kind, slices)
    shown = _rows(runs, slices)
    if not drawn or not any(figure for row in shown for figure in row.figures):
        return (table, *others)
    names = _series_names(runs)
    what = "figures" if len(runs) == 1 else title_of(_main(runs))
    x = "mean over the questions" if len(runs) == 1 else title_of(_main(runs))
    more = "" if len(slices) <= _ROWS else f" The plot shows the first {_ROWS} of {len(slices)}."
    told = "; ".join(f"{row.name}: {_told(names, row)}" for row in shown)
    plot = Plot(
        f"Quality by {kind}",
        f"Dots with 95% intervals: {what} by {kind}.{more} {told}.",
        lambda: rows(f"by-{kind}", names, shown, x),
        table,
    )
    return (plot, *others)


def _tables(runs: Sequence[Analysis], kind: str, slices: Sequence[str]) -> list[Table]:
    if len(runs) == 1:
        return [_table_of(runs[0], kind, slices)]
    main = _main(runs)
    names = [name for name in _SHOWN if name != main and any(name in run.all for run in runs)]
    folded = (replace(_side_by_side(runs, kind, slices, name), folded=True) for name in names)
    return [_side_by_side(runs, kind, slices, main), *folded]


def _slices(runs: Sequence[Analysis], kind: str) -> list[str]:
    names = (name for run in runs for name in run.slices)
    return [name for name in dict.fromkeys(names) if name.startswith(f"{kind}.")]


def _table_of(run: Analysis, kind: str, slices: Sequence[str]) -> Table:
    names = present(_SHOWN, run.all)
    cells = tuple(
        (
            _own(name),
            str(len(run.slices[name])),
            *(with_interval(run.figures[name].get(figure)) for figure in names),
        )
        for name in slices
    )
    return Table(f"Figures by {kind}", (kind.title(), "Questions", *map(title_of, names)), cells)


def _side_by_side(runs: Sequence[Analysis], kind: str, slices: Sequence[str], name: str) -> Table:
    """A figure of each run in each slice."""
    cells = tuple(
        (run.name, *(with_interval(run.figures.get(each, {}).get(name)) for each in slices))
        for run in runs
    )
    return Table(f"{title_of(name)} by {kind}", ("Run", *map(_own, slices)), cells)


def _rows(runs: Sequence[Analysis], slices: Sequence[str]) -> tuple[PlotRow, ...]:
    """Return a series for each figure of one run; of several, the main figure of each."""
    if len(runs) == 1:
        figures = runs[0].figures
        return tuple(
            PlotRow(_own(name), tuple(figures[name].get(each) for each in _drawn(runs[0])))
            for name in slices[:_ROWS]
        )
    main = _main(runs)
    return tuple(
        PlotRow(_own(name), tuple(run.figures.get(name, {}).get(main) for run in runs[:MOST]))
        for name in slices[:_ROWS]
    )


def _series_names(runs: Sequence[Analysis]) -> list[str]:
    if len(runs) == 1:
        return [title_of(name) for name in _drawn(runs[0])]
    return [run.name for run in runs[:MOST]]


def _drawn(run: Analysis) -> list[str]:
    return [name for name in _DRAWN if name in run.all]


def _main(runs: Sequence[Analysis]) -> str:
    return next(
        (name for name in _SLICED if any(name in run.all for run in runs)),
        _SLICED[0],
    )


def _balance(runs: Sequence[Analysis]) -> tuple[Block, ...]:
    told = [(run, corpora) for run in runs if (corpora := _shares(run.all))]
    if not told:
        return (
            ReportText("No question was asked of several corpora, so there is no balance to tell."),
        )
    heads = ("Run", "Corpus", "Share of candidates", "Share of kept passages")
    cells = tuple(
        (run.name, corpus, *map(with_interval, pair))
        for run, corpora in told
        for corpus, pair in corpora.items()
    )
    shown = tuple(
        PlotRow(f"{run.name}: {corpus}" if len(runs) > 1 else corpus, pair)
        for run, corpora in told
        for corpus, pair in corpora.items()
    )[:_ROWS]
    plot = Plot(
        "Balance of the corpora",
        "Dots with 95% intervals: the mean share of each corpus among candidates and among kept "
        f"passages. {'; '.join(f'{row.name}: {_told(_STAGES, row)}' for row in shown)}.",
        lambda: rows("balance", _STAGES, shown, "mean share of the passages of a question"),
        of_runs(len(runs), Table("Share of each corpus", heads, cells, texts=2)),
    )
    return (plot,)


_STAGES = ("Candidates", "Kept")


def _shares(figures: Mapping[str, Figure]) -> dict[str, tuple[Figure | None, Figure | None]]:
    begin = "candidates_share.", "kept_share."
    corpora = dict.fromkeys(_own(name) for name in figures if name.startswith(begin))
    return {
        corpus: (figures.get(f"{begin[0]}{corpus}"), figures.get(f"{begin[1]}{corpus}"))
        for corpus in corpora
    }


def _own(name: str) -> str:
    return shortened(name.partition(".")[2], 80)


def _told(names: Sequence[str], row: PlotRow) -> str:
    pairs = zip(names, row.figures, strict=True)
    return ", ".join(f"{name} {number(figure.mean)}" for name, figure in pairs if figure)
