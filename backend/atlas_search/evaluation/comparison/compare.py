"""Two runs compared."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from atlas_search.core.errors import SourceError
from atlas_search.evaluation.comparison.differences import ALPHA, Difference, differences
from atlas_search.evaluation.comparison.figures import run_figures
from atlas_search.evaluation.comparison.pairs import Pairs, pairs
from atlas_search.evaluation.comparison.sides import ChangedQuestion, changed_questions
from atlas_search.evaluation.comparison.slices import ALL, slices
from atlas_search.evaluation.comparison.specs import Change, changed_basis, changed_options
from atlas_search.evaluation.run import EvalRun, RunSpec
from atlas_search.evaluation.scored import Scored


@dataclass(frozen=True)
class Comparison:
    """What changed from run `a` to run `b`: options of the target, figures and questions.

    `basis` is what makes it less than a comparison of the same questions asked of the same
    collection, `gaps` what either run lacks.
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
        """Worse ones first, then different, then better ones; each by p, slice and name."""
        order = ("worse", "different", "better")
        found = [one for one in self.differences if one.verdict in order]
        return sorted(found, key=lambda d: (order.index(d.verdict), d.corrected, d.slice, d.figure))


def compare(a: EvalRun, b: EvalRun, *, alpha: float = ALPHA) -> Comparison:
    """Compare the questions that both runs were asked. Raises SourceError if there are none."""
    before, after = run_figures(a), run_figures(b)
    found = pairs(before, after)
    if not found.common:
        raise SourceError(f"The runs {a.spec.id} and {b.spec.id} have no question in common.")
    scored_a, scored_b = _by_id(a), _by_id(b)
    parts = _parts(scored_b, found.common)
    return Comparison(
        a=a.spec,
        b=b.spec,
        alpha=alpha,
        pairs=found,
        basis=tuple(changed_basis(a.spec, b.spec)),
        gaps=(*gaps(a, "A"), *gaps(b, "B")),
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


def _by_id(run: EvalRun) -> dict[str, Scored]:
    return {one.label.id: one for one in run.scored}


def _parts(scored: Mapping[str, Scored], common: Sequence[str]) -> dict[str, list[str]]:
    """The slices, without those of all questions: the same figures would be tested twice."""
    found = slices(scored[id_].label for id_ in common)
    return {name: ids for name, ids in found.items() if name == ALL or len(ids) < len(common)}
