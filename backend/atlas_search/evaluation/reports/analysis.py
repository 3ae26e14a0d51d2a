"""What a run comes to, computed once for all files of its report."""

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Literal

from atlas_search.evaluation.metrics.decisions import confusion
from atlas_search.evaluation.metrics.of_sets import Bin, Point, curve, outcomes, reliability
from atlas_search.evaluation.reports.findings import Finding, findings
from atlas_search.evaluation.reports.material import ReportedRun
from atlas_search.evaluation.reports.slices import questions_by_slice
from atlas_search.evaluation.runs.operations import Operations, operations
from atlas_search.evaluation.scored import Figure, Scored, summarise

MetricsSource = Literal["judge", "mixed", "heuristic", "none"]


@dataclass
class Analysis:
    """A run, and what is told of it. Each part is computed when it is first asked for."""

    of: ReportedRun

    @property
    def name(self) -> str:
        """That of the run."""
        return self.of.name

    @cached_property
    def slices(self) -> dict[str, list[Scored]]:
        """The questions of each slice."""
        return questions_by_slice(self.of.scored, self.of.spec.corpora)

    @cached_property
    def figures(self) -> dict[str, dict[str, Figure]]:
        """The figures of each slice."""
        found = {name: summarise(members) for name, members in self.slices.items()}
        return found | {"all": found["all"] | self.of.spec.index_recall}

    @property
    def all(self) -> Mapping[str, Figure]:
        """The figures over all questions."""
        return self.figures["all"]

    @cached_property
    def sources(self) -> dict[str, MetricsSource]:
        """Who gave each figure that a judge or a heuristic can give."""
        given: dict[str, set[str]] = {}
        for one in self.of.scored:
            for name, source in one.sources.items():
                given.setdefault(name, set()).add(source)
        return {name: _one_source(found) for name, found in given.items()}

    @property
    def metrics_source(self) -> MetricsSource:
        """Who gave them all."""
        return _one_source(set(self.sources.values()))

    @cached_property
    def took(self) -> Operations:
        """Time, tokens and money."""
        return operations(self.of.run)

    @cached_property
    def confusion(self) -> list[tuple[str, str, int]]:
        """Expected and taken decision, and how many questions have both; sorted."""
        asked = ((one.label, one.reply) for one in self.of.scored)
        return sorted((*pair, count) for pair, count in confusion(asked).items())

    @cached_property
    def reliability(self) -> list[Bin]:
        """How often answers of each likelihood are right."""
        return reliability(self.of.scored)

    @cached_property
    def curve(self) -> list[Point]:
        """Precision against coverage."""
        return curve(self.of.scored)

    @cached_property
    def judged_questions(self) -> int:
        """How many questions the curve is of."""
        return len(outcomes(self.of.scored))

    @cached_property
    def findings(self) -> list[Finding]:
        """What to look at."""
        return findings(self.of.scored)

    @cached_property
    def errors(self) -> dict[str, list[str]]:
        """Ids of the questions that failed with each error, the most frequent first."""
        counted = Counter(one.reply.error for one in self.of.scored if one.reply.error)
        return {
            error: [one.label.id for one in self.of.scored if one.reply.error == error]
            for error, _ in counted.most_common()
        }


def _one_source(given: set[str]) -> MetricsSource:
    given -= {"fixed", "none"}
    if not given:
        return "none"
    if given == {"judge"}:
        return "judge"
    return "heuristic" if given == {"heuristic"} else "mixed"
