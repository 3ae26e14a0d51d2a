"""Which sentences an extractive answer is made of."""

from collections.abc import Mapping

import numpy as np

from atlas_search.answer.quotes.choose import Extract, Opposed, QuoteChooser, read_by_model
from atlas_search.answer.quotes.scores import Grounds, SentenceVectors
from atlas_search.core.domain import CheckedPassage, MetadataValue, Passage, RankedPassage
from atlas_search.providers.reading import AnswerSpan
from tests.hash_embedder import HashEmbedder

EMBEDDER = HashEmbedder()
WOOL = "Which wool do sheep give?"
COARSE = "The wool of hill sheep is coarse."
FINE = "The wool of all the sheep is fine, they say."


def passage(
    document: str,
    text: str,
    start: int = 0,
    metadata: Mapping[str, MetadataValue] | None = None,
    language: str = "en",
) -> CheckedPassage:
    found = Passage(
        row=0,
        id=f"{document}:{start}-{start + len(text)}",
        document_id=document,
        corpus="farm",
        title="",
        text=text,
        start=start,
        end=start + len(text),
        page=1,
        line=1,
        section="",
        speaker="",
        date="",
        url="",
        metadata=metadata or {},
        language=language,
    )
    return CheckedPassage(RankedPassage(found, 1.0, {}), True, 1.0, ())


def written(
    *passages: CheckedPassage,
    limit: int = 3,
    opposed: tuple[Opposed, ...] = (),
    parts: tuple[str, ...] = (),
    question: str = WOOL,
) -> str:
    """The answer from some passages."""
    prompt = extract(*passages, limit=limit, opposed=opposed, parts=parts, question=question)
    said = QuoteChooser(EMBEDDER).choose(prompt).quotes(prompt, needed=0.0)
    return "".join(f"{quote.text} {quote.passage.marker}\n" for quote in said)


def extract(
    *passages: CheckedPassage,
    limit: int = 3,
    opposed: tuple[Opposed, ...] = (),
    parts: tuple[str, ...] = (),
    question: str = WOOL,
) -> Extract:
    """What is to be quoted from; words count as much as `sheep` and `wool` stand for."""
    weights = {"wool": 2.0, "sheep": 1.0, "goat": 2.0}
    vector = EMBEDDER.embed_query(question)
    asked = {part: EMBEDDER.embed_query(part) for part in parts}
    return Extract(question, vector, passages, weights, limit, opposed, asked)


def grounds(*passages: CheckedPassage, question: str) -> Grounds:
    """Why the quotes are likely to answer."""
    return QuoteChooser(EMBEDDER).choose(extract(*passages, question=question)).whole.grounds


def test_headings_and_references_are_no_answers() -> None:
    text = "Sheep wool in the hills of Wales\nSource: the wool and the sheep, 1901.\n" + COARSE
    assert written(passage("farm.sheep", text)) == f"{COARSE} [farm.sheep p1]\n"


def test_a_source_without_full_stops_is_still_quoted() -> None:
    assert written(passage("farm.sheep", "the wool of hill sheep is coarse")) == (
        "the wool of hill sheep is coarse [farm.sheep p1]\n"
    )


def test_what_is_quoted_may_end_in_a_quotation_mark() -> None:
    text = "He said that “the wool of hill sheep is coarse.”\nA sheep of wool"
    assert "coarse.”" in written(passage("farm.sheep", text))


def test_a_sentence_over_two_lines_is_written_on_one() -> None:
    text = (
        "Of sheep\n\nNobody on the farm had ever doubted that the wool of the sheep on the\n"
        "hills is coarse. The farm has been sold."
    )
    assert written(passage("farm.sheep", text)) == (
        "Nobody on the farm had ever doubted that the wool of the sheep on the hills is coarse. "
        "[farm.sheep p1]\n"
    )


LESS = "Wool is dull, and no more is to be said of it here."
SHEEP, OTHER = passage("farm.sheep", COARSE, start=50), passage("farm.other", LESS, start=20)
CONTRADICTED = (SHEEP.passage.cite(0, len(COARSE)), OTHER.passage.cite(0, len(LESS)))


