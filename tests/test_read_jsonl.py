"""JSON records: lines and arrays, nested fields, and what is no JSON."""

import json
from collections.abc import Sequence
from pathlib import Path

import pytest

from atlas_search.core.domain import Segment
from atlas_search.readers import Draft, Read, Skipped
from atlas_search.readers.tables import JsonlReader, columns_of


def read(
    folder: Path,
    content: str | bytes,
    reader: JsonlReader | None = None,
    name: str = "a.jsonl",
    encoding: str = "",
) -> list[Read]:
    raw = content.encode() if isinstance(content, str) else content
    (folder / name).write_bytes(raw)
    return list((reader or JsonlReader()).read(folder / name, encoding))


def lines(*records: object) -> str:
    return "".join(f"{json.dumps(record)}\n" for record in records)


def drafts(found: Sequence[Read]) -> list[Draft]:
    return [item for item in found if isinstance(item, Draft)]


def reasons(found: Sequence[Read]) -> list[str]:
    return [item.reason for item in found if isinstance(item, Skipped)]


def metadata(found: Sequence[Read]) -> dict[str, object]:
    (draft,) = drafts(found)
    return dict(draft.metadata)


def columns(**options: str) -> JsonlReader:
    defaults = {"text": "", "id_": "", "title": "title", "metadata": "", "rename": ""}
    return JsonlReader(columns_of(**(defaults | options)))


def test_each_line_is_a_document(tmp_path: Path) -> None:
    found = read(
        tmp_path,
        lines({"id": 7, "title": "On\nsheep", "text": "Wool.\r\nMilk.", "year": 1901, "ok": True})
        + "\n  \n"
        + lines({"_id": "b", "body": "Two."}, {"content": "Three."}),
    )
    assert found == [
        Draft(
            text="Wool.\nMilk.",
            title="On sheep",
            key="7",
            metadata={"title": "On\nsheep", "year": 1901, "ok": True},
        ),
        Draft(text="Two.", key="b"),
        Draft(text="Three.", key="line-5"),
    ]


def test_nested_objects_are_named_with_dots_one_level_deep(tmp_path: Path) -> None:
    record = {
        "text": "words",
        "court": {"Name": "High Court", "seat": {"city": "Leeds", "n": 2}, "none": None},
        "empty": {},
    }
    assert metadata(read(tmp_path, lines(record))) == {
        "court.name": "High Court",
        "court.seat": '{"city": "Leeds", "n": 2}',
    }


def test_the_metadata_object_is_merged_and_yields_to_what_stands_beside_it(
    tmp_path: Path,
) -> None:
    record = {
        "metadata": {"corpus": "court", "year": 1901, "seat": {"city": "Leeds"}},
        "text": "words",
        "year": 1902,
    }
    (draft,) = drafts(read(tmp_path, lines(record)))
    assert dict(draft.metadata) == {"year": 1902, "corpus": "court", "seat.city": "Leeds"}
    assert draft.remark == "a second `year` is left out"


def test_metadata_that_is_a_text_stays_a_field(tmp_path: Path) -> None:
    assert metadata(read(tmp_path, lines({"text": "x", "metadata": "none"}))) == {
        "metadata": "none"
    }


def test_lists_of_values_stay_lists_and_other_lists_become_json(tmp_path: Path) -> None:
    record = {
        "text": "x",
        "tags": ["wool", " milk ", "", None, 7],
        "empty": [],
        "spans": [["43", "69"]],
        "people": [{"name": "Änne"}],
    }
    assert metadata(read(tmp_path, lines(record))) == {
        "tags": ["wool", "milk", "7"],
        "spans": '[["43", "69"]]',
        "people": '[{"name": "Änne"}]',
    }


def test_a_text_may_be_a_list_of_paragraphs_or_a_number(tmp_path: Path) -> None:
    found = read(tmp_path, lines({"text": ["One.", "", "Two."]}, {"text": 1984}))
    assert [draft.text for draft in drafts(found)] == ["One.\n\nTwo.", "1984"]


def test_options_reach_into_objects_of_any_depth(tmp_path: Path) -> None:
    record = {
        "metadata": {"corpus": "court", "ref": {"no": "A7"}},
        "doc": {"Body": {"plain": "words", "html": "<p>"}, "lang": "en"},
    }
    reader = columns(
        text="doc.body.plain",
        id_="metadata.ref.no",
        metadata="metadata.corpus,language",
        rename="doc.lang=language",
    )
    assert read(tmp_path, lines(record), reader) == [
        Draft(text="words", key="A7", metadata={"corpus": "court", "language": "en"})
    ]


