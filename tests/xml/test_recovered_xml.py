"""XML that is nearly well formed: it is read with a remark, unless a word would be lost."""

import pytest

from atlas_search.readers import Draft
from atlas_search.readers.xml.parse import OUTSIDE
from tests.xml.xml_drafts import reason, speeches

PLAIN = "; no known structure: <a> is read as plain text, "


@pytest.mark.parametrize(
    ("content", "text", "remark"),
    [
        (b"<a>\n<b>one</a>", "one",
         "line 2: it is not well-formed XML: Opening and ending tag mismatch: b line 2 and a; "
         "nothing was lost"),
        (b"<a>one & two</a>", "one & two",
         "line 1: it is not well-formed XML: xmlParseEntityRef: no name; nothing was lost"),
        (b"<a>one < two</a>", "one < two",
         "line 1: it is not well-formed XML: StartTag: invalid element name; nothing was lost"),
        (b"<a>one</b> two</a>", "one two",
         "line 1: it is not well-formed XML: Opening and ending tag mismatch: a line 1 and b; "
         "nothing was lost"),
        (b"<a><p>one <tab n='1'>two <tab>three</p></a>", "one two three",
         "line 1: it is not well-formed XML: Opening and ending tag mismatch: tab line 1 and p "
         "and 1 more places; nothing was lost"),
        (b"<a>one\x0ctwo</a>", "one two",
         "line 1: it is not well-formed XML: PCDATA invalid Char value 12; nothing was lost"),
        (b"1976\n<a>one</a>", "one",
         "line 1: it is not well-formed XML: Start tag expected, '<' not found; "
         "4 characters around it were lost: `1976`"),
        (b"<a n='1' n='2' m=3 'o'>one</a>", "one",
         "line 1: it is not well-formed XML: AttValue: \" or ' expected; attributes of 1 tags "
         "could not be read; nothing was lost"),
        (b"<a><x:b>one</x:b></a>", "one",
         "line 1: it is not well-formed XML: Namespace prefix x on b is not defined; "
         "nothing was lost"),
        (b"<a><!-- no text --><![CDATA[one & <two>]]> & three</a>", "one & <two> & three",
         "line 1: it is not well-formed XML: xmlParseEntityRef: no name; nothing was lost"),
    ],
)  # fmt: skip
def test_nearly_well_formed_xml_is_read_and_the_place_is_told(
    read_bytes, content: bytes, text: str, remark: str
) -> None:
    (draft,) = read_bytes(content)
    assert isinstance(draft, Draft), draft
    assert draft.text == text
    assert draft.remark.startswith(remark + PLAIN)


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        (b"<a>\n<b>one</c> & two", "line 2: it is not well-formed XML: Opening and ending tag "
         "mismatch: b line 2 and c, and it ends in the middle of <a>; get the whole file again"),
        (b"<a>one</a>\n<a>two</a>", "line 2: it is not well-formed XML: Extra content at the end "
         "of the document, and <a> stands after the end of the root; divide the file there"),
        ("<a>one <b\u00b2>two</b\u00b2> three</a>".encode(), "line 1: it is not well-formed XML: "
         "error parsing attribute name: reading on would lose 2 words, the first `two`; "
         "correct it there"),
    ],
)  # fmt: skip
def test_what_would_lose_text_is_refused(read_bytes, content: bytes, expected: str) -> None:
    assert reason(read_bytes(content)) == expected


def test_much_text_outside_all_elements_is_refused(read_bytes) -> None:
    words = "word " * (OUTSIDE // 5)
    assert isinstance(read_bytes(f"{words}<a>one</a>".encode())[0], Draft)
    assert "text stands outside all elements (`word word" in reason(
        read_bytes(f"{words} more<a>one</b></a>".encode())
    )


@pytest.mark.parametrize(
    "entities",
    [
        '<!ENTITY l0 "lol"><!ENTITY l1 "&l0;&l0;">',
        '<!ENTITY x SYSTEM "file:///etc/hostname">',
    ],
)
def test_a_file_that_declares_entities_is_never_recovered(read_bytes, entities: str) -> None:
    xml = f"<!DOCTYPE a [{entities}]><a><b>one</a>"
    assert reason(read_bytes(xml.encode())).endswith("mismatch: b line 1 and a; correct it there")


def test_what_is_too_deep_when_it_is_in_order_is_refused(read_bytes) -> None:
    xml = b"<a>1 & 2" + b"<b>" * 500 + b"one" + b"</b>" * 500 + b"</a>"
    assert "nested more than 256 deep" in reason(read_bytes(xml))


def test_a_day_without_its_first_tag_is_read_as_what_it_is(read_bytes) -> None:
    (draft,) = read_bytes(
        b'/XMLSchema">\n<session.header><date>2010-02-25</date><chamber>SENATE</chamber>'
        b"</session.header><chamber.xscript><debate><debateinfo><title>TAX</title></debateinfo>"
        b"<speech><talk.start><talker><name role='metadata'>Example, Sen Ann</name></talker>"
        b"<para>I rise.</para></talk.start></speech></debate></chamber.xscript></hansard>"
    )
    assert isinstance(draft, Draft)
    assert draft.title == "Senate, 2010-02-25"
    assert speeches(draft)[1][2] == "I rise."
    assert draft.remark.endswith(
        'its first tag, <hansard>, was put in; 12 characters around it were lost: `/XMLSchema">`'
    )


def test_declarations_of_pictures_do_not_hide_the_text(read_bytes) -> None:
    (draft,) = read_bytes(
        b'<!DOCTYPE a PUBLIC "-//x" [\n<!NOTATION tiff PUBLIC "-//y">\n'
        b'<!ENTITY P.1 SYSTEM "p1" NDATA tiff>\n]>\n<a>one & <b>two</b></a>'
    )
    assert isinstance(draft, Draft)
    assert draft.text == "one & two"
    assert "line 5: it is not well-formed XML" in draft.remark
