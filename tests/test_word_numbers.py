"""The numbers that Word computes for the paragraphs of lists."""

from pathlib import Path

import pytest

from tests.word_files import W, changed, draft, paragraphs, run, saved

KINDS = {"1": ("decimal", "lowerLetter", "lowerRoman"), "2": ("upperRoman", "decimal", "decimal")}
TEXTS = {"1": ("%1.", "(%2)", "(%3)"), "2": ("Part %1", "%1.%2", "%1.%2.%3")}


def numbering(*, anew: str = "", legal: bool = False) -> bytes:
    """List 1 counts 1. (a) (i), list 2 Part I, I.1 or, as in law, 1.1; list 3 goes on as list 1 or
    begins anew."""
    levels = {
        id_: "".join(
            f'<w:lvl w:ilvl="{n}"><w:start w:val="1"/><w:numFmt w:val="{kind}"/>'
            f'{"<w:isLgl/>" if legal and n else ""}<w:lvlText w:val="{text}"/></w:lvl>'
            for n, (kind, text) in enumerate(zip(KINDS[id_], TEXTS[id_], strict=True))
        )
        for id_ in KINDS
    }
    lists = "".join(
        f'<w:abstractNum w:abstractNumId="{id_}">{inner}</w:abstractNum>'
        for id_, inner in levels.items()
    )
    nums = "".join(
        f'<w:num w:numId="{id_}"><w:abstractNumId w:val="{of}"/>{inner}</w:num>'
        for id_, of, inner in (("1", "1", ""), ("2", "2", ""), ("3", "1", anew))
    )
    return f"<w:numbering {W}>{lists}{nums}</w:numbering>".encode()


def item(text: str, depth: int = 0, of: str = "1") -> str:
    numbered = f'<w:numPr><w:ilvl w:val="{depth}"/><w:numId w:val="{of}"/></w:numPr>'
    return f"<w:pPr>{numbered}</w:pPr>{run(text) if text else ''}"


def lines(folder: Path, *items: str, **lists: object) -> list[str]:
    data = changed(saved(paragraphs(*items)), {"word/numbering.xml": numbering(**lists)})
    return draft(folder, data).text.split("\n\n")


def test_paragraphs_have_the_numbers_of_their_list(tmp_path: Path) -> None:
    items = [item("Wells"), item("deep", 1), item("wide", 1), item("old", 2), item("Ponds")]
    items += [run("Between."), item("small", 1), item("Seas")]
    assert lines(tmp_path, *items) == [
        *["1. Wells", "(a) deep", "(b) wide", "(i) old", "2. Ponds", "Between.", "(a) small"],
        "3. Seas",
    ]


@pytest.mark.parametrize(("legal", "expected"), [(False, "II.1"), (True, "2.1")])
def test_a_number_holds_those_of_the_levels_above(
    tmp_path: Path, legal: bool, expected: str
) -> None:
    items = [item("Wells", of="2"), item("Ponds", of="2"), item("small", 1, of="2")]
    assert lines(tmp_path, *items, legal=legal)[1:] == ["Part II Ponds", f"{expected} small"]


def test_a_list_may_go_on_as_another_or_begin_anew(tmp_path: Path) -> None:
    items = [item("Wells"), item("Ponds"), item("Seas", of="3"), item("Lakes", of="3")]
    assert lines(tmp_path, *items)[2:] == ["3. Seas", "4. Lakes"]
    anew = '<w:lvlOverride w:ilvl="0"><w:startOverride w:val="7"/></w:lvlOverride>'
    assert lines(tmp_path, *items, anew=anew)[2:] == ["7. Seas", "8. Lakes"]


def test_after_a_paragraph_without_words_no_number_is_sure(tmp_path: Path) -> None:
    assert lines(tmp_path, item("Wells"), item(""), item("Ponds")) == ["1. Wells", "Ponds"]


@pytest.mark.parametrize(
    "unsure",
    [
        "<w:r><w:instrText>LISTNUM 1</w:instrText></w:r>",
        "<w:pPr><w:rPr><w:del w:id='1' w:author='A'/></w:rPr></w:pPr>",
    ],
)
def test_where_word_counts_what_is_not_read_no_number_is_written(
    tmp_path: Path, unsure: str
) -> None:
    data = changed(saved(paragraphs(item("Wells"), unsure)), {"word/numbering.xml": numbering()})
    found = draft(tmp_path, data)
    assert (found.text, found.remark) == ("Wells", "left out: automatic numbers (1)")


def test_letters_and_numbers_go_on_after_the_last(tmp_path: Path) -> None:
    items = [item("x", 1) for _ in range(28)]
    assert [line.split()[0] for line in lines(tmp_path, *items)][25:] == ["(z)", "(aa)", "(bb)"]
