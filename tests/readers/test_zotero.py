"""Lists of literature beside the files that they name, and Zotero's library as a source."""

import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import bibtexparser
import pytest
import rispy

from atlas_search.building.flow import BuildOptions, BuildReport, build
from atlas_search.building.sources import Sources, find_sources
from atlas_search.building.workers import ReadingLimits
from atlas_search.core.domain import Document
from atlas_search.readers.files import files_reader
from atlas_search.stores.embedded import EmbeddedStore
from tests.exporting import answer, citation, text
from tests.hash_embedder import HashEmbedder
from tests.tiny import document_ids, silent, write_sources

Build = Callable[..., BuildReport]
LETTER = "Dear Karl, the tide was low."


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
    assert told.remarks[0].endswith(
        "no source is called 'files/9/gone.pdf': it is missing, outside the folder or of a kind "
        "that is not read"
    )
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
