"""The Australian Hansard in its three shapes: sections, speakers, and what is not text."""

import pytest

from atlas_search.readers import Draft
from tests.xml.xml_drafts import speeches

SGML = '<HANSARD DATE="12/09/96" CHAMBER="Reps"><CHAMBER.XSCRIPT>{}</CHAMBER.XSCRIPT></HANSARD>'
XML = (
    "<hansard><session.header><date>2024-06-25</date><chamber>SENATE</chamber></session.header>"
    "<chamber.xscript>{}</chamber.xscript></hansard>"
)


@pytest.fixture
def read(read_bytes):
    """The draft of a day with this transcript."""

    def read(shape: str, transcript: str) -> Draft:
        (draft,) = read_bytes(shape.format(transcript).encode())
        assert isinstance(draft, Draft), draft
        return draft

    return read


def test_a_year_of_two_digits_is_of_the_last_century(read) -> None:
    draft = read(SGML, "<PROCTEXT><PARA>Prayers.</PARA></PROCTEXT>")
    assert draft.title == "House of Representatives, 1996-09-12"


def test_who_is_in_the_chair_and_the_time_are_printed_before_1998(read) -> None:
    draft = read(
        SGML,
        "<DEBATE><TITLE>WHEAT</TITLE>"
        '<SPEECH SPEAKER="Sample Mr B.C." NAMEID="B1" PARTY="NP" ELECTORATE="DALBY">'
        '<TALK.START><TALKER><NAME NAMEID="B1">Mr SAMPLE</NAME><STATE>(Dalby-</STATE>'
        "<ROLE>Minister for Wheat)</ROLE><TIME.STAMP> (5.20 p.m.)</TIME.STAMP></TALKER>"
        "<PARA>I rise.</PARA></TALK.START>"
        '<INTERJECT SPEAKER="The ACTING SPEAKER" NAMEID="10000"><TALK.START><TALKER>'
        '<NAME NAMEID="10000">The ACTING SPEAKER</NAME><NAME NAMEID="E1">(Ms Example)</NAME>'
        "</TALKER><PARA>Order!</PARA></TALK.START></INTERJECT>"
        '<TALK.START><TALKER><NAME NAMEID="C1">Mr OTHER</NAME></TALKER>'
        "<PARA>No.</PARA></TALK.START></SPEECH>"
        '<INTERJECT SPEAKER="EXAMPLE" NAMEID="E1"><TALK.START><TALKER>'
        '<NAME NAMEID="E1">Ms Example</NAME></TALKER><PARA>Hear!</PARA></TALK.START></INTERJECT>'
        "</DEBATE>",
    )
    assert speeches(draft) == [
        ("WHEAT", "", "WHEAT"),
        ("WHEAT", "Sample, B.C.", "Mr SAMPLE (Dalby-Minister for Wheat) (5.20 p.m.) I rise."),
        ("WHEAT", "Ms Example", "The ACTING SPEAKER (Ms Example) Order!"),
        ("WHEAT", "Mr Other", "Mr OTHER No."),
        ("WHEAT", "Ms Example", "Ms Example Hear!"),
    ]
    assert draft.metadata["members"] == ["Sample, B.C. (NP, DALBY)"]
    assert draft.metadata["parties"] == ["NP"]


def test_petitions_and_answers_on_notice_are_sections(read) -> None:
    draft = read(
        SGML,
        "<PETITION.GRP><TITLE>PETITIONS</TITLE>"
        "<PETITION><TITLE>Wool</TITLE><PARA>One.</PARA></PETITION>"
        "<PETITION><TITLE>Wool</TITLE><PARA>Two.</PARA></PETITION></PETITION.GRP>"
        "<RDI><TITLE>REQUESTS</TITLE><RDI.ITEM><TITLE>Library</TITLE></RDI.ITEM></RDI>"
        "<SSO><TITLE>Suspension</TITLE></SSO>"
        "<ANSWER.TO.QON><TITLE>TAX BILL 1996<BREAK>WOOL BILL 1996</TITLE></ANSWER.TO.QON>",
    )
    assert speeches(draft) == [
        ("PETITIONS", "", "PETITIONS"),
        ("PETITIONS > Wool", "", "Wool\n\nOne."),
        ("PETITIONS > Wool", "", "Wool\n\nTwo."),
        ("REQUESTS", "", "REQUESTS"),
        ("REQUESTS > Library", "", "Library"),
        ("Suspension", "", "Suspension"),
        ("TAX BILL 1996 WOOL BILL 1996", "", "TAX BILL 1996 WOOL BILL 1996"),
    ]