def test_a_record_that_is_a_speech_knows_its_speaker(tmp_path: Path) -> None:
    record = {"speech": "Aye.", "speaker_name": "Ann", "debate": "Tariffs", "when": "1901-05"}
    reader = columns(rename="speaker_name=speaker,debate=section,when=date")
    (draft,) = drafts(read(tmp_path, lines(record), reader))
    assert draft.segments == (Segment(0, "Tariffs", "Ann"),)
    assert draft.metadata["date"] == "1901-05"


def test_a_malformed_line_is_reported_and_the_others_are_kept(tmp_path: Path) -> None:
    found = read(
        tmp_path,
        '{"text": "one"}\n{"text": "two"\n["three"]\n"four"\n5\nnull\ntrue\n{"text": "eight"}\n{}x',
    )
    assert found == [
        Draft(text="one", key="line-1"),
        Skipped("line 2: not JSON: Expecting ',' delimiter at character 15", "line-2"),
        Skipped("line 3: not a JSON object with named fields, but an array", "line-3"),
        Skipped("line 4: not a JSON object with named fields, but a text", "line-4"),
        Skipped("line 5: not a JSON object with named fields, but a number", "line-5"),
        Skipped("line 6: not a JSON object with named fields, but null", "line-6"),
        Skipped("line 7: not a JSON object with named fields, but true or false", "line-7"),
        Draft(text="eight", key="line-8"),
        Skipped("line 9: not JSON: Extra data at character 3", "line-9"),
    ]


def test_records_without_text_are_skipped_under_their_id(tmp_path: Path) -> None:
    found = read(
        tmp_path,
        lines({"id": "a", "text": " \n"}, {"id": "b", "text": None}, {"id": "c", "said": "x"}),
    )
    assert found == [
        Skipped("line 1: it holds no text", "a"),
        Skipped("line 2: it holds no text", "b"),
        Skipped(
            "line 3: no field `text` or `body` or `content` or `speech`; the fields are `id`, "
            "`said`: name the text with `--text-column`",
            "c",
        ),
    ]


def test_the_first_of_several_records_with_one_id_counts(tmp_path: Path) -> None:
    found = read(
        tmp_path, "\n\n" + lines(*({"id": id_, "text": f"text {id_}"} for id_ in ("x", 1, "1")))
    )
    assert [draft.key for draft in drafts(found)] == ["x", "1"]
    assert found[-1] == Skipped("line 5: duplicate id '1', first at line 4", "1")


@pytest.mark.parametrize(
    ("written", "text", "remark"),
    [
        (r"a\ud800b", "a\ufffdb", "lone surrogates replaced by U+FFFD: 1"),
        (r"\uDFFF and \uDBFF", "\ufffd and \ufffd", "lone surrogates replaced by U+FFFD: 2"),
        (r"\ud83d\ude00", "😀", ""),
        (r"C:\\ud800", r"C:\ud800", ""),
    ],
)
def test_lone_surrogates_are_replaced_with_a_remark(
    tmp_path: Path, written: str, text: str, remark: str
) -> None:
    assert read(tmp_path, f'{{"text": "{written}"}}') == [
        Draft(text=text, key="line-1", remark=remark)
    ]


def test_lone_surrogates_are_replaced_everywhere_in_a_record(tmp_path: Path) -> None:
    record = r'{"text": "x", "id": "\ud800", "title": "\ud800", "m": {"\ud800": ["\ud800"]}}'
    (draft,) = drafts(read(tmp_path, record))
    draft.key.encode()
    draft.title.encode()
    json.dumps(dict(draft.metadata), ensure_ascii=False).encode()
    assert draft.key == "\ufffd"


def test_in_an_array_only_the_mended_record_is_remarked(tmp_path: Path) -> None:
    found = read(tmp_path, r'[{"text": "\ud800"}, {"text": "fine"}]', name="a.json")
    assert [draft.remark for draft in drafts(found)] == [
        "lone surrogates replaced by U+FFFD: 1",
        "",
    ]


def test_not_a_number_is_no_value(tmp_path: Path) -> None:
    found = read(tmp_path, '{"text": "x", "a": NaN, "b": -Infinity, "c": 1e999}\n{"text": NaN}\n')
    assert metadata(found) == {"b": "-Infinity", "c": float("inf")}
    assert reasons(found) == ["line 2: it holds no text"]


def test_json_that_python_refuses_is_reported(tmp_path: Path) -> None:
    deep = '{"text": "x", "a": ' + "[" * 100_000 + "]" * 100_000 + "}\n"
    long = '{"text": "x", "a": ' + "9" * 10_000 + "}\n"
    found = read(tmp_path, deep + long + lines({"text": "last"}))
    first, second = reasons(found)
    assert first == "line 1: not read as JSON: it is nested too deeply"
    assert second.startswith("line 2: not read as JSON: Exceeds the limit (4300 digits)")
    assert drafts(found) == [Draft(text="last", key="line-3")]


