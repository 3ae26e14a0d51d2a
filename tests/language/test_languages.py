"""Collections in several languages: words, questions, evidence, answers, builds and searches."""

import unicodedata
from collections.abc import Iterator
from pathlib import Path

import pytest
import Stemmer
from typer.testing import CliRunner

from atlas_search import Atlas
from atlas_search.answer.check.citations import verify as verify_citations
from atlas_search.building.sources import Sources, by_folder, by_mapping, in_language
from atlas_search.cli.main import app
from atlas_search.core.domain import Passage
from atlas_search.language.languages import LANGUAGES, fold, language_of, likely_language
from atlas_search.language.text import content_words, sentences, words
from atlas_search.search.query import parse_query
from atlas_search.stores.embedded import EmbeddedStore
from atlas_search.stores.manifest import Manifest
from atlas_search.stores.verify import verify
from tests.hash_embedder import HashEmbedder
from tests.tiny import READERS, build_tiny, contents, document_ids, keyword_hits, write_sources

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


def test_every_stemmer_of_snowball_has_a_language() -> None:
    assert set(Stemmer.algorithms()) - set(LANGUAGES.values()) == {"porter", "dutch_porter"}
    assert set(LANGUAGES.values()) - {""} <= set(Stemmer.algorithms())


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
    assert [word.parts for word in words("résumé café")] == [(), ()]  # English knows no accents


@pytest.mark.parametrize(
    ("language", "text", "expected"),
    [
        ("fr", "l'état d’une", "l état d une"),
        ("it", "dell'arte", "dell arte"),
        ("ca", "l'estat", "l estat"),
        ("en", "o'clock", "o'clock"),
        ("tr", "Atatürk'ün", "Atatürk'ün"),
    ],
)
def test_an_apostrophe_ends_a_word_where_articles_are_elided(
    language: str, text: str, expected: str
) -> None:
    assert [text[word.start : word.end] for word in words(text, language)] == expected.split()


@pytest.mark.parametrize(
    ("language", "question", "expected"),
    [
        ("en", "When were the houses built?", "houses built"),
        ("de", "Wann wurden die Häuser am Markt gebaut?", "Häuser Markt gebaut"),
        ("de", "Was ist die Würde des Menschen?", "Würde Menschen"),
        ("fr", "Qu'est-ce que l'égalité ?", "égalité"),
        ("fr", "Où est l'État ?", "État"),
        ("es", "¿Qué es el Estado de derecho?", "Estado derecho"),
        ("sv", "Vad hände år 1809?", "hände år 1809"),
        ("nl", "Wanneer werd de wet aangenomen?", "wet aangenomen"),
        ("it", "Quali sono i diritti?", "diritti"),
        ("pt", "Quais são os direitos?", "direitos"),
        ("ru", "Почему этот закон был принят?", "закон принят"),
        ("el", "Ποιος έγραψε τι;", "έγραψε"),
        ("yi", "ווער איז", "ווער איז"),
    ],
)
def test_function_words_are_those_of_the_language(
    language: str, question: str, expected: str
) -> None:
    informative = content_words(words(question, language))
    assert [question[word.start : word.end] for word in informative] == expected.split()


def test_function_words_are_written_in_small_letters_as_they_are_compared() -> None:
    assert language_of("el").is_function("ποιοσ")
    assert language_of("tr").is_function("kaç")


def test_sentences_end_as_they_do_in_the_language() -> None:
    text = FILES["recht/haus.txt"]
    assert [text[start:end] for start, end in sentences(text, "de")] == [
        "Das Haus steht z. B. am Markt.",
        "Es gehört dem Kaufmann.",
    ]


def test_a_question_can_be_read_in_another_language() -> None:
    query = parse_query('die +"alten Häuser" -"Mieter"')
    german = query.in_language("de")
    assert (query.language, german.language) == ("en", "de")
    assert (german.terms, german.required, german.excluded) == (
        ("alt", "haus"),
        (("alten Häuser", ("alt", "haus")),),
        (("Mieter", ("miet",)),),
    )
    assert german.in_language("de") is german
    assert not parse_query("Wer ist das?", "de").has_subject


