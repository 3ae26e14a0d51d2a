"""A language model as the judge of answers; a figure it cannot give keeps its estimate."""

import logging
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, replace
from functools import partial
from itertools import islice
from statistics import median
from typing import TypeVar, get_args

from pydantic import BaseModel, ConfigDict, Field, TypeAdapter

from atlas_search.answer.write.prompt import count_tokens
from atlas_search.core.addresses import without_login
from atlas_search.core.errors import EmbeddingUnavailable, RequestError
from atlas_search.core.settings import Settings
from atlas_search.core.targets import Target
from atlas_search.core.telemetry.tracer import open_tracer
from atlas_search.core.wire import RankedPassageOut
from atlas_search.evaluation import estimates
from atlas_search.evaluation.asking import (
    PatientEmbedder,
    Told,
    in_threads,
    judged_question,
    no_one,
)
from atlas_search.evaluation.folder import RunFolder
from atlas_search.evaluation.judge_model import (
    DRAW,
    NAME,
    Decision,
    FigureJudgement,
    Guess,
    Judged,
    JudgeModel,
    JudgeRefused,
    JudgeSpending,
    JudgeTask,
    KeptReplies,
    Mark,
    NotJudged,
    Rules,
    Statements,
    Steps,
    Verdicts,
    join,
    quote,
    quote_each,
    quote_passages,
    version,
)
from atlas_search.evaluation.metrics import Case, Tools
from atlas_search.evaluation.people import Rating, Ratings, Scale, answer_digests
from atlas_search.evaluation.scored import AGREEMENT, MetricsSource, Scored, Source, metrics_source
from atlas_search.evaluation.statistics import cohen_kappa
from atlas_search.language.text import sentences
from atlas_search.providers.chat import ModelCalls
from atlas_search.providers.open import CHAT_MODELS, EXTRACTIVE
from atlas_search.services import load_targets

VOTES = 3
PASSAGE_TOKENS = 16_000
"""Tokens of passages in one call, unless one passage has more."""

_VERDICTS_TOKENS, _TOKENS_OF_VERDICT = 200, 120  # of a reply
_TOKENS_OF_MARK = 400

Form = TypeVar("Form", bound=BaseModel)


@dataclass(frozen=True)
class Panel:
    """A model that is asked `votes` times; it is shown `passage_tokens` of passages at once.

    Raises RequestError for an even number of votes, which may end in a draw.
    """

    model: JudgeModel
    votes: int = VOTES
    passage_tokens: int = PASSAGE_TOKENS

    def __post_init__(self) -> None:  # noqa: D105
        if self.votes < 1 or self.votes % 2 == 0:
            raise RequestError("The judge's votes are an odd number: 1, 3 or 5.")

    def ask_all(
        self, task: JudgeTask, form: type[Form], check: Callable[[Form], None] = lambda _: None
    ) -> list[Form]:
        """The replies that are of the form asked for. Raises NotJudged if most are not.

        What the provider refuses is not asked again.
        """
        replies: list[Form] = []
        for vote in range(1, self.votes + 1):
            try:
                replies.append(self.model.ask(task, form, check, vote))
            except JudgeRefused:
                raise
            except NotJudged as error:
                why = error
        if len(replies) < self.majority:
            raise why
        return replies

    @property
    def majority(self) -> int:
        """Number of votes that decide."""
        return self.votes // 2 + 1

    def decide(self, rules: Rules, material: str, about: Sequence[str]) -> list[Decision]:
        """Yes or no on each numbered thing in the material. Raises NotJudged where votes draw."""
        tokens = _VERDICTS_TOKENS + _TOKENS_OF_VERDICT * len(about)
        replies = self.ask_all(
            JudgeTask(rules, material, tokens),
            Verdicts,
            lambda reply: reply.check_numbers(len(about)),
        )
        return [self._decide(number, each, replies) for number, each in enumerate(about, start=1)]

    def mark(self, rules: Rules, material: str) -> Decision:
        """The median of the marks, from 0 to 1."""
        marks = self.ask_all(JudgeTask(rules, material, _TOKENS_OF_MARK), Mark)
        middle = median(mark.score for mark in marks)
        nearest = min(marks, key=lambda mark: abs(mark.score - middle))
        agreement = Counter(mark.score for mark in marks).most_common(1)[0][1] / len(marks)
        return Decision("the answer", middle / 10, agreement, nearest.reason)

    def groups(self, passages: Sequence[RankedPassageOut]) -> list[list[RankedPassageOut]]:
        """Passages, each whole, in as few calls as their tokens allow, in order."""
        groups: list[list[RankedPassageOut]] = []
        room = 0
        tokens = count_tokens([each.text for each in passages])
        for passage, size in zip(passages, tokens, strict=True):
            if not groups or size > room:
                groups.append([])
                room = self.passage_tokens
            groups[-1].append(passage)
            room -= size
        return groups

    def decide_by_any(
        self,
        rules: Rules,
        material: str,
        about: Sequence[str],
        passages: Sequence[RankedPassageOut],
    ) -> tuple[list[Decision], int]:
        """Decide yes where one group of passages does; also return the number of groups."""
        found = [
            self.decide(rules, join((material, quote_passages(group))), about)
            for group in self.groups(passages)
        ]
        best = [max(each, key=lambda one: one.verdict) for each in zip(*found, strict=True)]
        return best, len(found)

    def _decide(self, number: int, about: str, replies: Sequence[Verdicts]) -> Decision:
        said = [one for reply in replies for one in reply.verdicts if one.number == number]
        (verdict, count), *_ = Counter(one.verdict for one in said).most_common()
        if count < self.majority:
            raise NotJudged(DRAW)
        reason = next(one.reason for one in said if one.verdict == verdict)
        return Decision(about, float(verdict == "yes"), count / len(said), reason)