@pytest.mark.parametrize("depth", range(900, 1000, 7))
def test_any_depth_is_read_or_reported(tmp_path: Path, depth: int) -> None:
    (found,) = read(tmp_path, '{"text": "x", "a": ' + '{"b":' * depth + "1" + "}" * (depth + 1))
    assert isinstance(found, Draft) or "nested too deeply" in found.reason


def test_a_line_of_twenty_megabytes_is_read(tmp_path: Path) -> None:
    (draft,) = drafts(read(tmp_path, lines({"text": "word " * 4_000_000})))
    assert len(draft.text) == 19_999_999


def test_a_thousand_records_keep_their_order(tmp_path: Path) -> None:
    content = lines(*({"id": f"r{n}", "text": f"Text {n}.\u2028End."} for n in range(1000)))
    found = read(tmp_path, content)
    assert [draft.key for draft in drafts(found)] == [f"r{n}" for n in range(1000)]
    assert read(tmp_path, content) == found


def test_a_line_separator_inside_a_record_does_not_end_its_line(tmp_path: Path) -> None:
    found = read(tmp_path, '{"text": "one\u2028two\u0085three"}\n')
    assert [draft.text for draft in drafts(found)] == ["one\u2028two\u0085three"]


def test_lines_are_read_one_by_one(tmp_path: Path) -> None:
    (tmp_path / "a.jsonl").write_text('{"text": "one"}\n' + "broken\n" * 10)
    found = JsonlReader().read(tmp_path / "a.jsonl", "")
    assert next(found) == Draft(text="one", key="line-1")
    found.close()


def test_a_json_file_holds_an_array_of_records(tmp_path: Path) -> None:
    records = [{"id": "a", "text": "one"}, {"text": "two"}, "three", {"id": "a", "text": "four"}]
    assert read(tmp_path, json.dumps(records, indent=2), name="a.json") == [
        Draft(text="one", key="a"),
        Draft(text="two", key="row-2"),
        Skipped("record 3: not a JSON object with named fields, but a text", "row-3"),
        Skipped("record 4: duplicate id 'a', first at record 1", "a"),
    ]


def test_a_json_file_holds_one_record(tmp_path: Path) -> None:
    assert read(tmp_path, '{\n "text": "one"\n}', name="a.JSON") == [Draft(text="one")]


@pytest.mark.parametrize(
    ("name", "content", "said"),
    [
        (
            "a.json",
            lines({"text": "one"}, {"text": "two"}),
            "not JSON: Extra data at line 2, character 1; "
            "name it `.jsonl` if each line is a record",
        ),
        ("a.json", '[{"text": "one"},\n', "not JSON: Expecting value at line 2, character 1"),
        ("a.json", "", "not JSON: Expecting value at character 1"),
        ("a.json", "3", "the file: not a JSON object with named fields, but a number"),
        (
            "a.jsonl",
            '[{"text": "one"}]\n',
            "it begins with `[`: name it `.json` if it is one array of records",
        ),
    ],
)
def test_a_file_of_the_other_kind_is_reported_once(
    tmp_path: Path, name: str, content: str, said: str
) -> None:
    assert reasons(read(tmp_path, content, name=name)) == [said]


@pytest.mark.parametrize("name", ["a.jsonl", "a.json"])
@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16"])
def test_a_byte_order_mark_states_the_encoding(tmp_path: Path, name: str, encoding: str) -> None:
    found = read(tmp_path, '{"id": 1, "text": "Café"}'.encode(encoding), name=name)
    assert found == [Draft(text="Café", key="1")]


def test_another_encoding_is_given_and_not_guessed(tmp_path: Path) -> None:
    raw = '{"id": 1, "text": "Le préfet a été nommé."}'.encode("cp1252")
    assert drafts(read(tmp_path, raw, encoding="cp1252"))[0].text == "Le préfet a été nommé."
    assert reasons(read(tmp_path, raw))[0].startswith("not UTF-8 at byte 24; it looks like cp1252")


def test_what_changes_the_reading_is_among_the_options() -> None:
    assert columns(text="a,b").options != JsonlReader().options
    assert JsonlReader().options["version"] == 2


def test_a_record_with_a_title_and_no_text_is_its_title(tmp_path: Path) -> None:
    (found,) = drafts(read(tmp_path, lines({"id": "a", "title": "Privacy Act", "text": " "})))
    assert (found.text, found.title) == ("Privacy Act", "Privacy Act")


def test_headings_and_the_number_of_a_section_say_where_a_record_stands(tmp_path: Path) -> None:
    record = {"text": "No one may.", "part": "Part II", "heading": "Offences"}
    numbered, named = drafts(
        read(tmp_path, lines(record | {"section": "10(1)"}, record | {"section": "Fishing"}))
    )
    assert numbered.segments == (Segment(0, "Part II > Offences", "", "s 10(1)"),)
    assert named.segments == (Segment(0, "Part II > Offences > Fishing"),)
