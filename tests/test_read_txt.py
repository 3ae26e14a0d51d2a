"""Text and Markdown files: encodings, pages, front matter and sections."""

from datetime import date
from pathlib import Path

import pytest

from atlas_search.core.domain import Segment
from atlas_search.readers import Draft, Skipped
from atlas_search.readers.text import TxtReader

LETTER = "Le préfet a été nommé à l’assemblée. Le maire l’a reçu le même soir.\n"


def read(folder: Path, content: str | bytes, name: str = "a.txt", encoding: str = "") -> Draft:
    draft = _read(folder, content, name, encoding)
    assert isinstance(draft, Draft), draft
    return draft


def reason(folder: Path, content: str | bytes, name: str = "a.txt", encoding: str = "") -> str:
    skipped = _read(folder, content, name, encoding)
    assert isinstance(skipped, Skipped), skipped
    return skipped.reason


def _read(folder: Path, content: str | bytes, name: str, encoding: str) -> Draft | Skipped:
    raw = content.encode() if isinstance(content, str) else content
    (folder / name).write_bytes(raw)
    (only,) = TxtReader().read(folder / name, encoding)
    return only


def test_a_text_is_kept_as_it_is_without_blank_lines_around_it(tmp_path: Path) -> None:
    draft = read(tmp_path, "\n\n  First line.\n\n\n  Second \n\n")
    assert draft == Draft(text="First line.\n\n\n  Second")


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
def test_every_kind_of_line_end_becomes_a_line_feed(tmp_path: Path, end: str) -> None:
    draft = read(tmp_path, f"---{end}title: A{end}---{end}One{end}{end}Two{end}", "a.md")
    assert (draft.text, draft.title) == ("One\n\nTwo", "A")


def test_a_form_feed_starts_a_page_and_stays_in_the_text(tmp_path: Path) -> None:
    draft = read(tmp_path, "One.\fTwo.\n\f\fFour.")
    assert draft.text == "One.\fTwo.\n\f\fFour."
    assert draft.pages == (0, 5, 11, 12)
    assert [draft.text[start:][:4] for start in draft.pages] == ["One.", "Two.", "\fFou", "Four"]


def test_front_matter_is_metadata_under_plain_names(tmp_path: Path) -> None:
    front = (
        "---\ntitle:  On   sheep\nDate: 1901-05-02\nyear: 1901\nPlace of Writing: Leeds\n"
        "tags: [sheep, 7]\nempty:\narchive: {box: 3, shelf: {row: 2}}\n---\n\nSheep give wool."
    )
    draft = read(tmp_path, front)
    assert draft.title == "On sheep"
    assert draft.text == "Sheep give wool."
    assert dict(draft.metadata) == {
        "title": "On   sheep",
        "date": date(1901, 5, 2),
        "year": 1901,
        "place_of_writing": "Leeds",
        "tags": ["sheep", "7"],
        "archive.box": 3,
        "archive.shelf": '{"row": 2}',
    }


def test_a_rule_of_many_dashes_is_no_front_matter(tmp_path: Path) -> None:
    text = "-----\nMINUTES\n-----\nThe chair opened."
    assert read(tmp_path, text).text == text


@pytest.mark.parametrize(
    ("front", "said"),
    [
        ("---\ntitle: [\n---\ntext", "valid YAML: while parsing"),
        ("---\ndate: 2023-02-30\n---\ntext", "valid YAML: day is out of range for month"),
        ("---\nno: end\ntext", "valid YAML: no line `---` ends it"),
        ("---\nprose\n---\ntext", "valid YAML: it is not a list of `key: value` lines"),
        ("---\nx: !!int ''\n---\ntext", "valid YAML: "),
        ("---\nx: !!timestamp soon\n---\ntext", "valid YAML: "),
        ("---\nx: !!bool perhaps\n---\ntext", "valid YAML: "),
        (f"---\na: {'[' * 3000}{']' * 3000}\n---\ntext", "nested too deeply"),
        ("---\na: &a [*a]\n---\ntext", "more than 10000 values"),
    ],
)
def test_front_matter_that_cannot_be_read_is_reported(
    tmp_path: Path, front: str, said: str
) -> None:
    assert said in reason(tmp_path, front)


