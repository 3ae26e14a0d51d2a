"""Sections of a report."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

from atlas_search.core.locator import place_in_words
from atlas_search.core.registry import DISTRIBUTION
from atlas_search.core.wire import RankedPassageOut
from atlas_search.evaluation.metrics import METRICS, known_metric
from atlas_search.evaluation.report_analysis import (
    Analysis,
    Faults,
    ReportFault,
    cited_documents,
    closeness,
    found,
    gold_of,
    is_wrong,
    searched_by,
    worst,
    wrongly_decided,
)
from atlas_search.evaluation.report_blocks import (
    Block,
    Report,
    ReportSection,
    ReportText,
    Table,
    of_runs,
)
from atlas_search.evaluation.report_plots import (
    by_category,
    by_corpus,
    by_split,
    confidence,
)
from atlas_search.evaluation.run import PROCESS, RunSpec
from atlas_search.evaluation.scored import (
    TITLES,
    Scored,
    ids,
    number,
    share,
    shortened,
    title_of,
    with_ends,
    with_interval,
)
from atlas_search.evaluation.statistics import Figure

_SOURCES = {
    "judge": "a language model (judge)",
    "mixed": "a language model (judge), some by shared words (heuristic)",
    "heuristic": "shared words (heuristic): no language model judged",
    "none": "no metric of this run needs a judge",
}

_OF_ITS_OWN = ("Started", "Run", "Command")
"""What differs from run to run, and says nothing."""

_FOLDED = ("Options", "Models", "Versions", "Seed", "Run", "Command")


def about(runs: Sequence[Analysis]) -> ReportSection:
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
    return ReportSection("What was evaluated", tuple(blocks))


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
    every = [run.spec.options for run in runs]
    names = dict.fromkeys(name for options in every for name in options)
    return [name for name in names if any(o.get(name) != every[0].get(name) for o in every)]


def _facts(run: Analysis, differ: Sequence[str]) -> dict[str, str]:
    """Return what is told of a run; of its options those that `differ` each by itself."""
    spec = run.spec
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
        "Passages (k)": str(run.k or "-"),
        "Written by": _writers(run),
        **own,
        "Options": _options(alike),
        "Estimates by": _SOURCES[run.metrics_source],
        "Index of vectors": _index(spec),
        "Day": str(spec.today or spec.started.date()),
        "Seed": str(spec.seed),
        "Models": _options(spec.settings),
        "Atlas": spec.versions.get(DISTRIBUTION, "-"),
        "Versions": ", ".join(f"{name} {value}" for name, value in spec.versions.items()) or "-",
        "Started": f"{spec.started:%Y-%m-%d %H:%M} UTC",
        "Run": spec.id,
        "Command": spec.command or "-",
    }


def _questions(run: Analysis) -> str:
    used = run.spec.labels
    split = f", split {used.split}" if used.split else ""
    drawn = ", drawn at random" if run.spec.limit else ""
    return f"{used.questions} of {used.name}{split}{drawn} (SHA-256 {used.sha256[:12]})"


def _writers(run: Analysis) -> str:
    answers = [one.reply.answer for one in run.scored if one.reply.answer]
    wrote = dict.fromkeys(" ".join(answer.written_by).strip() for answer in answers)
    return ", ".join(name for name in wrote if name) or "-"


def _index(spec: RunSpec) -> str:
    """Return what an audit of the index found in each corpus, and whether its searches ask it."""
    found = [
        f"{name.partition('.')[2]}: {figure.mean:.3f} found (searches "
        f"{searched_by(name, spec.index_asked)})"
        for name, figure in spec.index_recall.items()
        if "." in name
    ]
    return ", ".join(found) or "not audited"


def _options(values: Mapping[str, object]) -> str:
    return ", ".join(f"{name}={value}" for name, value in values.items()) or "-"


def _warnings(runs: Sequence[Analysis]) -> Iterator[ReportText]:
    for run in runs:
        said = " ".join(_lacks(run))
        if said:
            yield ReportText(f"{run.name}: {said}" if len(runs) > 1 else said, warning=True)


def _lacks(run: Analysis) -> Iterator[str]:
    asked = len(run.scored)
    failed = len(run.run.failed)
    if run.unasked:
        yield f"This run is not complete: {run.unasked} questions were not asked."
    if failed:
        yield f"{failed} of {asked} questions failed: no figure but `failed` counts them."
    if run.unjudged:
        yield (
            f"{run.unjudged} replies are not judged yet. `atlas eval --resume` with the folder "
            "of the run judges them."
        )
    if lacking := run.run.lacking:
        yield (
            f"{len(lacking)} of {asked} questions lack figures: {lacking[0]} `atlas eval --resume` "
            "with the folder of the run computes them."
        )
    yield from run.troubles
    yield from run.damage
    if run.took.fallbacks:
        yield f"{run.took.fallbacks} answers are not the language model's (fallback)."
    if run.took.cache_hits:
        yield f"{run.took.cache_hits:.0%} of the answers had been kept from before."


_DECISIONS = ("decided", "answered", "rejected", "false_refusal", "false_accept", "as_expected")
_KINDS = ("ANSWER", "ABSTAIN", "BLOCK")


def decisions(runs: Sequence[Analysis]) -> ReportSection:
    """Return which decision was expected and which was taken."""
    told = [run for run in runs if run.confusion]
    if not told:
        return ReportSection(
            "Decisions", (ReportText("Nothing was decided: no question was answered."),)
        )
    names = [name for name in _DECISIONS if any(name in run.all for run in told)]
    cells = tuple((run.name, *(with_interval(run.all.get(name)) for name in names)) for run in told)
    heads = ("Run", *map(title_of, names))
    figures = of_runs(len(runs), Table("Decisions that were right and wrong", heads, cells))
    return ReportSection("Decisions", (*(_confusion(run, len(runs)) for run in told), figures))


def _confusion(run: Analysis, runs: int) -> Table:
    counts = {(expected, taken): count for expected, taken, count in run.confusion}
    expected = [kind for kind in _KINDS if any(pair[0] == kind for pair in counts)]
    of = f" of {run.name}" if runs > 1 else ""
    return Table(
        f"Questions{of} by the decision that was expected (rows) and taken (columns)",
        ("Expected", *(f"Took {kind}" for kind in _KINDS)),
        tuple((own, *(str(counts.get((own, kind), 0)) for kind in _KINDS)) for own in expected),
    )


_WORST = 10
_PASSAGES = 5
_ERRORS = 10

_CLOSENESS = {False: "F1", True: "Reciprocal rank"}
"""What `closeness` is, by whether a run only searched."""

_RULE = (
    "Wrong decisions come first, then questions of which nothing gold was found, then those with "
    "the lowest F1 (of searches the lowest reciprocal rank)."
)


def to_look_at(runs: Sequence[Analysis]) -> ReportSection:
    """The rules that hold of questions."""
    table = _rules(runs[0]) if len(runs) == 1 else _rules_of_runs(runs)
    told = table if table.rows else ReportText("No rule holds of any question.")
    return ReportSection("What to look at", (told,))


def _rules(run: Analysis) -> Table:
    rows = tuple(
        (each.stage, each.rule, share(len(each.questions), each.of), ids(each.questions))
        for each in run.findings
    )
    heads = ("Stage", "What happened", "Questions", "Which")
    return Table("By rule, most first", heads, rows, texts=4)


def _rules_of_runs(runs: Sequence[Analysis]) -> Table:
    """Return how many questions of each run."""
    found = {
        (each.stage, each.rule, run.name): f"{len(each.questions)} of {each.of}"
        for run in runs
        for each in run.findings
    }
    rules = dict.fromkeys((stage, rule) for stage, rule, _ in found)
    rows = tuple((*rule, *(found.get((*rule, run.name), "0") for run in runs)) for rule in rules)
    heads = ("Stage", "What happened", *(run.name for run in runs))
    return Table("Questions by rule", heads, rows, texts=2)


def worst_questions(runs: Sequence[Analysis]) -> ReportSection:
    """The worst, with what was retrieved instead; of several runs those that most get wrong."""
    if len(runs) > 1:
        return ReportSection("Worst questions", (_of_most_runs(runs),))
    told = worst(runs[0].scored)
    if not told:
        return ReportSection("Worst questions", (ReportText("Nothing is wrong with a question."),))
    of = f" The first {_WORST} of {len(told)}:" if len(told) > _WORST else ""
    return ReportSection(
        "Worst questions", (ReportText(_RULE + of), *map(_question, told[:_WORST]))
    )


def _of_most_runs(runs: Sequence[Analysis]) -> Block:
    asked: dict[str, list[Scored]] = {}
    for run in runs:
        for one in run.scored:
            if not one.reply.error:
                asked.setdefault(one.label.id, []).append(one)

    def order(id_: str) -> tuple[int, int, float, str]:
        same, near = asked[id_], _mean_closeness(asked[id_])
        return (-_wrong(same), -_missed(same), 1.0 if near is None else near, id_)

    ids_ = sorted((id_ for id_, same in asked.items() if any(map(is_wrong, same))), key=order)
    if not ids_:
        return ReportText("Nothing is wrong with a question.")
    rows = tuple(
        (
            id_,
            shortened(asked[id_][0].label.question, 200),
            share(_wrong(asked[id_]), len(asked[id_])),
            share(_missed(asked[id_]), len(asked[id_])),
            number(_mean_closeness(asked[id_])),
        )
        for id_ in ids_[:_WORST]
    )
    near = " or ".join(dict.fromkeys(_CLOSENESS[run.spec.search_only] for run in runs))
    heads = ("Id", "Question", "Runs that decided wrongly", "Runs that found nothing gold", near)
    caption = "Questions that most runs get wrong; the report of a run has its passages"
    return Table(caption, heads, rows, texts=2)


def _wrong(same: Sequence[Scored]) -> int:
    return sum(map(wrongly_decided, same))


def _missed(same: Sequence[Scored]) -> int:
    return sum(found(one) is False for one in same)


def _mean_closeness(same: Sequence[Scored]) -> float | None:
    known = [near for one in same if (near := closeness(one)) is not None]
    return sum(known) / len(known) if known else None


def errors(runs: Sequence[Analysis]) -> ReportSection:
    """Return why nothing came back."""
    rows = tuple(
        (run.name, shortened(error), ids(questions), str(len(questions)))
        for run in runs
        for error, questions in list(run.errors.items())[:_ERRORS]
    )
    if not rows:
        return ReportSection("Errors", (ReportText("Every question that was asked has a reply."),))
    heads = ("Run", "Error", "Questions", "Count")
    table = Table("Most frequent first", heads, rows, texts=3)
    return ReportSection("Errors", (of_runs(len(runs), table),))


def _question(one: Scored) -> ReportSection:
    facts = Table(f"Question {one.label.id}", ("", ""), tuple(_question_facts(one)), texts=2)
    passages = tuple(
        _passage(rank, passage, one)
        for rank, passage in enumerate(one.reply.passages[:_PASSAGES], start=1)
    )
    title = shortened(one.label.question, 200)
    if not passages:
        return ReportSection(title, (facts, ReportText("No passage came back.")))
    heads = ("Retrieved", "Place", "Gold", "Best signal", "Rank", "Score")
    return ReportSection(title, (facts, Table("What was retrieved", heads, passages, texts=4)))


def _question_facts(one: Scored) -> Iterator[tuple[str, str]]:
    answer = one.reply.answer
    yield "Id, category", f"{one.label.id}, {one.label.category or '-'}"
    if answer:
        yield "Decision", f"{answer.decision}: {answer.reason.message or answer.reason.code}"
        yield "Answer", shortened(answer.answer or "-")
    yield "Reference", " | ".join(shortened(text) for text in one.label.answers[:3]) or "-"
    nothing = "not known" if one.label.answerable else "none: the collection lacks the answer"
    yield "Gold", ids(gold_of(one)) or nothing
    yield "Gold found", {True: "yes", False: "no", None: "-"}[found(one)]
    if answer:
        yield "Cited", ids(cited_documents(one)) or "-"
    names = ("decided", "recall", "mrr", "f1", "sentence_groundedness")
    known = (f"{name} {number(one.figures[name])}" for name in names if name in one.figures)
    yield "Figures", ", ".join(known)


def _passage(rank: int, passage: RankedPassageOut, one: Scored) -> tuple[str, ...]:
    gold = {*one.label.relevance, *one.label.gold_passage_ids}
    is_gold = passage.document_id in gold or passage.passage_id in gold
    own = passage.locator, passage.page, passage.printed_page, passage.metadata
    return (
        shortened(f"{passage.title} ({passage.document_id})", 160),
        shortened(place_in_words(*own), 80) or "-",
        "gold" if is_gold else "-",
        _best_signal(passage),
        str(rank),
        number(passage.score, 3),
    )


def _best_signal(passage: RankedPassageOut) -> str:
    if not passage.signals:
        return "-"
    name = max(sorted(passage.signals), key=lambda signal: passage.signals[signal])
    return f"{name} {number(passage.signals[name])}"


INTERVALS = (
    "Every figure is a mean over the questions that it says something of (n). Of 100 intervals "
    "made like these (bootstrap), about 95 hold the mean over all such questions; of few questions "
    "or of ones that all went alike, fewer do."
)

_SIDE_BY_SIDE = (
    "decided",
    "recall",
    "mrr",
    "f1",
    "similarity",
    "cites_gold",
    "sentence_groundedness",
)


def summary(runs: Sequence[Analysis]) -> ReportSection:
    """The figures that matter most; of several runs a row for each."""
    blocks: list[Block] = [ReportText(INTERVALS)]
    if len(runs) > 1:
        blocks.append(_side_by_side(runs))
    elif named := _named(runs[0]):
        blocks.append(_figures("Figures over all questions", runs[0], named))
    else:
        blocks = [ReportText("No question has a figure.", warning=True)]
    return ReportSection("Summary", tuple(blocks))


def all_figures(runs: Sequence[Analysis]) -> ReportSection:
    """Everything that was measured."""
    tables = tuple(
        _figures(f"All figures of {run.name}", run, in_order(run.all), folded=True) for run in runs
    )
    return ReportSection("All figures", tables)


def in_order(figures: Iterable[str]) -> list[str]:
    """Names of figures as the catalogue has them, then by name; unknown ones last."""
    places = {name: place for place, name in enumerate(METRICS)}

    def place(name: str) -> tuple[int, int, str]:
        known = known_metric(name)
        depth = name.partition("@")[2]
        return (places[known.name] if known else len(places), int(depth or 0), name)

    return sorted(figures, key=place)


def _named(run: Analysis) -> list[str]:
    return [name for name in dict.fromkeys([*TITLES, *in_order(run.sources)]) if name in run.all]


def _figures(caption: str, run: Analysis, names: Sequence[str], *, folded: bool = False) -> Table:
    rows = tuple(_row(name, run.all[name], run.sources) for name in names)
    heads = ("Figure", "Value", "95% interval", "n", "Says")
    return Table(caption, heads, rows, folded=folded, remark=True)


def _row(name: str, figure: Figure, sources: Mapping[str, str]) -> tuple[str, ...]:
    metric = known_metric(name)
    says = f"{metric.description}. Of: {metric.of}." if metric else "Not known to this version."
    if metric and metric.better == "lower":
        says += " Lower is better."
    if name in sources:
        says += f" By: {sources[name]}."
    interval = f"{number(figure.low)} to {number(figure.high)}"
    return (title_of(name), number(figure.mean, 3), interval, str(figure.questions), says)


def _side_by_side(runs: Sequence[Analysis]) -> Table:
    names = [name for name in _SIDE_BY_SIDE if any(name in run.all for run in runs)]
    rows = tuple(
        (
            run.name,
            str(run.k or "-"),
            str(len(run.scored)),
            *(with_interval(run.all.get(name)) for name in names),
        )
        for run in runs
    )
    heads = ("Run", "k", "Questions", *map(title_of, names))
    return Table("The runs side by side", heads, rows)


_AT_DEPTH = ("recall", "precision", "ndcg", "success")


def by_depth(runs: Sequence[Analysis]) -> ReportSection:
    """Figures of the first k documents, a table for each run."""
    tables = [table for run in runs if (table := _at_depths(run, folded=len(runs) > 1))]
    nothing = ReportText("No question has gold documents, so nothing can be said of the first k.")
    return ReportSection("Retrieval at each depth", tuple(tables) or (nothing,))


def _at_depths(run: Analysis, *, folded: bool) -> Table | None:
    found: dict[str, dict[int, Figure]] = {}
    for figure, value in run.all.items():
        name, _, k = figure.partition("@")
        if name in _AT_DEPTH and k.isdigit():
            found.setdefault(name, {})[int(k)] = value
    depths = sorted({depth for figures in found.values() for depth in figures})
    rows = tuple(
        (f"{name}@k", *(with_interval(found[name].get(depth)) for depth in depths))
        for name in _AT_DEPTH
        if name in found
    )
    heads = ("Figure", *(f"k={depth}" for depth in depths))
    return Table(f"First k documents of {run.name}", heads, rows, folded=folded) if rows else None


def took(runs: Sequence[Analysis]) -> ReportSection:
    """A row for each run, and the time of each stage."""
    heads = (
        "Run", "Questions", "Failed", "Asked again", "Fallbacks", "p50 s", "p95 s",
        "Prompt tokens", "Tokens written", "Tokens/s", "Cost per 100",
    )  # fmt: skip
    table = Table("Time, tokens and money", heads, tuple(_time_row(run) for run in runs))
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
    return ReportSection("Operations", tuple(blocks))


def _time_row(run: Analysis) -> tuple[str, ...]:
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


Sections = Sequence[tuple[str, Callable[[Sequence[Analysis]], ReportSection]]]
"""Titles, and what makes a section of runs."""

SECTIONS: Sections = (
    ("What was evaluated", about),
    ("Summary", summary),
    ("What to look at", to_look_at),
    ("Retrieval at each depth", by_depth),
    ("By category", by_category),
    ("By corpus", by_corpus),
    ("By split", by_split),
    ("Decisions", decisions),
    ("Confidence", confidence),
    ("Operations", took),
    ("Worst questions", worst_questions),
    ("Errors", errors),
    ("All figures", all_figures),
)


def report_of(runs: Sequence[Analysis], faults: Faults, sections: Sections = SECTIONS) -> Report:
    """The report of at least one run; faults are those of `report`."""
    told = tuple(_section(title, make, runs, faults) for title, make in sections)
    name = runs[0].spec.target if len(runs) == 1 else f"{len(runs)} runs"
    return Report(f"Evaluation of {name}", told)


def _section(
    title: str,
    make: Callable[[Sequence[Analysis]], ReportSection],
    runs: Sequence[Analysis],
    faults: Faults,
) -> ReportSection:
    made = faults.attempt("report", title, lambda: make(runs))
    if isinstance(made, ReportFault):
        return ReportSection(
            title, (ReportText(f"This part could not be written: {made.error}", warning=True),)
        )
    return made
