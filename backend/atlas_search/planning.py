"""From what a caller asks to a plan that the stages trust: the one place that checks it."""

import uuid
from collections.abc import Sequence
from dataclasses import replace
from datetime import date
from typing import Any

from atlas_search.answer.request import AnswerPlan, AskRequest
from atlas_search.answer.write.prompt import count_tokens, keep
from atlas_search.core.domain import ChatTurn
from atlas_search.core.errors import (
    InvalidQuestion,
    RequestError,
    UnknownCorpus,
    UnknownFilterField,
    shown,
)
from atlas_search.search.query import parse_query, phrases
from atlas_search.search.request import (
    MAX_QUESTION,
    QuestionRequest,
    ScopePlan,
    ScopeRequest,
    SearchPlan,
    SearchRequest,
    check_fields,
    conditions,
)
from atlas_search.search.select import SOFT_CAP
from atlas_search.services import Services, known_corpora
from atlas_search.words.query import parse
from atlas_search.words.request import (
    ALL,
    CORPUS,
    DECADE,
    YEAR,
    Point,
    WordsPlan,
    WordsRequest,
    WordsScope,
    WordsScopeRequest,
)

MAX_PHRASE = 1000  # characters of what is required or excluded
GROUPS = (ALL, YEAR, DECADE, CORPUS)


def plan_scope(services: Services, request: ScopeRequest) -> ScopePlan:
    """A checked scope without a question. Raises RequestError."""
    return ScopePlan(**_scope(services, request))


def plan_search(services: Services, request: QuestionRequest) -> SearchPlan:
    """A question that was checked. Raises RequestError."""
    _, target = services.target(request.target)
    k, days, fuzzy = request.k, request.freshness_days, request.fuzzy
    return SearchPlan(
        question=_check_question(request.question),
        limit=target.search_k if k is None else k,
        today=request.as_of or date.today(),
        fuzzy=target.fuzzy if fuzzy is None else fuzzy,
        exact=isinstance(request, SearchRequest) and request.exact,
        max_per_document=request.max_per_document or target.max_passages_per_document,
        freshness_days=target.freshness_days if days is None else days,
        **_scope(services, request),
    )


def plan_answer(
    services: Services, request: AskRequest, *, streamed: bool = False, user_id: str = ""
) -> AnswerPlan:
    """A question to be answered, checked. Raises RequestError."""
    name, target = services.target(request.target)
    # without a language model only follow-ups are read
    budget = target.chat_memory_tokens if target.llm_provider in services.answerer.models else 0
    turns = keep([ChatTurn(t.role, t.content) for t in request.history], budget, count_tokens)
    search = plan_search(services, request)
    if search.max_per_document is None:
        search = replace(search, max_per_document=SOFT_CAP, soft_cap=True)
    return AnswerPlan(
        search=search,
        target_name=name,
        target=target,
        run_name=services.composite_target(name),
        qa_id=request.qa_id or uuid.uuid4().hex,
        session_id=request.session_id or uuid.uuid4().hex,
        history=tuple(turns),
        turns_dropped=len(request.history) - len(turns),
        mode=request.mode,
        read_follow_ups=request.read_follow_ups,
        clarify=request.clarify,
        streamed=streamed,
        user_id=user_id,
    )


def plan_words(services: Services, request: WordsRequest) -> WordsPlan:
    """A query to the words of the collection, checked. Raises RequestError."""
    scope = vars(plan_words_scope(services, request))
    return WordsPlan(text=request.query, query=parse(request.query), **scope)


def plan_words_scope(services: Services, request: WordsScopeRequest) -> WordsScope:
    """A checked scope of words. Raises RequestError."""
    return WordsScope(
        form=request.form, exactly=request.case_sensitive, **_scope(services, request)
    )


def facet_fields(services: Services, facets: bool | Sequence[str]) -> list[str]:
    """The fields to count: all, none, or some. Raises UnknownFilterField."""
    known = list(services.store.manifest.fields)
    if isinstance(facets, bool):
        return known if facets else []
    return check_fields(list(dict.fromkeys(facets)), known)


def check_by(services: Services, by: str) -> None:
    """Raise UnknownFilterField if hits cannot be counted by it."""
    known = services.store.manifest.fields
    if by not in GROUPS and by not in known:
        raise UnknownFilterField(
            f"by={shown([by])}: give {', '.join(GROUPS)}, or one of the fields "
            f"{', '.join(sorted(known))}."
        )


def check_point(services: Services, point: Point) -> None:
    """Raise RequestError if no trend has such a point."""
    check_by(services, point.by)
    if point.corpus:
        known_corpora(services.store, [point.corpus])


def check_corpora(services: Services, chosen: str | Sequence[str]) -> tuple[tuple[str, ...], bool]:
    """The ids of the corpora to search, and whether none was chosen."""
    if not services.store.corpora:
        raise UnknownCorpus("There are no sources yet. Add some in the page first.")
    if chosen == "all":
        return services.default_corpora, True
    ids = [chosen] if isinstance(chosen, str) else list(chosen)
    if not ids:
        raise RequestError('corpus_filter is an empty list. Name a corpus, or give "all".')
    return tuple(corpus.id for corpus in known_corpora(services.store, ids)), False


def _scope(services: Services, request: ScopeRequest) -> dict[str, Any]:
    corpora, every = check_corpora(services, request.corpora)
    return {
        "corpora": corpora,
        "every_corpus": every,
        "filters": conditions(request.filters, services.store.manifest.fields),
        "require": _check_phrases("require", request.require),
        "exclude": _check_phrases("exclude", request.exclude),
    }


def _check_question(question: str) -> str:
    question = question.strip()
    if not any(character.isalnum() for character in question):
        raise InvalidQuestion("The question is empty. Ask something in words.")
    if len(question) > MAX_QUESTION:
        raise InvalidQuestion(
            f"The question has {len(question)} characters; at most {MAX_QUESTION} are read. "
            "Shorten it."
        )
    if not parse_query(question).words:
        raise InvalidQuestion("The question only says what to leave out. Say what to look for.")
    return question


def _check_phrases(name: str, texts: Sequence[str]) -> tuple[str, ...]:
    for text in texts:
        if len(text) > MAX_PHRASE:
            raise RequestError(
                f"{name}: a phrase has {len(text):,} characters; at most {MAX_PHRASE:,} are "
                "looked for. Shorten it."
            )
        if not phrases([text]):
            raise RequestError(f"{name}: {shown([text])} holds no word.")
    return tuple(texts)
