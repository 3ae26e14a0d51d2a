"""Metadata in the types of the store, and what is counted about a collection's fields."""

import json
from collections.abc import Mapping
from datetime import UTC, date, datetime
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from atlas_search.core.metadata import Metadata
from atlas_search.readers.metadata import MOST_FREQUENT, FieldCounter, typed_metadata
from atlas_search.stores.manifest import Field

PLAIN = (
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats()
    | st.text()
    | st.text(st.characters())
    | st.binary()
    | st.dates()
    | st.datetimes()
)
VALUES = st.recursive(
    PLAIN,
    lambda inner: (
        st.lists(inner)
        | st.lists(inner).map(tuple)
        | st.frozensets(st.text() | st.integers())
        | st.dictionaries(st.text() | st.dates() | st.integers(), inner)
    ),
    max_leaves=8,
)
NAMES = st.sampled_from(["date", "timestamp", "year", "tags", "keywords", "author"]) | st.text()


def field(name: str, value: object) -> object:
    return typed_metadata({name: value})[name]


def statistics(*documents: Metadata, **options: int) -> Mapping[str, Field]:
    counter = FieldCounter(**options)
    counter.add(documents)
    return counter.statistics()


def test_field_names_are_lower_case_without_blanks() -> None:
    raw: Any = {
        " Title ": "a",
        "Date of  Birth": "b",
        "dc:Creator": "c",
        "x-y": "d",
        7: "e",
        " ": "f",
    }
    assert list(typed_metadata(raw)) == ["title", "date_of_birth", "dc:creator", "x-y", "7"]


@pytest.mark.parametrize(
    ("stated", "known"),
    [
        ({"replaced_by": "rules-2024"}, ("superseded_by", "rules-2024")),
        ({"Repealed-By": ["rules-2024", "dogs"]}, ("superseded_by", ("rules-2024", "dogs"))),
        ({"isReplacedBy": "rules-2024"}, ("superseded_by", "rules-2024")),
        ({"superseded-by": "409"}, ("superseded_by", "409")),
        ({"obsoletes": "rules-2019"}, ("supersedes", "rules-2019")),
        ({"superseded_by": "a", "replaced_by": "b"}, ("superseded_by", "a")),
    ],
)
def test_what_took_its_place_has_one_name(
    stated: dict[str, object], known: tuple[str, object]
) -> None:
    name, value = known
    assert typed_metadata(stated)[name] == value
    assert typed_metadata({"title": "Rules"}).keys() == {"title"}


def test_empty_values_are_left_out_and_defaults_fill_them() -> None:
    empty: list[object] = [None, "", " \n", [], (), {}, [None, "", []], "\x00", b""]
    for value in empty:
        assert typed_metadata({"a": value, "tags": value, "date": value}) == {}
    defaults = {"Language": "en", "author": "Anon", "date": date(1954, 5, 17)}
    assert typed_metadata({"author": "Earl Warren", "language": ""}, defaults) == {
        "author": "Earl Warren",
        "language": "en",
        "date": "1954-05-17",
    }


@pytest.mark.parametrize(
    ("raw", "typed"),
    [
        ({"timestamp": "2021-03-05T10:00:00Z"}, "2021-03-05"),
        ({"timestamp": 1614938400}, "2021-03-05"),
        ({"timestamp": 1614938400.25}, "2021-03-05"),
        ({"timestamp": 1614938400123}, "2021-03-05"),
        ({"timestamp": "1614938400"}, "2021-03-05"),
        ({"timestamp": datetime(2021, 3, 5, 10, tzinfo=UTC)}, "2021-03-05"),
        ({"published": "5 March 2021"}, "2021-03-05"),
        ({"published_at": "2021-03-05 10:00"}, "2021-03-05"),
        ({"publishedAt": "2021-03"}, "2021-03"),
        ({"publication_date": "c. 1901"}, "c. 1901"),
        ({"created_at": date(2021, 3, 5)}, "2021-03-05"),
        ({"datetime": "2021-03-05T10:00"}, "2021-03-05"),
        ({"pubDate": "Fri, 05 Mar 2021 10:00:00 +0000"}, "2021-03-05"),
        ({"pub_date": "Fri, 05 Mar 2021 10:00:00 GMT"}, "2021-03-05"),
        ({"sitting_date": "1954-05-17"}, "1954-05-17"),
        ({"date_published": "1954"}, "1954"),
        ({"year": 1954}, "1954"),
        ({"year": 1954.0}, "1954"),
        ({"year": 1954, "published": "2021-03-05"}, "2021-03-05"),
        ({"created_at": "2022-01-01", "timestamp": "yesterday", "year": 1954}, "2022-01-01"),
        ({"date": "1901", "timestamp": 1614938400}, "1901"),
        ({"date": "", "year": 1954}, "1954"),
        ({"date": "undated", "year": 1954}, "undated"),
    ],
)
def test_a_field_that_is_a_date_by_its_name_stands_for_the_date(
    raw: Mapping[str, object], typed: str
) -> None:
    result = typed_metadata(raw, {"date": "1700"})
    assert result["date"] == typed
    assert result.keys() >= {"_".join(name.lower().split()) for name in raw}


