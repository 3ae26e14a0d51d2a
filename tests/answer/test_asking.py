"""Questions: what can be asked, and those about the collection and its words.

Which questions ask for a count is told by cases of `cases.toml`.
"""

import json
from typing import Any

import pytest

from atlas_search.answer.counted import asks_about_collection, words_asked_for
from atlas_search.atlas import Atlas
from atlas_search.core.domain import ChatTurn
from atlas_search.core.errors import RequestError
from atlas_search.search.query import MOST_PHRASES
from tests.answer.models import LIBEL
from tests.places import ROOT


@pytest.mark.parametrize("field", ["require", "exclude"])
@pytest.mark.parametrize(
    ("phrases", "message"),
    [
        ("libel", "Input should be a valid list"),
        (["..."], "'...' holds no word"),
        (["a"] * (MOST_PHRASES + 1), "List should have at most 20 items"),
    ],
)
def test_phrases_that_cannot_be_looked_for_are_refused(
    atlas: Atlas, field: str, phrases: Any, message: str
) -> None:
    with pytest.raises(RequestError, match=f"{field}.*{message}"):
        atlas.ask(LIBEL, **{field: phrases})


# counts


def test_no_labelled_question_is_taken_for_one_that_asks_for_a_count() -> None:
    lines = (ROOT / "create" / "samples" / "labels.jsonl").read_text().splitlines()
    questions = [json.loads(line)["question"] for line in lines if line.strip()]
    assert len(questions) > 150
    assert not [question for question in questions if words_asked_for(question)]


@pytest.mark.parametrize("mode", ["answer", "compare"])
@pytest.mark.parametrize("where", [{}, {"corpora": "legal_uk"}, {"filters": {"date": "1993"}}])
def test_the_answer_is_the_count_of_what_was_asked_and_no_guess(
    atlas: Atlas, where: dict[str, Any], mode: str
) -> None:
    total = atlas.counts('"libel"', **where).total
    answer = atlas.ask("How many documents mention libel?", mode=mode, **where).to_dict()
    assert total.documents > 0
    assert (answer["decision"], answer["reason"]["code"]) == ("ABSTAIN", "counted")
    assert f"{total.documents} of {total.of_documents} documents" in answer["reason"]["message"]
    assert answer["counted"] == {
        "words": "libel",
        "query": '"libel"',
        "hits": total.hits,
        "documents": total.documents,
        "of_documents": total.of_documents,
    }
    assert (answer["answer"], answer["citations"], answer["closest"]) == (None, [], [])


def test_what_no_document_says_is_counted_too(atlas: Atlas) -> None:
    answer = atlas.ask("How many documents mention zyzzyva?")
    assert answer.counted is not None
    assert (answer.counted.hits, answer.counted.documents) == (0, 0)
    assert answer.outcome.message.startswith("Counted exactly: 0 of 84 documents say “zyzzyva”.")


@pytest.mark.parametrize("words", ["*", "!!!", "a* " * 21, "word " * 220])
def test_words_that_no_query_can_look_for_are_answered_as_ever(atlas: Atlas, words: str) -> None:
    answer = atlas.ask(f'How many documents say "{words}"?')
    assert answer.counted is None
    assert answer.outcome.code != "counted"


# the collection


@pytest.mark.parametrize(
    "question",
    [
        "What is in this collection?",
        "Which years does it cover?",
        "Que contient cette collection ?",
    ],
)
def test_what_the_collection_holds_is_read_from_its_manifest(atlas: Atlas, question: str) -> None:
    answer = atlas.ask(question).to_dict()
    assert (answer["decision"], answer["reason"]["code"]) == ("ABSTAIN", "collection")
    message = answer["reason"]["message"]
    assert message.startswith("The collection holds 84 documents of ")
    for corpus in atlas.corpora:
        assert f"{corpus.label}, {corpus.documents} documents" in message
    assert (answer["citations"], answer["closest"], answer["passages"]) == ([], [], [])


def test_of_a_part_of_the_collection_that_part_is_described(atlas: Atlas) -> None:
    answer = atlas.ask("What is in this corpus?", corpora="legal_uk")
    assert answer.outcome.numbers == {"corpora": 1, "documents": 22}


@pytest.mark.parametrize(
    ("before", "question", "collection"),
    [
        ("Who decided Plessy v. Ferguson?", "What is in this collection?", True),
        ("What is in this collection?", "Which years does it cover?", True),
        ("What is the Human Rights Act?", "Which years does it cover?", False),
    ],
)
def test_in_a_conversation_it_is_the_collection_only_after_a_question_about_that(
    atlas: Atlas, before: str, question: str, collection: bool
) -> None:
    history = [ChatTurn("user", before), ChatTurn("assistant", "So it is.")]
    answer = atlas.ask(question, history=history, read_follow_ups=True)
    assert (answer.outcome.code == "collection") is collection


@pytest.mark.parametrize(
    "question", ["What is in this act?", "Which years does the act cover?", "How big is it?"]
)
def test_other_questions_are_not_about_the_collection(question: str) -> None:
    assert not asks_about_collection(question)
