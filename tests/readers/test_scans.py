"""Pages of scans: ALTO, PAGE XML and hOCR, and METS over them."""

from collections.abc import Callable
from pathlib import Path

import pytest

from atlas_search.building.sources import find_sources
from atlas_search.readers import Draft, Read
from atlas_search.readers.files import files_reader
from tests.hash_embedder import HashEmbedder
from tests.readers.drafts import check, only_draft, only_reason
from tests.tiny import build_tiny, contents, write_sources

Reads = Callable[..., list[Read]]


def string(word: str, more: str = "") -> str:
    return f'<String CONTENT="{word}" {more}/>'


def line(*words: str) -> str:
    strings = (word if word.startswith("<") else string(word) for word in words)
    return f"<TextLine>{'<SP/>'.join(strings)}</TextLine>"


def block(id_: str, *lines: str, more: str = "") -> str:
    return f'<TextBlock ID="{id_}" {more}>{"".join(lines)}</TextBlock>'


def alto(*pages: str, before: str = "", namespace: str = "ns-v4#") -> str:
    return (
        f'<alto xmlns="http://www.loc.gov/standards/alto/{namespace}"><Description>'
        f"<MeasurementUnit>pixel</MeasurementUnit></Description>{before}"
        f"<Layout>{''.join(pages)}</Layout></alto>"
    )


def page(*blocks: str, number: str = "", margin: str = "") -> str:
    return (
        f'<Page PRINTED_IMG_NR="{number}"><BottomMargin>{margin}</BottomMargin>'
        f"<PrintSpace>{''.join(blocks)}</PrintSpace></Page>"
    )


FIRST = string("de", 'SUBS_TYPE="HypPart1" SUBS_CONTENT="demanded" WC="0.5"') + '<HYP CONTENT="-"/>'
SECOND = string("manded", 'SUBS_TYPE="HypPart2" SUBS_CONTENT="demanded" WC="0.7"')


@pytest.mark.parametrize("namespace", ["ns-v2#", "ns-v3#", "ns-v4#"])
def test_alto_gives_its_words_by_line_with_broken_ones_whole(reads: Reads, namespace: str) -> None:
    lines = line("The", "harbour", "master", FIRST), line(SECOND, "a", "lighthouse.")
    text = alto(page(block("B1", *lines), block("B2", line("Skagness."))), namespace=namespace)
    draft = only_draft(reads(text, "page.xml"))
    assert draft.text == "The harbour master demanded\na lighthouse.\n\nSkagness."
    assert draft.metadata == {"content_type": "scan", "ocr_confidence": 0.6}
    assert draft.remark == ""


def test_a_word_is_whole_across_pages_and_a_lone_half_stays(reads: Reads) -> None:
    pages = page(block("B1", line("He", FIRST)), number="6"), page(block("B2", line(SECOND, "it.")))
    draft = only_draft(reads(alto(*pages), "page.xml"))
    assert (draft.text, draft.pages) == ("He demanded\n\nit.", (0, 13))
    assert draft.printed_pages == ("6", "")
    assert only_draft(reads(alto(pages[1]), "page.xml")).text == "manded it."


@pytest.mark.parametrize("hyphen", ['CONTENT="-"', 'CONTENT="&#xAD;"', ""])
def test_a_break_that_names_no_whole_word_keeps_its_hyphen(reads: Reads, hyphen: str) -> None:
    half = f"{string('de')}<HYP {hyphen}/>"
    draft = only_draft(reads(alto(page(block("B", line(half), line("manded")))), "p.xml"))
    assert draft.text == "de-\nmanded"


def test_blocks_are_read_in_the_order_that_is_stated_and_margins_around_them(reads: Reads) -> None:
    blocks = [block(id_, line(id_.upper())) for id_ in "abcd"]
    foot = block("f", line("FOOT"))
    plain = only_draft(reads(alto(page(*blocks, margin=foot)), "p.xml"))
    assert plain.text.split() == ["A", "B", "C", "D", "FOOT"]
    chain = [block("a", line("A")), block("c", line("C")), block("b", line("B"), more='IDNEXT="c"')]
    assert only_draft(reads(alto(page(*chain)), "p.xml")).text.split() == ["A", "B", "C"]
    refs = "".join(f'<ElementRef REF="{id_}"/>' for id_ in "db")
    order = f"<ReadingOrder><OrderedGroup>{refs}</OrderedGroup></ReadingOrder>"
    ordered = only_draft(reads(alto(page(*blocks), before=order), "p.xml"))
    assert ordered.text.split() == ["A", "D", "B", "C"]


