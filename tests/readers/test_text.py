"""Text and Markdown files: encodings, front matter, sections and articles.

Whole files are among the cases of `cases/txt`.
"""

import pytest

from atlas_search.core.domain import Segment
from atlas_search.readers import Draft
from tests.readers.conftest import Reads
from tests.readers.drafts import only_reason

LETTER = "Le préfet a été nommé à l’assemblée. Le maire l’a reçu le même soir.\n"


def draft(reads: Reads, content: str | bytes, name: str = "a.txt", encoding: str = "") -> Draft:
    (only,) = reads(content, name, encoding=encoding)
    assert isinstance(only, Draft), only
    return only


def sections(reads: Reads, content: str, name: str = "a.txt") -> list[str]:
    return [segment.section for segment in draft(reads, content, name).segments]


def test_a_text_is_kept_as_it_is_without_blank_lines_around_it(reads: Reads) -> None:
    content = "\n\n  First line.\n\n\n  Second \n\n"
    assert draft(reads, content) == Draft(text="First line.\n\n\n  Second")


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
def test_every_kind_of_line_end_becomes_a_line_feed(reads: Reads, end: str) -> None:
    read = draft(reads, f"---{end}title: A{end}---{end}One{end}{end}Two{end}", "a.md")
    assert (read.text, read.title) == ("One\n\nTwo", "A")


def test_a_form_feed_starts_a_page_and_stays_in_the_text(reads: Reads) -> None:
    read = draft(reads, "One.\fTwo.\n\f\fFour.")
    assert read.text == "One.\fTwo.\n\f\fFour."
    assert read.pages == (0, 5, 11, 12)
    assert [read.text[start:][:4] for start in read.pages] == ["One.", "Two.", "\fFou", "Four"]


def test_a_rule_of_many_dashes_is_no_front_matter(reads: Reads) -> None:
    text = "-----\nMINUTES\n-----\nThe chair opened."
    assert draft(reads, text).text == text


LEVELS = "\n".join(f"a{n}: &a{n} [{f'*a{n - 1}, ' * 9}]" for n in range(1, 10))


@pytest.mark.parametrize(
    ("front", "reason"),
    [
        ("title: [", "valid YAML: while parsing"),
        ("date: 2023-02-30", "valid YAML: day is out of range for month"),
        ("prose", "valid YAML: it is not a list of `key: value` lines"),
        *((f"x: {value}", "valid YAML: ") for value in ("!!int ''", "!!timestamp soon")),
        ("x: !!bool perhaps", "valid YAML: "),
        (f"a: {'[' * 3000}{']' * 3000}", "nested too deeply"),
        ("a: &a [*a]", "more than 10000 values"),
        # a few aliases that stand for a billion values
        (f"a0: &a0 [x]\n{LEVELS}", "more than 10000 values"),
    ],
)
def test_front_matter_that_cannot_be_read_is_reported(
    reads: Reads, front: str, reason: str
) -> None:
    assert reason in only_reason(reads(f"---\n{front}\n---\ntext", "a.txt"))


@pytest.mark.parametrize(
    "content", [" \n\t\n", "\f\f", "---\ntitle: A\n---\n \n", "<!-- nothing -->\n"]
)
def test_a_file_without_text_is_skipped(reads: Reads, content: str) -> None:
    assert only_reason(reads(content, "a.md")) == "it holds no text"


@pytest.mark.parametrize(
    ("mark", "encoding"),
    [
        (b"\xef\xbb\xbf", "utf-8"),
        (b"\xff\xfe", "utf-16-le"),
        (b"\xfe\xff", "utf-16-be"),
        (b"\xff\xfe\x00\x00", "utf-32-le"),
        (b"\x00\x00\xfe\xff", "utf-32-be"),
    ],
)
def test_a_byte_order_mark_states_the_encoding(reads: Reads, mark: bytes, encoding: str) -> None:
    content = mark + LETTER.encode(encoding)
    for stated in ("", "cp1252"):
        assert draft(reads, content, encoding=stated).text == LETTER.strip()


@pytest.mark.parametrize(
    ("text", "encoding"),
    [(LETTER.strip(), "cp1252"), ("歴史", "euc_jp"), ("Plain.", "utf-16-le"), ("é", "utf-8")],
)
def test_the_given_encoding_is_used(reads: Reads, text: str, encoding: str) -> None:
    assert draft(reads, text.encode(encoding), encoding=encoding).text == text


