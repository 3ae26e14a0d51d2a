"""Who speaks in a transcript that says so in its text alone."""

import json
from pathlib import Path

import pytest

from atlas_search.core.domain import Segment
from atlas_search.readers.speeches import with_speeches
from tests.hash_embedder import HashEmbedder
from tests.source_builds import stored
from tests.tiny import build_tiny, write_sources

RECORD = """\
                          HARBOURS

  The PRESIDENT pro tempore. The Senator from Maine is recognized.
  Mr. HAY. Mr. President, I rise to speak of harbours. They have
been long neglected.
  The need is great.
  Mr. McLEOD. Mr. President, I yield.
  Mr. HAY. I thank the Senator.
  The PRESIDING OFFICER (Mr. Lee). Without objection, it is so ordered.
  Mrs. ROE of Maine. Mr. President, I agree.
                          ____________________
  The Senate met at noon.
"""
DEPOSITION = """\
JANE ROE,
having been first duly sworn, testified as follows:

            EXAMINATION
BY MR. HAY:
     Q.   State your name.
     A.   Jane Roe.
     Q.   Did you see the boat?
     A.   I saw it
on the quay.
          MS. LEE:  Objection.
          THE WITNESS:  I did see it.
     Q.   When?
     A.   At noon.
          (Whereupon, the deposition ended.)
"""
OFFICER = "Ms Hay (The Parliamentary Under-Secretary of State for Ports)"
HEARING = """\
    The Chairman. The committee will come to order.
We meet on harbours, and I thank
Mr. Gray. He is our clerk.
    Mr. Hay. Thank you.
    Chairman Lee. I thank the gentleman.

  PREPARED STATEMENT OF JANE ROE, DIRECTOR, HARBOUR OFFICE

    The harbour silts up.

    Ms. Roe. I am glad to be here.
    Mr. Hay. When did it open?
    Ms. Roe. In May.
"""


def speakers(text: str, *segments: Segment) -> list[tuple[str, str]]:
    """Who speaks, and the first word of what begins there."""
    return [(each.speaker, text[each.start :].split()[0]) for each in with_speeches(text, segments)]


def names(text: str) -> list[str]:
    return [name for name, _ in speakers(text)]


def test_the_record_of_a_congress() -> None:
    assert names(RECORD) == [
        "",
        "The President pro tempore",
        "Mr. Hay",
        "Mr. McLeod",
        "Mr. Hay",
        "Mr. Lee (The Presiding Officer)",
        "Mrs. Roe of Maine",
        "",
    ]


def test_question_and_answer_belong_together_and_the_witness_has_his_name() -> None:
    assert list(dict.fromkeys(names(DEPOSITION))) == [
        "Jane Roe",
        "",
        "Mr. Hay; Jane Roe",
        "Ms. Lee",
    ]
    assert ("Jane Roe", "THE") in speakers(DEPOSITION)
    assert names(DEPOSITION)[-1] == ""
    # nobody who is not named is given a name
    text = "\n".join(line for line in DEPOSITION.splitlines()[3:] if not line.startswith("BY"))
    assert "Counsel; The Witness" in names(text)


def test_a_hearing_names_its_witness_and_what_is_only_thanked_speaks_not() -> None:
    assert names(HEARING) == [
        "The Chairman",
        "Mr. Hay",
        "Chairman Lee",
        "Jane Roe",
        "Ms. Roe",
        "Mr. Hay",
        "Ms. Roe",
    ]


def test_an_office_is_told_with_its_holder_and_means_him_from_then_on() -> None:
    text = (
        "The Chair (Hon. Ann Hay (Northport, Lib.)): Order.\n"
        "The Minister for Finance (Mr Bo Lee): I reply.\n"
        "Mr Lee: It is so.\n"
        "The Minister of State at the Department of Ports (Deputy\nCal Roe): I thank her.\n"
        "The Chair: Order.\n"
        "Hon. Ann Hay: As a member I object.\n"
        "Deputy Cal Roe: And I.\n"
    )
    assert names(text) == [
        "Hon. Ann Hay (The Chair)",
        "Mr Bo Lee (The Minister for Finance)",
        "Mr Bo Lee (The Minister for Finance)",
        "Deputy Cal Roe (The Minister of State at the Department of Ports)",
        "Hon. Ann Hay (The Chair)",
        "Hon. Ann Hay",
        "Deputy Cal Roe (The Minister of State at the Department of Ports)",
    ]