def test_a_page_without_words_is_refused_and_its_unit_is_not_the_text(reads: Reads) -> None:
    reason = only_reason(reads(alto(page(block("B"))), "p.xml"))
    assert reason == "it holds no text: no word was recognised on it"


def half(number: int, text: str) -> str:
    return string(text, f'SUBS_TYPE="HypPart{number}" SUBS_CONTENT="demanded"')


@pytest.mark.parametrize(
    ("source", "text"),
    [
        (f"<alto><Layout>{page(block('B', line('The', 'bay.')))}</Layout></alto>", "The bay."),
        (alto(f"<Page>{block('B', line('The', 'bay.'))}</Page>"), "The bay."),
        (alto(page(f"<ComposedBlock>{block('B', line('A'))}<ComposedBlock>{block('C', line('B'))}"
                   "</ComposedBlock></ComposedBlock>")), "A\n\nB"),
        (alto(page(block("B", line(half(1, "de-")), line(half(2, "manded"))))), "demanded"),
        (alto(page(block("B", line(half(1, "de"))), block("C", line(half(2, "manded"))))),
         "demanded"),
        (alto(page(block("B", line(half(1, "de")), line(string("manded", "SUBS_TYPE='HypPart2'"),
                                                       "it")))), "demanded\nit"),
        (alto(page(block("B", line(string("Mr", "SUBS_TYPE='Abbreviation' SUBS_CONTENT='Mister'"),
                                   "Hay")))), "Mr Hay"),
        (alto(page(block("B", line(string("league") + "<HYP/>"), line("wide")))), "league-\nwide"),
        (alto(page(block("B", line(string(""), "A", string(" "))))), "A"),
        (alto(page(block("B", line("R&amp;D", "&lt;x&gt;")))), "R&D <x>"),
        (alto(page(block("B", line("The bay", "is")))), "The bay is"),
        (alto(page(block("B", f"<TextLine>{string('The')}{string('bay')}</TextLine>"))), "The bay"),
        (alto(page(block("B", '<TextLine><String CONTENT="The"><ALTERNATIVE>Tbe</ALTERNATIVE>'
                              '<Glyph CONTENT="T"/></String></TextLine>'))), "The"),
        (alto(page(block("B", line("שלום", "עולם")))), "שלום עולם"),
        (alto(page(block("B", line("Waſſer", "iſt")))), "Waſſer iſt"),
        (alto(page(block("B", line("東", "京", "の", "Tokyo", "港"), line("灯台")))),
         "東京の Tokyo 港\n灯台"),
        (alto(page("<Illustration/>", block("B", line("A")), "<GraphicalElement/>")), "A"),
        (alto(page(block("B", line("A"), more='LANG="de"'), block("C", line("B"), more='LANG="fr"'))
              ), "A\n\nB"),
        (alto(page(block("B", line("A"))), page(block("B", line("B")))), "A\n\nB"),
        (alto(page(block("B", line("A"), more='TAGREFS="t"')),
              before='<Tags><LayoutTag ID="t" LABEL="paragraph"/></Tags>'), "A"),
        (alto(page(block("B", line("A")))).replace("<", "<a:").replace("<a:/", "</a:")
         .replace("xmlns=", "xmlns:a="), "A"),
    ],
)  # fmt: skip
def test_neighbours_of_alto_give_their_words_once(reads: Reads, source: str, text: str) -> None:
    assert only_draft(reads(source, "p.xml")).text == text


@pytest.mark.parametrize("number", ["xii", "12", "12a", "A 3"])
def test_what_is_printed_on_a_page_is_its_number(reads: Reads, number: str) -> None:
    for stated in (number, f"[{number}]"):
        draft = only_draft(reads(alto(page(block("B", line("A")), number=stated)), "p.xml"))
        assert draft.printed_pages == (number,)


