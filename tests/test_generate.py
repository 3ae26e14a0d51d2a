"""Answers by language models: the real clients against local servers of their providers."""

import threading
from collections.abc import Callable, Iterator

import pytest

from atlas_search.answer.answer import Checked, Event, References, Restart, Token
from atlas_search.core.errors import Cancelled, ModelRefused, ModelUnavailable
from atlas_search.core.stop import Stop
from atlas_search.providers.chat import Usage
from atlas_search.services import Services
from tests.answering import SERVERS, answered_by, asked, with_places
from tests.chat_server import ChatServer, Cut, Gate, Hang, Reply, Request, Says, Silence
from tests.slow_model import TOKEN

QUESTION = "Can a local authority sue a newspaper for libel?"
SENTENCE = "The council lost its claim for libel. {}"
UNLIKELY = {"answer_likelihood": 1.0}

Both = tuple[Services, ChatServer]


@pytest.fixture(params=list(SERVERS))
def both(request: pytest.FixtureRequest, services: Services) -> Iterator[Both]:
    with answered_by(request.param, services) as found:
        yield found
    assert found[0].calls.running == 0
    assert found[0].tracer.open_spans == 0


def first_token(request: Request) -> str:
    """The token of the best passage; none is named in the prompt of a comparison."""
    return next(iter(TOKEN.findall(request.prompt)), "")


def cited(request: Request) -> str:
    return SENTENCE.format(first_token(request))


def texts(events: list[Event]) -> str:
    return "".join(event.text for event in events if isinstance(event, Token)).strip()


def test_a_cited_answer_is_sent_as_it_comes(both: Both) -> None:
    services, server = both
    server.says(cited)
    answer, events = asked(services, QUESTION)
    assert answer.outcome.decision == "ANSWER"
    assert answer.text == texts(events) == with_places(cited(server.requests[0]), answer)
    assert isinstance(events[0], References)
    (checked,) = [event for event in events if isinstance(event, Checked)]
    assert checked.sentence.grounded
    assert answer.writer.attempts == 1
    assert answer.writer.usage == Usage(11, 7)
    assert answer.writer.fallback is None


def test_the_cost_is_that_of_the_targets_prices(both: Both) -> None:
    services, server = both
    server.says(cited)
    answer, _ = asked(services, QUESTION, llm_price_input=2.0, llm_price_output=6.0)
    assert answer.writer.cost == (11 * 2 + 7 * 6) / 1_000_000


def test_an_invented_citation_is_flagged_withdrawn_and_repaired(both: Both) -> None:
    services, server = both
    server.then(Says("A council may sue ", "[legal_uk.invented p9]."))
    server.says(cited)
    answer, events = asked(services, QUESTION)
    assert answer.outcome.decision == "ANSWER"
    assert answer.writer.attempts == 2
    assert answer.writer.usage == Usage(22, 14)
    flagged = [event for event in events if isinstance(event, Checked)]
    assert [event.sentence.grounded for event in flagged] == [False, True]
    assert Restart("repair") in events
    complaint = server.requests[1].prompt
    assert "cites [legal_uk.invented p9], which was not retrieved" in complaint
    assert answer.text in texts(events)


def test_what_is_invented_twice_is_blocked(both: Both) -> None:
    services, server = both
    server.says("A council may sue [legal_uk.invented p9].")
    answer, _ = asked(services, QUESTION)
    assert (answer.outcome.decision, answer.outcome.code) == ("BLOCK", "invalid_citations")
    assert answer.text == ""
    assert answer.outcome.numbers["errors"] == 1
    assert len(server.requests) == 2


def test_likely_quotes_stand_in_for_what_is_blocked_where_the_target_has_them(both: Both) -> None:
    services, server = both
    server.says("A council may sue [legal_uk.invented p9].")
    answer, events = asked(services, QUESTION, llm_fallback="extractive")
    assert answer.outcome.decision == "ANSWER"
    assert answer.writer.fallback is not None
    assert answer.writer.fallback.code == "model_blocked"
    assert "invented" not in answer.text
    last = max(number for number, event in enumerate(events) if isinstance(event, Restart))
    assert texts(events[last:]) == answer.text
    unlikely = {"llm_fallback": "extractive", "answer_likelihood": 1.0}
    answer, _ = asked(services, QUESTION, **unlikely)
    assert (answer.outcome.decision, answer.text) == ("BLOCK", "")


def test_a_sentence_without_a_citation_is_repaired_or_blocked(both: Both) -> None:
    services, server = both
    server.says(lambda request: f"{cited(request)} Councils are public bodies.")
    answer, _ = asked(services, QUESTION)
    assert answer.outcome.decision == "BLOCK"
    assert answer.verification.sentence_groundedness == 1 / 2