_STEPS_TOKENS = 600


def judge_answer_correctness(panel: Panel, case: Case) -> Judged:
    """The mark as a share of 10; 0 without an answer. Raises NotJudged.

    The model makes the steps once, and they are kept: all answers are marked by the same.
    """
    if not case.reply.answered:
        return Judged(0.0)
    steps = panel.model.ask(JudgeTask("steps", "Write the steps.", _STEPS_TOKENS), Steps).steps
    material = join(
        (
            quote_each("step", steps),
            quote("question", case.label.question),
            quote("answer", case.reply.text),
            quote_each("reference", case.label.answers),
        )
    )
    mark = panel.mark("mark", material)
    return Judged(mark.verdict, (mark,))


_GUESS_TOKENS = 300


def judge_answer_relevancy(panel: Panel, case: Case) -> Judged:
    """The mean cosine of the question and one guess for each vote; not below 0.

    It is 0 if most votes say that the answer commits itself to nothing. Raises NotJudged,
    and EmbeddingUnavailable where the questions cannot be compared.
    """
    task = JudgeTask("guess", quote("answer", case.reply.text), _GUESS_TOKENS)
    guesses = panel.ask_all(task, Guess)
    commits, count = Counter(not guess.noncommittal for guess in guesses).most_common(1)[0]
    if count < panel.majority:
        raise NotJudged(DRAW)
    vectors = case.tools.embedder.embed([case.label.question, *(one.question for one in guesses)])
    near = max(0.0, float((vectors[1:] @ vectors[0]).mean()))
    questions = " / ".join(dict.fromkeys(guess.question for guess in guesses))
    decided = Decision("commits itself", float(commits), count / len(guesses), questions)
    return Judged(min(1.0, near) if commits else 0.0, (decided,))


def judge_context_precision(panel: Panel, case: Case) -> Judged:
    """A verdict on each passage, given the references where there are any. Raises NotJudged."""
    asked = (quote("question", case.label.question), quote_each("reference", case.label.answers))
    groups = panel.groups(case.reply.passages)
    decisions: list[Decision] = []
    for group in groups:
        material = join((*asked, quote_passages(group)))
        decisions += panel.decide("useful", material, [one.passage_id for one in group])
    found = average_precision([one.verdict > 0 for one in decisions])
    return Judged(found, tuple(decisions), max(1, len(groups)))