PAGE = """<PcGts xmlns="http://schema.primaresearch.org/PAGE/gts/pagecontent/2019-07-15">
<Metadata><Creator>A tool</Creator></Metadata><Page imageFilename="7.tif"><ReadingOrder>
<OrderedGroup id="g"><RegionRefIndexed index="1" regionRef="r1"/><RegionRefIndexed index="0"
regionRef="r2"/></OrderedGroup></ReadingOrder>
<TextRegion id="r1" type="paragraph"><TextLine id="l1"><Word id="w1"><TextEquiv conf="0.5"><Unicode>
The</Unicode></TextEquiv></Word><Word id="w2"><TextEquiv conf="0.7"><Unicode>bay.</Unicode>
</TextEquiv></Word><TextEquiv index="1"><Unicode>The hay.</Unicode></TextEquiv>
<TextEquiv index="0"><Unicode>The bay.</Unicode></TextEquiv></TextLine></TextRegion>
<TextRegion id="r2" type="heading"><TextLine id="l2"><TextEquiv><Unicode>LIGHTHOUSES</Unicode>
</TextEquiv></TextLine><TextEquiv><Unicode>not again</Unicode></TextEquiv></TextRegion>
<TextRegion id="r3" type="page-number"><TextEquiv><Unicode>vii</Unicode></TextEquiv></TextRegion>
</Page></PcGts>"""


def test_page_xml_is_read_in_its_order_with_the_printed_number(reads: Reads) -> None:
    draft = only_draft(reads(PAGE, "p.xml"))
    assert draft.text == "LIGHTHOUSES\n\nvii\n\nThe bay."
    assert draft.printed_pages == ("vii",)
    assert draft.metadata == {"content_type": "scan", "ocr_confidence": 0.6}


HOCR = """<html><head><title>scan</title><meta name="ocr-system" content="a tool"></head><body>
<div class="ocr_page" title="image 1.png; bbox 0 0 9 9; lpageno 12"><div class="ocr_carea">
<p class="ocr_par"><span class="ocr_line"><span class="ocrx_word" title="bbox 1 1 2 2; x_wconf 90">
The</span><span class="ocrx_word" title="x_wconf 70"><ins class="alt">bay</ins><del>hay</del>
</span></span><span class="ocr_line"><span class="ocrx_word">is</span></span></p>
<p class="ocr_par"><span class="ocr_line">deep and wide.</span></p></div></div></body></html>"""


@pytest.mark.parametrize("name", ["p.html", "p.hocr"])
def test_hocr_is_read_as_pages_of_a_scan(reads: Reads, name: str) -> None:
    draft = only_draft(reads(HOCR, name))
    assert draft.text == "The bay\nis\n\ndeep and wide."
    assert draft.printed_pages == ("12",)
    assert draft.metadata["ocr_confidence"] == 0.8


METS = """<mets xmlns="http://www.loc.gov/METS/" xmlns:mods="http://www.loc.gov/mods/v3"
xmlns:xlink="http://www.w3.org/1999/xlink" LABEL="The Bay Herald, 3 May 1887">
<dmdSec ID="issue"><mdWrap><xmlData><mods:mods><mods:titleInfo><mods:title>The Bay Herald
</mods:title></mods:titleInfo><mods:originInfo><mods:dateIssued>1887-05-03</mods:dateIssued>
</mods:originInfo></mods:mods></xmlData></mdWrap></dmdSec>
<fileSec><fileGrp>
<file ID="f1"><FLocat xlink:href="file://./pages/1.xml"/></file>
<file ID="f2"><FLocat xlink:href="pages/2.xml"/></file>
<file ID="out"><FLocat xlink:href="../../secret.xml"/></file>
</fileGrp></fileSec>
<structMap TYPE="LOGICAL"><div TYPE="ISSUE" DMDID="issue">{articles}</div></structMap>
<structMap TYPE="PHYSICAL"><div TYPE="book">
<div TYPE="page" ORDERLABEL="9"><fptr FILEID="f1"/></div>
<div TYPE="page" ID="p2" ORDERLABEL="10"><fptr><par><area FILEID="f2" BEGIN="P"/></par></fptr>
<div TYPE="pagearea" ID="area"><fptr><area FILEID="f2" BEGIN="s"/></fptr></div></div>
</div></structMap>
<structLink><smLinkGrp><smLocatorLink xlink:href="#a2"/><smLocatorLink xlink:href="#area"/>
</smLinkGrp></structLink></mets>"""
ARTICLES = """<div TYPE="ARTICLE" ID="a1" LABEL="On lighthouses"><div TYPE="BODY"><fptr><area
FILEID="f1" BEGIN="b1"/></fptr><fptr><area FILEID="f2" BEGIN="b3"/></fptr></div></div>
<div TYPE="ADVERT" ID="a2"/>"""
PAGES = {
    "pages/1.xml": alto(page(block("b1", line("He", FIRST)), block("b2", line("HERALD")))),
    "pages/2.xml": alto(
        page(block("b3", line(SECOND, "it.")), block("b4", line(string("Wool!", 'ID="s"'))))
    ),
    "../secret.xml": alto(page(block("b", line("secret")))),
}


