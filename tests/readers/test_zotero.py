"""Lists of literature beside the files that they name, and Zotero's library as a source."""

import json
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

import bibtexparser
import pytest
import rispy

from atlas_search.building.flow import BuildOptions, BuildReport, build
from atlas_search.building.sources import Sources, find_sources, zotero_sources
from atlas_search.building.workers import ReadingLimits
from atlas_search.core.domain import Document
from atlas_search.core.errors import SourceError
from atlas_search.readers.files import files_reader
from atlas_search.stores.embedded import EmbeddedStore
from tests.conftest import free_port
from tests.exporting import answer, citation, text
from tests.hash_embedder import HashEmbedder
from tests.tiny import document_ids, silent, write_sources
from tests.zotero_server import ZoteroServer, zotero_server

Build = Callable[..., BuildReport]
LETTER = "Dear Karl, the tide was low."
_NOT_AMONG = "it is missing, outside the folder or of a kind that is not read"
UNNAMED = (
    f"record 2: no source is called 'files/9/gone.pdf': {_NOT_AMONG}",
    f"line 5: no source is called 'files/9/gone.pdf': {_NOT_AMONG}",
)
SECOND = (
    "record 2: 'files/1/roe.txt' stands on record 1 already, which counts: take one of them out"
)


@pytest.fixture
def built(tmp_path: Path) -> Build:
    """Builds the collection `c` from files by name, or from sources."""

    def run(files: Mapping[str, str] | Sources, **options: Any) -> BuildReport:
        if not isinstance(files, Sources):
            files = find_sources([write_sources(tmp_path / "s", files)], files_reader(), **options)
        limits = ReadingLimits(workers=0)  # to start a process takes longer than to read
        chosen = BuildOptions("c", "files", limits=limits)
        return build(tmp_path / "c", files, files_reader(), HashEmbedder(), chosen, silent)

    return run


@pytest.fixture
def held(tmp_path: Path) -> Callable[[], dict[str, Document]]:
    """Reads all documents by their ids."""

    def read() -> dict[str, Document]:
        store = EmbeddedStore(tmp_path / "c")
        try:
            return {id_: store.document(id_) for id_ in document_ids(tmp_path / "c")}
        finally:
            store.close()

    return read


Held = Callable[[], dict[str, Document]]