@pytest.mark.parametrize(
    "raw",
    [
        {"year": 12},
        {"year": 10**12},
        {"timestamp": "10:00"},
        {"timestamp": 12.5},
        {"timestamp": True},
        {"published": "yes"},
        {"updated": "2021-03-05"},
    ],
)
def test_what_is_no_date_stands_for_none(raw: Mapping[str, object]) -> None:
    assert "date" not in typed_metadata(raw)


@pytest.mark.parametrize(
    ("value", "typed"),
    [
        (120, 120),
        (1.5, 1.5),
        (0, 0),
        (-999_999_999_999_999, -999_999_999_999_999),
        (10**15, "1000000000000000"),
        (float("nan"), "nan"),
        (float("-inf"), "-inf"),
        (True, "true"),
        (False, "false"),
        (date(1954, 5, 17), "1954-05-17"),
        (datetime(1954, 5, 17, 10, tzinfo=UTC), "1954-05-17T10:00:00+00:00"),
        (b"caf\xc3\xa9 \xff", "café \ufffd"),
        ({"b": [1, date(1954, 5, 17)], "a": {"é"}}, '{"b": [1, "1954-05-17"], "a": ["é"]}'),
        ([1, "1", " a ", None, "", True, "a"], ("1", "a", "true")),
        ([["a", "b"], {"c": 1}], ('["a", "b"]', '{"c": 1}')),
        ({"b", "a"}, ("a", "b")),
        ({(1, 2): "b"}, "{(1, 2): 'b'}"),  # which JSON cannot write
        # text is one line that can be written
        ("a\x00b", "a b"),
        ("first\r\nsecond\tthird", "first second third"),
        ("a\u2028b\x85c", "a b c"),
        ("broken \ud800 half", "broken \ufffd half"),
        ("\ud83d\ude00", "\U0001f600"),
        ("half at the end \ud83d", "half at the end \ufffd"),
        ("\ufeffmark", "\ufeffmark"),
        (["a\x00b", "\ud800"], ("a b", "\ufffd")),
    ],
)
def test_values_take_the_types_of_the_store(value: object, typed: object) -> None:
    assert field("a", value) == typed


def test_a_mapping_that_holds_itself_and_a_number_of_thousands_of_digits_are_text() -> None:
    assert field("a", 10**5000) == "1" + "0" * 5000
    itself: dict[str, object] = {}
    itself["itself"] = itself
    assert field("a", itself) == "{'itself': {...}}"


@pytest.mark.parametrize(
    ("value", "typed"),
    [
        (1954, "1954"),
        (1954.0, "1954"),
        (date(1954, 5, 17), "1954-05-17"),
        (datetime(1954, 5, 17, 10), "1954-05-17"),
        (" c. 1954 ", "c. 1954"),
        (["1954"], "1954"),
        (["1954", 1955], "1954; 1955"),
        ({"year": 1954}, '{"year": 1954}'),
    ],
)
def test_the_date_is_always_text(value: object, typed: str) -> None:
    assert field("date", value) == typed


@pytest.mark.parametrize(
    ("value", "typed"),
    [
        ("law, privacy,law", ("law", "privacy")),
        ("Smith, John; Jones, Ann", ("Smith, John", "Jones, Ann")),
        ("law", ("law",)),
        (2020, ("2020",)),
        (["torts, comparative", "law"], ("torts, comparative", "law")),
    ],
)
def test_tags_are_always_a_list(value: object, typed: tuple[str, ...]) -> None:
    assert field("tags", value) == field("keywords", value) == typed
    # the name of an author is never split
    assert field("author", value) == (value if isinstance(value, str | int) else typed)


