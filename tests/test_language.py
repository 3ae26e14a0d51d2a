"""Corpora in several languages: how their words are read, built, found and cited."""

import json
import unicodedata
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path

import pytest
import Stemmer
from flask.testing import FlaskClient
from hypothesis import example, given, settings
from hypothesis import strategies as st
from typer.testing import CliRunner

from atlas_search.answer.check.citations import verify as verify_citations
from atlas_search.answer.write.extractive import Extract, ExtractiveWriter
from atlas_search.build.corpora import Sources, by_folder, by_mapping, in_language
from atlas_search.cli.main import app
from atlas_search.core.domain import CheckedPassage, Passage, RankedPassage
from atlas_search.core.targets import Target
from atlas_search.language.languages import LANGUAGES, language_of
from atlas_search.language.text import content_words, fold, names, sentences, words
from atlas_search.search.evidence import best_window, check, term_hits
from atlas_search.search.query import parse_query
from atlas_search.stores.manifest import Manifest
from atlas_search.stores.store import EmbeddedStore
from atlas_search.stores.verify import verify
from tests.hash_embedder import HashEmbedder
from tests.tiny import READERS, build_tiny, contents, document_ids, keyword_hits, write_sources

CODES = st.sampled_from(list(LANGUAGES))
SCRIPTS = "aZ9 .-\n\u00ad'’_éßœæıİſﬁ Ωσς йЁ ɑ́ क्‍या கொ الدُّ لا وو ײַ ﷺ"
TEXTS = st.text() | st.text(alphabet=SCRIPTS)
QUESTION = "Wo stehen die alten Häuser?"
CORPORA = """
[[corpus]]
id = "recht"
include = ["recht/*"]
language = "de"
[[corpus]]
id = "law"
include = ["law/*"]
"""
FILES = {
    "corpora.toml": CORPORA,
    "recht/haus.txt": "Das Haus steht z. B. am Markt. Es gehört dem Kaufmann.",
    "recht/titel.md": "---\ntitle: Die Häuser\nauthor: Paul Müller\n---\nEin Verzeichnis.",
    "law/house.txt": "The houses of the town. They belong to merchants.",
}


def stems(text: str, language: str) -> list[str]:
    return [word.term for word in words(text, language)]


def mapped(source: Path) -> Sources:
    return by_mapping(source, source / "corpora.toml", READERS["txt"].suffixes, "")


@pytest.fixture
def hashes() -> HashEmbedder:
    return HashEmbedder()


@pytest.fixture
def folder(tmp_path: Path, hashes: HashEmbedder) -> Path:
    """A collection with a German and an English corpus."""
    source = write_sources(tmp_path / "source", FILES)
    build_tiny(mapped(source), tmp_path / "c", hashes)
    return tmp_path / "c"


@pytest.fixture
def store(folder: Path) -> Iterator[EmbeddedStore]:
    opened = EmbeddedStore(folder)
    yield opened
    opened.close()


def test_every_stemmer_of_snowball_has_a_language() -> None:
    assert set(Stemmer.algorithms()) - set(LANGUAGES.values()) == {"porter", "dutch_porter"}
    assert set(LANGUAGES.values()) <= set(Stemmer.algorithms())


@settings(deadline=None)
@given(TEXTS, CODES)
@example("क्‍या है", "hi")
@example("ﷺ", "ar")
def test_spans_are_exact_and_ascending_in_every_language(text: str, language: str) -> None:
    found = words(text, language)
    assert all(before.end <= after.start for before, after in pairwise(found))
    for word in found:
        assert word.start < word.end
        assert fold(text[word.start : word.end]) == word.folded
        assert [term.split() for term in (word.term, *word.parts)] == [
            [term] for term in (word.term, *word.parts)
        ]
    covered = {position for word in found for position in range(word.start, word.end)}
    assert {at for at, character in enumerate(text) if character.isalnum()} <= covered


@settings(deadline=None)
@given(TEXTS, CODES)
def test_sentences_are_exact_and_ascending_in_every_language(text: str, language: str) -> None:
    spans = sentences(text, language)
    assert all(before.end <= after.start for before, after in pairwise(spans))
    covered = {position for span in spans for position in range(*span)}
    assert {at for at, character in enumerate(text) if not character.isspace()} <= covered
    for start, end in spans:
        assert text[start:end] == text[start:end].strip() != ""


