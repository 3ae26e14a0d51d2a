"""Estimates without a judge: by shared words, and by the tokens of bedrock-rag-eval."""

import pytest

from atlas_search.evaluation.estimates import measure_overlap, measure_tokens, tokens
from atlas_search.evaluation.labels import Label
from atlas_search.evaluation.metrics import Case, Tools
from tests.hash_embedder import HashEmbedder
from tests.replies import passage, reply

TOOLS = Tools(HashEmbedder())
LABEL = Label(
    "q1",
    "",
    "",
    "Which keeper mended the lamp?",  # keeper, mended, lamp
    ("The old keeper repaired the lamp",),  # old, keeper, repaired, lamp
    frozenset({"a"}),
)
KEPT = [
    passage("a", "An old keeper of the lamp."),  # old, keeper, lamp
    passage("b", "Ships anchor here."),  # ships, anchor
]
ANSWERED = reply("ANSWER", "The keeper painted the lamp [a p1].", passages=KEPT)


def test_the_five_estimates_by_hand() -> None:
    assert measure_overlap(Case(LABEL, ANSWERED, TOOLS)) == {
        "context_precision": (3 / 4 + 0 / 6) / 2,
        "context_recall": 3 / 4,
        "faithfulness": 2 / 3,  # keeper, lamp; painted is in no passage
        "answer_relevancy": 2 / 3,  # keeper, lamp; mended is not answered
        "answer_correctness": 2 * (2 / 3) * (2 / 4) / (2 / 3 + 2 / 4),  # keeper, lamp
    }


def test_words_are_compared_by_their_stems() -> None:
    label = Label("q1", "", "", "Which keepers?", ("Keepers",), frozenset({"a"}))
    figures = measure_overlap(Case(label, reply("ANSWER", "A keeper.", passages=KEPT), TOOLS))
    assert figures["context_recall"] == figures["answer_relevancy"] == 1
    assert figures["answer_correctness"] == 0


def test_the_closest_reference_counts() -> None:
    label = Label("q1", "", "", "?", ("Gulls", "Ships anchor here"), frozenset({"b"}))
    figures = measure_overlap(Case(label, ANSWERED, TOOLS))
    assert figures["context_recall"] == 1
    assert figures["context_precision"] == (0 / 5 + 2 / 2) / 2


def test_without_a_reference_passages_are_compared_with_the_question() -> None:
    label = Label("q1", "", "", LABEL.question, gold_document_ids=frozenset({"a"}))
    figures = measure_overlap(Case(label, ANSWERED, TOOLS))
    assert figures["context_precision"] == (2 / 4 + 0 / 5) / 2
    assert not figures.keys() & {"context_recall", "answer_correctness"}


def test_what_was_declined_is_correct_in_nothing() -> None:
    figures = measure_overlap(Case(LABEL, reply("ABSTAIN", passages=[]), TOOLS))
    assert figures == {"context_precision": 0, "context_recall": 0, "answer_correctness": 0}


def test_an_unanswerable_question_that_was_answered_is_measured_by_its_answer() -> None:
    figures = measure_overlap(Case(Label("q1", "", "", LABEL.question), ANSWERED, TOOLS))
    assert figures.keys() == {"faithfulness", "answer_relevancy"}


TOKEN_LABEL = Label(
    "q1",
    "",
    "",
    "Which keeper mended the lamp?",  # keeper, mended, lamp?
    ("The old keeper repaired the lamp.",),  # the, old, keeper, repaired, lamp.
    frozenset({"a"}),
)
TOKEN_KEPT = [
    passage("a", "An old keeper of the lamp"),  # an, old, keeper, of, the, lamp
    passage("b", "Ships anchor here."),  # ships, anchor, here.
]


def of(text: str | None, label: Label = TOKEN_LABEL) -> dict[str, float]:
    came = (
        reply("ANSWER", text, passages=TOKEN_KEPT)
        if text
        else reply("ABSTAIN", passages=TOKEN_KEPT)
    )
    return measure_tokens(Case(label, came, TOOLS))


def test_the_five_by_hand() -> None:
    assert of("The keeper painted the lamp") == pytest.approx(
        {
            "token_context_precision": 1 / 2,  # old, keeper, the of 8: 0.375 > 0.1; none of 8
            "token_context_recall": 3 / 5,  # the, old, keeper
            "token_faithfulness": 2 / 3,  # keeper, lamp; painted is in no passage
            "token_answer_relevancy": 1 / 3,  # keeper; "lamp?" is another token than "lamp"
            # the, keeper of the answer's 4 and the reference's 5
            "token_answer_correctness": 2 * (2 / 4) * (2 / 5) / (2 / 4 + 2 / 5),
        }
    )


def test_tokens_keep_their_punctuation_and_are_no_stems() -> None:
    assert tokens("Lamps, lamps; LAMP lamp") == {"lamps,", "lamps;", "lamp"}


@pytest.mark.parametrize(("other", "share"), [(9, 1.0), (10, 0.0)])
def test_a_passage_counts_above_a_tenth(other: int, share: float) -> None:
    words = " ".join(f"w{n}" for n in range(other - 1))
    label = Label("q1", "", "", "?", ("lamp",), frozenset({"a"}))
    came = reply("ANSWER", "So.", passages=[passage("a", f"lamp {words}")])
    result = measure_tokens(Case(label, came, TOOLS))["token_context_precision"]  # 1/9 and 1/10
    assert result == share


def test_what_was_declined_is_faithful_and_says_nothing() -> None:
    figures = of(None)
    assert figures["token_faithfulness"] == 1
    assert figures["token_answer_relevancy"] == figures["token_answer_correctness"] == 0


def test_an_unanswerable_question_is_answered_rightly_by_declining() -> None:
    nothing = Label("q1", "", "", TOKEN_LABEL.question)
    assert of(None, nothing)["token_answer_correctness"] == 1
    assert of("The keeper.", nothing)["token_answer_correctness"] == 0
    assert not {"token_context_precision", "token_context_recall"} & of(None, nothing).keys()


def test_stop_words_do_not_count() -> None:
    # of the answer "painted" counts, of the question "keeper", "mended" and "lamp?"
    assert of("It was not painted by you")["token_faithfulness"] == 0
    assert of("Which does what")["token_answer_relevancy"] == 0
    assert of("it is")["token_faithfulness"] == 1  # nothing is left