def test_a_sentence_another_source_contradicts_is_followed_by_what_that_source_says() -> None:
    answer = written(
        SHEEP,
        OTHER,
        opposed=(CONTRADICTED,),
    )
    assert answer == f"{COARSE} [farm.sheep p1]\n{LESS} [farm.other p1]\n"


def test_the_other_side_takes_the_last_place() -> None:
    sources = [
        SHEEP,
        passage("farm.third", FINE, start=0),
        OTHER,
    ]
    assert written(*sources, limit=2, opposed=(CONTRADICTED,)).splitlines()[1] == (
        f"{LESS} [farm.other p1]"
    )
    assert len(written(*sources, limit=1, opposed=(CONTRADICTED,)).splitlines()) == 1


def test_a_superseded_source_does_not_speak_on_how_things_stand_now() -> None:
    old = passage("farm.old", FINE, metadata={"superseded_by": "farm.new"})
    new = passage("farm.new", COARSE)
    now = written(old, new, question="Is the wool of sheep coarse now?")
    assert now == f"{COARSE} [farm.new p1]\n"


def test_what_answers_another_question_is_less_likely() -> None:
    sources = [
        passage("farm.sheep", "The wool of hill sheep is coarse."),
        passage("farm.all", FINE),
    ]
    plain = grounds(*sources, question=WOOL)
    denied = grounds(*sources, question="Which sheep do not give wool?")
    assert denied.signs.turned == 1.0
    assert denied.likelihood < plain.likelihood / 5
    asked = "Which wool did sheep give in 1954?"
    missing = "No passage found has “1954”."
    assert missing in grounds(*sources, question=asked).against
    dated = passage("farm.old", "In 1954 the sheep gave wool that is coarse.")
    assert missing not in grounds(*sources, dated, question=asked).against


def test_the_rules_for_english_do_not_judge_other_languages() -> None:
    french = passage("farm.mouton", "Le mouton Lacaune donne du lait et du fromage.", language="fr")
    assert grounds(french, question="Which sheep do not give wool?").signs.turned == 0.0


def test_each_part_of_a_question_has_its_best_sentence_first() -> None:
    sources = [
        passage("farm.sheep", f"{COARSE} Sheep of the valleys, too, have wool that is fine."),
        passage("farm.goat", "Goats give a hair that is soft and is called cashmere."),
    ]
    question = "How do sheep wool and goat hair differ?"
    parts = ("sheep wool", "goat hair")
    answer = written(*sources, limit=1, parts=parts, question=question)
    assert [line.rpartition(" [")[2] for line in answer.splitlines()] == [
        "farm.sheep p1]",
        "farm.goat p1]",
    ]


def test_a_sentence_that_serves_two_parts_is_said_once() -> None:
    answer = written(passage("farm.sheep", COARSE), parts=("sheep wool", "the wool"))
    assert answer == f"{COARSE} [farm.sheep p1]\n"


def test_sentences_asked_for_last_are_embedded_once() -> None:
    embedder = HashEmbedder()
    vectors = SentenceVectors(embedder, kept=2)
    first = vectors.of([COARSE, FINE, COARSE])
    assert embedder.embedded == 2
    again = vectors.of([FINE, WOOL])
    assert embedder.embedded == 3
    assert np.array_equal(first[FINE], again[FINE])
    assert np.array_equal(again[WOOL], HashEmbedder().embed([WOOL])[0])
    vectors.of([COARSE])  # two are kept, and it was asked for first
    assert embedder.embedded == 4


def test_a_reader_model_decides_and_no_rule_beside_it() -> None:
    source = passage("farm.sheep", "In 1954 the sheep gave wool that is coarse.")
    prompt = extract(source, question="Which wool did sheep not give in 1961?")
    chosen = QuoteChooser(EMBEDDER).choose(prompt)
    for score, answers in ((0.99, True), (0.4, False)):
        spans = {source.passage.id: AnswerSpan(start=8, end=20, score=score)}
        assert read_by_model(chosen, prompt, spans, 0.5, 0.6).answers(0.6) is answers
