"""What was asked of whom, and what takes from the worth of the figures."""

from collections.abc import Iterator, Mapping, Sequence

from atlas_search.evaluation.reports.analysis import Analysis
from atlas_search.evaluation.reports.blocks import Block, Section, Table, Words
from atlas_search.evaluation.run import PROCESS

_SOURCES = {
    "judge": "a language model (judge)",
    "mixed": "a language model (judge), some by shared words (heuristic)",
    "heuristic": "shared words (heuristic): no language model judged",
    "none": "no metric of this run needs a judge",
}


def about(runs: Sequence[Analysis]) -> Section:
    """The mode of the runs: what all have in common, and what they differ in."""
    facts = [_facts(run) for run in runs]
    common = {
        name: value for name, value in facts[0].items() if all(f[name] == value for f in facts)
    }
    table = Table("What was asked of whom", ("", "Value"), tuple(common.items()), texts=2)
    blocks: list[Block] = [*_warnings(runs), table]
    if len(runs) > 1:
        blocks.append(_differences(runs, facts))
    return Section("What was evaluated", tuple(blocks))


def _differences(runs: Sequence[Analysis], facts: Sequence[Mapping[str, str]]) -> Table:
    names = [name for name in facts[0] if len({each[name] for each in facts}) > 1]
    rows = tuple(
        (run.name, *(each[name] for name in names)) for run, each in zip(runs, facts, strict=True)
    )
    return Table("What differs", ("Run", *names), rows, texts=len(names) + 1)


def _facts(run: Analysis) -> dict[str, str]:
    spec = run.of.spec
    corpora = ", ".join(spec.corpora)
    return {
        "Mode": "Search only: nothing is answered" if spec.search_only else "Questions answered",
        "Target": spec.target,
        "Asked": "in this process" if spec.where == PROCESS else f"on the server {spec.where}",
        "Collection": f"{spec.collection}, version {spec.collection_version}",
        "Corpora": corpora or "-",
        "Questions": _questions(run),
        "Passages (k)": str(run.of.k or "-"),
        "Written by": _writers(run),
        "Options": _options(spec.options),
        "Estimates by": _SOURCES[run.metrics_source],
        "Day": str(spec.today or spec.started.date()),
        "Seed": str(spec.seed),
        "Models": _options(spec.settings),
        "Versions": ", ".join(f"{name} {value}" for name, value in spec.versions.items()) or "-",
        "Started": f"{spec.started:%Y-%m-%d %H:%M} UTC",
        "Run": spec.id,
        "Command": spec.command or "-",
    }


def _questions(run: Analysis) -> str:
    used = run.of.spec.labels
    split = f", split {used.split}" if used.split else ""
    drawn = ", drawn at random" if run.of.spec.limit else ""
    return f"{used.questions} of {used.name}{split}{drawn} (SHA-256 {used.sha256[:12]})"


def _writers(run: Analysis) -> str:
    answers = [one.reply.answer for one in run.of.scored if one.reply.answer]
    wrote = dict.fromkeys(" ".join(answer.written_by).strip() for answer in answers)
    return ", ".join(name for name in wrote if name) or "-"


def _options(values: Mapping[str, object]) -> str:
    return ", ".join(f"{name}={value}" for name, value in values.items()) or "-"


def _warnings(runs: Sequence[Analysis]) -> Iterator[Words]:
    for run in runs:
        said = " ".join(_lacks(run))
        if said:
            yield Words(f"{run.name}: {said}" if len(runs) > 1 else said, warning=True)


def _lacks(run: Analysis) -> Iterator[str]:
    asked = len(run.of.scored)
    failed = sum(map(len, run.errors.values()))
    if run.of.unasked:
        yield f"This run is not complete: {run.of.unasked} questions were not asked."
    if failed:
        yield f"{failed} of {asked} questions failed: no figure but `failed` counts them."
    if run.of.unjudged:
        yield (
            f"{run.of.unjudged} replies are not judged yet. `atlas eval --resume` with the folder "
            "of the run judges them."
        )
    if run.took.fallbacks:
        yield f"{run.took.fallbacks} answers are not the language model's (fallback)."
    if run.took.cache_hits:
        yield f"{run.took.cache_hits:.0%} of the answers had been kept from before."