def test_a_few_aliases_that_stand_for_a_billion_values_are_refused(tmp_path: Path) -> None:
    lines = ["a0: &a0 [x]", *(f"a{n}: &a{n} [{f'*a{n - 1}, ' * 9}]" for n in range(1, 10))]
    front = "\n".join(["---", *lines, "---", "text"])
    assert "more than 10000 values" in reason(tmp_path, front)


@pytest.mark.parametrize("content", ["", " \n\t\n", "\f\f", "---\ntitle: A\n---\n \n"])
def test_a_file_without_text_is_skipped(tmp_path: Path, content: str) -> None:
    assert reason(tmp_path, content) == "it holds no text"


@pytest.mark.parametrize(
    ("mark", "encoding"),
    [
        (b"", "utf-8"),
        (b"\xef\xbb\xbf", "utf-8"),
        (b"\xff\xfe", "utf-16-le"),
        (b"\xfe\xff", "utf-16-be"),
        (b"\xff\xfe\x00\x00", "utf-32-le"),
        (b"\x00\x00\xfe\xff", "utf-32-be"),
    ],
)
def test_a_byte_order_mark_states_the_encoding(tmp_path: Path, mark: bytes, encoding: str) -> None:
    content = mark + LETTER.encode(encoding)
    assert read(tmp_path, content).text == LETTER.strip()
    if mark:
        assert read(tmp_path, content, encoding="cp1252").text == LETTER.strip()


def test_the_given_encoding_is_used(tmp_path: Path) -> None:
    assert read(tmp_path, LETTER.encode("cp1252"), encoding="cp1252").text == LETTER.strip()
    assert read(tmp_path, "歴史".encode("euc_jp"), encoding="euc_jp").text == "歴史"


@pytest.mark.parametrize("before", [0, 1, 100_000, 1 << 20])
def test_another_encoding_is_named_but_never_used(tmp_path: Path, before: int) -> None:
    content = b"x" * before + LETTER.encode("cp1252")
    assert reason(tmp_path, content) == (
        f"not UTF-8 at byte {before + 5}; it looks like cp1252 (charset-normalizer's best guess): "
        "pass `--encoding cp1252` if that is right, or convert it to UTF-8"
    )


def test_a_character_may_lie_across_two_blocks(tmp_path: Path) -> None:
    content = b"x" * ((1 << 20) - 1) + "é".encode() + b"\xff"
    assert reason(tmp_path, content).startswith(f"not UTF-8 at byte {(1 << 20) + 1}")


def test_one_damaged_byte_in_utf_8_is_called_damage(tmp_path: Path) -> None:
    content = LETTER.encode() + b"\xff" + LETTER.encode()
    assert reason(tmp_path, content) == (
        f"not UTF-8 at byte {len(LETTER.encode())}, though the text around it is: "
        "the file is damaged there; mend it"
    )


@pytest.mark.parametrize(
    ("content", "encoding", "said"),
    [
        ("日本の歴史は長い。", "cp1252", "not cp1252 at byte 7; it looks like UTF-8: pass no"),
        ("text", "klingon", "there is no encoding `klingon`"),
        ("text", "hex", "there is no encoding `hex`"),
        (b"\xff\xfea\x00b", "", "not UTF-16-LE at byte 4"),
    ],
)
def test_a_wrong_encoding_is_reported(
    tmp_path: Path, content: str | bytes, encoding: str, said: str
) -> None:
    assert reason(tmp_path, content, encoding=encoding).startswith(said)


@pytest.mark.parametrize(
    ("text", "encoding"),
    [
        ("El señor Núñez llegó mañana a la ciudad.", "cp1252"),
        ("Příliš žluťoučký kůň úpěl ďábelské ódy.", "cp1250"),
        ("Россия была великой страной и её история.", "koi8_r"),
        ("日本の歴史は長い。江戸時代に", "cp932"),
    ],
)
def test_the_encoding_to_try_is_the_likely_one(tmp_path: Path, text: str, encoding: str) -> None:
    assert f"`--encoding {encoding}`" in reason(tmp_path, text.encode(encoding))