@pytest.mark.parametrize(
    ("line", "name"),
    [
        ("Mr. SPEAKER: Order.", "Mr. Speaker"),
        ("†Mr. SPEAKER: Order.", "Mr. Speaker"),
        ("MR. CHIEF JUSTICE HAY: Order.", "Mr. Chief Justice Hay"),
        ("Senator Wei: Yes.", "Senator Wei"),
        ("Senator WEI (Northport) (3.15 pm)—I move.", "Senator Wei"),
        ("Mr O’HAY, MP — No.", "Mr O'Hay"),
        ("DR HAY -- I.", "Dr Hay"),
        ("MR. HAY (Northport).--No.", "Mr. Hay"),
        ("Mr N B HAY (ANC): No.", "Mr N B Hay"),
        ("HON. B.C. HAY.- No.", "Hon. B.C. Hay"),
        ("HON. B. C. HAY.: No.", "Hon. B.C. Hay"),
        ("Hon BO HAY (Minister of Ports): No.", "Hon. Bo Hay (Minister of Ports)"),
        ("**Mr Hay**: No.", "Mr Hay"),
        ("**Mr Hay:** No.", "Mr Hay"),
        ("**Mr Hay** (Northport): No.", "Mr Hay"),
        ("[0:02:28.310] JUSTICE HAY: But how?", "Justice Hay"),
        ("An Cathaoirleach: Order.", "An Cathaoirleach"),
        ("Several hon. Members: Hear, hear.", "Several hon. Members"),
        ("SPEAKER: Order!", "Speaker"),
        ("The Parliamentary Under-Secretary of State for Ports (Ms Hay): I.", OFFICER),
        ("The Lord Privy Seal (Ms Hay): I.", "Ms Hay (The Lord Privy Seal)"),
        ("The Duke of Hay: I.", ""),
        ("Mr. Hay [in translation]: I.", "Mr. Hay"),
        ("  Mr. HAY [continuing]. I rise.", "Mr. Hay"),
        ("Senator 5: I.", ""),
        ("LORD HAY M.R.: I agree.", "Lord Hay M.R."),
    ],
)
def test_a_speech_begins_in_many_ways(line: str, name: str) -> None:
    debate = "Mr Lee: I rise.\n\nMs Roe: I too.\n\nMr Lee: And again.\n\n"
    assert names(f"{debate}{line}")[-1] == name


def test_bare_names_speak_where_they_recur_and_say_sentences() -> None:
    lines = ["Ann Hay AM: I open the meeting.", "Bo Lee: I thank the chair.", "Cal Roe: I do not."]
    assert list(dict.fromkeys(names("\n".join(lines * 3)))) == ["Ann Hay", "Bo Lee", "Cal Roe"]
    assert names("\n".join(lines)) == []


LETTER = "Northport, 4 May 1862"
PAPERS = "Home Affairs: Report of the year.\n\nTrade and Ports: Another.\n\nHome Affairs: Third."


