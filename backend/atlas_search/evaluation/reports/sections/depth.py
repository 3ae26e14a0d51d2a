"""Quality against k and against the time it takes."""

from collections.abc import Mapping, Sequence

from atlas_search.core.registry import DISTRIBUTION
from atlas_search.evaluation.reports.analysis import Analysis
from atlas_search.evaluation.reports.blocks import Block, Plot, Section, Table, Words
from atlas_search.evaluation.reports.plots.charts import MOST, lines, points
from atlas_search.evaluation.reports.plots.series import Panel, Point, Series, point
from atlas_search.evaluation.reports.wording import number, title_of, with_interval
from atlas_search.evaluation.scored import Figure

_AT_DEPTH = ("recall", "precision", "ndcg", "success")
_OF_RUNS = ("recall", "f1", "decided", "sentence_groundedness")
_MAIN = ("f1", "decided", "mrr", "recall")


def quality(runs: Sequence[Analysis]) -> Section:
    """Of a run its figures at each depth; of several how they change with k and with time."""
    if len(runs) == 1:
        return Section("Quality against k", (_by_depth(runs[0]),))
    return Section("Quality against k and time", (_by_k(runs), _by_time(runs)))


def _by_depth(run: Analysis) -> Block:
    found = {name: at_depths(run.all, name) for name in _AT_DEPTH}
    found = {name: figures for name, figures in found.items() if figures}
    if not found:
        return Words("No question has gold documents, so nothing can be said of the first k.")
    depths = sorted({depth for figures in found.values() for depth in figures})
    rows = tuple(
        (f"{name}@k", *(with_interval(figures.get(depth)) for depth in depths))
        for name, figures in found.items()
    )
    panels = tuple(Panel(f"{name}@k", (_series(figures),)) for name, figures in found.items())
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
    if not any(len({run.of.k for run in members}) > 1 for members in groups.values()):
        return Words("The runs do not differ in k alone.")
    names = [name for name in _OF_RUNS if any(name in run.all for run in runs)]
    if not names:
        return Words("No question has a figure.")
    panels = tuple(Panel(title_of(name), _series_of_runs(groups, name)) for name in names)
    rows = tuple(
        (configuration, str(run.of.k), *(with_interval(run.all.get(name)) for name in names))
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
        f"Line charts of figures against the number k of passages.{_first(len(groups))} {told}.",
        lambda: lines("quality-k", panels, "passages (k)"),
        Table("Quality against k", heads, rows, texts=1),
    )


def _by_time(runs: Sequence[Analysis]) -> Block:
    main = next((name for name in _MAIN if any(name in run.all for run in runs)), "")
    timed = [run for run in runs if run.took.seconds and main in run.all]
    if not timed:
        return Words("No run has both a figure and times.")
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
        f"{_first(len(series))} {told}.",
        lambda: points("quality-time", series, "seconds (median)", title_of(main)),
        Table("Quality against time", heads, rows),
    )


def _first(configurations: int) -> str:
    return "" if configurations <= MOST else f" The plot shows the first {MOST} configurations."


def _series(figures: Mapping[int, Figure]) -> Series:
    """The only one of its panel, so without a name."""
    return Series("", tuple(point(depth, figure) for depth, figure in figures.items()))


def _series_of_runs(groups: Mapping[str, Sequence[Analysis]], name: str) -> tuple[Series, ...]:
    found = []
    for configuration, members in groups.items():
        known: tuple[Point, ...] = tuple(
            point(run.of.k, run.all[name]) for run in members if run.of.k and name in run.all
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
    return {
        title: sorted(members, key=lambda run: run.of.k or 0) for title, members in found.items()
    }


def _without_k(run: Analysis) -> dict[str, str]:
    spec = run.of.spec
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