@pytest.mark.parametrize("encoding", ["utf-16-le", "utf-16-be"])
def test_utf_16_without_a_mark_is_not_read_as_utf_8(tmp_path: Path, encoding: str) -> None:
    content = "Plain English.".encode(encoding)
    assert f"--encoding {encoding}" in reason(tmp_path, content)
    assert read(tmp_path, content, encoding=encoding).text == "Plain English."


def test_headings_of_markdown_become_the_sections_they_open(tmp_path: Path) -> None:
    text = (
        "Preface.\n\n# Part 1 #\n\nText.\n\n   ### Right  to silence\nMore.\n\n## Appeals\n"
        "\f# Part 2\n\nEnd."
    )
    draft = read(tmp_path, text, "a.md")
    assert draft.segments == (
        Segment(text.index("# Part 1"), "Part 1"),
        Segment(text.index("   ### Right"), "Part 1 > Right to silence"),
        Segment(text.index("## Appeals"), "Part 1 > Appeals"),
        Segment(text.index("# Part 2"), "Part 2"),
    )
    assert draft.pages == (0, text.index("# Part 2"))


def test_what_only_looks_like_a_heading_opens_no_section(tmp_path: Path) -> None:
    text = (
        "```sh\n# a comment\n```\n\n~~~\n# another\n```\n# still code\n~~~\n\n    # indented\n\n"
        "> # quoted\n\n#hashtag\n\n####### seven\n\nA line\n---\n\n# Real"
    )
    draft = read(tmp_path, text, "a.markdown")
    assert draft.segments == (Segment(text.index("# Real"), "Real"),)


def test_a_heading_may_lack_its_blank(tmp_path: Path) -> None:
    text = "##Treaty on boats\n\nPreface.\n\n###Article  1\n\nBoats."
    assert read(tmp_path, text, "a.md").segments == (
        Segment(0, "Treaty on boats"),
        Segment(text.index("###A"), "Treaty on boats > Article 1"),
    )


def test_lines_in_bold_are_headings_where_there_is_no_other(tmp_path: Path) -> None:
    text = (
        "**Of boats**\n\n**Findings**\n\nThey float.\n\n__What are   nets?__\n\n**They sink.**\n\n"
        "**Ann Hay:**\n\n**Harbours**\nand quays\n\n- **Ropes**\n\n**Depth**\n- 4 m\n\n**Note**\n\n"
        "One.\n\n**Note**\n\nTwo.\n\n**Conclusions**\n\nNone.\n\n**End**"
    )
    assert read(tmp_path, text, "a.md").segments == (
        Segment(0, "Of boats"),
        Segment(text.index("**Findings"), "Findings"),
        Segment(text.index("__What"), "What are nets?"),
        Segment(text.index("**Conclusions"), "Conclusions"),
        Segment(text.index("**End"), "End"),
    )
    assert read(tmp_path, f"# Boats\n\n{text}", "a.md").segments == (Segment(0, "Boats"),)
    assert read(tmp_path, text).segments == ()


@pytest.mark.parametrize(
    "text",
    [
        "**Harbour Office**\n\n**Report**\n\n**Northport**\n\n**May**\n\nBoats float.",
        "**Title**\n\nBoats float.\n\n**Beware of the boats**\n\nNets sink.",
        "**Ann Hay**\n\nI rise.\n\n**Bo Lee**\n\nNo.\n\n**Cal Roe**\n\nI.\n\n**Dee Orr**\n\nI.\n\n"
        + "**Eve Day**\n\nI.\n\n**Flo Fry**\n\nNo.\n\n" * 3,
        "**Boats float.**\n\nNets sink.\n\n" * 4,
        "".join(f"**“{what} float.”**\n\nSo it is.\n\n" for what in ("Boats", "Nets", "Ropes")),
        "**注意：**\n\n小心。\n\n**船会浮。**\n\n是的。\n\n**网会沉！**\n\n不是。\n\n",
        "**1**\n\nOne.\n\n**2**\n\nTwo.\n\n**3**\n\nThree.\n\n",
    ],
)
def test_what_is_only_in_bold_is_no_heading(tmp_path: Path, text: str) -> None:
    assert read(tmp_path, text, "a.md").segments == ()


