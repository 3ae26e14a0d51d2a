"""Estimates by shared words, computed by hand."""

from atlas_search.evaluation.estimates import measure_overlap
from atlas_search.evaluation.labels import Label
from atlas_search.evaluation.metrics import Case, Tools
from atlas_search.evaluation.scored import score
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


def test_estimates_say_that_they_are() -> None:
    sources = score(LABEL, ANSWERED, TOOLS).sources
    assert sources == dict.fromkeys(measure_overlap(Case(LABEL, ANSWERED, TOOLS)), "heuristic")