@pytest.mark.parametrize(
    ("text", "speakers"),
    [
        # two of one name are told apart by their places
        ("Mr. Hay (Northport): I rise.\n\nMr. Hay (South Quay, Lib.): I too.\n\n"
         "Mr. Hay (Northport): So.\n\nMrs. Hay (Eastport) (10:02): I.\n\nMr. Hay: Yes.\n\n"
         "Mr. John Hay (South Quay): No.\n\nMrs. Hay (10:04): I.",
         "Mr. Hay (Northport)|Mr. Hay (South Quay)|Mr. Hay (Northport)|Mrs. Hay|Mr. Hay|"
         "Mr. John Hay (South Quay)|Mrs. Hay"),
        # who is addressed within a speech does not speak
        ("  Mr. HAY. I rise.\n  Mr. President: I have the honour.\n  Mr. ROE. I object.\n"
         "  Mr. HAY. So.", "Mr. Hay|Mr. Roe|Mr. Hay"),
        # an officer with an ordinary name is not taken for who spoke before
        ("Mr Hay: The brown boat sank.\n\nGeneral Brown: No.\n\nMs Roe: I too.\n\nMr Hay: So.",
         "Mr Hay||Ms Roe|Mr Hay"),
        # papers of a department are no words of it
        (f"Mr Hay: I rise.\n\nMs Roe: I too.\n\nMr Hay: So.\n\nPAPERS\n\n{PAPERS}",
         "Mr Hay|Ms Roe|Mr Hay|||"),
        # a label in another language takes nobody's words
        ("Mr Hay: I rise.\n\nMs Roe: I too.\n\nUMPHATHI WAMACHWEBA: Kulungile.\n\nMr Hay: So.",
         "Mr Hay|Ms Roe||Mr Hay"),
        # titles in brackets and two words of an office are of a person
        ("Hon. Speaker: Are you there?\n\nHon. (Dr) Ann Hay (Northport, AB): I am.\n\n"
         "Hon. Speaker: Proceed.\n\nAttorney General LEE: I object.\n\n"
         "Hon (Dr) Ann Hay (Northport, AB): It is late.\n\nAttorney General LEE: It is not.\n",
         "Hon. Speaker|Hon. Dr Ann Hay|Hon. Speaker|Attorney General Lee|Hon. Dr Ann Hay|"
         "Attorney General Lee"),
        # a debate may have dates and letters that are read out
        (f"{LETTER}\n\nThe Chair: I have a letter.\n\nDear Sir:\n\nIt silts up.\n\n"
         f"Mr Hay: I thank him.\n\n{LETTER}\n\nThe Chair: Order.\n\nMr Hay: I rise.\n\n"
         "The Chair: Proceed.\n\nMr Hay: It silts up.",
         "The Chair|Mr Hay|" * 2 + "The Chair|Mr Hay"),
        # short sittings and the messages of a log are no letters
        (f"{LETTER}\n\nThe Chair: Order.\n\nMr Hay: It silts up.\n\n" * 4,
         "The Chair|Mr Hay|" * 3 + "The Chair|Mr Hay"),
        ("4 May 2021, 10:30\nMr Hay: I rise.\n\n4 May 2021, 10:31:07\nMs Lee: It is so.\n\n" * 3,
         "Mr Hay|Ms Lee|" * 2 + "Mr Hay|Ms Lee"),
        # whoever is called sir speaks himself in a play
        ("MISS HAY: Who is it?\n\nSIR: It is I.\n\nLADY LEE: So it is.\n\nMADAM: No.\n\n"
         "MISS HAY: Go.\n\nSIR: I do not go.\n\n" * 3,
         "Miss Hay||Lady Lee||Miss Hay||" * 2 + "Miss Hay||Lady Lee||Miss Hay|"),
        # a hearing has its speeches though it holds more letters
        ("    Mr. Hay. The quay silts.\n\n    Mrs. Lee. It does so.\n\n" * 2
         + "Northport, May 4, 1962\n\nDear Mr. Chairman:\n\nI write of it.\n\n" * 9,
         "Mr. Hay|Mrs. Lee|Mr. Hay|Mrs. Lee" + "|" * 9),
    ],
    ids=["places", "addressed", "officer", "papers", "language", "titles", "read out", "sittings",
         "log", "play", "hearing"],
)  # fmt: skip
def test_nobody_has_the_words_of_another(text: str, speakers: str) -> None:
    assert names(text) == speakers.split("|")


def test_nobody_speaks_between_a_heading_and_the_next_speech() -> None:
    text = (
        "# Debate\n\nMr Hay: I rise.\n\n## Harbours\n\nThe bill was read.\n\n"
        "Mr Hay: I rise again.\n\nMs Roe: I too."
    )
    sections = (Segment(0, "Debate"), Segment(text.index("## "), "Debate > Harbours"))
    assert with_speeches(text, sections) == (
        sections[0],
        Segment(text.index("Mr Hay"), "Debate", "Mr Hay"),
        sections[1],
        Segment(text.index("Mr Hay: I rise again"), "Debate > Harbours", "Mr Hay"),
        Segment(text.index("Ms Roe"), "Debate > Harbours", "Ms Roe"),
    )


@pytest.mark.parametrize(
    "line",
    [
        *("Cox: No.", "COX: No.", "COX MR: No.", "Speaker 2: No."),
        *("COX, J.: No.", "Vice-Dean: No.", "Mr. ____: No.", "Juror No. 5: No."),
        *("QUESTION: Why?", "Q    Why?", "Q: Why?"),
    ],
)
def test_the_words_of_somebody_unknown_are_not_of_who_spoke_before(line: str) -> None:
    text = f"Mr Hay: I rise to ask a question.\n\nMs Roe: I too.\n\n{line}\n\nMr Hay: So."
    assert names(text) == ["Mr Hay", "Ms Roe", "", "Mr Hay"]


@pytest.mark.parametrize(
    "line", ["Mr Cox asked: why?", "Note: it is.", "Question time is over.", "Quays: they rot."]
)
def test_a_word_with_a_colon_within_a_speech_ends_it_not(line: str) -> None:
    text = f"Mr Hay: I speak of quays.\n\nMs Roe: I too.\n\n{line}\n\nMr Hay: So."
    assert names(text) == ["Mr Hay", "Ms Roe", "Mr Hay"]


