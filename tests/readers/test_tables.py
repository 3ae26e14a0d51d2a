"""Tables and JSON records: which field is what, quoting, broken rows and encodings.

Whole files, with all that is said of broken rows, are among the cases of `cases/tables`.
"""

import json
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pytest

from atlas_search.core.domain import Segment
from atlas_search.core.errors import SourceError
from atlas_search.readers import Draft, Read, Skipped
from atlas_search.readers.tables import Columns, CsvReader, JsonlReader, columns_of
from tests.readers.conftest import Reads
from tests.readers.drafts import only_reason
from tests.source_files import workbook


def texts(result: Iterable[Read]) -> list[str]:
    """The text of each record, or why it was skipped."""
    return [item.text if isinstance(item, Draft) else item.reason for item in result]


def columns_for(**options: str) -> Columns:
    defaults = {"text": "", "id_": "", "title": "title", "metadata": "", "rename": ""}
    return columns_of(**(defaults | options))


def lines(*records: object) -> str:
    return "".join(f"{json.dumps(record)}\n" for record in records)


@pytest.mark.parametrize("header", ["text", "body", "content", "speech", "SPEECH", " Text "])
def test_the_text_is_found_by_the_usual_names(reads: Reads, header: str) -> None:
    assert texts(reads(f"n,{header}\n1,words\n", "a.csv")) == ["words"]


def test_several_text_columns_are_joined_by_blank_lines(reads: Reads) -> None:
    table = "question,answer,by\nWhy?,Because.,Ann\n,Only this.,Ben\n"
    assert reads(table, "a.csv", CsvReader(columns_for(text="Question, answer"))) == [
        Draft("Why?\n\nBecause.", key="row-1", metadata={"by": "Ann"}),
        Draft("Only this.", key="row-2", metadata={"by": "Ben"}),
    ]


def test_a_headline_is_the_title_of_a_record_without_one(reads: Reads) -> None:
    table = "Title,Headline,Body\n,Ferry aground,a\nWool,Prices fall,b\n"
    titles = [draft.title for draft in reads(table, "a.csv") if isinstance(draft, Draft)]
    assert titles == ["Ferry aground", "Wool"]


def test_columns_can_be_renamed_named_and_left_out(reads: Reads) -> None:
    table = "no,headline,said,speaker_name,when,debate,junk\n4,Wool,Aye.,Ann,1901,Tariffs,x\n"
    columns = columns_for(
        text="said",
        id_="no",
        title="headline",
        metadata="date,speaker",
        rename="speaker_name=speaker,when=date,debate=section",
    )
    assert reads(table, "a.csv", CsvReader(columns)) == [
        Draft(
            text="Aye.",
            title="Wool",
            key="4",
            metadata={"speaker": "Ann", "date": "1901"},
            segments=(Segment(0, "Tariffs", "Ann"),),
        )
    ]


def test_options_reach_into_objects_of_any_depth(reads: Reads) -> None:
    record = {
        "metadata": {"corpus": "court", "ref": {"no": "A7"}},
        "doc": {"Body": {"plain": "words", "html": "<p>"}, "lang": "en"},
    }
    columns = columns_for(
        text="doc.body.plain",
        id_="metadata.ref.no",
        metadata="metadata.corpus,language",
        rename="doc.lang=language",
    )
    assert reads(lines(record), "a.jsonl", JsonlReader(columns)) == [
        Draft(text="words", key="A7", metadata={"corpus": "court", "language": "en"})
    ]


@pytest.mark.parametrize("rename", ["speaker", "=speaker", "a=b,c="])
def test_a_malformed_rename_is_refused(rename: str) -> None:
    with pytest.raises(SourceError, match="--rename"):
        columns_for(rename=rename)


