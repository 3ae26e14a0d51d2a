"""What was asked of whom, and what takes from the worth of the figures."""

from collections.abc import Iterator, Mapping, Sequence

from atlas_search.core.registry import DISTRIBUTION
from atlas_search.evaluation.report import searched_by
from atlas_search.evaluation.reports.analysis import Analysis
from atlas_search.evaluation.reports.blocks import Block, Section, Table, Words
from atlas_search.evaluation.run import PROCESS, RunSpec

_SOURCES = {
    "judge": "a language model (judge)",
    "mixed": "a language model (judge), some by shared words (heuristic)",
    "heuristic": "shared words (heuristic): no language model judged",
    "none": "no metric of this run needs a judge",
}

_OF_ITS_OWN = ("Started", "Run", "Command")
"""What differs from run to run, and says nothing."""

_FOLDED = ("Options", "Models", "Versions", "Seed", "Run", "Command")


def about(runs: Sequence[Analysis]) -> Section:
    """The mode of the runs: what all have in common, and what they differ in."""
    differ = _options_that_differ(runs)
    facts = [_facts(run, differ) for run in runs]
    common = {
        name: value for name, value in facts[0].items() if all(f[name] == value for f in facts)
    }
    shown = tuple((name, value) for name, value in common.items() if name not in _FOLDED)
    folded = tuple((name, value) for name, value in common.items() if name in _FOLDED)
    blocks: list[Block] = [*_warnings(runs), Table("What was asked of whom", ("", ""), shown, 2)]
    if len(runs) > 1:
        blocks.append(_differences(runs, facts))
    if folded:
        blocks.append(Table("All that it takes to do it again", ("", ""), folded, 2, folded=True))
    return Section("What was evaluated", tuple(blocks))


def _differences(runs: Sequence[Analysis], facts: Sequence[Mapping[str, str]]) -> Table:
    names = [
        name
        for name in facts[0]
        if name not in _OF_ITS_OWN and len({each[name] for each in facts}) > 1
    ]
    rows = tuple(
        (run.name, *(each[name] for name in names)) for run, each in zip(runs, facts, strict=True)
    )
    return Table("What differs", ("Run", *names), rows, texts=len(names) + 1)


def _options_that_differ(runs: Sequence[Analysis]) -> list[str]:
    every = [run.of.spec.options for run in runs]
    names = dict.fromkeys(name for options in every for name in options)
    return [name for name in names if any(o.get(name) != every[0].get(name) for o in every)]


def _facts(run: Analysis, differ: Sequence[str]) -> dict[str, str]:
    """What is told of a run; of its options those that `differ` each by itself."""
    spec = run.of.spec
    corpora = ", ".join(spec.corpora)
    alike = {name: value for name, value in spec.options.items() if name not in differ}
    own = {name: str(spec.options.get(name, "-")) for name in differ if name != "search_k"}
    return {
        "Mode": "Search only: nothing is answered" if spec.search_only else "Questions answered",
        "Target": spec.target,
        "Asked": "in this process" if spec.where == PROCESS else f"on the server {spec.where}",
        "Collection": f"{spec.collection}, version {spec.collection_version}",
        "Corpora": corpora or "-",
        "Questions": _questions(run),
        "Passages (k)": str(run.of.k or "-"),
        "Written by": _writers(run),
        **own,
        "Options": _options(alike),
        "Estimates by": _SOURCES[run.metrics_source],
        "Index of vectors": _index(spec),
        "Day": str(spec.today or spec.started.date()),
        "Seed": str(spec.seed),
        "Models": _options(spec.settings),
        "Atlas": _atlas(spec.versions),
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


def _index(spec: RunSpec) -> str:
    """What an audit of the index found in each corpus, and whether its searches ask it."""
    found = [
        f"{name.partition('.')[2]}: {figure.mean:.3f} found (searches "
        f"{searched_by(name, spec.index_asked)})"
        for name, figure in spec.index_recall.items()
        if "." in name
    ]
    return ", ".join(found) or "not audited"


def _atlas(versions: Mapping[str, str]) -> str:
    return versions.get(DISTRIBUTION, "-")


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
    lacking = [one.lacking for one in run.of.scored if one.lacking]
    if lacking:
        yield (
            f"{len(lacking)} of {asked} questions lack figures: {lacking[0]} `atlas eval --resume` "
            "with the folder of the run computes them."
        )
    yield from run.of.troubles
    yield from run.of.damage
    if run.took.fallbacks:
        yield f"{run.took.fallbacks} answers are not the language model's (fallback)."
    if run.took.cache_hits:
        yield f"{run.took.cache_hits:.0%} of the answers had been kept from before."