@pytest.mark.parametrize("before", [0, 1, 100_000, 1 << 20])
def test_another_encoding_is_named_but_never_used(reads: Reads, before: int) -> None:
    assert only_reason(reads(b"x" * before + LETTER.encode("cp1252"), "a.txt")) == (
        f"not UTF-8 at byte {before + 5}; it looks like cp1252: pass `--encoding cp1252`, or write "
        "it into the column `encoding` of a `metadata.csv`, if that is right, or convert the file "
        "to UTF-8"
    )


@pytest.mark.parametrize(
    ("content", "encoding", "reason"),
    [
        # a character may lie across two blocks
        (b"x" * ((1 << 20) - 1) + "é".encode() + b"\xff", "",
         f"not UTF-8 at byte {(1 << 20) + 1}"),
        (LETTER.encode() + b"\xff" + LETTER.encode(), "",
         f"not UTF-8 at byte {len(LETTER.encode())}, though the text around it is: "
         "the file is damaged there; mend it"),
        ("日本の歴史は長い。", "cp1252", "not cp1252 at byte 7; it looks like UTF-8: pass no"),
        ("text", "klingon", "there is no encoding `klingon`"),
        ("text", "hex", "there is no encoding `hex`"),
        (b"\xff\xfea\x00b", "", "not UTF-16-LE at byte 4"),
    ],
    ids=["blocks", "damage", "utf-8", "klingon", "hex", "utf-16"],
)  # fmt: skip
def test_a_wrong_encoding_is_reported(
    reads: Reads, content: str | bytes, encoding: str, reason: str
) -> None:
    assert only_reason(reads(content, "a.txt", encoding=encoding)).startswith(reason)


ENCODED = """
cp1252: El señor Núñez llegó mañana. | Müller | “No.” | £5 were paid. | naïve façade — résumé…
cp1252: The consul wrote “no” – the fee is €40 for François, the captain’s son. | The fee is €40.
cp1252: Le maire l’a reçu à l’hôtel. | São Paulo e Conceição | Fårö och Öland | the 3½ miles
cp1252: © 1954 Harbour Board | § 12 Abs. 3: Die Gebühr beträgt 5 €. | Hän asuu täällä. | 100 °C
iso8859_15: Le cœur de l'œuvre | Die Gebühr beträgt 5 € im Jahr.
cp1250: Příliš žluťoučký kůň úpěl ďábelské ódy. | Zażółć gęślą jaźń. | Wałęsa pojechał do Łodzi.
cp1250: Nőszirom és űrhajó, tűz, hűség. | Čačak i Šibenik, Đorđe i Žarko | Řeka teče přes město.
cp1251: Россия была великой страной и её история. | Москва | Київ — столиця України, її місто.
cp1251: Здравей, приятелю, как си? | «Нет», – сказал он.
koi8_r: Россия была великой страной и её история. | Москва | Здравствуйте, товарищи!
cp866: Россия была великой страной и её история. | Москва и Киев
mac_roman: Die Größe der Häuser über dem Fluß wurde „schön“ genannt. | Le maire l’a reçu à l’hôtel.
cp850: Die Größe der Häuser über dem Fluß wurde schön genannt. | Müller
cp932: 日本の歴史は長い。江戸時代に | 灯台守の会議は東京で開かれた。 | カタカナ
euc_jp: 灯台守の会議は東京で開かれた。 | こんにちは、元気ですか。
iso2022_jp: 灯台守の会議は東京で開かれた。
gb18030: 港务局于1998年通过了新的港口条例。 | 北京是中国的首都。
big5: 港務局於1998年通過了新的港口條例。 | 所有船隻必須在進港前登記。
cp949: 모든 인간은 태어날 때부터 자유로우며 | 서울
cp1253: Η Ελλάδα είναι μια χώρα. | Ο πρόξενος έγραψε γράμμα.
cp1254: Öğretmen çocuğa ağaç gösterdi.
cp1256: مرحبا بالعالم
cp1257: Lietuva yra graži šalis, žmonės čia gyvena ilgai.
utf-16-le: Съешь же ещё этих мягких французских булок. | Москва | Plain English. | 안녕하세요
utf-16-be: 灯台守の日記は東京の港で見つかった。 | Москва | Plain English. | Le préfet
utf-32-le: Plain English. | Москва
"""


@pytest.mark.parametrize(
    ("text", "encoding"),
    [
        (text, encoding)
        for line in ENCODED.strip().split("\n")
        for encoding, _, texts in [line.partition(": ")]
        for text in texts.split(" | ")
    ],
)
def test_the_encoding_to_try_is_the_right_one(reads: Reads, text: str, encoding: str) -> None:
    assert f"pass `--encoding {encoding}`" in only_reason(reads(text.encode(encoding), "a.txt"))


