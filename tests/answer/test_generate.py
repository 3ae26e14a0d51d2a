"""Answers by language models: the real clients against local servers of their providers."""

import threading
from collections.abc import Callable
from typing import Any

import pytest

from atlas_search.answer.answer import Checked, Event, References, Restart, Token
from atlas_search.core.errors import Cancelled, ModelRefused, ModelUnavailable
from atlas_search.core.stop import Stop
from atlas_search.providers.chat import Usage
from tests.answer.models import LIBEL, Both, cited, kept_text, printed, texts
from tests.answering import SERVERS, asked, with_places
from tests.chat_server import Cut, Gate, Hang, Reply, Request, Says, Silence
from tests.exporting import text

UNLIKELY = {"answer_likelihood": 1.0}
INVENTED = "A council may sue [legal_uk.invented p9]."
ECHO = '{"sentences": [{"text": "Yes, a local authority can sue for libel.", "passages": [1]}]}'

each_provider = pytest.mark.parametrize("both", list(SERVERS), indirect=True)


# what is written and sent


@each_provider
def test_a_cited_answer_is_sent_as_it_comes_and_paid_for(both: Both) -> None:
    services, server = both
    server.says(cited)
    answer, events = asked(services, LIBEL, llm_price_input=2.0, llm_price_output=6.0)
    assert answer.outcome.decision == "ANSWER"
    assert answer.text == texts(events) == with_places(cited(server.requests[0]), answer)
    assert isinstance(events[0], References)
    (checked,) = [event for event in events if isinstance(event, Checked)]
    assert checked.sentence.grounded
    assert (answer.writer.attempts, answer.writer.fallback) == (1, None)
    assert answer.writer.usage == Usage(11, 7)
    assert answer.writer.cost == (11 * 2 + 7 * 6) / 1_000_000


@each_provider
def test_an_invented_citation_is_flagged_withdrawn_and_repaired(both: Both) -> None:
    services, server = both
    server.then(Says("A council may sue ", "[legal_uk.invented p9]."))
    server.says(cited)
    answer, events = asked(services, LIBEL)
    assert answer.outcome.decision == "ANSWER"
    assert (answer.writer.attempts, answer.writer.usage) == (2, Usage(22, 14))
    flagged = [event for event in events if isinstance(event, Checked)]
    assert [event.sentence.grounded for event in flagged] == [False, True]
    assert Restart("repair") in events
    assert answer.text == kept_text(events)


@pytest.mark.parametrize(
    ("question", "draft", "complaint"),
    [
        (LIBEL, Says(INVENTED), "cites [legal_uk.invented p9], which was not retrieved"),
        (LIBEL, Says(ECHO), "only repeats the question"),
        (LIBEL, Says("A local authority cannot", finish="length"), "cut off at MAX_TOKENS"),
        (
            "What did Quillfeather say about a local authority that sues a newspaper for libel?",
            Says("Quillfeather holds that a council sues nobody for libel [1]."),
            "which no passage speaks of",
        ),
    ],
)
def test_the_model_is_told_what_was_wrong_with_its_draft(
    both: Both, question: str, draft: Says, complaint: str
) -> None:
    services, server = both
    server.then(draft)
    server.says(cited)
    asked(services, question, answer_threshold=0.0)
    assert complaint in server.requests[1].prompt
    names_nobody = "No passage speaks of: Quillfeather" in server.requests[0].prompt
    assert names_nobody == ("Quillfeather" in question)


@pytest.mark.parametrize(
    "refusal",
    [
        "The passages do not say.",
        '{"sentences": [{"text": "The passages do not name the date.", "passages": [1]}]}',
        "",
    ],
)
def test_of_a_refusal_nothing_is_sent(both: Both, refusal: str) -> None:
    services, server = both
    server.says(refusal)
    answer, events = asked(services, LIBEL, **UNLIKELY)
    assert (answer.outcome.decision, answer.outcome.code) == ("ABSTAIN", "model_refused")
    assert (answer.text, answer.verification.citations) == ("", ())
    assert texts(events) == ""  # the denial came with the last of its opening words
    assert 0 < answer.outcome.numbers["evidence"] < 1