@pytest.mark.parametrize(
    ("language", "forms"),
    [
        ("de", "Haus Häuser Häusern HÄUSER Hauser Haeuser"),
        ("de", "Straße Strassen STRASSE Straſſe"),
        ("de", "Bücher Buch Bucher Buecher"),
        ("fr", "université universités UNIVERSITÉ"),
        ("fr", "étudiant étudiantes etudiants Étudiant"),
        ("es", "nación naciones Nacion NACIÓN"),
        ("es", "jurídico jurídicas juridico"),
        ("sv", "flicka flickorna"),
        ("tr", "ISPARTA Isparta ısparta"),
        ("tr", "İstanbul istanbul İSTANBUL"),
        ("el", "ΛΌΓΟΣ λόγος λογος"),
        ("ru", "закон законы Законов"),
        ("ar", "الدستور الدُّسْتُور"),
        ("hi", "लड़का लड़के"),
    ],
)
def test_forms_of_one_word_share_a_stem_of_their_language(language: str, forms: str) -> None:
    decomposed = unicodedata.normalize("NFD", forms)
    assert len({*stems(forms, language), *stems(decomposed, language)}) == 1


@pytest.mark.parametrize(
    ("language", "text"),
    [
        ("fr", "égalité université nécessité assemblée évidemment Français élevé œuvre"),
        ("de", "Häuser für größere Städte während möglicher Änderungen"),
        ("es", "nación jurídicamente corazón años españoles rápido política"),
        ("pt", "constituição nações eleições cidadão público"),
        ("it", "libertà città perché università società"),
        ("pl", "sąd sądy prawo łódź źródło"),
        ("cs", "zákon soud příslušný řízení"),
    ],
)
def test_a_question_typed_without_accents_finds_every_word(language: str, text: str) -> None:
    for word in words(text, language):
        surface = text[word.start : word.end]
        typed = parse_query(fold(surface), language).terms
        assert {word.term, *word.parts} & set(typed), surface


def test_an_ending_with_an_accent_is_stemmed_with_it_and_found_without() -> None:
    (word,) = words("égalité", "fr")
    assert (word.folded, word.term, word.parts) == ("egalite", "egal", ("egalit",))
    assert stems("égal", "fr") == ["egal"]
    assert parse_query("egalite", "fr").terms == ("egalit",)
    assert parse_query("égalité", "fr").terms == ("egal", "egalit")


def test_english_knows_no_accents() -> None:
    assert [word.parts for word in words("résumé café")] == [(), ()]
    assert stems("Café", "en") == stems("cafe", "en") == ["cafe"]


@pytest.mark.parametrize(
    ("language", "text", "expected"),
    [
        ("fr", "l'état d’une", ["l", "état", "d", "une"]),
        ("it", "dell'arte", ["dell", "arte"]),
        ("ca", "l'estat", ["l", "estat"]),
        ("en", "o'clock", ["o'clock"]),
        ("tr", "Atatürk'ün", ["Atatürk'ün"]),
    ],
)
def test_an_apostrophe_ends_a_word_where_articles_are_elided(
    language: str, text: str, expected: list[str]
) -> None:
    assert [text[word.start : word.end] for word in words(text, language)] == expected


@pytest.mark.parametrize(
    ("language", "question", "expected"),
    [
        ("en", "When were the houses built?", ["houses", "built"]),
        ("de", "Wann wurden die Häuser am Markt gebaut?", ["Häuser", "Markt", "gebaut"]),
        ("de", "Was ist die Würde des Menschen?", ["Würde", "Menschen"]),
        ("fr", "Qu'est-ce que l'égalité ?", ["égalité"]),
        ("fr", "Où est l'État ?", ["État"]),
        ("es", "¿Qué es el Estado de derecho?", ["Estado", "derecho"]),
        ("sv", "Vad hände år 1809?", ["hände", "år", "1809"]),
        ("nl", "Wanneer werd de wet aangenomen?", ["wet", "aangenomen"]),
        ("it", "Quali sono i diritti?", ["diritti"]),
        ("pt", "Quais são os direitos?", ["direitos"]),
        ("ru", "Почему этот закон был принят?", ["закон", "принят"]),
        ("el", "Ποιος έγραψε τι;", ["έγραψε"]),
        ("yi", "ווער איז", ["ווער", "איז"]),
    ],
)
def test_function_words_are_those_of_the_language(
    language: str, question: str, expected: list[str]
) -> None:
    informative = content_words(words(question, language))
    assert [question[word.start : word.end] for word in informative] == expected


def test_function_words_are_written_in_small_letters_as_they_are_compared() -> None:
    assert language_of("el").is_function("ποιοσ")
    assert language_of("tr").is_function("kaç")