def average_precision(useful: Sequence[bool]) -> float:
    """The mean, over the useful passages, of the precision down to each; 0 if none is."""
    precisions = [
        sum(useful[:place]) / place for place, is_useful in enumerate(useful, start=1) if is_useful
    ]
    return sum(precisions) / len(precisions) if precisions else 0.0


def judge_context_recall(panel: Panel, case: Case) -> Judged:
    """A verdict on each sentence; of several references the best counts. Raises NotJudged."""
    if not case.reply.passages:
        return Judged(0.0)
    references = [
        [text[span.start : span.end] for span in sentences(text)] for text in case.label.answers
    ]
    every = [sentence for reference in references for sentence in reference]
    asked = (quote("question", case.label.question), quote_each("sentence", every))
    decisions, parts = panel.decide_by_any("attributed", join(asked), every, case.reply.passages)
    verdicts = iter(one.verdict for one in decisions)
    shares = [sum(islice(verdicts, len(each))) / len(each) for each in references if each]
    return Judged(max(shares, default=0.0), tuple(decisions), parts)


_STATEMENTS_TOKENS = 2000


def judge_faithfulness(panel: Panel, case: Case) -> Judged:
    """Two steps: what the answer states, then a verdict on each statement. Raises NotJudged."""
    if not case.reply.passages:
        return Judged(0.0)
    answered = (quote("question", case.label.question), quote("answer", case.reply.text))
    stated = panel.model.ask(
        JudgeTask("statements", join(answered), _STATEMENTS_TOKENS), Statements
    ).statements
    decisions, parts = panel.decide_by_any(
        "supported", quote_each("statement", stated), stated, case.reply.passages
    )
    return Judged(sum(one.verdict for one in decisions) / len(stated), tuple(decisions), parts)


_log = logging.getLogger(__name__)


MEASURES: Mapping[str, Callable[[Panel, Case], Judged]] = {
    "context_precision": judge_context_precision,
    "context_recall": judge_context_recall,
    "faithfulness": judge_faithfulness,
    "answer_relevancy": judge_answer_relevancy,
    "answer_correctness": judge_answer_correctness,
}
"""Measures by the name of the estimate that each replaces.

They raise NotJudged, EmbeddingUnavailable and Cancelled."""


@dataclass(frozen=True)
class JudgedQuestion:
    """A question with the judge's figures, and how it came to each."""

    scored: Scored
    judgements: tuple[FigureJudgement, ...]


def judge_questions(
    panel: Panel,
    tools: Tools,
    run: str,
    scored: Sequence[Scored],
    *,
    parallel: int = 1,
    told: Told = no_one,
) -> list[JudgedQuestion]:
    """Judge the questions of the run with this id, `parallel` at once, in their order.

    Each is a trace of its own, which names the run. An interrupt stops the calls that run.
    """

    able = replace(tools, embedder=PatientEmbedder(tools.embedder))

    def judge(place: int) -> None:
        with judged_question(panel.model.tracer, run, scored[place].label) as span:
            found[place] = judge_question(panel, able, scored[place])
            span.set({f"eval.{one.metric}": one.value for one in found[place].judgements})

    found: dict[int, JudgedQuestion] = {}
    hurry = partial(panel.model.stop.set, "The judging was stopped.")
    in_threads(judge, range(len(scored)), parallel, told, hurry)
    return [found[place] for place in range(len(scored))]


def judge_question(panel: Panel, tools: Tools, scored: Scored) -> JudgedQuestion:
    """Each figure that has an estimate, by the judge or, where it gives none, as it is estimated.

    It does not matter whether the question was judged before. Raises Cancelled.
    """
    if scored.reply.error:
        return JudgedQuestion(scored, ())
    case = Case(scored.label, scored.reply, tools)
    refusals: list[JudgeRefused] = []
    judgements = tuple(
        _judge(panel, case, name, estimate, refusals)
        for name, estimate in estimates.measure_overlap(case).items()
    )
    if refusals:  # as a text that is too long is, in several calls: once
        panel.model.outage.failed(refusals[-1])
    figures = {name: value for name, value in scored.figures.items() if name != AGREEMENT}
    figures |= {one.metric: one.value for one in judgements}
    agreements = [decision.agreement for one in judgements for decision in one.decisions]
    if agreements:
        figures[AGREEMENT] = sum(agreements) / len(agreements)
    sources = {**scored.sources, **{one.metric: one.source for one in judgements}}
    return JudgedQuestion(replace(scored, figures=figures, sources=sources), judgements)