def test_a_refusal_beside_likely_quotes_gives_them_and_is_paid_for(both: Both) -> None:
    services, server = both
    server.says("I don't know.")
    answer, events = asked(services, LIBEL)
    assert (answer.outcome.decision, answer.writer.provider) == ("ANSWER", "extractive")
    assert answer.writer.fallback is not None
    assert answer.writer.fallback.code == "model_refused"
    assert answer.writer.usage == Usage(11, 7)
    assert "don't know" not in texts(events)
    assert answer.verification.answer_grounded


# models that fail


@pytest.mark.parametrize(
    "fault",
    [
        [Reply(500)] * 9,
        [Reply(429, {}, {"Retry-After": "7"})] * 9,
        [Says("A local ", Cut())],
        [Says("A local authority", finish="")],
    ],
    ids=["500", "429", "cut", "no end"],
)
def test_a_model_out_of_reach_is_an_error_or_the_sources_own_sentences(
    both: Both, fault: list[Reply | Says]
) -> None:
    services, server = both
    server.then(*fault)
    with pytest.raises(ModelUnavailable) as raised:
        asked(services, LIBEL)
    waits = isinstance(fault[0], Reply) and fault[0].status == 429
    assert raised.value.retry_after == (7 if waits else 0)
    server.told.clear()
    server.then(*fault)
    answer, events = asked(services, LIBEL, llm_fallback="extractive")
    assert answer.outcome.decision == "ANSWER"
    assert answer.writer.fallback is not None
    assert answer.writer.fallback.code == "model_unavailable"
    assert Restart("fallback") in events


@pytest.mark.parametrize("hang", [Silence(), Says("A ", Hang())], ids=["silence", "half"])
def test_a_model_that_hangs_ends_with_its_time(both: Both, hang: Silence | Says) -> None:
    services, server = both
    server.then(hang)
    with pytest.raises(ModelUnavailable, match=r"LLM_SECONDS"):
        asked(services, LIBEL, llm_seconds=0.3)


@each_provider
def test_a_key_that_is_refused_says_which(both: Both) -> None:
    services, server = both
    server.key = "another"
    with pytest.raises(ModelRefused, match=r"(MISTRAL|OPENAI)_API_KEY"):
        asked(services, LIBEL)
    answer, _ = asked(services, LIBEL, llm_fallback="extractive")
    assert answer.writer.fallback is not None
    assert answer.writer.fallback.code == "model_unusable"


def test_a_model_without_an_end_is_cut_off(both: Both) -> None:
    services, server = both
    server.says(lambda request: Says(*(["on and "] * 40), cited(request)))
    answer, _ = asked(services, LIBEL, max_tokens=10)
    assert (answer.outcome.decision, answer.outcome.code) == ("BLOCK", "invalid_citations")
    server.says(lambda request: Says(f"{cited(request)} ", *[cited(request)] * 9, finish="length"))
    answer, _ = asked(services, LIBEL)
    assert (answer.outcome.decision, answer.outcome.code) == ("BLOCK", "cut_short")


def test_what_a_model_took_before_it_failed_is_counted(both: Both) -> None:
    services, server = both
    server.then(Says(INVENTED), *[Reply(500)] * 9)
    answer, _ = asked(services, LIBEL, llm_fallback="extractive")
    assert answer.writer.provider == "extractive"
    assert answer.writer.usage == Usage(11, 7)


@each_provider
def test_a_model_that_is_stopped_lets_go_at_once(both: Both) -> None:
    services, server = both
    gate, stop = Gate(), Stop()
    server.then(Says("A ", gate, "local"))
    raised: list[BaseException] = []

    def work() -> None:
        try:
            asked(services, LIBEL, stop=stop)
        except Cancelled as error:
            raised.append(error)

    thread = threading.Thread(target=work)
    thread.start()
    server.arrived.get(timeout=60)
    stop.set()
    thread.join(60)
    assert len(raised) == 1
    assert server.left.get(timeout=60) == server.requests[0]
    assert services.calls.running == 0


