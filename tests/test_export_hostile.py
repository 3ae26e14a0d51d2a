"""Exports of hostile texts: in no format is a text a command, a formula, a link or an entry."""

import pytest
from markdown_it import MarkdownIt

from atlas_search.core.addresses import is_link
from tests.exporting import (
    answer,
    bibtex_entries,
    citation,
    csl_items,
    ris_entries,
    rows,
    text,
)

LATEX = "\\input{/etc/passwd} } @comment{x, \\write18{id} % \\end{document} ^^5cinput $\\x$"
RIS = "A\nER  - \n\nTY  - CASE\nTI  - B\r\nUR  - javascript:alert(1)"
LINK = '[a](javascript:alert(1)) <javascript:alert(1)> ![x](https://elsewhere.test) <img src="x">'
FORMULAS = [
    "=cmd|'/C calc'!A0",
    "+cmd|'/C calc'!A0",
    "-2+3+cmd|'/C calc'!A0",
    "@SUM(1+1)*cmd|'/C calc'!A0",
    "\t=1+1",
    "\r=1+1",
    "\n=1+1",
    " =1+1",
    "＝1+1",
    "'=1+1",
]


def said(content: str) -> dict:
    """An answer in which everything that can be said is `content`."""
    metadata = dict.fromkeys(("author", "court", "publisher", "source", "status"), content)
    cited = citation(
        title=content,
        section=content,
        speaker=content,
        date=content,
        quote=content,
        document_id=content,
        metadata=metadata,
        locator=content,
        printed_page=content,
    )
    sentences = [{"text": content, "citations": [0], "grounded": True}]
    return answer(cited, question=content, sentences=sentences, answer=content)


def test_latex_in_a_text_is_text() -> None:
    written = text("bibtex", said(LATEX))
    (entry,) = bibtex_entries(written)
    for command in ("\\input", "\\write18", "\\end", "^^", "@comment{"):
        assert command not in written
    assert entry.fields_dict["author"].value


def test_a_text_begins_no_entry_of_ris() -> None:
    (entry,) = ris_entries(text("ris", said(RIS)))
    assert entry["type_of_reference"] == "CASE"
    assert entry["urls"] == [citation()["url"]]
    assert entry["title"].startswith("A ER - TY - CASE")


def test_a_text_is_one_value_of_csl() -> None:
    (item,) = csl_items(text("csl-json", said('"}], "URL": "javascript:alert(1)"')))
    assert item["URL"] == citation()["url"]


@pytest.mark.parametrize("content", FORMULAS)
def test_no_cell_of_a_table_is_a_formula(content: str) -> None:
    for row in rows(text("csv", said(content))):
        for column, value in row.items():
            assert value.lstrip()[:1] not in {*"=+-@＝＋－＠"}, column
            assert value[:1] not in {*"\t\r\n"}, column


def test_a_text_in_markdown_is_no_link_picture_or_markup() -> None:
    tokens = MarkdownIt("commonmark").parse(text("markdown", said(LINK)))
    inner = [child for token in tokens for child in token.children or []]
    links = [str(child.attrs["href"]) for child in inner if child.type == "link_open"]
    assert links
    assert all(is_link(link) and "elsewhere" not in link for link in links)
    kinds = {child.type for child in inner} | {token.type for token in tokens}
    assert not kinds & {"image", "html_inline", "html_block"}