def _judge(
    panel: Panel, case: Case, name: str, estimate: float, refusals: list[JudgeRefused]
) -> FigureJudgement:
    id_ = case.label.id
    try:
        judged = MEASURES[name](panel, case)
    except (NotJudged, EmbeddingUnavailable) as why:
        _log.debug("%s of %s is an estimate: %s", name, id_, why)
        if isinstance(why, JudgeRefused):
            refusals.append(why)
        return FigureJudgement(id_, name, estimate, "heuristic", note=str(why))
    source: Source = "judge" if judged.decisions else "fixed"
    return FigureJudgement(
        id_, name, judged.value, source, parts=judged.parts, decisions=judged.decisions
    )


MEANT: Mapping[str, str] = {"accuracy": "answer_correctness", "relevance": "answer_relevancy"}
"""The figure of the judge that says what people say on a scale."""

APPROVED = 0.5
"""From here on a figure is the judge's yes."""


@dataclass(frozen=True)
class PeopleAgreement:
    """Cohen's kappa of a judge's figure and people's ratings on a scale, of `count` ratings.

    `kappa` is None where all are the same, and chance would agree as well. `agreeing` is a share.
    """

    scale: str
    metric: str
    count: int
    agreeing: float
    kappa: float | None


def agreement_with_people(
    scored: Iterable[Scored], ratings: Iterable[Rating], scales: Sequence[Scale]
) -> list[PeopleAgreement]:
    """The agreement on each scale that someone used for a figure that the judge gave.

    A rating above the middle of its scale approves, one in the middle says neither.
    """
    judged = {one.label.id: one for one in scored}
    middle = {scale.name: (scale.low + scale.high) / 2 for scale in scales}
    pairs: dict[str, list[tuple[bool, bool]]] = {}
    for rating in ratings:
        one = judged.get(rating.label_id)
        for scale in MEANT.keys() & rating.scores.keys() & middle.keys():
            said = rating.scores[scale]
            if one and one.sources.get(MEANT[scale]) == "judge" and said != middle[scale]:
                approves = one.figures[MEANT[scale]] >= APPROVED
                pairs.setdefault(scale, []).append((approves, said > middle[scale]))
    return [_agreement(scale, pairs[scale]) for scale in MEANT if scale in pairs]


def _agreement(scale: str, pairs: Sequence[tuple[bool, bool]]) -> PeopleAgreement:
    judge, people = ([int(said) for said in each] for each in zip(*pairs, strict=True))
    agreeing = sum(a == b for a, b in pairs) / len(pairs)
    try:
        kappa = cohen_kappa(judge, people)
    except RequestError:
        kappa = None
    return PeopleAgreement(scale, MEANT[scale], len(pairs), agreeing, kappa)


class JudgeReport(BaseModel):
    """Report of a judging: by whom, with what result and cost."""

    model_config = ConfigDict(frozen=True)

    provider: str
    model: str
    server: str = Field("", description="Address of the provider's server; empty: its only one")
    prompts: dict[str, str] = Field(description="Versions of what the model was told to do")
    votes: int
    metrics_source: MetricsSource
    sources: dict[str, dict[Source, int]] = Field(description="Questions by metric and source")
    notes: dict[str, int] = Field(description="Why figures are estimates, and how many")
    split: int = Field(description="Figures whose passages did not fit into one call")
    judge_agreement: float | None = Field(description="Mean share of votes for the commonest")
    people: list[PeopleAgreement]
    calls: int = Field(description="Without those whose reply was kept from before")
    prompt_tokens: int
    completion_tokens: int
    cost: float | None = Field(description="At the prices of the target; null without prices")


