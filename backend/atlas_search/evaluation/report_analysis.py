"""Analysis of runs: material, findings, faults and outcomes."""

import logging
from collections import Counter
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from math import isfinite
from pathlib import Path
from typing import Literal, NamedTuple, TypeVar

from rich.table import Column, Table
from rich.text import Text

from atlas_search.core.errors import AtlasError, SourceError
from atlas_search.evaluation.carry_out import Operations, operations
from atlas_search.evaluation.confidence import Bin, CoveragePoint, curve, outcomes, reliability
from atlas_search.evaluation.folder import RUN, Part, RunFolder
from atlas_search.evaluation.grid import GRID, Grid
from atlas_search.evaluation.metrics import confusion
from atlas_search.evaluation.run import EvalRun, RunSpec
from atlas_search.evaluation.scored import (
    CATEGORY,
    CORPUS,
    FAILED,
    SPLIT,
    Scored,
    by_category,
    slices,
    summarise,
    visible,
)
from atlas_search.evaluation.statistics import Figure
from atlas_search.stores.manifest import Calibration

COLUMNS = {
    "recall": "recall",
    "MRR": "mrr",
    "EM": "exact_match",
    "F1": "f1",
    "Sem": "similarity",
    "contains": "contains",
    "gold": "cites_gold",
    "answered": "answered",
    "rejected": "rejected",
    "decided": "decided",
    "valid": "citation_valid",
    "SentG": "sentence_groundedness",
    "Gnd": "grounded",
}
"""The figures of a table by the heads of their columns."""

WIDTH = 135
"""Characters of a line; the table of the bundled labels needs a few less."""

_CAPTION = (
    "Of answerable questions: recall, MRR, EM, F1, contains, gold (cited) and answered; an "
    "unanswered one counts 0. Of those answered: Sem. Of unanswerable ones: rejected. Of all: "
    "decided (answered or not, rightly) and valid. Of answers: SentG and Gnd. Below each figure is "
    "its 95% interval, in hundredths."
)


def evaluation_table(title: str, scored: Sequence[Scored]) -> Table:
    """A row for all questions, and one for each category: figures with their intervals."""
    heads = [Column(head, justify="right", no_wrap=True) for head in ("n", *COLUMNS)]
    table = Table("category", *heads, caption=_CAPTION, box=None, padding=(0, 1, 0, 0))
    table.title = Text(visible(title))  # no markup here and below: a category may be [legal]
    asked = Counter(f"{CATEGORY}.{one.label.category}" for one in scored)
    for group, summary in by_category(scored).items():
        name, questions = group.removeprefix(f"{CATEGORY}."), asked.get(group, len(scored))
        figures = (_with_interval(summary.get(figure)) for figure in COLUMNS.values())
        table.add_row(Text(visible(name)), str(questions), *figures)
    return table


def index_table(recall: Mapping[str, Figure], asked: Collection[str]) -> Table:
    """Return what an audit of the index found: a row for all corpora, and one for each.

    Searches of the corpora that are `asked` use it.
    """
    heads = [Column(head, justify="right") for head in ("n", "index recall", "95% interval")]
    table = Table("corpus", *heads, "searches", title="index of vectors", box=None, padding=(0, 1))
    for name, figure in recall.items():
        corpus = name.partition(".")[2] or "all"
        interval = f"{figure.low:.3f} to {figure.high:.3f}"
        by = searched_by(name, asked)
        table.add_row(corpus, str(figure.questions), f"{figure.mean:.3f}", interval, by)
    return table


def searched_by(figure: str, asked: Collection[str]) -> str:
    """Return how searches find what is nearest in the corpus of a figure of `index_recall`."""
    corpus = figure.partition(".")[2]
    if not corpus:
        return ""
    return "ask the index" if corpus in asked else "compare every vector"


def calibration_text(collection: str, found: Calibration, before: float, *, kept: bool) -> str:
    """Return what a calibration chose, and what it does to the questions it was chosen from."""
    basis = {"labels": "labelled", "made": "made"}[found.basis]
    return (
        f"{collection}: answers need an evidence of {found.threshold:.4f} (so far {before:.4f}).\n"
        f"{found.good} {basis} questions: {found.lost:.1%} lost. "
        f"{found.off_topic} off-topic questions: {found.rejected:.1%} rejected.\n"
        + (
            "Written into the manifest. A target with an ANSWER_THRESHOLD of its own does not "
            "follow it."
            if kept
            else "Nothing was written."
        )
    )


