"""Parliamentary debates in TEI: speech by speech, with their dates and speakers."""

import pytest

from atlas_search.readers.xml.tei import resolve_pointers
from tests.xml.xml_drafts import HEAD, drafts, paragraphs, reason, speeches


def test_a_debate_is_read_speech_by_speech() -> None:
    (draft,) = drafts("debate.xml")
    section = "Egypt (Situation)"
    eden = "Anthony Eden"
    assert speeches(draft) == [
        (section, "", "Egypt (Situation)\n\n[The House met at half-past Two o'clock]"),
        (section, eden, "The Prime Minister:\n\nI will make a statement on the position."),
        (section, "", "[Interruption]"),
        (section, eden, "The fighting [pause] has stopped."),
        (section, "Gaitskell Hugh", "I thank the Prime Minister for Port Said."),
        (section, "Gaitskell Hugh", "And again."),
        (section, "", "(Cheers.)\n\n[...]\n\nThe House divided."),
    ]


def test_a_debate_is_dated_by_its_sitting_not_by_its_edition() -> None:
    (draft,) = drafts("debate.xml")
    assert draft.title == "Sample parliamentary corpus, Commons, 1956-11-06"
    assert draft.key == ""
    assert draft.metadata == {
        "date": "1956-11-06",
        "published": "2024-01-23",
        "publisher": "Sample Infrastructure",
        "source": "Sample Debates. Volume 560.",
        "url": "https://example.org/debates/560",
        "language": "en",
        "persons": ["Anthony Eden"],
        "places": ["Port Said"],
        "speakers": ["Anthony Eden", "Gaitskell Hugh"],
    }


def test_annotated_words_are_set_as_their_joins_say() -> None:
    (draft,) = drafts("annotated.xml")
    assert draft.text == "I cannot say, Mr Lee. “Yes”"
    assert draft.metadata["persons"] == ["Mr Lee"]
    assert draft.metadata["speakers"] == ["McDonald Roy"]


def test_without_joins_words_stand_as_their_white_space_says(tei) -> None:
    draft = tei("<body><p><w>can</w><w>not</w> <w>say</w><pc>.</pc></p></body>")
    assert draft.text == "cannot say."


def test_a_glued_mark_does_not_join_two_paragraphs(tei) -> None:
    draft = tei('<body><p><w>Yes</w></p><p><pc join="both">-</pc><w>no</w></p></body>')
    assert paragraphs(draft) == ["Yes", "-no"]


def test_a_corpus_file_that_only_includes_others_says_so(read_bytes) -> None:
    xml = (
        f'<teiCorpus xmlns="http://www.tei-c.org/ns/1.0">{HEAD}'
        '<xi:include xmlns:xi="http://www.w3.org/2001/XInclude" href="2020.xml"/></teiCorpus>'
    )
    assert reason(read_bytes(xml.encode())) == (
        "it holds no text of its own, only 1 xi:include: put the files that they name into the "
        "folder, each is read by itself"
    )


def test_lists_of_persons_and_taxonomies_are_no_documents(read_bytes) -> None:
    xml = b'<listPerson xmlns="http://www.tei-c.org/ns/1.0"><person>Anne</person></listPerson>'
    assert reason(read_bytes(xml)) == "a TEI <listPerson>: a list for other files, not a text"


@pytest.mark.parametrize(
    ("pointers", "name"),
    [
        ("#a", "Ann Able"),
        ("persons.xml#a", "Ann Able"),
        ("#a #AbbottDiane", "Ann Able, Abbott Diane"),
        ("#KučanMilan.1941", "Kučan Milan"),
        ("#DeJòdarJulià", "De Jòdar Julià"),
        ("#O'BrienPat", "O'Brien Pat"),
        ("#MacKayAngus", "MacKay Angus"),
        ("#van_der_Berg", "van der Berg"),
        ("#U8dvmLKX", "U8dvmLKX"),
        ("#Q1234", "Q1234"),
        ("#unknown", ""),
        ("", ""),
    ],
)
def test_a_pointer_is_a_name(pointers: str, name: str) -> None:
    assert resolve_pointers(pointers, {"a": "Ann Able"}) == name