def test_sentences_end_as_they_do_in_the_language() -> None:
    text = "Das Haus steht z. B. am Markt. Es gehört ihm."
    assert [text[start:end] for start, end in sentences(text, "de")] == [
        "Das Haus steht z. B. am Markt.",
        "Es gehört ihm.",
    ]


def test_german_nouns_are_no_names() -> None:
    assert names("Wie schützt das Grundgesetz Würde Ehre?", "de") == []
    assert len(names("Que dit la Cour Suprême ?", "fr")) == 1


def test_a_question_can_be_read_in_another_language() -> None:
    query = parse_query('die "alten Häuser" -Mieter')
    german = query.in_language("de")
    assert (query.language, german.language) == ("en", "de")
    assert (german.terms, german.required, german.excluded) == (
        ("alt", "haus"),
        (("alt", "haus"),),
        (("miet",),),
    )
    assert german.in_language("de") is german
    assert query.in_language("en") is query
    assert not parse_query("Wer ist das?", "de").has_subject


def test_a_german_question_finds_another_form_by_the_keyword_leg(store: EmbeddedStore) -> None:
    """`Häuser` finds `Haus` in the German corpus; English stems would not meet."""
    german, english = parse_query("Häuser", "de").terms, parse_query("Häuser", "en").terms
    found = store.matching("recht", german, 10, None)
    assert [passage.text[:8] for passage in store.passages(found.rows.tolist())] == ["Das Haus"]
    assert len(store.matching("recht", english, 10, None).rows) == 0


def test_an_english_question_finds_another_form_in_the_english_corpus(store: EmbeddedStore) -> None:
    found = store.matching("law", parse_query("house", "en").terms, 10, None)
    assert store.passage_ids(found.rows.tolist()) == ["law.house:0-49"]


def test_titles_and_metadata_are_analysed_in_the_language_of_their_corpus(
    folder: Path, store: EmbeddedStore
) -> None:
    terms = list(store.tokens.vocabulary)
    assert document_ids(folder) == ["law.house", "recht.haus", "recht.titel"]
    assert [terms[id_] for id_ in store.tokens.titles.row(2)] == ["die", "haus"]
    assert stems("Müller", "de") == ["mull"]
    assert [terms[id_] for id_ in store.tokens.values.flat] == ["mull"]


def test_a_collection_knows_the_languages_of_its_corpora(
    folder: Path, store: EmbeddedStore
) -> None:
    assert Manifest.read(folder).languages == {"law": "en", "recht": "de"}
    assert {corpus.id: corpus.language for corpus in store.corpora} == {"law": "en", "recht": "de"}
    assert store.passage("law.house:0-49").language == "en"
    assert {p.language for p in store.document_passages("recht.haus")} == {"de"}
    assert not [f for f in verify(folder, Manifest.read(folder)) if f.problem]


def test_the_server_says_in_which_language_a_corpus_is(client: FlaskClient) -> None:
    corpora = client.get("/api/corpora").get_json()["corpora"]
    assert {corpus["language"] for corpus in corpora} == {"en"}


def passage_of(text: str, language: str, document: str = "recht.haus") -> Passage:
    corpus = document.partition(".")[0]
    place = (0, f"{document}:0-{len(text)}", document, corpus, "", text, 0, len(text), 1, 1)
    return Passage(*place, "", "", "", "", {}, language)


def checked(passage: Passage, weights: dict[str, float]) -> CheckedPassage:
    ranked = RankedPassage(passage, 1.0, {"semantic": 0.0})
    (found,) = check(parse_query(QUESTION), [ranked], weights, Target())
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
    (sentence,) = ExtractiveWriter(embedder).write(task)
    assert sentence == "Das Haus steht am Markt. [recht.haus p1]\n"


def test_another_language_is_a_change_that_embeds_nothing(
    tmp_path: Path, folder: Path, hashes: HashEmbedder
) -> None:
    source, before = tmp_path / "source", hashes.embedded
    whole = contents(folder)
    (source / "corpora.toml").write_text(CORPORA.replace('"de"', '"fr"'))
    report = build_tiny(mapped(source), folder, hashes)
    assert (report.read, report.embedded, report.unchanged) == (2, 0, False)
    assert str(report.changes) == "0 added, 0 changed, 3 unchanged, 0 removed"
    assert report.manifest.languages == {"law": "en", "recht": "fr"}
    assert keyword_hits(folder, "gehort") == ["recht.haus:0-54"]
    assert stems("Kaufmann", "fr") == ["kaufmann"]
    assert not [f for f in verify(folder, report.manifest) if f.problem]
    (source / "corpora.toml").write_text(CORPORA)
    assert build_tiny(mapped(source), folder, hashes).read == 2
    assert (contents(folder), hashes.embedded) == (whole, before)
    assert build_tiny(mapped(source), folder, hashes).unchanged
    (source / "corpora.toml").write_text(CORPORA + 'language = "en"')
    assert build_tiny(mapped(source), folder, hashes).unchanged


