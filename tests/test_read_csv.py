"""Tables: which column is what, quoting, broken rows and encodings."""

import sys
from collections.abc import Sequence
from pathlib import Path

import pytest

from atlas_search.core.domain import Segment
from atlas_search.core.errors import SourceError
from atlas_search.readers import Draft, Read, Skipped
from atlas_search.readers.tables import Columns, CsvReader, columns_of


def read(
    folder: Path,
    content: str | bytes,
    reader: CsvReader | None = None,
    name: str = "a.csv",
    encoding: str = "",
) -> list[Read]:
    raw = content.encode() if isinstance(content, str) else content
    (folder / name).write_bytes(raw)
    return list((reader or CsvReader()).read(folder / name, encoding))


def texts(found: Sequence[Read]) -> list[str]:
    return [item.text if isinstance(item, Draft) else item.reason for item in found]


def columns(**options: str) -> CsvReader:
    defaults = {"text": "", "id_": "", "title": "title", "metadata": "", "rename": ""}
    return CsvReader(columns_of(**(defaults | options)))


def test_a_row_is_a_document_and_its_other_columns_are_metadata(tmp_path: Path) -> None:
    table = (
        "ID,Title,Text,Date,House of Parliament,empty\n7,On sheep,Sheep give wool.,1901-05-02,C,\n"
    )
    assert read(tmp_path, table) == [
        Draft(
            text="Sheep give wool.",
            title="On sheep",
            key="7",
            metadata={"title": "On sheep", "date": "1901-05-02", "house_of_parliament": "C"},
        )
    ]


def test_a_row_without_an_id_is_named_by_its_number(tmp_path: Path) -> None:
    found = read(tmp_path, "id,text\n,one\n\n\nb,two\n,three\n")
    assert [item.key for item in found] == ["row-1", "b", "row-3"]


@pytest.mark.parametrize("header", ["text", "body", "content", "speech", "SPEECH", " Text "])
def test_the_text_is_found_by_the_usual_names(tmp_path: Path, header: str) -> None:
    assert texts(read(tmp_path, f"n,{header}\n1,words\n")) == ["words"]


def test_of_the_usual_names_the_first_is_the_text_even_where_it_is_empty(tmp_path: Path) -> None:
    found = read(tmp_path, "content,text\nabout,words\nabout,\n")
    assert texts(found) == ["words", "line 3: it holds no text"]
    assert isinstance(found[0], Draft)
    assert dict(found[0].metadata) == {"content": "about"}


def test_several_text_columns_are_joined_by_blank_lines(tmp_path: Path) -> None:
    table = "question,answer,by\nWhy?,Because.,Ann\n,Only this.,Ben\n"
    found = read(tmp_path, table, columns(text="Question, answer"))
    assert texts(found) == ["Why?\n\nBecause.", "Only this."]
    assert [dict(item.metadata) for item in found if isinstance(item, Draft)] == [
        {"by": "Ann"},
        {"by": "Ben"},
    ]


def test_columns_can_be_renamed_named_and_left_out(tmp_path: Path) -> None:
    table = "no,headline,said,speaker_name,when,debate,junk\n4,Wool,Aye.,Ann,1901,Tariffs,x\n"
    reader = columns(
        text="said",
        id_="no",
        title="headline",
        metadata="date,speaker",
        rename="speaker_name=speaker,when=date,debate=section",
    )
    assert read(tmp_path, table, reader) == [
        Draft(
            text="Aye.",
            title="Wool",
            key="4",
            metadata={"speaker": "Ann", "date": "1901"},
            segments=(Segment(0, "Tariffs", "Ann"),),
        )
    ]


def test_a_speech_knows_its_speaker_and_section(tmp_path: Path) -> None:
    found = read(tmp_path, "text,speaker,section\nAye.,Ann,\nNo.,,Tariffs\nWell.,,\n")
    assert [item.segments for item in found if isinstance(item, Draft)] == [
        (Segment(0, "", "Ann"),),
        (Segment(0, "Tariffs", ""),),
        (),
    ]


def test_a_record_begins_on_the_page_it_names(tmp_path: Path) -> None:
    found = read(tmp_path, "text,page\nOne.,3\nTwo.\fThree.,2\nFour.,xii\nFive.,9999999\nSix.,0\n")
    assert [item.pages for item in found if isinstance(item, Draft)] == [
        (0, 0, 0),
        (0, 0, 5),
        (0,),
        (0,),
        (0,),
    ]


@pytest.mark.parametrize("rename", ["speaker", "=speaker", "a=b,c="])
def test_a_malformed_rename_is_refused(rename: str) -> None:
    with pytest.raises(SourceError, match="--rename"):
        columns(rename=rename)


@pytest.mark.parametrize(
    ("table", "said"),
    [
        (
            "no,said\n1,Aye.\n",
            "no field `text` or `body` or `content` or `speech`; the fields are `no`, `said`: "
            "name the text with `--text-column`",
        ),
        ("text,Text\na,b\n", "several columns are named `text`: rename all but one, in the file"),
        ("", "its first line is empty, but must name the columns"),
        ("\ntext\n", "its first line is empty, but must name the columns"),
        ('"text\n', "its first line does not name the columns: unexpected end of data"),
    ],
)
def test_a_table_without_a_usable_header_is_skipped_as_a_whole(
    tmp_path: Path, table: str, said: str
) -> None:
    assert read(tmp_path, table) == [Skipped(said)]


def test_every_named_text_column_must_be_there(tmp_path: Path) -> None:
    (skipped,) = read(tmp_path, "question,by\nWhy?,Ann\n", columns(text="question,answer"))
    assert isinstance(skipped, Skipped)
    assert skipped.reason.startswith("no field `question` or `answer`")


