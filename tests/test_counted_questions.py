"""Questions that ask how many documents say something are counted exactly, and no others are."""

import json

import pytest

from atlas_search.answer.counted import asks_about_collection, words_asked_for
from atlas_search.atlas import Atlas
from atlas_search.core.domain import ChatTurn
from atlas_search.services import Services
from tests.places import ROOT

COUNTED = {
    "How many documents mention libel?": "libel",
    "how many of the documents say “right to silence”": "right to silence",
    "How many judgments use the word proportionality?": "proportionality",
    "In how many cases does the phrase duty of care appear?": "duty of care",
    "How often is the word 'liberty' used?": "liberty",
    "How many times does the word court occur ?": "court",
    "How many texts mention the Supreme Court?": "Supreme Court",
    "Combien de documents mentionnent la diffamation ?": "diffamation",
    "Combien de textes contiennent le mot « liberté » ?": "liberté",
    "Dans combien de lois figure l’expression ordre public ?": "ordre public",
    "Combien de fois apparaît le mot grève ?": "grève",
}
NOT_COUNTED = [
    "How many judges sit on the Supreme Court?",
    "How many documents must an applicant file?",
    "How many documents mention that a local authority cannot sue?",
    "How many cases say anything about juries?",
    "How many documents mention libel or slander?",
    "How many articles contain more than one penalty clause today?",
    "How often must the register be kept?",
    "How many times can a person be tried for the same offence?",
    "What do the documents mention of libel?",
    "Tell me how many documents mention libel and why.",
    "How many documents mention snake_case?",
    "Combien de juges siègent à la Cour suprême ?",
    "Combien de documents faut-il produire ?",
    "Combien de textes disent qui peut voter ?",
    "Combien de fois peut-on être jugé ?",
]


@pytest.mark.parametrize(("question", "words"), COUNTED.items())
def test_clear_forms_name_the_words_to_count(question: str, words: str) -> None:
    assert words_asked_for(question) == words


@pytest.mark.parametrize("question", NOT_COUNTED)
def test_other_questions_name_none(question: str) -> None:
    assert words_asked_for(question) == ""


def test_no_labelled_question_is_taken_for_one() -> None:
    lines = (ROOT / "create" / "samples" / "labels.jsonl").read_text().splitlines()
    questions = [json.loads(line)["question"] for line in lines if line.strip()]
    assert len(questions) > 150
    assert not [question for question in questions if words_asked_for(question)]


@pytest.mark.parametrize("mode", ["answer", "compare"])
@pytest.mark.parametrize("where", [{}, {"corpora": "legal_uk"}, {"filters": {"date": "1993"}}])
def test_the_answer_is_the_count_of_what_was_asked_and_no_guess(
    services: Services, where: dict, mode: str
) -> None:
    atlas = Atlas(services)
    total = atlas.counts('"libel"', **where).total
    answer = atlas.ask("How many documents mention libel?", mode=mode, **where)
    said = answer.to_dict()
    assert total.documents > 0
    assert (said["decision"], said["reason"]["code"]) == ("ABSTAIN", "counted")
    assert f"{total.documents} of {total.of_documents} documents" in said["reason"]["message"]
    assert said["counted"] == {
        "words": "libel",
        "query": '"libel"',
        "hits": total.hits,
        "documents": total.documents,
        "of_documents": total.of_documents,
    }
    assert (said["answer"], said["citations"], said["closest"]) == (None, [], [])


def test_what_no_document_says_is_counted_too(services: Services) -> None:
    answer = Atlas(services).ask("How many documents mention zyzzyva?")
    assert answer.counted is not None
    assert (answer.counted.hits, answer.counted.documents) == (0, 0)
    assert answer.outcome.message.startswith("Counted exactly: 0 of 84 documents say “zyzzyva”.")


def test_questions_for_another_number_have_no_count(services: Services) -> None:
    said = Atlas(services).ask("How many judges sit on the Supreme Court?").to_dict()
    assert said["counted"] is None
    assert said["reason"]["code"] != "counted"


@pytest.mark.parametrize("words", ["*", "!!!", "a* " * 21, "word " * 220])
def test_words_that_no_query_can_look_for_are_answered_as_ever(
    services: Services, words: str
) -> None:
    answer = Atlas(services).ask(f'How many documents say "{words}"?')
    assert answer.counted is None
    assert answer.outcome.code != "counted"


@pytest.mark.parametrize(
    "question",
    [
        "What is in this collection?",
        "Which years does it cover?",
        "Que contient cette collection ?",
    ],
)
def test_what_the_collection_holds_is_told_from_its_manifest(
    services: Services, question: str
) -> None:
    said = Atlas(services).ask(question).to_dict()
    assert (said["decision"], said["reason"]["code"]) == ("ABSTAIN", "collection")
    message = said["reason"]["message"]
    assert message.startswith("The collection holds 84 documents of ")
    for corpus in services.store.corpora:
        assert f"{corpus.label}, {corpus.documents} documents" in message
    assert (said["citations"], said["closest"], said["passages"]) == ([], [], [])


def test_in_a_conversation_it_is_the_collection_only_after_a_question_about_that(
    services: Services,
) -> None:
    def code(question: str, before: str) -> str:
        history = [ChatTurn("user", before), ChatTurn("assistant", "So it is.")]
        found = Atlas(services).ask(question, history=history, read_follow_ups=True)
        return found.outcome.code

    assert code("What is in this collection?", "Who decided Plessy v. Ferguson?") == "collection"
    assert code("Which years does it cover?", "What is in this collection?") == "collection"
    assert code("Which years does it cover?", "What is the Human Rights Act?") != "collection"


def test_of_a_part_of_the_collection_that_part_is_told(services: Services) -> None:
    said = Atlas(services).ask("What is in this corpus?", corpora="legal_uk").to_dict()
    assert said["reason"]["numbers"] == {"corpora": 1, "documents": 22}


@pytest.mark.parametrize(
    "question", ["What is in this act?", "Which years does the act cover?", "How big is it?"]
)
def test_other_questions_are_not_about_the_collection(question: str) -> None:
    assert not asks_about_collection(question)
