"""The gate: rules and a baseline that a run must keep."""

import json
import tomllib
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError, model_validator

from atlas_search.core.errors import SourceError
from atlas_search.evaluation.compare import (
    CommonGround,
    changed_basis,
    changed_options,
    source_gaps,
)
from atlas_search.evaluation.compare_figures import (
    ALPHA,
    SECONDS,
    Baseline,
    QuestionFigures,
    QuestionPairs,
    RunFigures,
    better,
    is_known,
    is_worse,
    p_pairs,
    paired_differences,
    paired_values,
    pairs,
    question_figures,
    run_figures,
    unlike_sources,
)
from atlas_search.evaluation.confidence import FIGURES, set_figures
from atlas_search.evaluation.metrics import METRICS
from atlas_search.evaluation.run import EvalRun, JudgeUsed, RunSpec
from atlas_search.evaluation.scored import (
    ALL,
    CATEGORY,
    CORPUS,
    FAILED,
    MetricsSource,
    Scored,
    Source,
    slices,
)
from atlas_search.evaluation.statistics import SEED, holm, least_p_value


class Needs(BaseModel):
    """Bounds of a figure: `min` and `max` are bounds of its mean over a run.

    By `max_drop` at most it may be worse than the baseline, and with `significant` not worse by
    more than chance.
    """

    model_config = ConfigDict(extra="forbid", frozen=True, allow_inf_nan=False)

    min: float | None = None
    max: float | None = None
    max_drop: float | None = Field(None, ge=0)
    significant: bool = False

    @property
    def against(self) -> bool:
        """Return whether it needs a baseline."""
        return self.max_drop is not None or self.significant


@dataclass(frozen=True)
class GateRule:
    """Bounds of a figure in a slice."""

    slice: str
    figure: str
    needs: Needs


@dataclass(frozen=True)
class Rules:
    """All rules, one at least, in the order of slices and the file; `alpha` is for their number."""

    rules: tuple[GateRule, ...]
    alpha: float = ALPHA

    @property
    def compared(self) -> set[str]:
        """The figures that are held to a baseline."""
        return {rule.figure for rule in self.rules if rule.needs.against}


class _File(BaseModel):
    model_config = ConfigDict(extra="forbid")

    alpha: float = Field(ALPHA, gt=0, lt=1)
    all: dict[str, Needs] = {}
    corpus: dict[str, dict[str, Needs]] = {}
    category: dict[str, dict[str, Needs]] = {}


def read_rules(path: Path) -> Rules:
    """Raises SourceError if it is no file of rules, or holds one that nothing could fail."""
    file = _read(path)
    named = {ALL: file.all}
    named |= {f"{CORPUS}.{name}": figures for name, figures in file.corpus.items()}
    named |= {f"{CATEGORY}.{name}": figures for name, figures in file.category.items()}
    rules = [
        GateRule(slice_, figure, needs)
        for slice_, figures in named.items()
        for figure, needs in figures.items()
    ]
    if not rules:
        raise SourceError(f"{path} holds no rule, and a gate that checks nothing is open.")
    for rule in rules:
        if not (rule.needs.against or rule.needs.min is not None or rule.needs.max is not None):
            raise SourceError(
                f"{path}: {rule.slice}: {rule.figure} needs one of min, max, max_drop or "
                "significant = true."
            )
    return Rules(tuple(rules), file.alpha)


def _read(path: Path) -> _File:
    try:
        return _File.model_validate(tomllib.loads(path.read_text(encoding="utf-8")))
    except OSError as error:
        raise SourceError(f"{path} cannot be read: {error.strerror}.") from error
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise SourceError(f"{path} is not valid TOML: {error}.") from error
    except ValidationError as error:
        first = error.errors()[0]
        where = ".".join(map(str, first["loc"]))
        raise SourceError(f"{path}: `{where}`: {first['msg']}.") from error


FORM = 3
"""Of the file: what another form holds is not enough, or more than is understood."""


class _BaselineFile(BaseModel):
    model_config = ConfigDict(extra="forbid")

    form: int
    spec: RunSpec
    metrics_source: MetricsSource
    judge: JudgeUsed | None
    figures: list[str]
    questions: dict[str, tuple[str, list[float | None], dict[str, Source]]]

    @model_validator(mode="before")
    @classmethod
    def _of_this_form(cls, read: Any) -> Any:
        if isinstance(read, dict) and read.get("form", FORM) != FORM:
            raise ValueError(
                f"form {read['form']} is another version's: write it anew with `atlas eval "
                "baseline`"
            )
        return read


def baseline_of(run: EvalRun) -> Baseline:
    """The run itself as what another is held to."""
    return Baseline(run.spec, run_figures(run), run.metrics_source, run.judge)


