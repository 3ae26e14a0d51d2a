"""Evidence and answers, compared in the language of their passages."""

from atlas_search.answer.check.citations import verify as verify_citations
from atlas_search.answer.quotes.choose import Extract, QuoteChooser
from atlas_search.core.domain import CheckedPassage, Passage, RankedPassage
from atlas_search.core.targets import Target
from atlas_search.language.text import terms_and_parts
from atlas_search.search.evidence import best_window, check, term_hits
from atlas_search.search.query import parse_query
from atlas_search.stores.terms import TokenWriter
from tests.hash_embedder import HashEmbedder

QUESTION = "Wo stehen die alten Häuser?"


def passage_of(text: str, language: str, document: str = "recht.haus") -> Passage:
    corpus = document.partition(".")[0]
    place = (0, f"{document}:0-{len(text)}", document, corpus, "", text, 0, len(text), 1, 1)
    return Passage(*place, "", "", "", "", {}, language)


def checked(passage: Passage, weights: dict[str, float]) -> CheckedPassage:
    ranked = RankedPassage(passage, 1.0, {"semantic": 0.0})
    words, parts = terms_and_parts(passage.text, passage.language)
    writer = TokenWriter()
    writer.document(passage.corpus, writer.ids([]), [])
    writer.passage(writer.ids(words), writer.ids(parts), writer.ids([]))
    (found,) = check(parse_query(QUESTION), [ranked], writer.table(), weights, Target())
    return found


def test_evidence_is_compared_in_the_language_of_its_passage() -> None:
    assert parse_query(QUESTION, "de").terms == ("steh", "alt", "haus")
    assert parse_query(QUESTION, "en").terms == ("wo", "stehen", "die", "alten", "hauser")
    text = "Der Fluss ist lang. Ein altes Haus ist am Markt."
    weights = {"steh": 1.0, "alt": 2.0, "haus": 3.0}
    german = checked(passage_of(text, "de"), weights)
    assert (german.overlap, german.valid) == (0.666667, True)
    (span,) = german.highlights
    assert text[span.start : span.end] == "Ein altes Haus ist am Markt."
    english = checked(passage_of(text, "en"), weights)
    assert (english.overlap, english.highlights, english.valid) == (0.0, (), False)


def test_the_best_window_is_found_in_a_language() -> None:
    text = "Der Markt ist alt. Die Häuser stehen z. B. am Fluss."
    query = parse_query("Haus", "de")
    start, end = best_window(text, term_hits(text, query), {"haus": 1.0}, query)
    assert text[start:end] == "Die Häuser stehen z. B. am Fluss."


def test_an_answer_is_split_and_compared_in_the_language_of_what_it_cites() -> None:
    german = passage_of("Das Haus steht z. B. am Markt. Es gehört dem Kaufmann.", "de")
    english = passage_of("The houses of the town belong to merchants.", "en", "law.house")
    answer = (
        f"Die Häuser stehen z. B. Am Markt {german.marker}.\n"
        f"Houses belong to the merchants {english.marker}.\n"
    )
    for passages in ([german, english], [english, german]):
        found = verify_citations(answer, passages, 10)
        assert (found.errors, found.warnings) == ((), ())
        assert [citation.quote for citation in found.citations] == [
            "Das Haus steht z. B. am Markt.",
            "The houses of the town belong to merchants.",
        ]


def test_sentences_are_chosen_in_the_language_of_their_passage() -> None:
    german = passage_of("Der Fluss ist sehr lang. Das Haus steht am Markt.", "de")
    english = passage_of("The houses of the town stand.", "en", "law.house")
    items = tuple(checked(passage, {}) for passage in (english, german))
    weights = {"steh": 1.0, "haus": 1.0, "hauser": 9.0}
    # `hauser` is how the English stemmer reads the question: the German sentence holds all of it
    embedder = HashEmbedder()
    task = Extract(QUESTION, embedder.embed_query(QUESTION), items, weights, 1)
    best = QuoteChooser(embedder).choose(task).quotes(task, needed=0.0)[0]
    assert (best.text, best.passage.marker) == ("Das Haus steht am Markt.", "[recht.haus p1]")