@pytest.mark.parametrize(
    ("text", "title"),
    [
        ("## Contents\n\n- Boats\n\n# Of boats\n\nBoats float on the harbour.", "Of boats"),
        ("---\ntitle: tmp8a2f.tmp\n---\n# Of boats\n\nThey float.", "Of boats"),
        ("---\ntitle: Boats\n---\n# Of boats\n\nThey float.", "Boats"),
        ("## Of boats\n\nThey float.", ""),
        ("# Boats\n\nThey float.\n\n# Nets\n\nThey sink.", ""),
        ("They float on the harbour.\n\n# Notes\n\nNone.", ""),
        ("```\n# a comment\n```\n\nThey float.", ""),
    ],
)
def test_a_title_is_the_only_heading_of_the_first_level(
    tmp_path: Path, text: str, title: str
) -> None:
    assert read(tmp_path, text, "a.md").title == title
    assert read(tmp_path, text).title == (title if title == "Boats" else "")


def test_what_a_comment_hides_in_markdown_is_not_read(tmp_path: Path) -> None:
    text = (
        "# Boats\n\nOne <!-- two\n--> three, `<!-- four -->`.\n\n```\n<!-- five -->\n```\n\n"
        "<!-- # Six -->\n\nSeven <!-- eight"
    )
    draft = read(tmp_path, text, "a.md")
    hidden = text.replace("<!-- two\n-->", "\n").replace("<!-- # Six -->", "")
    assert (draft.text, draft.segments) == (hidden, (Segment(0, "Boats"),))
    assert read(tmp_path, text).text == text
    assert reason(tmp_path, "<!-- nothing -->\n", "b.md") == "it holds no text"


def test_a_plain_text_has_no_headings(tmp_path: Path) -> None:
    assert read(tmp_path, "# 12 Main Street\n\nText.").segments == ()


def test_sections_are_found_after_the_front_matter(tmp_path: Path) -> None:
    draft = read(tmp_path, "---\ntitle: A\n---\n\n# One\n\nText.", "a.md")
    assert draft.segments == (Segment(0, "One"),)
    assert draft.text.startswith("# One")


@pytest.mark.parametrize("name", ["a.txt", "a.md"])
def test_a_line_of_twenty_megabytes_is_read(tmp_path: Path, name: str) -> None:
    assert len(read(tmp_path, "word " * 4_000_000, name).text) == 19_999_999


def test_numbers_of_lines_are_no_text_but_markdown_keeps_its_own(tmp_path: Path) -> None:
    rows = [f"{at if at % 5 == 0 else '':<3} and the boats were kept" for at in range(1, 17)]
    text = "\n".join(["    It was so", *rows[1:]])
    assert "5" not in read(tmp_path, text).text
    assert "5" in read(tmp_path, text, "a.md").text


def test_a_missing_file_is_left_to_the_build(tmp_path: Path) -> None:
    with pytest.raises(OSError, match="nowhere"):
        next(TxtReader().read(tmp_path / "nowhere.txt", ""))


def test_heads_and_feet_that_run_on_leave_blank_lines(tmp_path: Path) -> None:
    bodies = ("Ships came.", "Ships went.", "Nobody wrote.")
    sheets = [
        f"Note 12      Of harbours\n\n{body}\n\nSmith          [Page {number}]\n"
        for number, body in enumerate(bodies, start=1)
    ]
    draft = read(tmp_path, "\f".join(sheets))
    assert draft.text.split("\f") == [
        "Note 12      Of harbours\n\nShips came.\n\nSmith          [Page 1]\n",
        "\n\nShips went.\n\n\n",
        "\n\nNobody wrote.",
    ]
    assert [draft.text[start - 1] for start in draft.pages[1:]] == ["\f", "\f"]