def test_a_petition_is_read_without_its_lists_and_its_presenter_once(read) -> None:
    draft = read(
        XML,
        "<petition.group><petition.groupinfo><title>PETITIONS</title></petition.groupinfo>"
        "<petition><petitioninfo><title>Wool</title><name.ids><name.id>BV5</name.id></name.ids>"
        "<names><name>Example</name><name>Ann</name></names><no.signed>7</no.signed>"
        "</petitioninfo><para>We ask.</para><presenter><no.signed>7</no.signed><talk.start>"
        "<talker><name role='display'>Ms Example</name></talker>"
        "<para>Ms Example (from seven citizens)</para></talk.start></presenter></petition>"
        "</petition.group>",
    )
    assert speeches(draft)[1][2] == "Wool\n\nWe ask.\n\nMs Example (from seven citizens)"


def test_a_chair_with_an_id_is_a_person_and_torn_words_are_parted(read) -> None:
    talker = (
        "<talk.start><talker><name role='metadata'>{}</name><name.id>{}</name.id></talker>"
        "</talk.start>"
    )
    voice = '<p><span><a href="{}"><span class="HPS-MemberSpeech">{}</span></a>{}</span></p>'
    draft = read(
        XML,
        "<debate><debateinfo><title>WOOL</title></debateinfo><speech>"
        + talker.format("Sample, Sen Bob", "B1")
        + "<talk.text><body>"
        + voice.format("B1", "Senator SAMPLE:", " I read <i>The</i>")
        + voice.format("E1", "The PRESIDENT:", " Order!")
        + "<p><span>The</span><span>Leith Mail by</span><span>Mc</span><span>Example</span></p>"
        + "</body></talk.text><interjection>"
        + talker.format("Example, Sen Ann (The PRESIDENT)", "E1")
        + "</interjection></speech></debate>",
    )
    assert speeches(draft)[1:] == [
        ("WOOL", "Sample, Bob", "Senator SAMPLE: I read The"),
        ("WOOL", "Example, Ann", "The PRESIDENT: Order!\n\nThe Leith Mail by McExample"),
    ]
    assert draft.remark == "2 missing blanks after marked words were put in"


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
def test_torn_and_empty_labels_do_not_make_speakers(read, paragraph: str, speaker: str) -> None:
    draft = read(
        XML,
        "<debate><debateinfo><title>WOOL</title></debateinfo><speech><talk.start><talker>"
        "<name role='metadata'>Sample, Sen Bob</name><name.id>B1</name.id></talker></talk.start>"
        f"<talk.text><body><p>{paragraph}</p></body></talk.text></speech></debate>",
    )
    assert draft.segments[-1].speaker == speaker


def test_the_headings_of_a_cognate_debate_are_read_once(read) -> None:
    heading = '<p class="HPS-SubDebate"><span class="HPS-SubDebate">{}</span></p>'
    draft = read(
        XML,
        "<debate><debateinfo><title>Wool Bill 2024, Wool Tax Bill 2024</title></debateinfo>"
        f"<debate.text><body>{heading.format('Wool Bill 2024')}"
        f"{heading.format('Wool Tax Bill 2024')}{heading.format('Leave')}</body></debate.text>"
        "</debate>",
    )
    assert draft.text == "Wool Bill 2024, Wool Tax Bill 2024\n\nLeave"