def _with_interval(figure: Figure | None) -> str:
    if figure is None:
        return "-"
    return f"{figure.mean:.3f}\n{100 * figure.low:.0f}-{100 * figure.high:.0f}"


def wrongly_decided(one: Scored) -> bool:
    """Return whether it was answered or declined, and should not have been."""
    return 0.0 in (one.figures.get("decided"), one.figures.get("as_expected"))


def found(one: Scored) -> bool | None:
    """Return whether anything of what is gold was found; None where nothing gold is known."""
    if "recall" in one.figures:
        return one.figures["recall"] > 0
    deepest = [value for name, value in one.figures.items() if name.startswith("passage_recall@")]
    return max(deepest) > 0 if deepest else None


def closeness(one: Scored) -> float | None:
    """Return F1 as the closeness to what is known, of a search the reciprocal rank; or None."""
    return one.figures.get("mrr" if one.reply.found else "f1")


def is_wrong(one: Scored) -> bool:
    """Return whether something is; of a question without a reply it is not known."""
    if one.reply.error:
        return False
    near = closeness(one)
    return wrongly_decided(one) or found(one) is False or (near is not None and near < 1)


def worst(scored: Sequence[Scored]) -> list[Scored]:
    """Questions where something is wrong: wrong decisions first, then what was not found, then the
    lowest `closeness`; of equal ones by id. Those without a reply are not among them."""

    def order(one: Scored) -> tuple[bool, bool, float, str]:
        near = closeness(one)
        missed = found(one) is False
        return (not wrongly_decided(one), not missed, 1.0 if near is None else near, one.label.id)

    return sorted(filter(is_wrong, scored), key=order)


def gold_of(one: Scored) -> list[str]:
    """Ids of the gold documents, or of the gold passages where only these are known."""
    return list(one.label.relevance) or sorted(one.label.gold_passage_ids)


def cited_documents(one: Scored) -> list[str]:
    """Ids of the cited documents, each once, in the order of the citations."""
    citations = one.reply.answer.citations if one.reply.answer else []
    return list(dict.fromkeys(citation.document_id for citation in citations))


class ReportFinding(NamedTuple):
    """Questions of which a rule holds, by id, of so many of which it could (`of`).

    `stage` is where it happened.
    """

    stage: str
    rule: str
    questions: tuple[str, ...]
    of: int


class _Rule(NamedTuple):
    stage: str
    rule: str
    could: Callable[[Scored], bool]
    holds: Callable[[Scored], bool]


def _is(name: str, value: float) -> Callable[[Scored], bool]:
    return lambda one: one.figures.get(name) == value


_RULES = (
    _Rule("asking", "No reply came, but an error", lambda _: True, lambda o: bool(o.reply.error)),
    _Rule(
        "model",
        "The sources' own sentences stand in for the language model's",
        lambda one: one.reply.answer is not None,
        lambda one: one.reply.answer is not None and one.reply.answer.fallback is not None,
    ),
    _Rule(
        "retrieval",
        "Nothing gold is among the passages",
        lambda one: found(one) is not None,
        lambda one: found(one) is False,
    ),
    _Rule(
        "decision",
        "Declined, though something gold is among the passages",
        lambda one: "answered" in one.figures and bool(found(one)),
        _is("answered", 0),
    ),
    _Rule(
        "decision",
        "Answered, though the collection does not hold the answer",
        lambda one: "false_accept" in one.figures,
        _is("false_accept", 1),
    ),
    _Rule(
        "citation",
        "Answered, and the gold document was found but not cited",
        lambda one: one.reply.answered and "cites_gold" in one.figures and bool(found(one)),
        _is("cites_gold", 0),
    ),
    _Rule(
        "reading",
        "The gold document is cited, and the answer does not hold the reference",
        lambda one: one.figures.get("cites_gold") == 1 and "contains" in one.figures,
        _is("contains", 0),
    ),
    _Rule(
        "citation",
        "A sentence of the answer has no valid citation",
        lambda one: "grounded" in one.figures,
        _is("grounded", 0),
    ),
    _Rule(
        "sources",
        "All citations are of superseded sources",
        lambda one: "superseded" in one.figures,
        _is("superseded", 1),
    ),
)