def test_two_columns_renamed_alike_are_refused(tmp_path: Path) -> None:
    found = read(tmp_path, "text,when,date\na,1,2\n", columns(rename="when=date"))
    assert texts(found) == ["several columns are named `date`: rename all but one, in the file"]


def test_a_row_without_the_id_that_was_asked_for_is_remarked(tmp_path: Path) -> None:
    (draft,) = read(tmp_path, "text\nwords\n", columns(id_="no"))
    assert draft == Draft(text="words", key="row-1", remark="it has no `no`")


@pytest.mark.parametrize("delimiter", [",", ";", "\t", "|"])
def test_the_delimiter_is_the_one_that_splits_the_header_most(
    tmp_path: Path, delimiter: str
) -> None:
    header = delimiter.join(["id", '"the, full; text"', "text"])
    row = delimiter.join(["1", "note", '"a, b; c|d"'])
    assert texts(read(tmp_path, f"{header}\n{row}\n")) == ["a, b; c|d"]


def test_a_tsv_file_has_tabs_and_a_given_delimiter_counts(tmp_path: Path) -> None:
    assert texts(read(tmp_path, "a,b\ttext\n1\tx\n", name="a.tsv")) == ["x"]
    assert texts(read(tmp_path, "a,b,c~text\n1~x\n", CsvReader(delimiter="~"))) == ["x"]


def test_quoted_values_hold_delimiters_quotes_and_line_ends(tmp_path: Path) -> None:
    table = 'id,text\r\n1,"He said ""No"",\r\nthen left."\r\n2,next\r\n'
    assert texts(read(tmp_path, table)) == ['He said "No",\nthen left.', "next"]


def test_without_quotes_a_quote_is_a_character(tmp_path: Path) -> None:
    table = 'id\ttext\n1\t"Open, he said\n2\tnext\n'
    found = read(tmp_path, table, CsvReader(quotes=False), name="a.tsv")
    assert texts(found) == ['"Open, he said', "next"]


def test_broken_rows_are_reported_with_their_line_and_the_others_kept(tmp_path: Path) -> None:
    table = 'id,text\n1,"two\nlines"\n2\n3,a,b\n4,"x"y\n5,good\n6,"never closed\n7,lost\n'
    assert read(tmp_path, table) == [
        Draft(text="two\nlines", key="1"),
        Skipped("line 4: 1 values, but the header names 2 columns", "row-2"),
        Skipped("line 5: 3 values, but the header names 2 columns", "row-3"),
        Skipped(
            "line 6: not a row: ',' expected after '\"'; double the quotes inside quotes, "
            "or pass `--no-quotes`",
            "row-4",
        ),
        Draft(text="good", key="5"),
        Skipped(
            "line 8: a quote opens here and never closes, so the rest of the file is not read; "
            "close it, or pass `--no-quotes` if quotes are part of the text",
            "row-6",
        ),
    ]


def test_the_first_of_several_rows_with_one_id_counts(tmp_path: Path) -> None:
    found = read(tmp_path, "id,text\nx,\nx,one\ny,two\nx,three\n")
    assert found == [
        Skipped("line 2: it holds no text", "x"),
        Draft(text="one", key="x"),
        Draft(text="two", key="y"),
        Skipped("line 5: duplicate id 'x', first at line 3", "x"),
    ]


def test_a_thousand_rows_keep_their_order(tmp_path: Path) -> None:
    rows = "".join(f'{n},"Speech {n},\nsecond line"\n' for n in range(1000))
    found = read(tmp_path, f"id,text\n{rows}")
    assert [item.key for item in found] == [str(n) for n in range(1000)]
    assert texts(found)[999] == "Speech 999,\nsecond line"
    assert read(tmp_path, f"id,text\n{rows}") == found


def test_a_table_is_read_row_by_row(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text("id,text\n1,one\n2,two\n" + '3,"open\n' * 1000)
    found = CsvReader().read(tmp_path / "a.csv", "")
    assert next(found) == Draft(text="one", key="1")
    assert next(found) == Draft(text="two", key="2")
    found.close()


def test_nul_bytes_and_a_value_of_twenty_megabytes_are_read(tmp_path: Path) -> None:
    found = read(tmp_path, "id,text\n1,a\0b\n2," + "x " * 10_000_000 + "\n")
    assert texts(found)[0] == "a\0b"
    assert len(texts(found)[1]) == 19_999_999


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16"])
def test_a_byte_order_mark_is_no_part_of_the_first_name(tmp_path: Path, encoding: str) -> None:
    found = read(tmp_path, "id,text\n1,Café\n".encode(encoding))
    assert found == [Draft(text="Café", key="1")]


def test_the_encoding_of_a_table_is_given_and_not_guessed(tmp_path: Path) -> None:
    table = "id,text\n" + "1,ascii only\n" * 5 + "2,Le préfet a été nommé à l’assemblée.\n"
    raw = table.encode("cp1252")
    assert texts(read(tmp_path, raw, encoding="cp1252"))[-1].startswith("Le préfet a été")
    (skipped,) = read(tmp_path, raw)
    assert isinstance(skipped, Skipped)
    assert skipped.reason.startswith("not UTF-8 at byte 80; it looks like cp1252")


def test_what_changes_the_reading_is_among_the_options() -> None:
    options = columns(text="a,B c", rename="x=y").options
    assert options["version"] == 2
    assert options["text_column"] == "a,b_c"
    assert options["rename"] == "x=y"
    assert CsvReader(Columns(), ";").options != CsvReader(Columns(), ",").options
    assert CsvReader(quotes=False).options != CsvReader().options


def test_the_standard_library_still_has_its_own_csv() -> None:
    assert sys.modules["csv"].__file__ != sys.modules["atlas_search.readers.tables"].__file__
