"""Hansards: one person has one name, and torn labels make no speakers.

What is read of whole files is among the cases of `tests/readers/cases/xml`, and of those of
`tests/data/xml` among the golden files.
"""

from collections.abc import Callable

import pytest

from atlas_search.readers import Draft
from atlas_search.readers.law.persons import Persons, filed, office, printed, spoken, without_title
from tests.places import ROOT
from tests.readers.drafts import pages

Xml = Callable[[str], Draft]
FORMS = [
    ("K1", "EXAMPLE, Ann"),
    ("K1", "Ms EXAMPLE"),
    ("K2", "SAMPLE, Bob, MP"),
    ("K2", "SAMPLE, Bob, MP"),
    ("K2", "SAMPLE, Bo, MP"),
    ("K2", "Other, Carl, MP"),
    ("K3", "Mountain Sen The Hon Sir D.E."),
    ("10000", "Valley, Eve (The DEPUTY SPEAKER)"),
]


@pytest.mark.parametrize(
    ("read", "forms"),
    [
        # the filing forms of a name are one
        (filed, "EXAMPLE, Ann → Example, Ann | Example, Ann, MP → Example, Ann"),
        (filed, "Example, Sen Ann → Example, Ann | Example, Dr Ann, MP → Example, Ann"),
        (filed, "Example, Ann MP (The SPEAKER) → Example, Ann | Mr EXAMPLE →  | SPEAKER, Mr → "),
        (filed, "Example The Rt Hon A.B. → Example, A.B. | Ms EXAMPLE,MP →  | COOK → "),
        (filed, "Kent Example Mr A.B. → Kent Example, A.B. | DEPUTY PRESIDENT,The → "),
        (filed, "MCEXAMPLE, Ann D3309 → McExample, Ann | O’SAMPLE, Bob → O'Sample, Bob"),
        # whoever is in the chair has the name of the office
        (office, "SPEAKER, Mr → The Speaker | Mr SPEAKER → The Speaker | The CLERK → The Clerk"),
        (office, "The ACTING DEPUTY PRESIDENT → The Acting Deputy President | Mr → "),
        (office, "Mr Clerk-Example → "),
        # a printed name is not in capitals
        (spoken, "Mr McEXAMPLE,MP: → Mr McExample | Senator Sample interjecting— → Senator Sample"),
        (printed, "The PRIME MINISTER (Mr. SAMPLE) → Mr. Sample | Mr. SAMPLE (Leith) → Mr. Sample"),
        # titles go where a given name is left
        (without_title, "Right Hon. Ann Example → Ann Example | Mme Ann Example → Ann Example"),
        (without_title, "Le très hon. Ann Example → Ann Example | Mr. Example → Mr. Example"),
        (without_title, "L’hon. Ann Example → Ann Example | Some hon. members → Some hon. members"),
        (without_title, "The Deputy Speaker → The Deputy Speaker"),
        (without_title, "Lord Example of Leith → Lord Example of Leith"),
    ],
)  # fmt: skip
def test_forms_of_a_name(read: Callable[[str], str], forms: str) -> None:
    for form, name in (each.split(" → ") for each in forms.split(" | ")):
        assert read(form) == name.strip(), form


@pytest.mark.parametrize(
    ("id_", "form", "name"),
    [
        ("K1", "Ms EXAMPLE", "Example, Ann"),
        ("", "Ms Ann EXAMPLE", "Example, Ann"),
        ("", "Ms Zoe EXAMPLE", "Ms Zoe Example"),
        ("K2", "SAMPLE, Bo, MP", "Sample, Bob"),
        # one id for two surnames is a misprint of the source: they stay two
        ("K2", "Other, Carl, MP", "Other, Carl"),
        ("K3", "Senator MOUNTAIN", "Mountain, D.E."),
        ("10000", "The DEPUTY SPEAKER (Ms E. Valley)", "Valley, Eve"),
        ("10000", "The DEPUTY SPEAKER", "The Deputy Speaker"),
        ("K1", "The SPEAKER", "Example, Ann"),
        ("", "Honourable members", "Honourable members"),
    ],
)
def test_ids_and_surnames_lead_to_one_name(id_: str, form: str, name: str) -> None:
    assert Persons(FORMS, nobody=frozenset({"10000"})).name(id_, form) == name


