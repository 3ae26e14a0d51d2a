"""From what a caller asks to a request that the stages trust: the one place that checks it."""

import uuid
from collections.abc import Mapping, Sequence
from datetime import date
from typing import TypedDict, Unpack

from atlas_search.answer.request import AskRequest, Mode
from atlas_search.answer.write.prompt import count_tokens, keep
from atlas_search.core.domain import ChatTurn
from atlas_search.core.errors import InvalidQuestion, RequestError, shown
from atlas_search.core.targets import MAX_DAYS
from atlas_search.search.counts import Narrowing
from atlas_search.search.query import MOST_PHRASES, parse_query, phrases
from atlas_search.search.request import Filter, SearchRequest, check_fields, conditions
from atlas_search.services import Services, known_corpora

MAX_QUESTION = 4000  # characters; the embedding model reads the first 256 tokens anyway
MAX_PHRASE = 1000  # characters of what is required or excluded


class Where(TypedDict, total=False):
    """The scope and the options of a search. A key left out, or None, is as the target says.

    corpora         "all", the id of a corpus, or several ids
    filters         metadata every passage must have: a value, several of which one must match, or
                    `{"from": ..., "to": ...}`; `document_id`, `passage_id`, `speaker`,
                    `section` too
    k               passages wanted, 1 to 100
    target          name of a target; the configured one
    fuzzy           whether words that no source holds count as those that are spelt nearly so
    require         phrases that every passage must hold; if too few do, others follow them
    exclude         phrases that no passage may hold
    max_per_document  passages of one document, 1 to 100, unless no other is nearly as good; any
                    number in a search, the target's in an answer
    freshness_days  days after which a source counts as stale; 0 never
    as_of           the day its age is counted from; today
    """

    corpora: str | Sequence[str]
    filters: Mapping[str, Filter]
    k: int | None
    target: str | None
    fuzzy: bool | None
    require: Sequence[str]
    exclude: Sequence[str]
    max_per_document: int | None
    freshness_days: int | None
    as_of: date | None


def search_request(services: Services, question: str, **where: Unpack[Where]) -> SearchRequest:
    """A question to the collection. Raises RequestError."""
    _, target = services.target(where.get("target"))
    corpora, every = check_corpora(services, where.get("corpora", "all"))
    fuzzy, days, k = (where.get(name) for name in ("fuzzy", "freshness_days", "k"))
    cap = where.get("max_per_document")
    return SearchRequest(
        question=_check_question(question),
        corpora=corpora,
        every_corpus=every,
        limit=target.search_k if k is None else within(k, "k", 1, 100),
        today=where.get("as_of") or date.today(),
        filters=conditions(where.get("filters") or {}, services.store.manifest.fields),
        fuzzy=target.fuzzy if fuzzy is None else bool(fuzzy),
        require=check_phrases("require", where.get("require", ())),
        exclude=check_phrases("exclude", where.get("exclude", ())),
        max_per_document=None if cap is None else within(cap, "max_per_document", 1, 100),
        freshness_days=target.freshness_days
        if days is None
        else within(days, "freshness_days", 0, MAX_DAYS),
    )


def ask_request(
    services: Services,
    question: str,
    *,
    history: Sequence[ChatTurn] = (),
    mode: Mode = "answer",
    clarify: bool = False,
    session_id: str | None = None,
    qa_id: str | None = None,
    read_follow_ups: bool | None = None,
    **where: Unpack[Where],
) -> AskRequest:
    """A question to be answered. Raises RequestError."""
    name, target = services.target(where.get("target"))
    # without a language model only follow-ups are read
    budget = target.chat_memory_tokens if target.llm_provider in services.answerer.models else 0
    turns = keep(history, budget, count_tokens)
    if where.get("max_per_document") is None:
        where["max_per_document"] = target.max_passages_per_document
    return AskRequest(
        search=search_request(services, question, **where),
        target_name=name,
        target=target,
        run_name=services.composite_target(name),
        qa_id=qa_id or uuid.uuid4().hex,
        session_id=session_id or uuid.uuid4().hex,
        history=tuple(turns),
        turns_dropped=len(history) - len(turns),
        mode=mode,
        read_follow_ups=read_follow_ups,
        clarify=clarify,
    )


def facet_fields(services: Services, facets: bool | Sequence[str]) -> list[str]:
    """The fields to count: all, none, or some. Raises UnknownFilterField."""
    known = list(services.store.manifest.fields)
    if isinstance(facets, bool):
        return known if facets else []
    return check_fields(list(dict.fromkeys(facets)), known)


def narrowing(
    services: Services,
    *,
    corpora: str | Sequence[str] = "all",
    filters: Mapping[str, Filter] | None = None,
    require: Sequence[str] = (),
    exclude: Sequence[str] = (),
) -> Narrowing:
    """A scope without a question. Raises RequestError."""
    return Narrowing(
        corpora=check_corpora(services, corpora)[0],
        filters=conditions(filters or {}, services.store.manifest.fields),
        require=check_phrases("require", require),
        exclude=check_phrases("exclude", exclude),
    )


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


def check_phrases(name: str, given: Sequence[str]) -> tuple[str, ...]:
    """Phrases that are required, or excluded. Raises RequestError."""
    if isinstance(given, str):
        raise RequestError(f"{name} is a list of phrases: [{shown([given])}].")
    if len(given) > MOST_PHRASES:
        raise RequestError(f"{name} has {len(given)} phrases; at most {MOST_PHRASES} are taken.")
    for text in given:
        if len(text) > MAX_PHRASE:
            raise RequestError(
                f"{name}: a phrase has {len(text):,} characters; at most {MAX_PHRASE:,} are "
                "looked for. Shorten it."
            )
        if not phrases([text]):
            raise RequestError(f"{name}: {shown([text])} holds no word.")
    return tuple(given)


def check_corpora(services: Services, chosen: str | Sequence[str]) -> tuple[tuple[str, ...], bool]:
    """The ids of the corpora to search, and whether none was chosen."""
    if chosen == "all":
        return services.default_corpora, True
    ids = [chosen] if isinstance(chosen, str) else list(chosen)
    if not ids:
        raise RequestError('corpus_filter is an empty list. Name a corpus, or give "all".')
    return tuple(corpus.id for corpus in known_corpora(services.store, ids)), False


def within(value: object, name: str, least: int, most: int) -> int:
    """A number within bounds. Raises RequestError."""
    if not isinstance(value, int) or not least <= value <= most:
        raise RequestError(f"{name}={shown([value])}: give a whole number from {least} to {most}.")
    return value
