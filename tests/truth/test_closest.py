"""Whatever is declined shows what comes closest, in the sources' own words."""

from collections.abc import Iterator

import pytest

from atlas_search import Atlas
from atlas_search.answer.answer import Answer
from atlas_search.providers.embedding import Embedder
from atlas_search.services import Services
from tests.answering import answered_by, asked
from tests.chat_server import ChatServer, Says
from tests.truth.collection import closest, collection, is_verbatim

PIER = (
    "---\ntitle: The pier of Norport\n---\nThe pier of Norport was built of oak in 1880. "
    "Boats moor at the pier of Norport from May. Its lamps burn all night. Nobody may fish from "
    "the pier of Norport by night. The pier of Norport has a bell. It is rung in fog.\n"
)
QUAY = "---\ntitle: The quay\n---\nThe quay is of stone. Carts must go at a walk on the quay.\n"
QUESTION = "Why did the mayor close the pier of Norport?"
BEST = "The pier of Norport was built of oak in 1880."

Both = tuple[Services, ChatServer]


@pytest.fixture(scope="module")
def norport(tmp_path_factory: pytest.TempPathFactory, embedder: Embedder) -> Iterator[Atlas]:
    files = {"town/pier.txt": PIER, "town/quay.txt": QUAY}
    folder = tmp_path_factory.mktemp("norport")
    with collection(folder, embedder, files, query_cache_enabled=False) as opened:
        yield opened


@pytest.fixture
def both(norport: Atlas) -> Iterator[Both]:
    with answered_by("openai", norport.services, kept=False) as found:
        yield found


def shows_what_is_closest(atlas: Atlas, answer: Answer) -> bool:
    """One to three quotes, each as it stands in its document and none twice."""
    places = [citation.place for citation in answer.closest]
    held = all(is_verbatim(atlas, citation) for citation in answer.closest)
    return 0 < len(places) <= 3 and len(set(places)) == len(places) and held


def test_what_is_not_held(norport: Atlas) -> None:
    answer = norport.ask(QUESTION)
    assert (answer.outcome.code, answer.text) == ("not_held", "")
    assert shows_what_is_closest(norport, answer)
    assert "pier of Norport" in closest(answer)[0]
    assert answer.citations == ()
    told = answer.to_dict()
    assert [one["quote"] for one in told["closest"]] == closest(answer)


def test_evidence_that_is_too_weak(both: Both, norport: Atlas) -> None:
    services, server = both
    answer, _ = asked(services, QUESTION, answer_threshold=0.99)
    assert (answer.outcome.code, server.requests) == ("weak_evidence", [])
    assert shows_what_is_closest(norport, answer)


def test_a_model_that_finds_no_answer(both: Both, norport: Atlas) -> None:
    services, server = both
    server.says("NO ANSWER")
    answer, _ = asked(services, QUESTION)
    assert answer.outcome.code == "model_refused"
    assert shows_what_is_closest(norport, answer)


def test_a_text_that_cites_what_is_not_there(both: Both, norport: Atlas) -> None:
    services, server = both
    server.says(lambda _: Says("The mayor closed the pier [town.invented p9]."))
    answer, _ = asked(services, QUESTION)
    assert (answer.outcome.decision, answer.text) == ("BLOCK", "")
    assert shows_what_is_closest(norport, answer)
    assert "mayor closed" not in "\n".join(closest(answer))


def test_a_name_that_no_source_holds(norport: Atlas) -> None:
    answer = norport.ask("Who built the pier of Eastmouth?")
    assert answer.outcome.code == "not_held"
    assert "No passage found has “Eastmouth”." in answer.outcome.message
    assert shows_what_is_closest(norport, answer)


def test_the_best_comes_first(norport: Atlas) -> None:
    answer = norport.ask("Why was the pier of Norport built of oak in 1880?")
    told = [*closest(answer), *(citation.quote for citation in answer.citations)]
    assert told[0] == BEST


def test_nothing_is_closest_to_a_question_without_a_subject(norport: Atlas) -> None:
    answer = norport.ask("What is it?", read_follow_ups=False)
    assert (answer.outcome.code, answer.closest) == ("no_subject", ())


def test_nothing_is_closest_where_nothing_is_found(norport: Atlas) -> None:
    answer = norport.ask(QUESTION, exclude=["pier", "quay"])
    assert (answer.outcome.code, answer.closest) == ("no_passages", ())


def test_an_answer_has_nothing_closest(norport: Atlas) -> None:
    answer = norport.ask("When was the pier of Norport built?")
    assert answer.outcome.decision == "ANSWER"
    assert answer.closest == ()