@pytest.mark.parametrize(
    ("table", "options", "reason"),
    [
        ("text,Text\na,b\n", {}, "several columns are named `text`: rename all but one, in the "
         "file"),
        ("text,when,date\na,1,2\n", {"rename": "when=date"},
         "several columns are named `date`: rename all but one, in the file"),
        ("question,by\nWhy?,Ann\n", {"text": "question,answer"}, "no field `question` or `answer`; "
         "the fields are `question`, `by`: call the one with the text `text`, or name it to `atlas "
         "create files` by `--text-column`"),
        ("\ntext\n", {}, "its first line is empty, but must name the columns"),
        ('"text\n', {}, "its first line does not name the columns: unexpected end of data"),
    ],
)  # fmt: skip
def test_a_table_without_a_usable_header_is_skipped_as_a_whole(
    reads: Reads, table: str, options: dict[str, str], reason: str
) -> None:
    assert only_reason(reads(table, "a.csv", CsvReader(columns_for(**options)))) == reason


WAGES = "name,role,weekly wage\nAda Miller,baker,320\n\nBen Osei,,410\n"


def test_a_table_without_a_column_of_texts_is_one_document_as_a_sheet_is(reads: Reads) -> None:
    (table,) = reads(WAGES, "wages.csv")
    assert table == Draft(
        "name | role | weekly wage\n\n"
        "name: Ada Miller | role: baker | weekly wage: 320\n\n"
        "name: Ben Osei | weekly wage: 410",
        "wages",
        speeches_known=True,
    )
    assert reads(WAGES.replace(",", "\t"), "wages.tsv") == [table]
    (sheet,) = reads(workbook([row.split(",") for row in WAGES.split("\n")]), "wages.xlsx")
    assert isinstance(sheet, Draft)
    assert (sheet.text, sheet.speeches_known) == (table.text, True)
    named = reads(WAGES, "wages.csv", CsvReader(columns_for(text="role", title="name")))
    assert named == [
        Draft("baker", "Ada Miller", "row-1", {"name": "Ada Miller", "weekly_wage": "320"}),
        Draft("Ben Osei", "Ben Osei", "row-2", {"name": "Ben Osei", "weekly_wage": "410"}),
    ]


def test_a_plain_table_with_a_long_value_names_the_option_for_texts(reads: Reads) -> None:
    letter = "I write to you from the harbour. " * 7
    (table,) = reads(f"id,letter\n1,{letter}\n", "letters.csv")
    assert isinstance(table, Draft)
    assert table.remark.startswith("read as one table: no field `text`")
    assert "`id`, `letter`" in table.remark
    assert "`--text-column`" in table.remark


def test_two_columns_have_heads_and_a_broken_row_of_a_plain_table_is_told(reads: Reads) -> None:
    table = 'Dues\nPort,Ships\nOstby,12\nVik,"9"0\nHavn,7,old\n'
    assert texts(reads(table, "a.csv")) == [
        "line 4: not a row: ',' expected after '\"'; double the quotes inside quotes, or pass "
        "`--no-quotes`",
        "Dues\n\nPort | Ships\n\nPort: Ostby | Ships: 12\n\nPort: Havn | Ships: 7 | old",
    ]


def test_a_row_without_the_id_that_was_asked_for_is_remarked(reads: Reads) -> None:
    (draft,) = reads("text\nwords\n", "a.csv", CsvReader(columns_for(id_="no")))
    assert draft == Draft(text="words", key="row-1", remark="it has no `no`")


@pytest.mark.parametrize("delimiter", [",", ";", "\t", "|"])
def test_the_delimiter_is_the_one_that_splits_the_header_most(reads: Reads, delimiter: str) -> None:
    header = delimiter.join(["id", '"the, full; text"', "text"])
    row = delimiter.join(["1", "note", '"a, b; c|d"'])
    assert texts(reads(f"{header}\n{row}\n", "a.csv")) == ["a, b; c|d"]