def passage_of(text: str, language: str, document: str) -> Passage:
    corpus = document.partition(".")[0]
    place = (0, f"{document}:0-{len(text)}", document, corpus, "", text, 0, len(text), 1, 1)
    return Passage(*place, "", "", "", "", {}, language)


def test_an_answer_is_split_and_compared_in_the_language_of_what_it_cites() -> None:
    german = passage_of(FILES["recht/haus.txt"], "de", "recht.haus")
    english = passage_of("The houses of the town belong to merchants.", "en", "law.house")
    answer = (
        f"Die Häuser stehen z. B. Am Markt {german.marker}.\n"
        f"Houses belong to the merchants {english.marker}.\n"
    )
    for passages in ([german, english], [english, german]):
        result = verify_citations(answer, passages, 10)
        assert (result.errors, result.warnings) == ((), ())
        assert [citation.quote for citation in result.citations] == [
            "Das Haus steht z. B. am Markt.",
            "The houses of the town belong to merchants.",
        ]


def mapped(source: Path) -> Sources:
    return by_mapping(source, source / "corpora.toml", READERS["txt"].suffixes, "")


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A collection with a German and an English corpus, not to be changed."""
    root = tmp_path_factory.mktemp("languages")
    build_tiny(mapped(write_sources(root / "source", FILES)), root / "c", HashEmbedder())
    return root / "c"


@pytest.fixture(scope="module")
def german(folder: Path) -> Iterator[EmbeddedStore]:
    opened = EmbeddedStore(folder)
    yield opened
    opened.close()


def test_a_question_finds_other_forms_in_the_language_of_each_corpus(german: EmbeddedStore) -> None:
    """`Häuser` finds `Haus` in the German corpus; English stems would not meet."""

    def matching(corpus: str, word: str, language: str) -> list[str]:
        result = german.matching(corpus, parse_query(word, language).terms, 10, None)
        return german.passage_ids(result.rows.tolist())

    by_title, by_text = matching("recht", "Häuser", "de")
    assert (by_title, by_text) == ("recht.titel:0-16", "recht.haus:0-54")
    assert matching("recht", "Häuser", "en") == []
    assert matching("law", "house", "en") == ["law.house:0-49"]


@pytest.mark.parametrize(
    ("question", "document", "overlap", "sentence"),
    [
        # of `steh` and `haus`, and of `haus` and `markt`
        ("Wo stehen die Häuser?", "recht.haus", 0.5, "Das Haus steht z. B. am Markt."),
        ("Häuser am Markt", "recht.haus", 1.0, "Das Haus steht z. B. am Markt."),
        ("old houses", "law.house", 0.5, "The houses of the town."),
    ],
)
def test_evidence_is_compared_in_the_language_of_its_passage(
    folder: Path, question: str, document: str, overlap: float, sentence: str
) -> None:
    with Atlas.open(folder, embedder=HashEmbedder()) as atlas:
        passages = {item.passage.document_id: item for item in atlas.search(question).passages}
        closest = {citation.quote for citation in atlas.ask(question).closest}
    best = passages.pop(document)
    marked = [best.passage.text[span.start : span.end] for span in best.highlights]
    assert (best.overlap, best.valid, marked) == (overlap, True, [sentence])
    assert [(item.overlap, item.highlights) for item in passages.values()] == [(0.0, ())] * 2
    assert sentence in closest


def test_titles_and_metadata_are_analysed_in_the_language_of_their_corpus(
    folder: Path, german: EmbeddedStore
) -> None:
    terms = list(german.tokens.vocabulary)
    assert document_ids(folder) == ["law.house", "recht.haus", "recht.titel"]
    assert [terms[id_] for id_ in german.tokens.titles.row(2)] == ["die", "haus"]
    assert [terms[id_] for id_ in german.tokens.values.flat] == stems("Müller", "de") == ["mull"]


def test_a_collection_knows_the_languages_of_its_corpora(
    folder: Path, german: EmbeddedStore
) -> None:
    assert Manifest.read(folder).languages == {"law": "en", "recht": "de"}
    assert {each.id: each.language for each in german.corpora} == {"law": "en", "recht": "de"}
    assert german.passage("law.house:0-49").language == "en"
    assert {p.language for p in german.document_passages("recht.haus")} == {"de"}


def sound(folder: Path) -> bool:
    return not [f for f in verify(folder, Manifest.read(folder)) if f.problem]


def test_another_language_is_a_change_that_embeds_nothing(tmp_path: Path) -> None:
    source, folder, hashes = tmp_path / "source", tmp_path / "c", HashEmbedder()
    build_tiny(mapped(write_sources(source, FILES)), folder, hashes)
    whole, before = contents(folder), hashes.embedded
    (source / "corpora.toml").write_text(CORPORA.replace('"de"', '"fr"'))
    report = build_tiny(mapped(source), folder, hashes)
    assert (report.read, report.embedded, report.unchanged) == (2, 0, False)
    assert str(report.changes) == "0 added, 0 changed, 3 unchanged, 0 removed"
    assert report.manifest.languages == {"law": "en", "recht": "fr"}
    assert keyword_hits(folder, "gehort") == ["recht.haus:0-54"]
    assert sound(folder)
    (source / "corpora.toml").write_text(CORPORA)
    assert build_tiny(mapped(source), folder, hashes).read == 2
    assert (contents(folder), hashes.embedded) == (whole, before)
    (source / "corpora.toml").write_text(CORPORA + 'language = "en"')
    assert build_tiny(mapped(source), folder, hashes).unchanged


def test_a_corpus_of_two_origins_has_the_language_that_was_stated_last(tmp_path: Path) -> None:
    """A build that states none leaves it; one that states another analyses all its documents."""
    texts = write_sources(tmp_path / "texts", {"recht/haus.txt": "Alte Häuser."})
    tables = write_sources(tmp_path / "tables", {"recht/t.csv": "id,text\nr,Neue Häuser.\n"})
    folder, hashes = tmp_path / "c", HashEmbedder()

    def build_from(root: Path, kind: str, language: str) -> tuple[str, int, int]:
        sources = in_language(by_folder([root], READERS[kind].suffixes, ""), language)
        report = build_tiny(sources, folder, hashes, kind=kind)
        (language_of_all,) = report.manifest.languages.values()
        assert sound(folder)
        return language_of_all, report.read, len(keyword_hits(folder, "haus"))

    assert build_from(texts, "txt", "de") == ("de", 1, 1)
    assert build_from(tables, "csv", "") == ("de", 1, 2)
    assert build_from(tables, "csv", "en") == ("en", 1, 0)
    assert build_from(texts, "txt", "de") == ("de", 0, 2)
    assert build_from(texts, "txt", "de") == ("de", 0, 2)
    assert build_from(tables, "csv", "") == ("de", 1, 2)
    assert hashes.embedded == 2


def test_a_language_that_is_taken_back_is_english_again(tmp_path: Path) -> None:
    source = write_sources(tmp_path / "source", {"recht/haus.txt": "Alte Häuser."})
    plain = by_folder([source], READERS["txt"].suffixes, "")
    for language, expected in (("de", "de"), ("", "en")):
        report = build_tiny(in_language(plain, language), tmp_path / "c", HashEmbedder())
        assert report.manifest.languages == {"recht": expected}


def create(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, language: str) -> Path:
    """The folder of a collection that the command was asked for."""
    source = write_sources(tmp_path / "source", {"recht/haus.txt": "Alte Häuser."})
    monkeypatch.setenv("CHROMA_PERSIST_DIRECTORY", str(tmp_path / "stores"))
    monkeypatch.setattr("atlas_search.cli.create.checkout", lambda: tmp_path)
    command = ["create", "txt", str(source), "--collection", "c", "--language", language]
    assert CliRunner().invoke(app, command).exit_code == (language == "german")
    return tmp_path / "stores" / "c"


@pytest.mark.thorough  # it loads the embedding model
def test_the_command_states_a_language(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    manifest = Manifest.read(create(tmp_path, monkeypatch, "de"))
    assert manifest.languages == {"recht": "de"}
    assert manifest.origins["txt"].arguments["language"] == "de"
    readable = (tmp_path / "create" / "txt" / "output" / "c.txt").read_text()
    assert "CORPUS_RECHT_LANGUAGE=DE" in readable.upper()


def test_the_command_refuses_a_language_it_does_not_know(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert not (create(tmp_path, monkeypatch, "german") / "manifest.json").exists()


ARTICLE = {
    "en": "All human beings are born free and equal in dignity and rights. They are endowed with "
    "reason and conscience and should act towards one another in a spirit of brotherhood.",
    "de": "Alle Menschen sind frei und gleich an Würde und Rechten geboren. Sie sind mit Vernunft "
    "und Gewissen begabt und sollen einander im Geist der Brüderlichkeit begegnen.",
    "fr": "Tous les êtres humains naissent libres et égaux en dignité et en droits. Ils sont doués "
    "de raison et de conscience et doivent agir les uns envers les autres dans un esprit de "
    "fraternité.",
    "es": "Todos los seres humanos nacen libres e iguales en dignidad y derechos y, dotados como "
    "están de razón y conciencia, deben comportarse fraternalmente los unos con los otros.",
    "it": "Tutti gli esseri umani nascono liberi ed eguali in dignità e diritti. Essi sono dotati "
    "di ragione e di coscienza e devono agire gli uni verso gli altri in spirito di fratellanza.",
    "nl": "Alle mensen worden vrij en gelijk in waardigheid en rechten geboren. Zij zijn begiftigd "
    "met verstand en geweten, en behoren zich jegens elkander in een geest van broederschap te "
    "gedragen.",
    "da": "Alle mennesker er født frie og lige i værdighed og rettigheder. De er udstyret med "
    "fornuft og samvittighed, og de bør handle mod hverandre i en broderskabets ånd.",
    "sv": "Alla människor äro födda fria och lika i värde och rättigheter. De äro utrustade med "
    "förnuft och samvete och böra handla gentemot varandra i en anda av broderskap.",
    "ru": "Все люди рождаются свободными и равными в своем достоинстве и правах.",
    "uk": "Всі люди народжуються вільними і рівними у своїй гідності та правах.",
    "el": "Όλοι οι άνθρωποι γεννιούνται ελεύθεροι και ίσοι στην αξιοπρέπεια και τα δικαιώματα.",
    "ar": "يولد جميع الناس أحرارًا متساوين في الكرامة والحقوق.",
    "fa": "همه حق دارند بدون تبعیض و بالسویه از حمایت قانون برخوردار گردند.",
    "hi": "प्रत्येक व्यक्ति को जीवन, स्वाधीनता और वैयक्तिक सुरक्षा का अधिकार है ।",
    "zh": "人人生而自由,在尊严和权利上一律平等。",
    "ja": "すべて人は、生命、自由及び身体の安全に対する権利を有する。",
    "ko": "모든 인간은 태어날 때부터 자유로우며 그 존엄과 권리에 있어 동등하다.",
    # no list of their words is known: nothing is proposed
    "pl": "Wszyscy ludzie rodzą się wolni i równi pod względem swej godności i swych praw.",
    "ca": "Tots els éssers humans neixen lliures i iguals en dignitat i en drets. Són dotats de "
    "raó i de consciència, i han de comportar-se fraternalment els uns amb els altres.",
}


@pytest.mark.parametrize("code", ARTICLE)
def test_the_language_of_a_text_is_told_by_its_letters_and_function_words(code: str) -> None:
    assert likely_language(ARTICLE[code]) == ("" if code in ("pl", "ca") else code)
    assert likely_language("") == likely_language("1954 -- 12.5 %") == ""


def test_a_build_proposes_a_language_that_nobody_named_and_changes_nothing(tmp_path: Path) -> None:
    files = {"law/a.txt": ARTICLE["en"], "recht/a.txt": ARTICLE["de"]}
    source, folder = write_sources(tmp_path / "source", files), tmp_path / "c"
    manifest = build_tiny(source, folder, HashEmbedder()).manifest
    assert manifest.languages == {"law": "en", "recht": "en"}
    assert manifest.unnamed_languages == {"recht": "de"}
    (source / "law/b.txt").write_text("A second text.")
    assert build_tiny(source, folder, HashEmbedder()).manifest.unnamed_languages == {"recht": "de"}
    (source / "corpora.toml").write_text(CORPORA)
    assert build_tiny(mapped(source), folder, HashEmbedder()).manifest.unnamed_languages == {}