@pytest.mark.parametrize(
    "refusal",
    [
        "The passages do not say.",
        "NO ANSWER",
        "I'm sorry, but the provided passages do not contain information about this.",
        "I don't know.",
        "",
    ],
)
def test_a_refusal_is_no_answer_and_none_of_it_is_sent(both: Both, refusal: str) -> None:
    services, server = both
    server.says(refusal)
    answer, events = asked(services, QUESTION, **UNLIKELY)
    assert (answer.outcome.decision, answer.outcome.code) == ("ABSTAIN", "model_refused")
    assert answer.text == ""
    assert answer.verification.citations == ()
    assert texts(events) == ""  # the denial came with the last of its opening words
    assert 0 < answer.outcome.numbers["evidence"] < 1


def test_a_refusal_beside_likely_quotes_gives_them_and_says_so(both: Both) -> None:
    services, server = both
    server.says("I don't know.")
    answer, events = asked(services, QUESTION)
    assert answer.outcome.decision == "ANSWER"
    assert answer.writer.provider == "extractive"
    assert answer.writer.fallback is not None
    assert answer.writer.fallback.code == "model_refused"
    assert answer.writer.usage == Usage(11, 7)  # the refusal is paid for
    assert "don't know" not in texts(events)
    assert answer.verification.answer_grounded


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
    with pytest.raises(ModelUnavailable):
        asked(services, QUESTION)
    server.told.clear()
    server.then(*fault)
    answer, events = asked(services, QUESTION, llm_fallback="extractive")
    assert answer.outcome.decision == "ANSWER"
    assert answer.writer.fallback is not None
    assert answer.writer.fallback.code == "model_unavailable"
    assert Restart("fallback") in events


def test_a_wait_the_provider_asks_for_is_passed_on(both: Both) -> None:
    services, server = both
    server.then(*[Reply(429, {}, {"Retry-After": "7"})] * 9)
    with pytest.raises(ModelUnavailable) as raised:
        asked(services, QUESTION)
    assert raised.value.retry_after == 7


@pytest.mark.parametrize("hang", [Silence(), Says("A ", Hang())], ids=["silence", "half"])
def test_a_model_that_hangs_ends_with_its_time(both: Both, hang: Silence | Says) -> None:
    services, server = both
    server.then(hang)
    with pytest.raises(ModelUnavailable, match=r"LLM_SECONDS"):
        asked(services, QUESTION, llm_seconds=0.3)


def test_a_key_that_is_refused_says_which(both: Both) -> None:
    services, server = both
    server.key = "another"
    with pytest.raises(ModelRefused, match=r"(MISTRAL|OPENAI)_API_KEY"):
        asked(services, QUESTION)
    answer, _ = asked(services, QUESTION, llm_fallback="extractive")
    assert answer.writer.fallback is not None
    assert answer.writer.fallback.code == "model_unusable"


def test_an_answer_that_is_cut_off_is_written_again(both: Both) -> None:
    services, server = both
    server.then(Says("A local authority cannot", finish="length"))
    server.says(cited)
    answer, _ = asked(services, QUESTION)
    assert answer.outcome.decision == "ANSWER"
    assert "cut off at MAX_TOKENS" in server.requests[1].prompt


def test_what_a_model_is_told_by_a_passage_does_not_get_out(both: Both) -> None:
    services, server = both
    # a model that obeys: the passage names a source that was never found
    server.says("Councils may always sue, as the editor's note says [legal_uk.note p1].")
    answer, _ = asked(services, QUESTION)
    assert answer.outcome.decision == "BLOCK"
    assert answer.text == ""


def test_a_model_that_is_stopped_lets_go_at_once(both: Both) -> None:
    services, server = both
    gate, stop = Gate(), Stop()
    server.then(Says("A ", gate, "local"))
    raised: list[BaseException] = []

    def work() -> None:
        try:
            asked(services, QUESTION, stop=stop)
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


def test_the_prompt_holds_the_passages_behind_their_numbers(both: Both) -> None:
    services, server = both
    server.says(cited)
    answer, _ = asked(services, QUESTION)
    prompt = server.requests[0].prompt
    for number, item in enumerate(answer.result.valid, start=1):
        assert f"\n[{number}] {item.passage.text}\n</passage>" in prompt
    assert "Cite at most 5 passages" in prompt
    form = server.requests[0].body["response_format"]["json_schema"]["schema"]
    numbers = form["properties"]["sentences"]["items"]["properties"]["passages"]["items"]["enum"]
    assert numbers == list(range(1, answer.context.passages + 1))