def findings(scored: Sequence[Scored]) -> list[ReportFinding]:
    """The rules that hold of a question, most questions first; of equal ones in their order."""
    told = (_finding(rule, scored) for rule in _RULES)
    return sorted((each for each in told if each.questions), key=lambda each: -len(each.questions))


def _finding(rule: _Rule, scored: Sequence[Scored]) -> ReportFinding:
    could = [one for one in scored if rule.could(one)]
    ids = tuple(one.label.id for one in could if rule.holds(one))
    return ReportFinding(rule.stage, rule.rule, ids, len(could))


_PARTS: dict[Part, str] = {
    "run": "The run ended early",
    "judge": "Not judged",
    "audit": "The index was not audited",
}


MetricsSource = Literal["judge", "mixed", "heuristic", "none"]


@dataclass(frozen=True)
class Analysis:
    """A run with every question that has a reply, and its analysis, each part computed once.

    `unasked` questions have none. `unjudged` ones have a reply and no figures: the process was
    ended before it judged them. `troubles` say what else failed, `damage` what of it
    cannot be read.
    """

    name: str
    run: EvalRun
    unasked: int
    unjudged: int
    troubles: tuple[str, ...] = ()
    damage: tuple[str, ...] = ()

    @property
    def spec(self) -> RunSpec:
        """Return what was asked of whom."""
        return self.run.spec

    @property
    def scored(self) -> tuple[Scored, ...]:
        """Return how each question went."""
        return self.run.scored

    @property
    def k(self) -> int | None:
        """Return how many passages were wanted; None if the run does not say it."""
        said = self.spec.k or self.spec.options.get("search_k")
        return int(said) if said else None

    @cached_property
    def slices(self) -> dict[str, list[Scored]]:
        """The questions of `all`, and of each `category.`, `corpus.` and `split.`, by name."""
        scored = {one.label.id: one for one in self.scored}
        labels = (one.label for one in self.scored)
        found = slices(labels, self.spec.corpora, (CATEGORY, CORPUS, SPLIT))
        return {name: [scored[id_] for id_ in ids] for name, ids in found.items()}

    @cached_property
    def figures(self) -> dict[str, dict[str, Figure]]:
        """The figures of each slice."""
        found = {name: summarise(members) for name, members in self.slices.items()}
        return found | {"all": found["all"] | self.spec.index_recall}

    @property
    def all(self) -> Mapping[str, Figure]:
        """The figures over all questions."""
        return self.figures["all"]

    @cached_property
    def sources(self) -> dict[str, MetricsSource]:
        """Return who gave each figure that a judge or a heuristic can give."""
        given: dict[str, set[str]] = {}
        for one in self.scored:
            for name, source in one.sources.items():
                given.setdefault(name, set()).add(source)
        return {name: _one_source(found) for name, found in given.items()}

    @property
    def metrics_source(self) -> MetricsSource:
        """Return who gave them all."""
        return _one_source(set(self.sources.values()))

    @cached_property
    def took(self) -> Operations:
        """Time, tokens and money."""
        return operations(self.run)

    @cached_property
    def confusion(self) -> list[tuple[str, str, int]]:
        """Expected and taken decision, and how many questions have both; sorted."""
        asked = ((one.label, one.reply) for one in self.scored)
        return sorted((*pair, count) for pair, count in confusion(asked).items())

    @cached_property
    def reliability(self) -> list[Bin]:
        """Return how often answers of each likelihood are right."""
        return reliability(self.scored)

    @cached_property
    def curve(self) -> list[CoveragePoint]:
        """Precision against coverage."""
        return curve(self.scored)

    @cached_property
    def judged_questions(self) -> int:
        """Return how many questions the curve is of."""
        return len(outcomes(self.scored))

    @cached_property
    def findings(self) -> list[ReportFinding]:
        """Return what to look at."""
        return findings(self.scored)

    @cached_property
    def errors(self) -> dict[str, list[str]]:
        """Ids of the questions that failed with each error, the most frequent first."""
        return {
            error: [one.label.id for one in self.scored if one.reply.error == error]
            for error, _ in Counter(self.run.failed).most_common()
        }