@pytest.mark.thorough  # it makes nested values for seconds
@given(st.dictionaries(NAMES, VALUES), st.dictionaries(NAMES, VALUES))
@example({"a": "\udc00\ud800"}, {"A": "\x1f"})
def test_typed_metadata_can_be_written_and_is_typed_once_for_all(
    raw: dict[str, object], defaults: dict[str, object]
) -> None:
    typed = typed_metadata(raw, defaults)
    line = json.dumps(typed, ensure_ascii=False, allow_nan=False).encode()
    read = {
        name: tuple(value) if isinstance(value, list) else value
        for name, value in json.loads(line).items()
    }
    assert read == typed
    assert typed_metadata(typed) == typed
    assert typed_metadata(typed, typed) == typed
    assert isinstance(typed.get("date", ""), str)


def test_a_field_is_counted_with_its_most_frequent_values() -> None:
    court = [{"court": f"Court {name}"} for name in ("of Appeals", "of Justice", "of Justice")]
    assert statistics(*court, {}) == {
        "court": Field(
            type="text",
            documents=3,
            values=2,
            capped=False,
            counts={"Court of Justice": 2, "Court of Appeals": 1},
        )
    }
    tags = statistics({"tags": ("law", "torts", "law")}, {"tags": ("law",)}, {"tags": "law"})[
        "tags"
    ]  # a list is counted by its items, once for each document
    assert (tags.type, tags.documents, tags.values) == ("list", 3, 2)
    assert list(tags.counts.items()) == [("law", 3), ("torts", 1)]


def test_equally_frequent_values_are_in_order_of_their_text() -> None:
    values: list[str | int] = ["b", 10, "a", 9, "10"]
    one = statistics(*({"a": value} for value in values))
    other = statistics(*({"a": value} for value in reversed(values)))
    assert one == other
    assert list(one["a"].counts) == list(other["a"].counts) == ["10", "9", "a", "b"]


def test_fields_are_in_order_and_only_the_most_frequent_values_are_listed() -> None:
    result = statistics(*({"b": number % 30, "a": 1} for number in range(61)))
    assert list(result) == ["a", "b"]
    assert result["b"].values == 30
    assert len(result["b"].counts) == MOST_FREQUENT
    assert list(result["b"].counts.items())[:2] == [("0", 3), ("1", 2)]


@pytest.mark.parametrize(
    ("name", "values", "type_"),
    [
        ("date", ["1954-05-17", "c. 1901", "1890s"], "date"),
        ("date", ["1954"] * 9 + ["undated"], "date"),
        ("date", ["1954"] * 8 + ["undated"], "text"),
        ("year", [1954, 1955], "date"),
        ("published_on", ["May 1954"], "date"),
        ("decided", ["1954-05-17", "1954-05-18T10:00:00"], "date"),
        ("decided", ["1954-05-17", "undated"], "text"),
        ("candidate", ["Earl Warren"], "text"),
        ("created_at", [1_700_000_000], "number"),
        ("title", ["1984", "1954"], "text"),
        ("seats", [120, 1200, 1.5], "number"),
        ("seats", [120, "many"], "text"),
        ("date", [("1954", "1955")], "list"),
    ],
)
def test_the_type_of_a_field_follows_from_its_values(
    name: str, values: list[str | int | float], type_: str
) -> None:
    assert statistics(*({name: value} for value in values))[name].type == type_


def test_values_beyond_the_cap_are_not_counted_but_known_ones_are() -> None:
    title = statistics(*({"a": value} for value in "abcabd"), max_values=2)["a"]
    assert title == Field(type="text", documents=6, values=2, capped=True, counts={"a": 2, "b": 2})
    assert not statistics({"a": "a"}, {"a": "b"}, {"a": "a"}, max_values=2)["a"].capped


def test_long_values_are_counted_but_not_listed() -> None:
    texts = ("x" * 1000, "y" * 1000, "x" * 1000, "none")
    abstract = statistics(*({"a": text} for text in texts), max_values=3)["a"]
    assert (abstract.values, abstract.capped, abstract.counts) == (3, False, {"none": 1})


COUNTED = st.one_of(
    st.sampled_from(["1954-05-17", "1954", "soon", "a" * 201, "b" * 201]),
    st.integers(1950, 1953),
    st.lists(st.sampled_from(["a", "b", "c"]), max_size=3).map(tuple),
)
DOCUMENTS = st.lists(st.dictionaries(st.sampled_from(["year", "at", "who"]), COUNTED), max_size=12)


@pytest.mark.thorough
@given(DOCUMENTS, st.integers(1, 4))
def test_documents_count_the_same_one_by_one(documents: list[Metadata], most: int) -> None:
    single = FieldCounter(most)
    for metadata in documents:
        single.add([metadata])
    assert single.statistics() == statistics(*documents, max_values=most)