def says_first(word: str, then: str = "") -> Callable[[Request], str]:
    """A model that answers in one word whether the passages answer, and writes only then."""

    def answered(request: Request) -> str:
        last = request.body["messages"][-1]["content"]
        return word if last.endswith("Reply with one word: yes or no.") else then or cited(request)

    return answered


def test_a_model_that_is_asked_first_writes_only_if_the_passages_answer(both: Both) -> None:
    services, server = both
    server.says(says_first("Yes."))
    answer, _ = asked(services, QUESTION, ask_first=True)
    assert answer.outcome.decision == "ANSWER"
    assert answer.writer.usage == Usage(22, 14)
    first, second = (request.body["messages"] for request in server.requests)
    assert second[: len(first)] == first  # so a server that keeps what it read reads nothing twice
    assert second[len(first)]["content"] == "yes"
    server.says(says_first("no"))
    answer, events = asked(services, QUESTION, ask_first=True, max_tokens=700, **UNLIKELY)
    assert answer.outcome.code == "model_refused"
    assert texts(events) == ""
    assert len(server.requests) == 3
    answer, _ = asked(services, QUESTION, ask_first=True, max_tokens=700)
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


def test_sentences_in_the_form_asked_for_are_an_answer(both: Both) -> None:
    services, server = both
    said = '{"sentences": [{"text": "The council lost.", "passages": [1]}]}'
    server.says(said)
    answer, events = asked(services, QUESTION)
    assert answer.text == texts(events) == with_places("The council lost. [1]", answer)
    assert answer.verification.answer_grounded


def test_what_only_repeats_the_question_is_written_again_or_blocked(both: Both) -> None:
    services, server = both
    echo = '{"sentences": [{"text": "Yes, a local authority can sue for libel.", "passages": [1]}]}'
    server.then(Says(echo))
    server.says(cited)
    answer, _ = asked(services, QUESTION)
    assert (answer.outcome.decision, answer.writer.attempts) == ("ANSWER", 2)
    assert "only repeats the question" in server.requests[1].prompt
    server.says(echo)
    answer, _ = asked(services, QUESTION, max_tokens=700)
    assert answer.outcome.code == "repeats_question"


def test_passages_beyond_the_budget_are_left_out_and_counted(both: Both) -> None:
    services, server = both
    server.says(cited)
    whole, _ = asked(services, QUESTION)
    answer, _ = asked(services, QUESTION, context_tokens=600)
    assert answer.context.passages + answer.context.passages_dropped == whole.context.passages
    assert 0 < answer.context.passage_tokens <= 600 < whole.context.passage_tokens
    prompt = server.requests[-1].prompt
    assert prompt.count("</passage>") == answer.context.passages


def test_a_denial_is_shown_only_once_it_is_known_to_be_no_refusal(both: Both) -> None:
    services, server = both
    denial = '{"text": "The passages do not name the date.", "passages": [1]}'
    server.says(f'{{"sentences": [{denial}]}}')
    answer, events = asked(services, QUESTION, **UNLIKELY)
    assert answer.outcome.code == "model_refused"
    assert texts(events) == ""
    more = '{"text": "The council lost.", "passages": [1]}'
    server.says(f'{{"sentences": [{denial}, {more}]}}')
    answer, events = asked(services, QUESTION, search_k=9)
    assert answer.text == texts(events)
    assert len(answer.verification.sentences) == 2


def test_a_model_without_an_end_is_cut_off(both: Both) -> None:
    services, server = both
    server.says(lambda request: Says(*(["on and "] * 40), cited(request)))
    answer, _ = asked(services, QUESTION, max_tokens=10)
    assert (answer.outcome.decision, answer.outcome.code) == ("BLOCK", "invalid_citations")
    server.says(lambda request: Says(f"{cited(request)} ", *[cited(request)] * 9, finish="length"))
    answer, _ = asked(services, QUESTION)
    assert (answer.outcome.decision, answer.outcome.code) == ("BLOCK", "cut_short")


def test_what_a_model_took_before_it_failed_is_counted(both: Both) -> None:
    services, server = both
    server.then(Says("A council may sue [legal_uk.invented p9]."), *[Reply(500)] * 9)
    answer, _ = asked(services, QUESTION, llm_fallback="extractive")
    assert answer.writer.provider == "extractive"
    assert answer.writer.usage == Usage(11, 7)


def test_an_error_on_the_way_frees_the_place(both: Both) -> None:
    services, server = both
    server.says(cited)

    def broken(event: Event) -> None:
        if isinstance(event, Token):
            raise RuntimeError("broken")

    with pytest.raises(RuntimeError):
        asked(services, QUESTION, emit=broken)
    assert services.calls.running == 0