BIB = r"""@article{roe, author = {Roe, Anna and {Ports Board}}, title = {The Dues of {\"O}stby},
  journal = {Ports}, year = 1887, volume = 3, number = 2, pages = {1--9}, doi = {10.1000/182},
  publisher = {Harbour Press}, library = {Ostby Archives}, callnumber = {MC 7},
  abstract = {Of dues.}, keywords = {ships; dues}, file = {FILES}}
@book{hay, title = {Walls}, abstract = {Of walls.}, file = {:files/9/gone.pdf:PDF}}
"""
RIS = """TY  - JOUR
AU  - Roe, Anna
AU  - Ports Board
TI  - The Dues of Östby
T2  - Ports
PY  - 1887
VL  - 3
IS  - 2
SP  - 1
EP  - 9
DO  - 10.1000/182
PB  - Harbour Press
DB  - Ostby Archives
CN  - MC 7
AB  - Of dues.
KW  - ships
KW  - dues
L1  - files/1/roe.txt
UR  - https://example.org/roe
ER  -

TY  - BOOK
TI  - Walls
AB  - Of walls.
L1  - files/9/gone.pdf
ER  -
"""
ITEM = {
    "itemType": "journalArticle", "title": "The Dues of Östby", "publicationTitle": "Ports",
    "creators": [{"creatorType": "author", "lastName": "Roe", "firstName": "Anna"},
                 {"creatorType": "author", "name": "Ports Board"}],
    "date": "1887", "volume": "3", "issue": "2", "pages": "1-9", "DOI": "10.1000/182",
    "publisher": "Harbour Press", "archive": "Ostby Archives", "archiveLocation": "MC 7",
    "abstractNote": "Of dues.", "tags": [{"tag": "ships"}, {"tag": "dues"}],
}  # fmt: skip
BETTER = {
    "config": {"label": "BetterBibTeX JSON"},
    "collections": {"C1": {"name": "Coast", "parent": "", "items": []},
                    "C2": {"name": "Ports", "parent": "C1", "items": [4]}},
    "items": [
        ITEM | {"itemID": 4, "key": "AAAA1111", "citationKey": "roe",
                "uri": "http://zotero.org/groups/77/items/AAAA1111",
                "attachments": [{"path": "files/1/roe.txt"}, {"url": "https://example.org"}]},
        {"itemType": "book", "citationKey": "hay", "title": "Walls", "abstractNote": "Of walls.",
         "attachments": [{"path": "files/9/gone.pdf"}]},
    ],
}  # fmt: skip
CSL = [
    {"id": "roe", "type": "article-journal", "title": "The Dues of Östby",
     "container-title": "Ports", "issued": {"date-parts": [[1887]]}, "volume": 3, "issue": "2",
     "author": [{"family": "Roe", "given": "Anna"}, {"literal": "Ports Board"}], "page": "1-9",
     "DOI": "10.1000/182", "publisher": "Harbour Press", "archive": "Ostby Archives",
     "call-number": "MC 7", "abstract": "Of dues.", "keyword": "ships",
     "attachments": ["files/1/roe.txt"]},
    {"id": "hay", "type": "book", "title": "Walls", "abstract": "Of walls.",
     "attachments": ["files/9/gone.pdf"]},
]  # fmt: skip
RDF = """<rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#"
 xmlns:z="http://www.zotero.org/namespaces/export#" xmlns:dc="http://purl.org/dc/elements/1.1/"
 xmlns:dcterms="http://purl.org/dc/terms/" xmlns:bib="http://purl.org/net/biblio#"
 xmlns:foaf="http://xmlns.com/foaf/0.1/" xmlns:prism="http://prismstandard.org/namespaces/1.2/basic/"
 xmlns:link="http://purl.org/rss/1.0/modules/link/" xmlns:vcard="http://nwalsh.com/rdf/vCard#">
<bib:Article rdf:about="#roe"><z:itemType>journalArticle</z:itemType>
<dcterms:isPartOf rdf:resource="urn:issn:1"/><bib:authors><rdf:Seq><rdf:li><foaf:Person>
<foaf:surname>Roe</foaf:surname><foaf:givenName>Anna</foaf:givenName></foaf:Person></rdf:li><rdf:li>
<foaf:Person><foaf:surname>Ports Board</foaf:surname></foaf:Person></rdf:li></rdf:Seq>
</bib:authors><dc:title>The Dues of Östby</dc:title><dc:date>1887</dc:date>
<dc:subject>ships</dc:subject>
<dc:subject><z:AutomaticTag><rdf:value>dues</rdf:value></z:AutomaticTag></dc:subject>
<dc:subject><dcterms:LCC><rdf:value>HE 551</rdf:value></dcterms:LCC></dc:subject>
<dc:coverage>MC 7</dc:coverage><z:archive>Ostby Archives</z:archive><bib:pages>1-9</bib:pages>
<dc:publisher><foaf:Organization><vcard:adr><vcard:Address><vcard:locality>Ostby</vcard:locality>
</vcard:Address></vcard:adr><foaf:name>Harbour Press</foaf:name></foaf:Organization></dc:publisher>
<dcterms:abstract>Of dues.</dcterms:abstract><link:link rdf:resource="#item_1"/></bib:Article>
<bib:Journal rdf:about="urn:issn:1"><prism:volume>3</prism:volume><prism:number>2</prism:number>
<dc:title>Ports</dc:title><dc:identifier>DOI 10.1000/182</dc:identifier></bib:Journal>
<z:Attachment rdf:about="#item_1"><z:itemType>attachment</z:itemType>
<TAG rdf:resource="files/1/ro%65.txt"/></z:Attachment>
<bib:Book rdf:about="#hay"><z:itemType>book</z:itemType><dc:title>Walls</dc:title>
<dcterms:abstract>Of walls.</dcterms:abstract><link:link rdf:resource="#item_9"/></bib:Book>
<z:Attachment rdf:about="#item_9"><z:path rdf:resource="files/9/gone.pdf"/></z:Attachment>
<z:Collection rdf:about="#c1"><dc:title>Coast</dc:title><dcterms:hasPart rdf:resource="#c2"/>
</z:Collection><z:Collection rdf:about="#c2"><dc:title>Ports</dc:title>
<dcterms:hasPart rdf:resource="#roe"/></z:Collection></rdf:RDF>"""
LISTS = {
    "zotero.bib": BIB.replace("FILES", r"Full\: text:files/1/roe.txt:text/plain"),
    "jabref.bib": BIB.replace("FILES", r":files\\1\\roe.txt:TXT"),
    "plain.bib": BIB.replace("FILES", "files/1/roe.txt"),
    "whole.ris": RIS,
    "address.ris": RIS.replace("L1  - files/1/", "UR  - file:FOLDER/files/1/"),
    "better.json": json.dumps(BETTER),
    "csl.json": json.dumps(CSL),
    "new.rdf": RDF.replace("TAG", "z:path"),
    "old.rdf": RDF.replace("TAG", "rdf:resource"),
}