def issue(folder: Path, articles: str = ARTICLES) -> Path:
    return write_sources(
        folder,
        {"town/mets.xml": METS.format(articles=articles)}
        | {f"town/{name}": text for name, text in PAGES.items()},
    )


def read(path: Path) -> list[Draft]:
    drafts = list(files_reader().read(path, ""))
    for draft in drafts:
        assert isinstance(draft, Draft), draft
        check(draft)
    return drafts  # type: ignore[return-value]


def test_mets_gives_a_document_for_each_article_over_its_pages(tmp_path: Path) -> None:
    rest, article, advert = read(issue(tmp_path / "s") / "town/mets.xml")
    assert (rest.key, rest.title, rest.text) == ("", "The Bay Herald, 3 May 1887", "HERALD")
    assert rest.printed_pages == ("9",)
    assert rest.remark == "1 of the XML files that it names are not in its folder or below"
    assert (article.key, article.title) == ("a1", "On lighthouses")
    assert (article.text, article.pages) == ("He demanded\n\nit.", (0, 13))
    assert article.printed_pages == ("9", "10")
    assert article.metadata == {
        "content_type": "scan",
        "date": "1887-05-03",
        "document_type": "article",
        "ocr_confidence": 0.6,
        "source": "The Bay Herald, 3 May 1887",
    }
    assert (advert.key, advert.text, advert.printed_pages) == ("a2", "Wool!", ("10",))


def test_mets_without_articles_is_one_document(tmp_path: Path) -> None:
    (whole,) = read(issue(tmp_path / "s", "") / "town/mets.xml")
    assert whole.text == "He demanded\n\nHERALD\n\nit.\n\nWool!"
    assert whole.printed_pages == ("9", "10")


def test_mets_whose_pages_are_elsewhere_is_refused(reads: Reads) -> None:
    reason = only_reason(reads(METS.format(articles=""), "mets.xml"))
    assert reason.startswith("no file of a page that it names")


def test_only_pages_below_its_folder_belong_to_mets_whatever_else_it_names(tmp_path: Path) -> None:
    scan = alto(page(block("b", line("bay"))))
    named = ("a%20b.xml", "deep/R&amp;D.xml", "deep/tei.xml", "../other.xml", "mets.xml", "no.xml")
    links = "".join(f'<FLocat xlink:href="{name}"/>' for name in named) * 500
    write_sources(
        tmp_path / "s",
        {
            "t/i/mets.xml": f'<mets xmlns="http://www.loc.gov/METS/">{links}',  # and not whole
            "t/i/a b.xml": scan,
            "t/i/deep/R&D.xml": scan,
            "t/i/deep/tei.xml": "<TEI/>",
            "t/other.xml": scan,
        },
    )
    files = find_sources([tmp_path / "s"], files_reader()).files
    parts = {file.name: [Path(part).name for part in file.parts] for file in files}
    assert parts == {
        "t/i/mets.xml": ["a b.xml", "R&D.xml"],
        "t/i/deep/tei.xml": [],
        "t/other.xml": [],
    }


def test_pages_that_mets_names_are_read_with_it_and_when_they_change(tmp_path: Path) -> None:
    root, folder, hashes = issue(tmp_path / "s"), tmp_path / "c", HashEmbedder()
    (file,) = find_sources([root], files_reader()).files
    assert (file.name, len(file.parts)) == ("town/mets.xml", 2)
    page = root / "town/pages/1.xml"
    words = page.read_text()
    page.write_text("<TEI><text><body><p>A text of its own.</p></body></text></TEI>")
    names = [file.name for file in find_sources([root], files_reader()).files]
    assert names == ["town/mets.xml", "town/pages/1.xml"]
    page.write_text(words)

    def build() -> tuple[int, list[str]]:
        sources = find_sources([root], files_reader())
        read = build_tiny(sources, folder, hashes, kind="xml").read
        return read, sorted(contents(folder)["texts"])

    assert build() == (1, ["HERALD", "He demanded\n\nit.", "Wool!"])
    assert build()[0] == 0
    changed = root / "town/pages/2.xml"
    changed.write_text(changed.read_text().replace("Wool!", "Hay!"))
    assert build() == (1, ["HERALD", "Hay!", "He demanded\n\nit."])