def read_runs(paths: Sequence[Path]) -> list[Analysis]:
    """The runs of these folders, and of the grids among them. Raises SourceError."""
    if len(paths) == 1 and _is_grid(paths[0]):
        folders = _folders(paths[0])
        names = _without_common_start([folder.name for folder in folders])
    else:
        folders = [found for path in paths for found in _folders(path)]
        names = _names(folders)
    return [_read(RunFolder(folder), name) for folder, name in zip(folders, names, strict=True)]


def _is_grid(path: Path) -> bool:
    return (path / GRID).is_file() and not (path / RUN).is_file()


def _folders(path: Path) -> list[Path]:
    if not _is_grid(path):
        return [path]
    runs = (path / run.folder for run in Grid(path).spec().runs)
    return [run for run in runs if (run / RUN).is_file()]


def _without_common_start(names: Sequence[str]) -> list[str]:
    """Return what tells them apart: `target_k3-dev`, `target_k5-dev` without `target_`."""
    same = ""
    for part in names[0].split("_")[:-1] if len(names) > 1 else ():
        if not all(name.startswith(f"{same}{part}_") for name in names):
            break
        same += f"{part}_"
    return [name.removeprefix(same) for name in names]


def _names(folders: Sequence[Path]) -> list[str]:
    """Return those of the folders, with their parents' where two have the same."""
    names = [folder.absolute().name for folder in folders]
    return [
        name if names.count(name) == 1 else f"{folder.absolute().parent.name}/{name}"
        for folder, name in zip(folders, names, strict=True)
    ]


def _read(folder: RunFolder, name: str) -> Analysis:
    damaged: list[str] = []
    spec, labels, replies = folder.spec(), folder.labels(_unheard), folder.replies(_unheard)
    loaded = folder.load(lambda error: damaged.append(str(error)))
    judged = {one.label.id: _with_numbers(one) for one in loaded.scored}
    scored = tuple(
        judged.get(label.id) or Scored(label, reply, {FAILED: float(bool(reply.error))})
        for label in labels
        if (reply := replies.get(label.id))
    )
    return Analysis(
        name=name,
        run=EvalRun(spec, scored),
        unasked=len(labels) - len(scored),
        unjudged=sum(one.label.id not in judged and not one.reply.error for one in scored),
        troubles=tuple(_failed(folder)),
        damage=tuple(dict.fromkeys(damaged)),
    )


def _failed(folder: RunFolder) -> list[str]:
    return [f"{_PARTS[part]}: {why}" for part, why in folder.troubles().items()]


def _unheard(_: SourceError) -> None:
    """The run that is loaded tells it."""


def _with_numbers(one: Scored) -> Scored:
    """Without figures that are none: what is no number says nothing of a question."""
    return replace(one, figures={n: value for n, value in one.figures.items() if isfinite(value)})


def _one_source(given: set[str]) -> MetricsSource:
    given -= {"fixed", "none"}
    if not given:
        return "none"
    if given == {"judge"}:
        return "judge"
    return "heuristic" if given == {"heuristic"} else "mixed"


_log = logging.getLogger(__name__)

Made = TypeVar("Made")


class ReportFault(NamedTuple):
    """A part of a report that failed, and why."""

    report: str
    part: str
    error: str

    def __str__(self) -> str:  # noqa: D105
        of = f", {self.part}" if self.part else ""
        return f"{self.report}{of}: {self.error}"


@dataclass
class Faults:
    """All that failed so far, each once."""

    found: list[ReportFault] = field(default_factory=list)

    def add(self, report: str, part: str, error: Exception) -> ReportFault:
        """Keep why a part failed; what nobody raises on purpose is logged whole."""
        if isinstance(error, AtlasError | OSError):
            said = str(error)
        else:
            _log.error("%s: %s cannot be written.", report, part or "it", exc_info=error)
            said = f"{type(error).__name__}: {error}"
        fault = ReportFault(report, part, said)
        if fault not in self.found:
            self.found.append(fault)
        return fault

    def attempt(self, report: str, part: str, make: Callable[[], Made]) -> Made | ReportFault:
        """Return what `make` gives, else why it does not."""
        try:
            return make()
        except Exception as error:
            return self.add(report, part, error)
