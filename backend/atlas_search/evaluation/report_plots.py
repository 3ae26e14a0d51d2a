"""Sections of a report with plots: quality by depth, time, category and corpus; confidence."""

from collections.abc import Mapping, Sequence
from dataclasses import replace

from atlas_search.core.registry import DISTRIBUTION
from atlas_search.evaluation.plots import (
    MOST,
    PlotPanel,
    PlotPoint,
    PlotRow,
    Series,
    bands,
    calibration,
    lines,
    point,
    points,
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


_AT_DEPTH = ("recall", "precision", "ndcg", "success")
_OF_RUNS = ("recall", "f1", "decided", "sentence_groundedness")
_MAIN = ("f1", "decided", "mrr", "recall")


def quality(runs: Sequence[Analysis]) -> ReportSection:
    """Show the figures of a run at each depth; of several their change with k and with time."""
    if len(runs) == 1:
        return ReportSection("Quality against k", (_by_depth(runs[0]),))
    return ReportSection("Quality against k and time", (_by_k(runs), _by_time(runs)))


def _by_depth(run: Analysis) -> Block:
    found = {name: at_depths(run.all, name) for name in _AT_DEPTH}
    found = {name: figures for name, figures in found.items() if figures}
    if not found:
        return ReportText("No question has gold documents, so nothing can be said of the first k.")
    depths = sorted({depth for figures in found.values() for depth in figures})
    rows = tuple(
        (f"{name}@k", *(with_interval(figures.get(depth)) for depth in depths))
        for name, figures in found.items()
    )
    panels = tuple(PlotPanel(f"{name}@k", (_series(figures),)) for name, figures in found.items())
    said = ", ".join(
        f"{name}@{depth} {number(figures[depth].mean)}"
        for name, figures in found.items()
        for depth in (min(figures), max(figures))
    )
    return Plot(
        "Retrieval at each depth",
        f"Line charts of retrieval figures against the number k of documents: {said}.",
        lambda: lines("depth", panels, "first k documents"),
        Table("Retrieval at each depth", ("Figure", *(f"k={d}" for d in depths)), rows),
    )


def at_depths(figures: Mapping[str, Figure], name: str) -> dict[int, Figure]:
    """The figures `name@k` by k."""
    known = ((each.partition("@"), figure) for each, figure in figures.items())
    found = {int(k): figure for (own, _, k), figure in known if own == name and k.isdigit()}
    return dict(sorted(found.items()))


def _by_k(runs: Sequence[Analysis]) -> Block:
    groups = _configurations(runs)
    if not any(len({run.k for run in members}) > 1 for members in groups.values()):
        return ReportText("The runs do not differ in k alone.")
    names = [name for name in _OF_RUNS if any(name in run.all for run in runs)]
    if not names:
        return ReportText("No question has a figure.")
    panels = tuple(PlotPanel(title_of(name), _series_of_runs(groups, name)) for name in names)
    rows = tuple(
        (configuration, str(run.k), *(with_interval(run.all.get(name)) for name in names))
        for configuration, members in groups.items()
        for run in members
    )
    heads = ("Configuration", "k", *map(title_of, names))
    told = "; ".join(
        f"{panel.title} of {series.name}: "
        + ", ".join(f"{number(each.y)} at k={each.x:g}" for each in series.points)
        for panel in panels
        for series in panel.series
    )
    return Plot(
        "Quality against k",
        "Line charts of figures against the number k of passages."
        f"{_first(len(groups), 'configurations')} {told}.",
        lambda: lines("quality-k", panels, "passages (k)"),
        Table("Quality against k", heads, rows, texts=1),
    )


def _by_time(runs: Sequence[Analysis]) -> Block:
    main = next((name for name in _MAIN if any(name in run.all for run in runs)), "")
    timed = [run for run in runs if run.took.seconds and main in run.all]
    if not timed:
        return ReportText("No run has both a figure and times.")
    series = tuple(
        Series(name, tuple(point(_median(run), run.all[main]) for run in members))
        for name, members in _configurations(timed).items()
    )
    rows = tuple(
        (run.name, number(_median(run)), number(_slowest(run)), with_interval(run.all[main]))
        for run in timed
    )
    told = "; ".join(f"{row[0]}: {row[3]} at {row[1]} s" for row in rows)
    heads = ("Run", "p50 s", "p95 s", title_of(main))
    return Plot(
        "Quality against time",
        f"{title_of(main)} against the median of seconds, a point for each run."
        f"{_first(len(series), 'configurations')} {told}.",
        lambda: points("quality-time", series, "seconds (median)", title_of(main)),
        Table("Quality against time", heads, rows),
    )


def _series(figures: Mapping[int, Figure]) -> Series:
    """The only one of its panel, so without a name."""
    return Series("", tuple(point(depth, figure) for depth, figure in figures.items()))


def _series_of_runs(groups: Mapping[str, Sequence[Analysis]], name: str) -> tuple[Series, ...]:
    found = []
    for configuration, members in groups.items():
        known: tuple[PlotPoint, ...] = tuple(
            point(run.k, run.all[name]) for run in members if run.k and name in run.all
        )
        if known:
            found.append(Series(configuration, known))
    return tuple(found)


def _configurations(runs: Sequence[Analysis]) -> dict[str, list[Analysis]]:
    """The runs that differ in k alone together, by what tells them from the others."""
    told = [_without_k(run) for run in runs]
    names = dict.fromkeys(name for each in told for name in each)
    differ = [name for name in names if len({each.get(name) for each in told}) > 1]
    found: dict[str, list[Analysis]] = {}
    for run, each in zip(runs, told, strict=True):
        title = ", ".join(each.get(name, "-") for name in differ) or "all"
        found.setdefault(title, []).append(run)
    return {title: sorted(members, key=lambda run: run.k or 0) for title, members in found.items()}


def _without_k(run: Analysis) -> dict[str, str]:
    spec = run.spec
    options = {name: str(value) for name, value in spec.options.items() if name != "search_k"}
    drawn = f"{spec.limit} drawn with seed {spec.seed}" if spec.limit else "all questions"
    said = {
        "labels": spec.labels.sha256[:12],
        "split": spec.labels.split,
        "drawn": drawn,
        "collection": f"{spec.collection} {spec.collection_version}",
        "corpora": " ".join(spec.corpora),
        "where": spec.where,
        "mode": "only searched" if spec.search_only else "answered",
        "day": str(spec.today),
        "Atlas": spec.versions.get(DISTRIBUTION, ""),
    }
    return options | said | dict(spec.settings)


def _median(run: Analysis) -> float:
    return run.took.seconds.p50 if run.took.seconds else 0.0


def _slowest(run: Analysis) -> float:
    return run.took.seconds.p95 if run.took.seconds else 0.0


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
