"""What the questions took: time, tokens and money."""

from collections.abc import Sequence

from atlas_search.evaluation.reports.analysis import Analysis
from atlas_search.evaluation.reports.blocks import Block, Section, Table, of_runs
from atlas_search.evaluation.reports.wording import with_ends


def took(runs: Sequence[Analysis]) -> Section:
    """A row for each run, and the time of each stage."""
    heads = (
        "Run", "Questions", "Failed", "Asked again", "Fallbacks", "p50 s", "p95 s",
        "Prompt tokens", "Tokens written", "Tokens/s", "Cost per 100",
    )  # fmt: skip
    table = Table("Time, tokens and money", heads, tuple(_row(run) for run in runs))
    blocks: list[Block] = [of_runs(len(runs), table)]
    stages = tuple(
        (
            run.name,
            stage,
            with_ends(spread.p50, spread.p50_interval, 1),
            with_ends(spread.p95, spread.p95_interval, 1),
            str(spread.count),
        )
        for run in runs
        for stage, spread in run.took.stages_ms.items()
    )
    if stages:
        named = ("Run", "Stage", "p50 ms", "p95 ms", "Questions")
        each = Table("Milliseconds of each stage", named, stages, texts=2)
        blocks.append(of_runs(len(runs), each))
    return Section("Operations", tuple(blocks))


def _row(run: Analysis) -> tuple[str, ...]:
    found = run.took
    seconds = found.seconds
    return (
        run.name,
        str(found.questions),
        str(found.failed),
        str(found.retried),
        str(found.fallbacks),
        with_ends(seconds.p50, seconds.p50_interval) if seconds else "-",
        with_ends(seconds.p95, seconds.p95_interval) if seconds else "-",
        f"{found.prompt_tokens:,}",
        f"{found.completion_tokens:,}",
        with_ends(found.tokens_per_second, found.tokens_per_second_interval, 1),
        with_ends(found.cost_per_100, found.cost_per_100_interval, 4),
    )