def write_baseline(run: EvalRun, path: Path, only: Collection[str] = ()) -> None:
    """Write the figures of a run, all or `only` some. The same run gives the same bytes.

    In place of an earlier baseline, but of no other file: then SourceError is raised.
    """
    if path.is_file() and not path.read_bytes().lstrip().startswith(b'{"form":'):
        raise SourceError(f"{path} is there and no baseline, so it stays. Name another file.")
    figures = run_figures(run)
    known = {name for one in figures.values() for name in one.figures} - {SECONDS}
    names = sorted(known & set(only) if only else known)
    spec = json.dumps(run.spec.model_dump(mode="json"), indent=1, sort_keys=True)
    judge = json.dumps(run.judge.model_dump(mode="json") if run.judge else None, sort_keys=True)
    lines = (f"{json.dumps(id_)}: {_line(one, names)}" for id_, one in figures.items())
    path.write_text(
        f'{{"form": {FORM},\n"spec": {spec},\n"metrics_source": "{run.metrics_source}",\n'
        f'"judge": {judge},\n"figures": {json.dumps(names)},\n"questions": {{\n'
        + ",\n".join(lines)
        + "\n}}\n",
        encoding="utf-8",
    )


def read_baseline(path: Path) -> Baseline:
    """Return what `write_baseline` wrote. Raises SourceError."""
    try:
        read = _BaselineFile.model_validate_json(path.read_text(encoding="utf-8"))
    except (OSError, ValidationError, UnicodeDecodeError) as error:
        raise SourceError(f"{path} is no baseline of an evaluation: {error}") from error
    return Baseline(
        read.spec,
        {
            id_: QuestionFigures(digest, _figures(path, id_, read.figures, values), sources)
            for id_, (digest, values, sources) in read.questions.items()
        },
        read.metrics_source,
        read.judge,
    )


def _line(one: QuestionFigures, names: Sequence[str]) -> str:
    values = [one.figures.get(name) for name in names]
    sources = {name: one.sources[name] for name in names if name in one.sources}
    return json.dumps([one.digest, values, sources])


def _figures(
    path: Path, id_: str, names: Sequence[str], values: Sequence[float | None]
) -> dict[str, float]:
    if len(names) != len(values):
        raise SourceError(f"{path}: {id_} has {len(values)} of {len(names)} figures.")
    return {name: value for name, value in zip(names, values, strict=True) if value is not None}


Need = Literal["min", "max", "max_drop", "significant", "questions"]

_ROUNDING = 1e-9  # a mean of 0.95 may be written 0.9499999999999999
_IN_BOTH = ("max_drop", "significant")
_NONE_FAILED = GateRule(ALL, FAILED, Needs(max=0))


@dataclass(frozen=True)
class Check:
    """A need of a rule and how it came out.

    `value` is the mean of `questions`, or what was added to it against the baseline; both 0 where
    no question has the figure, which fails. The need `questions` is of no rule: a run has to be of
    all questions of its baseline, and the value is how many it has. `p` is corrected for the number
    of rules that need one, and 1 for others.
    """

    slice: str
    figure: str
    need: Need
    value: float
    needed: str
    questions: int
    p: float
    passed: bool


@dataclass(frozen=True, kw_only=True)
class Gate(CommonGround):
    """Every check; what the run has in common with the baseline, nothing without one."""

    checks: tuple[Check, ...]

    @property
    def failed(self) -> list[Check]:
        """The checks that did not pass; the run passes if there are none."""
        return [check for check in self.checks if not check.passed]


def gate(
    run: EvalRun,
    rules: Rules,
    baseline: Baseline | None = None,
    *,
    seed: int = SEED,
    allow_fewer: bool = False,
) -> Gate:
    """Hold a run to every need of every rule. Raises SourceError if they are not about such a run.

    Where no rule is about `failed`, a reply to every question is needed. A run of fewer questions
    than the baseline fails unless `allow_fewer`: the others may be those that became worse.
    """
    figures = run_figures(run)
    parts = slices((one.label for one in run.scored), run.spec.corpora)
    _check_whole(run)
    _check_names(rules, figures, parts)
    own = () if any(rule.figure == FAILED for rule in rules.rules) else (_NONE_FAILED,)
    scored = {one.label.id: one for one in run.scored}
    bounds = [
        check
        for rule in (*own, *rules.rules)
        for check in _bounds(rule, [scored[id_] for id_ in parts[rule.slice]])
    ]
    against = [rule for rule in rules.rules if rule.needs.against]
    if baseline is None:
        if against:
            raise SourceError(
                f"{against[0].slice}: {against[0].figure} is held to another run: name it, "
                "--against RUN."
            )
        return Gate(checks=tuple(bounds))
    common = pairs(baseline.figures, figures)
    both = set(common.common)
    shared = {name: [id_ for id_ in ids if id_ in both] for name, ids in parts.items()}
    values = [
        paired_values(baseline.figures, figures, shared[rule.slice], rule.figure)
        for rule in against
    ]
    changes = list(zip(against, map(paired_differences, values), strict=True))
    unlike = unlike_sources(baseline.figures, figures, common.common)
    return Gate(
        checks=(
            *([] if allow_fewer else _all_questions(common, len(baseline.figures))),
            *bounds,
            *_drops(changes),
            *_significances(changes, rules.alpha, seed),
        ),
        pairs=common,
        gaps=tuple(source_gaps({k: n for k, n in unlike.items() if k in rules.compared})),
        basis=tuple(changed_basis(baseline, run)),
        options=tuple(changed_options(baseline.spec, run.spec)),
    )