def test_a_given_delimiter_counts_and_without_quotes_a_quote_is_a_character(reads: Reads) -> None:
    assert texts(reads("a,b,c~text\n1~x\n", "a.csv", CsvReader(delimiter="~"))) == ["x"]
    table = 'id\ttext\n1\t"Open, he said\n2\tnext\n'
    assert texts(reads(table, "a.tsv", CsvReader(quotes=False))) == ['"Open, he said', "next"]


def test_records_are_read_one_by_one(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text("id,text\n1,one\n2,two\n" + '3,"open\n' * 1000)
    rows = CsvReader().read(tmp_path / "a.csv", "")
    assert [next(rows), next(rows)] == [Draft("one", key="1"), Draft("two", key="2")]
    (tmp_path / "a.jsonl").write_text('{"text": "one"}\n' + "broken\n" * 10)
    records = JsonlReader().read(tmp_path / "a.jsonl", "")
    assert next(records) == Draft("one", key="line-1")


def test_a_thousand_records_keep_their_order(reads: Reads) -> None:
    rows = "".join(f'{n},"Text {n}.\nEnd."\n' for n in range(1000))
    records = lines(*({"id": n, "text": f"Text {n}.\u2028End."} for n in range(1000)))
    for result in (reads(f"id,text\n{rows}", "a.csv"), reads(records, "a.jsonl")):
        assert [item.key for item in result] == [str(n) for n in range(1000)]
        assert texts(result)[999].startswith("Text 999.")


def test_the_headings_of_a_record_are_cut(reads: Reads) -> None:
    record = {"text": "a", "section": "ab " * 5_000, "speaker": "c" * 9_000}
    (draft,) = reads(lines(record), "a.jsonl")
    assert isinstance(draft, Draft)
    assert [(len(each.section), len(each.speaker)) for each in draft.segments] == [(1_000, 1_000)]


@pytest.mark.thorough
def test_a_value_of_twenty_megabytes_is_read(reads: Reads) -> None:
    long = "x " * 10_000_000
    assert len(texts(reads(f"id,text\n1,a\0b\n2,{long}\n", "a.csv"))[1]) == 19_999_999
    assert len(texts(reads(lines({"text": long}), "a.jsonl"))[0]) == 19_999_999


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16"])
@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("a.csv", "id,text\n1,Café\n"),
        ("a.jsonl", '{"id": 1, "text": "Café"}'),
        ("a.json", '{"id": 1, "text": "Café"}'),
    ],
)
def test_a_byte_order_mark_states_the_encoding(
    reads: Reads, name: str, content: str, encoding: str
) -> None:
    assert reads(content.encode(encoding), name) == [Draft(text="Café", key="1")]


@pytest.mark.parametrize(
    ("name", "content", "at"),
    [
        ("a.csv", "id,text\n" + "1,ascii only\n" * 5 + "2,Le préfet a été nommé à Paris.\n", 80),
        ("a.jsonl", '{"id": 1, "text": "Le préfet a été nommé à Paris."}', 24),
    ],
)
def test_another_encoding_is_given_and_not_guessed(
    reads: Reads, name: str, content: str, at: int
) -> None:
    raw = content.encode("cp1252")
    assert texts(reads(raw, name, encoding="cp1252"))[-1] == "Le préfet a été nommé à Paris."
    reason = only_reason(reads(raw, name))
    assert reason.startswith(f"not UTF-8 at byte {at}; it looks like cp1252")