def test_a_corpus_of_two_origins_has_the_language_that_was_stated_last(
    tmp_path: Path, hashes: HashEmbedder
) -> None:
    """A build that states none leaves it; one that states another analyses all its documents."""
    texts = write_sources(tmp_path / "texts", {"recht/haus.txt": "Alte Häuser."})
    tables = write_sources(tmp_path / "tables", {"recht/t.csv": "id,text\nr,Neue Häuser.\n"})
    folder, seen = tmp_path / "c", []

    def built(root: Path, kind: str, language: str) -> None:
        sources = in_language(by_folder([root], READERS[kind].suffixes, ""), language)
        report = build_tiny(sources, folder, hashes, kind=kind)
        found = [keyword_hits(folder, stem) for stem in ("haus", "häuser", "hauser")]
        (language,) = report.manifest.languages.values()
        seen.append((language, report.read, *map(len, found)))
        assert not [f for f in verify(folder, report.manifest) if f.problem]

    built(texts, "txt", "de")
    built(tables, "csv", "")
    built(tables, "csv", "en")
    built(texts, "txt", "de")
    built(texts, "txt", "de")
    built(tables, "csv", "")
    assert [(language, read) for language, read, *_ in seen] == [
        ("de", 1),
        ("de", 1),
        ("en", 1),
        ("de", 0),
        ("de", 0),
        ("de", 1),
    ]
    assert [haus for *_, haus, _, _ in seen] == [1, 2, 0, 2, 2, 2]
    assert hashes.embedded == 2


def test_a_language_that_is_taken_back_is_english_again(
    tmp_path: Path, hashes: HashEmbedder
) -> None:
    source = write_sources(tmp_path / "source", {"recht/haus.txt": "Alte Häuser."})
    plain = by_folder([source], READERS["txt"].suffixes, "")
    for language, expected in (("de", "de"), ("", "en")):
        report = build_tiny(in_language(plain, language), tmp_path / "c", hashes)
        assert report.manifest.languages == {"recht": expected}


def test_a_manifest_that_says_nothing_of_languages_is_english(folder: Path) -> None:
    path = folder / "manifest.json"
    manifest = json.loads(path.read_text())
    for corpus in manifest["corpora"]:
        del corpus["language"]
    path.write_text(json.dumps(manifest))
    assert Manifest.read(folder).languages == {"law": "en", "recht": "en"}


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        (["--language", "de"], {"recht": "de"}),
        ([], {"recht": "en"}),
    ],
)
def test_the_command_states_a_language(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    arguments: list[str],
    expected: dict[str, str],
) -> None:
    source = write_sources(tmp_path / "source", {"recht/haus.txt": "Alte Häuser."})
    monkeypatch.setenv("CHROMA_PERSIST_DIRECTORY", str(tmp_path / "stores"))
    monkeypatch.setattr("atlas_search.cli.create.checkout", lambda: tmp_path)
    command = ["create", "txt", str(source), "--collection", "c", *arguments]
    result = CliRunner().invoke(app, command)
    assert result.exit_code == 0, result.output
    manifest = Manifest.read(tmp_path / "stores" / "c")
    assert manifest.languages == expected
    assert manifest.origins["txt"].arguments["language"] == "".join(arguments[1:])
    readable = (tmp_path / "create" / "txt" / "output" / "c.txt").read_text()
    assert f"CORPUS_recht_language={expected['recht']}".upper() in readable.upper()


def test_the_command_refuses_a_language_it_does_not_know(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    source = write_sources(tmp_path / "source", {"recht/haus.txt": "Alte Häuser."})
    monkeypatch.setenv("CHROMA_PERSIST_DIRECTORY", str(tmp_path / "stores"))
    command = ["create", "txt", str(source), "--collection", "c", "--language", "german"]
    result = CliRunner().invoke(app, command)
    assert result.exit_code == 1
    assert not (tmp_path / "stores" / "c" / "manifest.json").exists()