def test_an_error_on_the_way_frees_the_place(both: Both) -> None:
    services, server = both
    server.says(cited)

    def broken(event: Event) -> None:
        if isinstance(event, Token):
            raise RuntimeError("broken")

    with pytest.raises(RuntimeError):
        asked(services, LIBEL, emit=broken)
    assert services.calls.running == 0


def test_exports_and_the_terminal_name_who_wrote_in_place_of_the_model(both: Both) -> None:
    services, server = both
    server.says(lambda _: Reply(500))
    answer, _ = asked(services, LIBEL, llm_fallback="extractive")
    usage = answer.to_dict()["usage"]
    assert (usage["provider"], usage["model"]) == ("extractive", "sentences")
    assert "- Written by: extractive" in text("markdown", answer.to_dict())
    lead = "In the sources' own sentences, in place of a language model's answer: "
    assert lead in printed(answer)
    assert answer.writer.fallback is not None
    assert answer.writer.fallback.message in printed(answer)
    declined, _ = asked(services, "zzzz")
    assert declined.outcome.decision == "ABSTAIN"
    assert "Written by" not in text("markdown", declined.to_dict())
    assert "openai" not in text("csv", declined.to_dict())


# what a model is given


def test_the_prompt_holds_the_passages_behind_their_numbers(both: Both) -> None:
    services, server = both
    server.says(cited)
    answer, _ = asked(services, LIBEL)
    prompt = server.requests[0].prompt
    for number, item in enumerate(answer.result.valid, start=1):
        assert f"\n[{number}] {item.passage.text}\n</passage>" in prompt
    assert "Cite at most 5 passages" in prompt
    form: Any = server.requests[0].body["response_format"]["json_schema"]["schema"]
    numbers = form["properties"]["sentences"]["items"]["properties"]["passages"]["items"]["enum"]
    assert numbers == list(range(1, answer.context.passages + 1))


def test_passages_beyond_the_budget_are_left_out_and_counted(both: Both) -> None:
    services, server = both
    server.says(cited)
    whole, _ = asked(services, LIBEL)
    answer, _ = asked(services, LIBEL, context_tokens=600)
    assert answer.context.passages + answer.context.passages_dropped == whole.context.passages
    assert 0 < answer.context.passage_tokens <= 600 < whole.context.passage_tokens
    assert server.requests[-1].prompt.count("</passage>") == answer.context.passages


def says_first(word: str, then: str = "") -> Callable[[Request], str]:
    """A model that answers in one word whether the passages answer, and writes only then."""

    def answered(request: Request) -> str:
        last = request.body["messages"][-1]["content"]
        return word if last.endswith("Reply with one word: yes or no.") else then or cited(request)

    return answered


def test_a_model_that_is_asked_first_writes_only_if_the_passages_answer(both: Both) -> None:
    services, server = both
    server.says(says_first("Yes."))
    answer, _ = asked(services, LIBEL, ask_first=True)
    assert answer.outcome.decision == "ANSWER"
    assert answer.writer.usage == Usage(22, 14)
    first, second = (request.body["messages"] for request in server.requests)
    assert second[: len(first)] == first  # so a server that keeps what it read reads nothing twice
    assert second[len(first)]["content"] == "yes"
    server.says(says_first("no"))
    answer, events = asked(services, LIBEL, ask_first=True, max_tokens=700, **UNLIKELY)
    assert answer.outcome.code == "model_refused"
    assert texts(events) == ""
    assert len(server.requests) == 3
    answer, _ = asked(services, LIBEL, ask_first=True, max_tokens=700)
    assert answer.writer.fallback is not None
    assert answer.writer.fallback.code == "model_refused"


def test_a_model_that_says_yes_and_then_nothing_is_replaced_by_possible_quotes(both: Both) -> None:
    services, server = both
    question = "Under what conditions may a UK court look at Hansard to interpret a statute?"
    server.says(says_first("yes", '{"sentences": []}'))
    answer, _ = asked(services, question, ask_first=True)
    assert answer.confidence is not None
    assert answer.confidence.word == "possible"
    assert answer.writer.fallback is not None
    assert answer.writer.fallback.code == "model_refused"
    server.says(says_first("no"))
    answer, _ = asked(services, question, ask_first=True, max_tokens=700)
    assert answer.outcome.code == "model_refused"