@pytest.mark.parametrize("name", LISTS)
def test_a_file_that_a_record_names_is_a_document_of_it(
    built: Build, held: Held, tmp_path: Path, name: str
) -> None:
    """Its citations are that record, in every format; a record without its file is as before."""
    files = {
        f"letters/{name}": LISTS[name].replace("FOLDER", f"//{tmp_path}/s/letters"),
        "letters/files/1/roe.txt": LETTER,
        "letters/other.txt": "Another letter.",
    }
    report = built(files)
    documents = held()
    roe = documents["letters.files.1.roe"]
    texts = [roe.text, "Another letter.", "Of walls."]
    assert sorted(each.text for each in documents.values()) == sorted(texts)
    assert (roe.title, roe.text) == ("The Dues of Östby", LETTER)
    said = {
        "author": ("Roe, Anna", "Ports Board"), "date": "1887", "container_title": "Ports",
        "volume": "3", "issue": "2", "doi": "10.1000/182", "publisher": "Harbour Press",
        "archive": "Ostby Archives", "shelf_mark": "MC 7", "abstract": "Of dues.",
    }  # fmt: skip
    assert said.items() <= roe.metadata.items()
    assert roe.metadata["pages"] in ("1-9", "1–9")
    assert "ships" in roe.metadata["tags"]  # type: ignore[operator]
    (told,) = (each for each in report.told if each.source == f"letters/{name}")
    assert told.remarks[0].partition(": ")[2] == UNNAMED[0].partition(": ")[2]
    assert (report.refused, report.refused_records) == ([], 0)
    again = built(files)
    assert (again.read, again.unchanged) == (0, True)

    cited = {"title": roe.title, "date": str(roe.metadata["date"]), "url": None}
    given = citation(**cited, document_id=roe.id, metadata=json.loads(json.dumps(roe.metadata)))
    (entry,) = bibtexparser.parse_string(text("bibtex", answer(given))).entries
    assert entry["author"] == "Roe, Anna and {Ports Board}"
    assert (entry["journal"], entry["volume"], entry["number"]) == ("Ports", "3", "2")
    assert (entry["pages"], entry["year"], entry["doi"]) == ("1--9", "1887", "10.1000/182")
    assert (entry["publisher"], entry["library"]) == ("Harbour Press", "Ostby Archives, MC 7")
    (ris,) = rispy.loads(text("ris", answer(given)))
    assert (ris["authors"], ris["secondary_title"]) == (["Roe, Anna", "Ports Board"], "Ports")
    assert (ris["start_page"], ris["end_page"], ris["doi"]) == ("1", "9", "10.1000/182")
    assert (ris["name_of_database"], ris["call_number"]) == ("Ostby Archives", "MC 7")
    (csl,) = json.loads(text("csl-json", answer(given)))
    assert csl["author"] == [{"family": "Roe", "given": "Anna"}, {"literal": "Ports Board"}]
    assert csl["issued"] == {"date-parts": [[1887]]}
    assert (csl["DOI"], csl["archive"], csl["archive_location"]) == (
        *("10.1000/182", "Ostby Archives", "MC 7"),
    )


