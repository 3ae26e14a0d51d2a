"""How a judging went, as `judge.json` has it."""

from collections import Counter
from collections.abc import Sequence

from pydantic import BaseModel, ConfigDict, Field

from atlas_search.evaluation.judge.judge import JudgedQuestion
from atlas_search.evaluation.judge.panel import Panel
from atlas_search.evaluation.judge.people import Agreement
from atlas_search.evaluation.judge.prompts import Rules, version
from atlas_search.evaluation.scored import MetricsSource, Source, metrics_source

_RULES: tuple[Rules, ...] = (
    "statements",
    "supported",
    "useful",
    "attributed",
    "guess",
    "steps",
    "mark",
)


class JudgeReport(BaseModel):
    """Who judged, what came of it, and what it took."""

    model_config = ConfigDict(frozen=True)

    provider: str
    model: str
    server: str = Field("", description="Address of the provider's server; empty: its only one")
    libraries: dict[str, str] = Field(
        default={}, description="Versions of the libraries that judged; none: Atlas' own measures"
    )
    prompts: dict[str, str] = Field(description="Versions of what the model was told to do")
    votes: int
    metrics_source: MetricsSource
    sources: dict[str, dict[Source, int]] = Field(description="Questions by metric and source")
    notes: dict[str, int] = Field(description="Why figures are estimates, and how many")
    split: int = Field(description="Figures whose passages did not fit into one call")
    judge_agreement: float | None = Field(description="Mean share of votes for the commonest")
    people: list[Agreement]
    calls: int = Field(description="Without those whose reply was kept from before")
    prompt_tokens: int
    completion_tokens: int
    cost: float | None = Field(description="At the prices of the target; null without prices")


def report_of(
    panel: Panel, questions: Sequence[JudgedQuestion], people: Sequence[Agreement] = ()
) -> JudgeReport:
    """What is to be said of a judging."""
    said = [judgement for one in questions for judgement in one.judgements]
    sources: dict[str, Counter[Source]] = {}
    for judgement in said:
        sources.setdefault(judgement.metric, Counter())[judgement.source] += 1
    agreements = [decision.agreement for one in said for decision in one.decisions]
    spending, libraries = panel.model.spending, panel.libraries
    return JudgeReport(
        provider=panel.model.chat.name,
        model=panel.model.name,
        server=panel.model.server,
        libraries=dict(libraries.versions) if libraries else {},
        prompts={} if libraries else {name: version(name) for name in _RULES},
        votes=panel.votes,
        metrics_source=metrics_source(one.scored for one in questions),
        sources={name: dict(counts) for name, counts in sources.items()},
        notes=dict(Counter(judgement.note for judgement in said if judgement.note).most_common()),
        split=sum(judgement.parts > 1 for judgement in said),
        judge_agreement=sum(agreements) / len(agreements) if agreements else None,
        people=list(people),
        calls=spending.calls,
        prompt_tokens=spending.used.prompt_tokens,
        completion_tokens=spending.used.completion_tokens,
        cost=spending.cost,
    )