@pytest.mark.parametrize(
    ("record", "text"),
    [
        (
            {"content": [{"type": "text", "text": "One."}, {"type": "text", "text": "Two."}]},
            "One.\n\nTwo.",
        ),
        ({"content": [{"type": "image", "url": "a.png"}, {"text": "One."}]}, "One."),
        ({"text": [{"content": ["One.", {"text": "Two."}]}, "Three."]}, "One.\n\nTwo.\n\nThree."),
        ({"text": ["One.", "Two."]}, "One.\n\nTwo."),
        ({"text": ["One.", ["Two."]]}, "One.\n\nTwo."),
        ({"content": {"type": "text", "text": "One."}}, "One."),
        ({"body": {"content": "One.", "format": "plain"}}, "One."),
        ({"text": {"@lang": "en", "#text": "One."}}, "One."),
        ({"speech": [{"speaker": "Roe", "text": "One."}]}, "One."),
        ({"text": [{"start": 0, "text": "One."}, {"start": 2, "text": "Two."}]}, "One.\n\nTwo."),
        ({"content": [{"text": ""}, {"text": "One."}]}, "One."),
        ({"content": [{"type": "text", "text": "A"}, "B", {"content": ["C"]}]}, "A\n\nB\n\nC"),
        ({"content": [{"type": "tool_use", "input": {"q": "x"}}, {"text": "One."}]}, "One."),
        ({"text": [1, 2]}, "1\n\n2"),
    ],
)
def test_the_parts_of_a_text_are_joined(reads: Reads, record: dict[str, Any], text: str) -> None:
    assert texts(reads(lines(record), "a.jsonl")) == [text]


@pytest.mark.parametrize(
    ("record", "reason"),
    [
        ({"title": "A", "text": [{"url": "a.png"}]}, "`text` holds objects without a `text`"),
        ({"title": "A", "text": {"en": "One.", "de": "Eins."}}, "by `--text-column text.en`"),
        ({"content": [{"type": "text", "value": "One."}]}, "`content` holds objects without a"),
        ({"content": [{"text": {"value": "One."}}]}, "`content` holds objects without a `text`"),
        ({"content": [{"children": [{"text": "One."}]}]}, "`content` holds objects without a"),
        ({"content": {"parts": ["One."]}}, "by `--text-column content.parts`"),
        ({"messages": [{"role": "user", "content": "One."}]}, "the fields are `messages`"),
        ({"mapping": {"a": {"message": {"text": "One."}}}}, "the fields are `mapping.a`"),
        ({"content": []}, "it holds no text"),
        ({"content": {}}, "the fields are none"),
        ({"text": [{"en": "One."}]}, "`text` holds objects without a `text`"),
    ],
)
def test_objects_are_no_text(reads: Reads, record: dict[str, Any], reason: str) -> None:
    assert reason in only_reason(reads(lines(record), "a.jsonl"))


RECORDS = [{"id": "a", "text": "One."}, {"id": "b", "text": "Two."}]
LEFT_OUT = "read from the list `{}`; what stands beside it is left out"


@pytest.mark.parametrize(
    ("file", "path"),
    [
        ({"results": RECORDS}, "results"),
        ({"count": 2, "next": None, "results": RECORDS}, "results"),
        ({"title": "Letters", "items": RECORDS}, "items"),
        ({"data": {"items": RECORDS}}, "data.items"),
        ({"a": {"b": {"c": {"d": RECORDS}}}}, "a.b.c.d"),
        ({"data": RECORDS, "included": [{"type": "person", "name": "Roe"}]}, "data"),
        ({"messages": [{**record, "text": {"content": record["text"]}} for record in RECORDS]},
         "messages"),
    ],
)  # fmt: skip
def test_the_one_list_of_records_in_a_file_is_read(
    reads: Reads, file: dict[str, Any], path: str
) -> None:
    one, two = reads(json.dumps(file), "a.json")
    assert isinstance(one, Draft)
    assert isinstance(two, Draft)
    assert [(each.key, each.text) for each in (one, two)] == [("a", "One."), ("b", "Two.")]
    assert (one.remark, two.remark) == (LEFT_OUT.format(path), "")