def test_a_list_outside_the_corpora_belongs_where_its_files_are(built: Build, held: Held) -> None:
    """So does Zotero write it, beside a folder `files`."""
    built({"library.ris": RIS, "files/1/roe.txt": LETTER})
    documents = held()
    assert [(id_, each.corpus) for id_, each in documents.items()] == [
        ("files.1.roe", "files"),
        ("files.library.record-2", "files"),
    ]
    assert documents["files.1.roe"].title == "The Dues of Östby"
    # where it says nothing of them it is left out, as ever
    report = built({"library.ris": RIS, "files/2/hay.txt": LETTER})
    assert list(held()) == ["files.2.hay"]
    left = [each.remarks for each in report.told if each.source == "library.ris"]
    assert (
        "outside the folders of the corpora: put it into one of them, or give --corpus",
    ) in left


@pytest.mark.parametrize("way", ["above", "whole", "link"])
def test_nothing_is_read_from_outside_the_folder(
    built: Build, held: Held, tmp_path: Path, way: str
) -> None:
    write_sources(tmp_path / "secret", {"key.txt": "The key."})
    named = {"above": "../../secret/key.txt", "whole": f"{tmp_path}/secret/key.txt"}
    source = write_sources(tmp_path / "s", {"a/cow.txt": "Hay."})
    (source / "a" / "link.txt").symlink_to(tmp_path / "secret" / "key.txt")
    path = named.get(way, "link.txt")
    (source / "a" / "b.bib").write_text(f"@book{{key, title={{Key}}, file={{{path}}}}}")
    report = built(find_sources([source], files_reader()))
    assert [each.text for each in held().values()] == ["Hay."]
    (told,) = (each for each in report.told if each.source == "a/b.bib")
    reason = f"line 1: no source is called {path!r}: it is missing, outside the folder or of a kind"
    assert told.remarks[-1] == f"{reason} that is not read"


def test_notes_stay_a_document_and_an_abstract_goes_to_the_file(built: Build, held: Held) -> None:
    noted = RIS.replace("KW  - ships", "N1  - Read it again.")
    built({"a/b.ris": noted, "a/files/1/roe.txt": LETTER})
    documents = held()
    assert documents["a.b.record-1"].text == "Of dues.\n\nRead it again."
    assert documents["a.files.1.roe"].title == "The Dues of Östby"
    assert "abstract" not in documents["a.files.1.roe"].metadata


def test_a_change_in_a_list_is_read_again_with_the_file_of_its_record(
    built: Build, held: Held
) -> None:
    files = {"a/b.ris": RIS, "a/files/1/roe.txt": LETTER, "a/cow.txt": "Hay."}
    built(files)
    report = built({**files, "a/b.ris": RIS.replace("PY  - 1887", "PY  - 1888")})
    assert (report.read, report.changes.changed, report.embedded) == (2, 1, 0)
    assert held()["a.files.1.roe"].metadata["date"] == "1888"
    report = built({**files, "a/b.ris": RIS.replace("L1  - files/1/roe.txt\n", "")})
    assert str(report.changes) == "1 added, 1 changed, 2 unchanged, 0 removed"
    assert held()["a.b.record-1"].text == "Of dues."
    assert "doi" not in held()["a.files.1.roe"].metadata


def test_tables_go_before_lists_and_a_file_is_of_one_record(built: Build, held: Held) -> None:
    twice = RIS.replace("files/9/gone.pdf", "files/1/roe.txt")
    files = {"a/b.ris": twice, "a/files/1/roe.txt": LETTER}
    report = built({**files, "metadata.csv": "file,title\na/files/1/roe.txt,Mine\n"})
    document = held()["a.files.1.roe"]
    assert (document.title, document.metadata["doi"]) == ("Mine", "10.1000/182")
    (told,) = (each for each in report.told if each.source == "a/b.ris")
    assert told.remarks == (SECOND,)
    # of two records with one key the first stays, if one of them has no file
    entry = "@book{{k, title={{{}}}, abstract={{{}}}{}}}\n"
    bib = entry.format("A", "First.", ", file={c.txt}") + entry.format("B", "Second.", "")
    built({"a/b.bib": bib, "a/c.txt": "Hay."})
    assert sorted(each.text for each in held().values()) == ["First.", "Hay."]


