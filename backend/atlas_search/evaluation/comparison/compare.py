"""Two runs compared."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

from atlas_search.core.errors import SourceError
from atlas_search.evaluation.comparison.differences import ALPHA, Difference, differences
from atlas_search.evaluation.comparison.figures import run_figures
from atlas_search.evaluation.comparison.pairs import Pairs, pairs, unlike_sources
from atlas_search.evaluation.comparison.set_pairs import unlike_outcomes
from atlas_search.evaluation.comparison.sides import ChangedQuestion, changed_questions
from atlas_search.evaluation.comparison.slices import ALL, slices
from atlas_search.evaluation.comparison.specs import Change, changed_basis, changed_options
from atlas_search.evaluation.run import EvalRun, RunSpec
from atlas_search.evaluation.scored import Scored


@dataclass(frozen=True)
class Comparison:
    """What changed from run `a` to run `b`: options of the target, figures and questions.

    `basis` is what makes it less than a comparison of the same questions asked of the same
    collection, `gaps` what either run lacks, and figures that cannot be compared.
    """

    a: RunSpec
    b: RunSpec
    alpha: float
    pairs: Pairs
    basis: tuple[Change, ...]
    gaps: tuple[str, ...]
    options: tuple[Change, ...]
    differences: tuple[Difference, ...]
    questions: tuple[ChangedQuestion, ...]

    @property
    def significant(self) -> list[Difference]:
        """Worse ones first, then better ones, then others; each by p, slice and name."""
        order = ("worse", "better", "differs")
        found = [one for one in self.differences if one.verdict in order]
        return sorted(found, key=lambda d: (order.index(d.verdict), d.corrected, d.slice, d.figure))


def compare(a: EvalRun, b: EvalRun, *, alpha: float = ALPHA) -> Comparison:
    """Compare the questions that both runs were asked. Raises SourceError if there are none."""
    before, after = run_figures(a), run_figures(b)
    found = pairs(before, after)
    if not found.common:
        raise SourceError(f"The runs {a.spec.id} and {b.spec.id} have no question in common.")
    scored_a, scored_b = _by_id(a), _by_id(b)
    parts = _parts(scored_b, found.common, {*a.spec.corpora, *b.spec.corpora})
    return Comparison(
        a=a.spec,
        b=b.spec,
        alpha=alpha,
        pairs=found,
        basis=tuple(changed_basis(a, b)),
        gaps=(
            *gaps(a, "A"),
            *gaps(b, "B"),
            *source_gaps(unlike_sources(before, after, found.common)),
            *_outcome_gaps(unlike_outcomes(before, after, found.common)),
        ),
        options=tuple(changed_options(a.spec, b.spec)),
        differences=tuple(differences(before, after, parts, alpha=alpha)),
        questions=tuple(changed_questions(scored_a, scored_b, found.common)),
    )


def gaps(run: EvalRun, name: str) -> list[str]:
    """Which questions of a run have no figures, or got no reply."""
    asked, wanted = len(run.scored), run.spec.labels.questions
    failed = sum(bool(one.reply.error) for one in run.scored)
    told = []
    if asked < wanted:
        told.append(f"{name} has figures of {asked} of its {wanted} questions.")
    if failed:
        told.append(f"{name} got no reply to {failed} of {asked} questions.")
    return told


def source_gaps(unlike: Mapping[str, int]) -> list[str]:
    """Which figures of how many questions are left out, given `unlike_sources`."""
    return [
        f"{figure} of {count} questions is left out: a judge gave it in one run, and shared words "
        "in the other."
        for figure, count in unlike.items()
    ]


def _outcome_gaps(unlike: int) -> list[str]:
    said = (
        f"Figures of confidence leave {unlike} questions out: a judge says in one run what is "
        "right, and the label in the other."
    )
    return [said] if unlike else []


def _by_id(run: EvalRun) -> dict[str, Scored]:
    return {one.label.id: one for one in run.scored}


def _parts(
    scored: Mapping[str, Scored], common: Sequence[str], corpora: Collection[str]
) -> dict[str, list[str]]:
    """The slices, without those of all questions: the same figures would be tested twice."""
    found = slices((scored[id_].label for id_ in common), corpora)
    return {name: ids for name, ids in found.items() if name == ALL or len(ids) < len(common)}
