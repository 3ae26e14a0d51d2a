"""Who speaks in a transcript that says so in its text alone."""

import json
import tomllib
from pathlib import Path

import pytest

from atlas_search.core.domain import Segment
from atlas_search.readers.speeches import with_speeches
from tests.hash_embedder import HashEmbedder
from tests.source_builds import stored
from tests.tiny import build_tiny, write_sources

TRANSCRIPTS = tomllib.loads(Path(__file__).with_name("transcripts.toml").read_text("utf-8"))
RECORD = TRANSCRIPTS["the record of a congress"]["text"]
OFFICER = "Ms Hay (The Parliamentary Under-Secretary of State for Ports)"


def names(text: str) -> list[str]:
    return [each.speaker for each in with_speeches(text, ())]


@pytest.mark.parametrize("name", TRANSCRIPTS)
def test_a_transcript_says_who_speaks(name: str) -> None:
    case = TRANSCRIPTS[name]
    times = case.get("times", 1)
    assert names(case["text"] * times) == case.get("speakers", []) * times


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