def test_two_of_one_surname_are_not_confused() -> None:
    persons = Persons([("A", "COOK, Joseph"), ("B", "COOK, James")], nobody=frozenset())
    assert persons.name("", "Mr COOK") == "Mr Cook"
    assert persons.name("B", "Mr COOK") == "Cook, James"


def test_theyworkforyou_names_a_person_by_id(xml: Xml) -> None:
    spoken = [("1", "Mr. Bob Sample"), ("1", "Bob Sample"), ("1", "The Minister"), ("2", "Ann Lee")]
    speeches = "".join(
        f'<speech id="x/debate/2003-06-26.{n}" person_id="x/person/{id_}" speakername="{name}">'
        f"<p>Words {n}.</p></speech>"
        for n, (id_, name) in enumerate(spoken)
    )
    draft = xml(f"<publicwhip>{speeches}</publicwhip>")
    assert [s.speaker for s in draft.segments] == ["Bob Sample"] * 3 + ["Ann Lee"]


def test_a_bound_volume_names_the_holder_of_an_office(xml: Xml) -> None:
    names = ("The PRIME MINISTER (Mr. SAMPLE)", "Mr. SAMPLE", "Mr. Sample (Leith)")
    paragraphs = "".join(
        f"<p><member>{name}</member><membercontribution>: Yes.</membercontribution></p>"
        for name in names
    )
    draft = xml(f"<housecommons><title>H</title>{paragraphs}</housecommons>")
    assert draft.metadata["speakers"] == ["Mr. Sample"]


def test_a_bound_volume_is_cited_by_its_columns(read_xml: Callable[..., list[Draft]]) -> None:
    volume = ROOT / "tests" / "data" / "xml" / "historic.xml"
    commons, written, _ = read_xml(volume.read_bytes())
    assert len(commons.pages) == 346
    assert pages(commons)[344].startswith("HOUSE OF COMMONS.")
    assert pages(commons)[345].startswith("steps he is taking.")
    assert pages(written)[1] == "Every year."


@pytest.mark.parametrize(
    ("paragraph", "speaker"),
    [
        ('<a href="B1"><span class="HPS-MemberSpeech">Mr SAM</span></a><a>PLE</a>: I rise.',
         "Sample, Bob"),
        ('<span class="HPS-OfficeSpeech"></span>The PRESIDENT: Order!', "The President"),
        ('<a href="10000"><span class="HPS-OfficeSpeech">The CHAIR</span></a> (Mr Sample) (14:09):',
         "Sample, Bob"),
        ('<span class="HPS-OfficeContinuation">Debate interrupted.</span>', ""),
        ('<span class="HPS-MemberSpeech"></span>Wool: a debate', ""),
        ('<a href="X"><span class="HPS-MemberInterjecting">Ms Other:</span></a> No!', "Ms Other"),
    ],
)  # fmt: skip
def test_torn_and_empty_labels_do_not_make_speakers(xml: Xml, paragraph: str, speaker: str) -> None:
    draft = xml(
        "<hansard><session.header><date>2024-06-25</date><chamber>SENATE</chamber>"
        "</session.header><chamber.xscript>"
        "<debate><debateinfo><title>WOOL</title></debateinfo><speech><talk.start><talker>"
        "<name role='metadata'>Sample, Sen Bob</name><name.id>B1</name.id></talker></talk.start>"
        f"<talk.text><body><p>{paragraph}</p></body></talk.text></speech></debate>"
        "</chamber.xscript></hansard>"
    )
    assert draft.segments[-1].speaker == speaker