def test_articles_of_a_statute_in_plain_text_are_sections(tmp_path: Path) -> None:
    text = (
        "HARBOUR ACT\n\nArticle 1 Boats\n\nArticle 2 Nets\n\nCHAPTER I\n\n"
        "Article 1 Boats\n\nThey float.\n\nArticle 7 does not apply.\n\n"
        "Article 2 Nets of a harbour\n1. They sink,\nas in\nArticle 1 Boats\n\n"
        "Article 2a\n\nThey rot.\n\nArticle 3(1)\n\nIt is so.\n\n"
        "Article 4 - Ropes\n\nThey tie.\n\nArticle 5 Ropes of a harbour\nand rot are burnt.\n\n"
        "Article 6\n\nThey go.\n\nAnnex\n\nA list."
    )
    segments = read(tmp_path, text).segments
    assert [(each.section, text[each.start :].split()[:2]) for each in segments] == [
        ("Article 1 Boats", ["Article", "1"]),
        ("Article 2 Nets of a harbour", ["Article", "2"]),
        ("", ["Article", "2a"]),
        ("", ["Article", "4"]),
        ("Article 6", ["Article", "6"]),
        ("", ["A", "list."]),
    ]


@pytest.mark.parametrize(
    "numbers",
    [
        ["1", "2", "2A", "2B", "3"],
        ["1er", "2", "2-1", "2-2", "3"],
        ["1", "2", "2 bis", "2 TER", "3"],
        ["998", "999", "1000", "1001"],
    ],
)
def test_an_article_ends_where_the_next_begins_however_it_is_numbered(
    tmp_path: Path, numbers: list[str]
) -> None:
    text = "".join(f"Article {number}\n\nIt is so.\n\n" for number in numbers)
    segments = read(tmp_path, text).segments
    assert [each.section for each in segments] == [f"Article {number}" for number in numbers]


@pytest.mark.parametrize("end", ["EXHIBIT A", "Attachment 1", "ANNEXE", "TITRE II", "Chapitre 2"])
def test_what_stands_behind_an_article_is_not_of_it(tmp_path: Path, end: str) -> None:
    text = "".join(f"Article {number}\n\nIt is so.\n\n" for number in range(1, 4))
    assert read(tmp_path, f"{text}{end}\n\nA list.").segments[-1] == Segment(
        len(f"{text}{end}"), ""
    )


def test_the_sections_of_an_article_are_of_it(tmp_path: Path) -> None:
    article = "ARTICLE {0} BOATS\n\nSection {0}.1 Quays\n\nThey float.\n\n"
    segments = read(tmp_path, "".join(map(article.format, range(1, 4)))).segments
    assert [each.section for each in segments] == [f"ARTICLE {n} BOATS" for n in range(1, 4)]


def test_the_last_article_is_no_section_where_more_stands_behind_it(tmp_path: Path) -> None:
    text = "".join(f"Article {number}\nBoats\n\n" for number in range(1, 5))
    segments = read(tmp_path, text + "They float.\n\n" * 9).segments
    assert [each.section for each in segments] == ["Article 1", "Article 2", "Article 3", ""]


@pytest.mark.parametrize(
    "text",
    [
        "Article 1 Boats\n\nArticle 2 Nets\n\nArticle 3 Ropes\n\nThey are in the act.",
        "Article 1\n\nOne.\n\nArticle 2\n\nTwo.\n\nArticle 3\n\nOld:\n\n"
        "Article 1\n\nA.\n\nArticle 2\n\nB.",
        "Article 1\n\nOne.\n\nArticle 2\n\nTwo.",
        "Article 1. Boats float.\n\nArticle 2. Nets sink.\n\nArticle 3. Ropes tie.\n\n",
        "As in\nArticle 1\nand in\nArticle 2\nand in\nArticle 3\nit is so.",
    ],
)
def test_what_may_be_no_article_is_no_section(tmp_path: Path, text: str) -> None:
    assert read(tmp_path, text).segments == ()