def report_of(
    panel: Panel, questions: Sequence[JudgedQuestion], people: Sequence[PeopleAgreement] = ()
) -> JudgeReport:
    """Make the report of a judging."""
    said = [judgement for one in questions for judgement in one.judgements]
    sources: dict[str, Counter[Source]] = {}
    for judgement in said:
        sources.setdefault(judgement.metric, Counter())[judgement.source] += 1
    agreements = [decision.agreement for one in said for decision in one.decisions]
    spending = panel.model.spending
    return JudgeReport(
        provider=panel.model.chat.name,
        model=panel.model.name,
        server=panel.model.server,
        prompts={name: version(name) for name in get_args(Rules)},
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


@dataclass(frozen=True)
class JudgeWanted:
    """Request of a judge, named as in Panel and Spending.

    The model is that of a `target` (empty: the default one), unless `provider` or `model` name
    another. Time and prices of a call are the target's in any case.
    """

    target: str = ""
    provider: str = ""
    model: str = ""
    votes: int = VOTES
    max_cost: float | None = None
    passage_tokens: int = PASSAGE_TOKENS
    parallel: int = 4


@contextmanager
def open_panel(settings: Settings, wanted: JudgeWanted) -> Iterator[Panel]:
    """The judge, its calls ended at the end. Raises RequestError for one without a model.

    A missing key is told by the calls.
    """
    name = wanted.target or settings.test_target
    target = _target(settings, name)
    provider = wanted.provider or target.llm_provider
    if provider == EXTRACTIVE:
        raise RequestError(
            f"The target {name} has no language model that could judge. Name one with "
            "--judge-target, or with --judge-provider and --judge-model."
        )
    with ExitStack() as closing:
        calls = ModelCalls(settings.llm_concurrency, settings.llm_queue_seconds)
        closing.callback(calls.close)
        chat = CHAT_MODELS.load(provider, f"the judge: {provider}")(settings, calls)
        tracer = open_tracer(settings)
        closing.callback(tracer.close)
        own = target.llm_model if provider == target.llm_provider else ""
        model = JudgeModel(
            chat,
            wanted.model or own or chat.default_model,
            target.llm_seconds,
            tracer,
            KeptReplies(settings.atlas_evaluation_directory / NAME),
            JudgeSpending(target, wanted.max_cost),
            _server(settings, provider),
        )
        yield Panel(model, wanted.votes, wanted.passage_tokens)


def _server(settings: Settings, provider: str) -> str:
    """The address in the settings, for models of one name differ between servers."""
    own = {"openai": settings.openai_base_url, "mistral": settings.mistral_server_url}
    return without_login(own.get(provider, ""))


def _target(settings: Settings, name: str) -> Target:
    targets = load_targets(settings)
    if name not in targets:
        raise RequestError(f"There is no target {name}. Known targets: {', '.join(targets)}.")
    return targets[name]


_LINE = TypeAdapter(FigureJudgement)


def judge_folder(
    folder: RunFolder,
    panel: Panel,
    tools: Tools,
    *,
    parallel: int = 1,
    told: Told = no_one,
) -> JudgeReport:
    """Judge the replies of a run. Until all are, nothing in the folder changes.

    Raises RequestError if nothing came back, and AtlasError if another process is at work on the
    folder.
    """
    people = Ratings(folder.path)
    with folder.held():
        run = folder.load()
        if len(run.failed) == len(run.scored):
            raise RequestError(f"No reply of {folder.path} can be judged. Finish the run first.")
        found = judge_questions(panel, tools, run.spec.id, run.scored, parallel=parallel, told=told)
        scored = [one.scored for one in found]
        ratings = people.all(answer_digests(folder.replies()))
        agreements = agreement_with_people(scored, ratings, people.scales())
        report = report_of(panel, found, agreements)
        lines = (_LINE.dump_json(each).decode() for one in found for each in one.judgements)
        folder.judged(scored, report, lines)
    return report
