"""Decisions, and whether the confidence of answers tells which are right."""

from collections.abc import Sequence

from atlas_search.evaluation.reports.analysis import Analysis
from atlas_search.evaluation.reports.blocks import Block, Plot, Section, Table, Words, of_runs
from atlas_search.evaluation.reports.plots.charts import MOST, bands, calibration
from atlas_search.evaluation.reports.plots.series import Count, Point, Series
from atlas_search.evaluation.reports.wording import number, title_of, with_interval
from atlas_search.evaluation.statistics.wilson import share_interval

_DECISIONS = ("decided", "answered", "rejected", "false_refusal", "false_accept", "as_expected")
_KINDS = ("ANSWER", "ABSTAIN", "BLOCK")


def decisions(runs: Sequence[Analysis]) -> Section:
    """Which decision was expected and which was taken."""
    told = [run for run in runs if run.confusion]
    if not told:
        return Section("Decisions", (Words("Nothing was decided: no question was answered."),))
    names = [name for name in _DECISIONS if any(name in run.all for run in told)]
    cells = tuple((run.name, *(with_interval(run.all.get(name)) for name in names)) for run in told)
    heads = ("Run", *map(title_of, names))
    figures = of_runs(len(runs), Table("Decisions that were right and wrong", heads, cells))
    return Section("Decisions", (*(_confusion(run, len(runs)) for run in told), figures))


def _confusion(run: Analysis, runs: int) -> Table:
    counts = {(expected, taken): count for expected, taken, count in run.confusion}
    expected = [kind for kind in _KINDS if any(pair[0] == kind for pair in counts)]
    of = f" of {run.name}" if runs > 1 else ""
    return Table(
        f"Questions{of} by the decision that was expected (rows) and taken (columns)",
        ("Expected", *(f"Took {kind}" for kind in _KINDS)),
        tuple((own, *(str(counts.get((own, kind), 0)) for kind in _KINDS)) for own in expected),
    )


def confidence(runs: Sequence[Analysis]) -> Section:
    """Reliability of the likelihood, and precision at each coverage."""
    return Section("Confidence", (_reliability(runs), _coverage(runs)))


def _reliability(runs: Sequence[Analysis]) -> Block:
    told = [run for run in runs if run.reliability]
    if not told:
        return Words("No answer that can be judged states a likelihood: nothing to be calibrated.")
    series = tuple(
        Series(
            run.name,
            tuple(
                Point(
                    each.likelihood,
                    each.right,
                    *share_interval(each.right * each.answers, each.answers),
                )
                for each in run.reliability
            ),
        )
        for run in told
    )
    counts = [[Count(b.low, b.high, b.answers) for b in run.reliability] for run in told]
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
        f"are the same. Bars count the answers of each bin.{_first(told)} {said}.",
        lambda: calibration("reliability", series, counts),
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
        return Words("No answer can be judged right or wrong: no precision to be told.")
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
        f"least confident answers are given up.{_first(told)} Precision: {said}.",
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


def _points(run: Analysis) -> tuple[Point, ...]:
    found = []
    for each in run.curve:
        answers = each.coverage * run.judged_questions
        low, high = share_interval(each.precision * answers, answers)
        found.append(Point(each.coverage, each.precision, low, high))
    return tuple(found)


def _some(points: Sequence[Point], most: int = 10) -> list[Point]:
    """At most so many, evenly chosen, with the first and the last."""
    if len(points) <= most:
        return list(points)
    return [points[round(place * (len(points) - 1) / (most - 1))] for place in range(most)]


def _first(told: Sequence[Analysis]) -> str:
    return "" if len(told) <= MOST else f" The plot shows the first {MOST} runs."