def _all_questions(common: QuestionPairs, wanted: int) -> list[Check]:
    """A check that fails, where questions of the baseline are left out or worded otherwise."""
    found = len(common.common)
    needed = f"all {wanted} questions of the baseline, in its words (--allow-fewer: those in both)"
    missing = Check(ALL, "questions", "questions", found, needed, found, 1.0, passed=False)
    return [missing] if found < wanted else []


def _check_whole(run: EvalRun) -> None:
    asked, wanted = len(run.scored), run.spec.labels.questions
    if asked < wanted or not asked:
        raise SourceError(
            f"The run {run.spec.id} has figures of {asked} of its {wanted} questions: go on with "
            "it first."
        )
    if lacking := run.lacking:
        raise SourceError(
            f"{len(lacking)} questions of the run {run.spec.id} lack figures ({lacking[0]}): go on "
            "with it first."
        )


def _check_names(rules: Rules, figures: RunFigures, parts: Mapping[str, Sequence[str]]) -> None:
    own = {name for one in figures.values() for name in one.figures}
    for rule in rules.rules:
        if rule.slice not in parts:
            raise SourceError(f"No question is in {rule.slice}. Known: {', '.join(parts)}.")
        if not (rule.figure in own or is_known(rule.figure)):
            known = ", ".join(sorted([*METRICS, SECONDS]))
            raise SourceError(f"{rule.slice}: {rule.figure} is no figure. Known: {known}.")
        if rule.needs.against and rule.figure in FIGURES:
            raise SourceError(
                f"{rule.slice}: {rule.figure} is of all questions together, so no two runs are "
                "compared by it: give min or max."
            )
        if rule.needs.max_drop is not None and better(rule.figure) == "none":
            raise SourceError(
                f"{rule.slice}: {rule.figure} is neither better high nor low, so it cannot drop: "
                "give min, max or significant."
            )


def _bounds(rule: GateRule, scored: Sequence[Scored]) -> Iterator[Check]:
    mean, questions = _value(rule.figure, scored)
    low, high = rule.needs.min, rule.needs.max
    if low is not None:
        passed = questions > 0 and mean >= low - _ROUNDING
        yield _check(rule, "min", mean, f">= {low:g}", questions, passed)
    if high is not None:
        passed = questions > 0 and mean <= high + _ROUNDING
        yield _check(rule, "max", mean, f"<= {high:g}", questions, passed)


def _value(figure: str, scored: Sequence[Scored]) -> tuple[float, int]:
    """The mean of a figure, or that of all together, and of how many questions; 0, 0 of none."""
    if figure in FIGURES:
        found = set_figures(scored).get(figure)
        return (found.mean, found.questions) if found else (0.0, 0)
    known = (question_figures(one).figures.get(figure) for one in scored)
    values = [value for value in known if value is not None]
    return _mean(values), len(values)


Changes = Sequence[tuple[GateRule, Sequence[float]]]
"""What was added to the figure of each question that has it in both."""


def _drops(changes: Changes) -> list[Check]:
    checks = []
    for rule, added in changes:
        if (allowed := rule.needs.max_drop) is not None:
            change = _mean(added)
            worse = is_worse(rule.figure, change) and abs(change) > allowed + _ROUNDING
            needed, passed = f"worse by {allowed:g} at most", bool(added) and not worse
            checks.append(_check(rule, "max_drop", change, needed, len(added), passed))
    return checks


def _significances(changes: Changes, alpha: float, seed: int) -> list[Check]:
    """A rule of too few questions for any p value below alpha fails.

    It would pass though every figure of every rule fell from 1 to 0.
    """
    tested = [(rule, added) for rule, added in changes if rule.needs.significant]
    p_values = p_pairs([added for _, added in tested], alpha, seed)
    least = holm([least_p_value(len(added)) for _, added in tested])
    checks = []
    for (rule, added), (_, p), least_p in zip(tested, p_values, least, strict=True):
        enough, change = least_p < alpha, _mean(added)
        bad = "other" if better(rule.figure) == "none" else "worse"
        fails = p < alpha and (bad == "other" or is_worse(rule.figure, change))
        needed = f"not {bad} with p < {alpha:g}" if enough else "more questions for any p"
        passed = enough and not fails
        checks.append(_check(rule, "significant", change, needed, len(added), passed, p))
    return checks


def _mean(values: Sequence[float]) -> float:
    return sum(values) / len(values) if values else 0.0


def _check(
    rule: GateRule,
    need: Need,
    value: float,
    needed: str,
    questions: int,
    passed: bool,
    p: float = 1.0,
) -> Check:
    if not questions:
        needed = "a question with this figure" + (" in both" if need in _IN_BOTH else "")
    return Check(rule.slice, rule.figure, need, value, needed, questions, p, passed)
