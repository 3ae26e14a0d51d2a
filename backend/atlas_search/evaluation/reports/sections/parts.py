"""The figures by category, by corpus and by split, and how passages are spread over the corpora."""

from collections.abc import Mapping, Sequence
from dataclasses import replace

from atlas_search.evaluation.reports.analysis import Analysis
from atlas_search.evaluation.reports.blocks import Block, Plot, Section, Table, Words
from atlas_search.evaluation.reports.plots.charts import MOST, rows
from atlas_search.evaluation.reports.plots.series import Row
from atlas_search.evaluation.reports.wording import (
    number,
    present,
    shortened,
    title_of,
    with_interval,
)
from atlas_search.evaluation.scored import Figure

_SHOWN = ("decided", "recall", "f1", "cites_gold")
_DRAWN = ("decided", "recall", "f1")
_MAIN = ("f1", "decided", "recall")
_ROWS = 14  # that a plot shows; the table has all


def by_category(runs: Sequence[Analysis]) -> Section:
    """A row for each category."""
    return Section("By category", _of_kind(runs, "category"))


def by_corpus(runs: Sequence[Analysis]) -> Section:
    """A row for the questions whose gold documents are in each corpus; then the balance."""
    return Section("By corpus", (*_of_kind(runs, "corpus"), *_balance(runs)))


def by_split(runs: Sequence[Analysis]) -> Section:
    """A row for each split."""
    return Section("By split", _of_kind(runs, "split", drawn=False))


def _of_kind(runs: Sequence[Analysis], kind: str, *, drawn: bool = True) -> tuple[Block, ...]:
    slices = _slices(runs, kind)
    if not slices:
        return (Words(f"No question has a {kind}."),)
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
        return [_table(runs[0], kind, slices)]
    main = _main(runs)
    names = [name for name in _SHOWN if name != main and any(name in run.all for run in runs)]
    folded = (replace(_side_by_side(runs, kind, slices, name), folded=True) for name in names)
    return [_side_by_side(runs, kind, slices, main), *folded]


def _slices(runs: Sequence[Analysis], kind: str) -> list[str]:
    names = (name for run in runs for name in run.slices)
    return [name for name in dict.fromkeys(names) if name.startswith(f"{kind}.")]


def _table(run: Analysis, kind: str, slices: Sequence[str]) -> Table:
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


def _rows(runs: Sequence[Analysis], slices: Sequence[str]) -> tuple[Row, ...]:
    """Of one run a series for each figure; of several, for each run its main figure."""
    if len(runs) == 1:
        figures = runs[0].figures
        return tuple(
            Row(_own(name), tuple(figures[name].get(each) for each in _drawn(runs[0])))
            for name in slices[:_ROWS]
        )
    main = _main(runs)
    return tuple(
        Row(_own(name), tuple(run.figures.get(name, {}).get(main) for run in runs[:MOST]))
        for name in slices[:_ROWS]
    )


def _series_names(runs: Sequence[Analysis]) -> list[str]:
    if len(runs) == 1:
        return [title_of(name) for name in _drawn(runs[0])]
    return [run.name for run in runs[:MOST]]


def _drawn(run: Analysis) -> list[str]:
    return [name for name in _DRAWN if name in run.all]


def _main(runs: Sequence[Analysis]) -> str:
    return next((name for name in _MAIN if any(name in run.all for run in runs)), _MAIN[0])


def _balance(runs: Sequence[Analysis]) -> tuple[Block, ...]:
    told = [(run, corpora) for run in runs if (corpora := _shares(run.all))]
    if not told:
        return (Words("No question was asked of several corpora, so there is no balance to tell."),)
    several = len(runs) > 1
    heads = (
        *(["Run"] if several else []),
        "Corpus",
        "Share of candidates",
        "Share of kept passages",
    )
    cells = tuple(
        (*([run.name] if several else []), corpus, *map(with_interval, pair))
        for run, corpora in told
        for corpus, pair in corpora.items()
    )
    shown = tuple(
        Row(f"{run.name}: {corpus}" if several else corpus, pair)
        for run, corpora in told
        for corpus, pair in corpora.items()
    )[:_ROWS]
    plot = Plot(
        "Balance of the corpora",
        "Dots with 95% intervals: the mean share of each corpus among candidates and among kept "
        f"passages. {'; '.join(f'{row.name}: {_told(_STAGES, row)}' for row in shown)}.",
        lambda: rows("balance", _STAGES, shown, "mean share of the passages of a question"),
        Table("Share of each corpus", heads, cells, texts=len(heads) - 2),
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


def _told(names: Sequence[str], row: Row) -> str:
    pairs = zip(names, row.figures, strict=True)
    return ", ".join(f"{name} {number(figure.mean)}" for name, figure in pairs if figure)