@pytest.mark.parametrize(
    "text",
    [
        "Present: Mr. Hay, Ms. Roe.\nApologies: Mr. Lee.\n" * 4,
        "Note: it is closed.\nDate: 4 May.\nAuthor: Ann Hay.\nRe: the quay.\n" * 4,
        "Question: How do I moor?\nAnswer: With a rope.\n\n" * 4,
        "Q. How do I moor?\nA. With a rope.\n\n" * 4,
        "The Minister: means the Minister for Ports.\nThe Court: means the Harbour Court.\n"
        "The Director: means the director of ports.\nThe Chair: means who presides.",
        "Full Name: Ann Hay\nPostal Address: 4 Quay Road\nPhone Number: 12 34\n\n" * 4,
        "Study Design: a trial of the main results.\nMain Results: the design of the study.\n" * 4,
        "**If Far NTP:** use if the far net is open.\n\n**If Near DNS:** the near net is.\n\n" * 4,
        "Mr Hay\n4 Quay Road\nNorthport\n\nDear Mr Hay:\n\nMr Hay: I write of the quay.",
        "Chairman: Ann Hay\nClerk: Bo Lee\nDirector: Cal Roe\n\n" * 3,
        "Court: Court of Appeal\nJudge: Hay J\nCounsel: A Roe QC\n\n" * 3,
        "Minister: the Minister for Ports.\nThe Minister: may make rules.\nClerk: his clerk.\n" * 2,
        "Mr. Hay: Aye\nMr. Lee: No\nMs. Roe: Aye\n\n" * 3,
        "Captain Quay: The First Sailor\nCaptain Quay: Civil War\nDr. Sea: a film\n" * 3,
        "Ann Hay: to write to the pilot.\nBo Lee: to buy a rope.\nCal Roe: to sell it.\n\n" * 3,
        "Hay, Ann: The Boats. A book.\nLee, Bo: The Nets. A book.\nHay, Ann: Quays. Oxford.\n" * 3,
        "Ann Hay: Boats. London 1950.\nBo Lee: Nets. London 1951.\nAnn Hay: Quays. Rome 1952.\n"
        * 3,
        "  The Clerk. The Clerk keeps the seal.\n  The Warden. The Warden keeps the gate.\n" * 4,
        "General Terms: These apply.\n\nMajor Changes: It is new.\n\nGeneral Terms: They bind.\n\n"
        "The terms and changes are old.\n\n",
        "I met Mr. Hay. He said: no.\nMr. Roe. He was there. Mr. Hay. He was not.\n" * 4,
    ],
)
def test_what_only_looks_so_is_no_transcript(text: str) -> None:
    assert names(text) == []


@pytest.mark.parametrize(
    "letter",
    [
        "Honorable Sir: I write of it.\n\nSir Robert: I write again.\n\nDear Ann,\n\nI write.\n\n",
        "Dearest Ann Hay: I am.\n\nEsteemed Sir:\n\nBo Lee: I am.\n\nMY DEAR SIR:--It is.\n\n",
        "NORTHPORT, May 24, 1862. 4 PM.\n\nGENERAL HAY:\n\nThe quay is lost.\n\nA. ROE.\n\n"
        "NORTHPORT, June 4th, 1862.\n\nGeneral LEE, Southport:\n\nIt is held.\n\nA. ROE.\n\n",
        "SIR ROBERT,--I am well.\n\nLORD HAY,--I am not.\n\n",
        "Hon. Ann Hay:\n\nMadam: I am well.\n\nJudge Lee:\nGentlemen: I am not.\n\n",
    ],
)
def test_letters_are_no_transcript(letter: str) -> None:
    assert names(letter * 6) == []


def test_passages_of_a_transcript_are_each_of_who_speaks(tmp_path: Path) -> None:
    write_sources(tmp_path / "sources", {"house/debate.txt": RECORD})
    build_tiny(tmp_path / "sources", tmp_path / "built", HashEmbedder())
    speakers = {passage.text.strip(): passage.speaker for passage in stored(tmp_path / "built")}
    assert speakers["Mr. McLEOD. Mr. President, I yield."] == "Mr. McLeod"


def test_a_record_that_names_its_speaker_has_no_other(tmp_path: Path) -> None:
    record = {"id": "a", "speaker": "Cal Roe", "text": "Mr Hay: I.\n\nMs Lee: No.\n\n" * 3}
    write_sources(tmp_path / "sources", {"house/debate.jsonl": json.dumps(record)})
    build_tiny(tmp_path / "sources", tmp_path / "built", HashEmbedder(), kind="jsonl")
    assert {passage.speaker for passage in stored(tmp_path / "built")} == {"Cal Roe"}