def test_a_list_of_which_little_is_left_is_read(built: Build, held: Held) -> None:
    words = " ".join(f"{a}{b}{c}" for a in "abcdef" for b in "ghijk" for c in "lmnop")
    items = [
        {"itemType": "book", "key": f"K{n}", "title": f"{n}", "abstractNote": f"{words}{n}",
         "attachments": [{"path": f"{n}.txt"}]}
        for n in range(5)
    ]  # fmt: skip
    items.append({"itemType": "book", "key": "L", "title": "L", "abstractNote": "Alone."})
    files = {f"a/{n}.txt": f"Text {n}." for n in range(5)}
    report = built({**files, "a/list.json": json.dumps(items)})
    assert held()["a.L"].text == "Alone."
    assert (report.refused, len(held())) == ([], 6)


# the library of a running Zotero


@pytest.fixture
def zotero(tmp_path: Path) -> Iterator[ZoteroServer]:
    """A Zotero with a letter and its files, a book with a note alone, and a page on the web."""
    storage = write_sources(
        tmp_path / "Zotero",
        {
            "storage/FILE1111/Roe 1887.txt": LETTER,
            "storage/PICT1111/ro%e.png": "",
            "storage/FILE2222/plan.txt": "The plan.",
        },
    )
    with zotero_server() as started:
        started.shown = {
            "collections": [
                {"key": "COLL1111", "name": "Coast", "parentCollection": False},
                {"key": "COLL2222", "name": "Ports", "parentCollection": "COLL1111"},
            ],
            "items": [
                ITEM | {"key": "AAAA1111", "collections": ["COLL2222"]},
                {"key": "FILE1111", "itemType": "attachment", "parentItem": "AAAA1111",
                 "linkMode": "imported_file", "title": "Full text", "tags": []},
                {"key": "PICT1111", "itemType": "attachment", "parentItem": "AAAA1111",
                 "linkMode": "linked_file", "title": "Picture"},
                {"key": "GONE1111", "itemType": "attachment", "parentItem": "AAAA1111",
                 "linkMode": "imported_url", "filename": "gone.pdf"},
                {"key": "PAGE1111", "itemType": "attachment", "parentItem": "AAAA1111",
                 "linkMode": "linked_url", "url": "https://example.org"},
                {"key": "FILE2222", "itemType": "attachment", "linkMode": "imported_file",
                 "title": "A plan", "tags": [{"tag": "walls"}], "collections": ["COLL1111"]},
                {"key": "BBBB1111", "itemType": "book", "title": "Walls", "collections": [],
                 "abstractNote": "Of walls.", "creators": []},
                {"key": "NOTE1111", "itemType": "note", "parentItem": "BBBB1111",
                 "note": "<p>Read it again.</p>"},
            ],
        }  # fmt: skip
        started.files = {
            "FILE1111": f"{storage}/storage/FILE1111/Roe 1887.txt",
            "FILE2222": f"{storage}/storage/FILE2222/plan.txt",
            "PICT1111": f"{storage}/storage/PICT1111/ro%e.png",
            "GONE1111": f"{storage}/storage/GONE1111/gone.pdf",
        }
        yield started


@pytest.fixture
def asked(built: Build, tmp_path: Path, zotero: ZoteroServer) -> Build:
    """Builds the collection `c` from the running Zotero."""

    def run(**options: str) -> BuildReport:
        given = {"address": zotero.address} | options
        return built(zotero_sources([], files_reader(), tmp_path / "c", **given))

    return run