@pytest.mark.parametrize(
    ("file", "reason"),
    [
        ({"a": RECORDS, "b": RECORDS}, "it holds several lists of records: `a`, `b`; keep one"),
        ({"hits": {"hits": [{"_id": "a", "_source": {"text": "One."}}]}},
         "record 1 of `hits.hits`: no field `text` or `body` or `content` or `speech`; "
         "the fields are `_id`, `_source.text`"),
        ({"results": ["a", "b"]}, "the file: no field `text`"),
        ({"meta": {"title": "A"}, "items": []}, "the file: no field `text`"),
        ({"title": "A", "authors": [{"name": "Roe"}]}, "the file: no field `text`"),
        ({"a": {"b": {"c": {"d": {"e": RECORDS}}}}}, "the file: no field `text`"),
    ],
)  # fmt: skip
def test_a_file_without_one_list_of_records_is_no_list(
    reads: Reads, file: dict[str, Any], reason: str
) -> None:
    assert reason in only_reason(reads(json.dumps(file), "a.json"))


def test_a_record_with_a_list_is_one_record_and_a_named_text_is_found_in_a_list(
    reads: Reads,
) -> None:
    assert texts(reads(json.dumps({"text": "One.", "parts": RECORDS}), "a.json")) == ["One."]
    hits = {"hits": [{"_source": {"message": "One."}}, {"_source": {"message": "Two."}}]}
    reader = JsonlReader(columns_for(text="_source.message"))
    assert texts(reads(json.dumps(hits), "a.json", reader)) == ["One.", "Two."]


def test_what_changes_the_reading_is_among_the_options() -> None:
    options = CsvReader(columns_for(text="a,B c", rename="x=y")).options
    assert (options["version"], options["text_column"], options["rename"]) == (4, "a,b_c", "x=y")
    assert CsvReader(Columns(), ";").options != CsvReader(Columns(), ",").options
    assert CsvReader(quotes=False).options != CsvReader().options
    assert JsonlReader(columns_for(text="a,b")).options != JsonlReader().options


def test_the_standard_library_still_has_its_own_csv() -> None:
    assert sys.modules["csv"].__file__ != sys.modules["atlas_search.readers.tables"].__file__


def test_json_that_python_refuses_is_reported(reads: Reads) -> None:
    deep = '{"text": "x", "a": ' + "[" * 100_000 + "]" * 100_000 + "}\n"
    long = '{"text": "x", "a": ' + "9" * 10_000 + "}\n"
    first, second, last = texts(reads(deep + long + lines({"text": "last"}), "a.jsonl"))
    assert first == "line 1: not read as JSON: it is nested too deeply"
    assert second.startswith("line 2: not read as JSON: Exceeds the limit (4300 digits)")
    assert last == "last"


@pytest.mark.parametrize("depth", range(900, 1000, 7))
def test_any_depth_is_read_or_reported(reads: Reads, depth: int) -> None:
    (result,) = reads('{"text": "x", "a": ' + '{"b":' * depth + "1" + "}" * (depth + 1), "a.jsonl")
    assert isinstance(result, Draft) or "nested too deeply" in result.reason


def test_in_an_array_only_the_mended_record_is_remarked(reads: Reads) -> None:
    mended, fine = reads(r'[{"text": "\uDFFF and \uDBFF"}, {"text": "fine"}]', "a.json")
    assert mended == Draft(
        "\ufffd and \ufffd", key="row-1", remark="lone surrogates replaced by U+FFFD: 2"
    )
    assert fine == Draft("fine", key="row-2")


@pytest.mark.parametrize(
    ("name", "content", "reason"),
    [
        ("a.json", lines({"text": "one"}, {"text": "two"}), "not JSON: Extra data at line 2, "
         "character 1; name it `.jsonl` if each line is a record"),
        ("a.json", '[{"text": "one"},\n', "not JSON: Expecting value at line 2, character 1"),
        ("a.json", "", "not JSON: Expecting value at character 1"),
        ("a.json", "3", "the file: not a JSON object with named fields, but a number"),
        ("a.jsonl", '[{"text": "one"}]\n',
         "it begins with `[`: name it `.json` if it is one array of records"),
    ],
)  # fmt: skip
def test_a_file_of_the_other_kind_is_reported_once(
    reads: Reads, name: str, content: str, reason: str
) -> None:
    assert reads(content, name) == [Skipped(reason)]