@pytest.mark.parametrize("before", ["x" * 100_000 + " ", "Plain.\n" * 20_000])
def test_an_encoding_is_told_wherever_its_first_letter_stands(reads: Reads, before: str) -> None:
    text = f"{before}Россия была великой страной."
    assert "--encoding koi8_r`" in only_reason(reads(text.encode("koi8_r"), "a.txt"))


@pytest.mark.parametrize(
    ("text", "encoding", "others"),
    [
        ("it’s", "cp1252", "mac_roman"),
        ("l’œuvre du cœur", "cp1252", "cp1250 or mac_roman"),
        ("Señor Núñez", "mac_roman", "cp852"),
        ("Он уехал.", "cp1251", "cp1253"),
        ("李明", "gb18030", "big5 or cp949"),
        ("Şişli ve Beyoğlu", "cp1254", "cp1257"),
    ],
)
def test_encodings_in_which_a_text_reads_as_well_are_all_named(
    reads: Reads, text: str, encoding: str, others: str
) -> None:
    reason = only_reason(reads(text.encode(encoding), "a.txt"))
    assert f"looks like {encoding} or {others}: pass the right one by `--encoding`" in reason


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
def test_what_is_only_in_bold_is_no_heading(reads: Reads, text: str) -> None:
    assert sections(reads, text, "a.md") == []


def test_lines_in_bold_are_headings_only_in_markdown_without_others(reads: Reads) -> None:
    text = "".join(f"**{what}**\n\nThey float.\n\n" for what in ("Boats", "Nets", "Ropes"))
    assert sections(reads, text, "a.md") == ["Boats", "Nets", "Ropes"]
    assert sections(reads, f"# Boats\n\n{text}", "a.md") == ["Boats"]
    assert sections(reads, text) == sections(reads, "# 12 Main Street\n\nText.") == []


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
    reads: Reads, text: str, title: str
) -> None:
    assert draft(reads, text, "a.md").title == title
    assert draft(reads, text).title == (title if title == "Boats" else "")


def test_a_comment_is_hidden_only_in_markdown(reads: Reads) -> None:
    assert draft(reads, "One <!-- two -->").text == "One <!-- two -->"
    assert draft(reads, "One <!-- two -->", "a.md").text == "One"


@pytest.mark.thorough
@pytest.mark.parametrize("name", ["a.txt", "a.md"])
def test_a_line_of_twenty_megabytes_is_read(reads: Reads, name: str) -> None:
    assert len(draft(reads, "word " * 4_000_000, name).text) == 19_999_999


def test_numbers_of_lines_are_no_text_but_markdown_keeps_its_own(reads: Reads) -> None:
    rows = [f"{at if at % 5 == 0 else '':<3} and the boats were kept" for at in range(1, 17)]
    text = "\n".join(["    It was so", *rows[1:]])
    assert "5" not in draft(reads, text).text
    assert "5" in draft(reads, text, "a.md").text


@pytest.mark.parametrize(
    "numbers", ["1|2|2A|2B|3", "1er|2|2-1|2-2|3", "1|2|2 bis|2 TER|3", "998|999|1000|1001"]
)
def test_an_article_ends_where_the_next_begins_however_it_is_numbered(
    reads: Reads, numbers: str
) -> None:
    articles = [f"Article {number}" for number in numbers.split("|")]
    assert sections(reads, "".join(f"{each}\n\nIt is so.\n\n" for each in articles)) == articles


ARTICLES = "".join(f"Article {number}\n\nIt is so.\n\n" for number in range(1, 4))


@pytest.mark.parametrize("end", ["EXHIBIT A", "Attachment 1", "ANNEXE", "TITRE II", "Chapitre 2"])
def test_what_stands_behind_an_article_is_not_of_it(reads: Reads, end: str) -> None:
    last = draft(reads, f"{ARTICLES}{end}\n\nA list.").segments[-1]
    assert last == Segment(len(f"{ARTICLES}{end}"), "")


def test_the_sections_of_an_article_are_of_it(reads: Reads) -> None:
    article = "ARTICLE {0} BOATS\n\nSection {0}.1 Quays\n\nThey float.\n\n"
    text = "".join(map(article.format, range(1, 4)))
    assert sections(reads, text) == [f"ARTICLE {n} BOATS" for n in range(1, 4)]


def test_the_last_article_is_no_section_where_more_stands_behind_it(reads: Reads) -> None:
    text = "".join(f"Article {number}\nBoats\n\n" for number in range(1, 5))
    assert sections(reads, text + "They float.\n\n" * 9) == [
        *("Article 1", "Article 2", "Article 3", "")
    ]


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
def test_what_may_be_no_article_is_no_section(reads: Reads, text: str) -> None:
    assert sections(reads, text) == []