def test_items_of_a_running_zotero_are_their_files_or_their_abstracts_and_notes(
    asked: Build, held: Held
) -> None:
    report = asked()
    letter, book = held()["zotero.FILE1111.Roe-1887"], held()["zotero.BBBB1111"]
    plan = held()["zotero.FILE2222.plan"]
    assert (plan.title, plan.metadata["collections"], plan.metadata["zotero_key"]) == (
        *("A plan", ("Coast",), "FILE2222"),
    )
    assert len(held()) == 3
    assert (letter.title, letter.text) == ("The Dues of Östby", LETTER)
    assert letter.metadata["author"] == ("Roe, Anna", "Ports Board")
    assert letter.metadata["collections"] == ("Coast > Ports",)
    assert letter.metadata["tags"] == ("ships", "dues")
    assert (letter.metadata["zotero_key"], letter.metadata["zotero_library"]) == (
        *("AAAA1111", "users/475425"),
    )
    assert (book.text, book.metadata["zotero_key"]) == ("Of walls.\n\nRead it again.", "BBBB1111")
    told = {each.source: each.remarks for each in report.told}
    assert told["zotero/GONE1111/gone.pdf"] == ("Zotero does not have it here: open it there once",)
    assert told["zotero/PICT1111/ro%e.png"][0].startswith("not a .bib or ")
    assert (len(told), report.refused) == (2, [])


def test_only_what_changed_in_zotero_is_read_again(
    asked: Build, held: Held, zotero: ZoteroServer
) -> None:
    """Also if it is not synchronised: then no version of the local API has changed."""
    asked()
    again = asked()
    assert (again.read, again.unchanged) == (0, True)
    zotero.shown["items"][6]["abstractNote"] = "Of old walls."
    zotero.shown["items"][6]["dateModified"] = "2026-01-01T00:00:00Z"
    report = asked()
    assert (report.read, str(report.changes)) == (1, "0 added, 1 changed, 2 unchanged, 0 removed")
    zotero.shown["items"][0]["title"] = "Dues"
    zotero.shown["collections"][0]["name"] = "Shore"
    report = asked()
    assert (report.changes.changed, held()["zotero.FILE1111.Roe-1887"].title) == (2, "Dues")
    assert held()["zotero.FILE1111.Roe-1887"].metadata["collections"] == ("Shore > Ports",)
    del zotero.shown["items"][:5]
    assert str(asked().changes) == "0 added, 0 changed, 2 unchanged, 1 removed"
    # a file that Zotero takes away leaves the abstract of its item
    zotero.shown["items"].append(ITEM | {"key": "AAAA1111"})
    assert asked().changes.added == 1
    assert held()["zotero.AAAA1111"].text == "Of dues."


def test_a_library_is_read_in_pages_and_only_as_a_whole(
    asked: Build, held: Held, zotero: ZoteroServer
) -> None:
    zotero.library = "groups/77"
    zotero.shown["items"] = [
        {"key": f"K{n}", "itemType": "book", "title": f"Book {n}", "abstractNote": f"Text {n}."}
        for n in range(250)
    ]
    asked(library="groups/77", corpus="books")
    assert zotero.asked.count("/api/groups/77/items") == 1
    zotero.most = 100
    assert asked(library="groups/77", corpus="books").unchanged
    assert len(held()) == 250
    assert held()["books.K7"].metadata["zotero_library"] == "groups/77"
    assert zotero.asked.count("/api/groups/77/items") == 1 + 3
    zotero.between = lambda: zotero.shown["items"].pop(0) and None  # which the others follow up
    with pytest.raises(SourceError, match="changed while it was read"):
        asked(library="groups/77")
    assert len(held()) == 250


def test_a_zotero_that_cannot_be_read_says_what_to_do(asked: Build, zotero: ZoteroServer) -> None:
    zotero.allowed = False
    with pytest.raises(SourceError, match="Settings > Advanced > Allow other applications on this"):
        asked()
    zotero.allowed = True
    with pytest.raises(SourceError, match=r"no http://.*/api/groups/1/collections \(404 Not found"):
        asked(library="groups/1")
    with pytest.raises(SourceError, match=r"^Zotero is not running. Start it, then try again.$"):
        asked(address=f"http://127.0.0.1:{free_port()}")
    with pytest.raises(SourceError, match="names files of its own machine"):
        asked(address="http://zotero.example:23119")
    zotero.shown["collections"][0].pop("name")
    with pytest.raises(SourceError, match="Zotero's answer cannot be read"):
        asked()
