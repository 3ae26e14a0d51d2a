"""The heuristics of bedrock-rag-eval, computed by hand from its definitions."""

import pytest

from atlas_search.evaluation.estimates import measure_tokens, tokens
from atlas_search.evaluation.labels import Label
from atlas_search.evaluation.metrics import Case, Tools
from tests.hash_embedder import HashEmbedder
from tests.replies import passage, reply

TOOLS = Tools(HashEmbedder())
LABEL = Label(
    "q1",
    "",
    "",
    "Which keeper mended the lamp?",  # keeper, mended, lamp?
    ("The old keeper repaired the lamp.",),  # the, old, keeper, repaired, lamp.
    frozenset({"a"}),
)
KEPT = [
    passage("a", "An old keeper of the lamp"),  # an, old, keeper, of, the, lamp
    passage("b", "Ships anchor here."),  # ships, anchor, here.
]


def of(text: str | None, label: Label = LABEL) -> dict[str, float]:
    came = reply("ANSWER", text, passages=KEPT) if text else reply("ABSTAIN", passages=KEPT)
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
    found = measure_tokens(Case(label, came, TOOLS))["token_context_precision"]  # 1/9 and 1/10
    assert found == share


def test_what_was_declined_is_faithful_and_says_nothing() -> None:
    figures = of(None)
    assert figures["token_faithfulness"] == 1
    assert figures["token_answer_relevancy"] == figures["token_answer_correctness"] == 0


def test_an_unanswerable_question_is_answered_rightly_by_declining() -> None:
    nothing = Label("q1", "", "", LABEL.question)
    assert of(None, nothing)["token_answer_correctness"] == 1
    assert of("The keeper.", nothing)["token_answer_correctness"] == 0
    assert not {"token_context_precision", "token_context_recall"} & of(None, nothing).keys()


def test_stop_words_do_not_count() -> None:
    # of the answer "painted" counts, of the question "keeper", "mended" and "lamp?"
    assert of("It was not painted by you")["token_faithfulness"] == 0
    assert of("Which does what")["token_answer_relevancy"] == 0
    assert of("it is")["token_faithfulness"] == 1  # nothing is left
