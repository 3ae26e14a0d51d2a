"""Repositories that speak OAI-PMH: what is asked of them, kept of the last time, and read."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import parse_qsl, urlencode

import pytest

from atlas_search.building.flow import BuildOptions, BuildReport, build
from atlas_search.building.workers import ReadingLimits
from atlas_search.cli.create import locate_oai
from atlas_search.core.domain import Document
from atlas_search.core.errors import SourceError
from atlas_search.readers import Skipped
from atlas_search.readers.oai import oai_reader
from atlas_search.stores.embedded import EmbeddedStore
from tests.hash_embedder import HashEmbedder
from tests.readers.conftest import Reads
from tests.readers.sites import HTML, Answer, Site
from tests.tiny import document_ids, silent

XML = {"Content-Type": "text/xml"}
GIVEN = {
    "prefix": "oai_dc", "set": "", "since": "", "until": "", "files": False, "corpora": None,
    "corpus": "", "corpus_field": "", "encoding": "", "contact": "", "delay": 0.001,
    "refresh": False, "allow_private": "127.0.0.1",
}  # fmt: skip
GONE = ("the repository has deleted it", "the repository gives no metadata of it")
FIRST = {"verb": "ListRecords", "metadataPrefix": "oai_dc"}
DUES = (
    "<dc:title>The Dues of Östby</dc:title><dc:creator>Roe, Anna</dc:creator>"
    "<dc:contributor>Hay, Karl</dc:contributor><dc:subject>ships</dc:subject>"
    "<dc:subject>dues</dc:subject><dc:description>&lt;p&gt;Of dues.&lt;/p&gt;</dc:description>"
    "<dc:publisher>Harbour Press</dc:publisher><dc:date>2011-03-02T10:00:00Z</dc:date>"
    "<dc:date>1887</dc:date><dc:type>info:eu-repo/semantics/article</dc:type>"
    "<dc:type>Article</dc:type><dc:identifier>https://ostby.example/1.pdf</dc:identifier>"
    "<dc:identifier>https://ostby.example/1</dc:identifier>"
    "<dc:identifier>doi:10.1000/182</dc:identifier><dc:language>en</dc:language>"
    "<dc:identifier>MC 7</dc:identifier><dc:relation>Ports, 3</dc:relation>"
    f"<dc:rights>{' '.join(f'word{chr(97 + n)}' for n in range(26))} and more that may not be "
    "copied without leave of those who own them</dc:rights>"
)
WALLS = "<dc:title>Walls</dc:title><dc:creator>Clerk, A.</dc:creator><dc:date>1901</dc:date>"


def record(key: str, dc: str | None = DUES, metadata: str = "") -> str:
    status = ' status="deleted"' if dc is None and not metadata else ""
    inner = metadata or (
        '<oai_dc:dc xmlns:oai_dc="http://www.openarchives.org/OAI/2.0/oai_dc/" '
        f'xmlns:dc="http://purl.org/dc/elements/1.1/">{dc}</oai_dc:dc>'
    )
    return (
        f"<record><header{status}><identifier>oai:o:{key}</identifier>"
        f"<datestamp>2024-01-01</datestamp><setSpec>ports</setSpec></header>"
        + ("" if status else f"<metadata>{inner}</metadata>")
        + "</record>"
    )


def answer(inner: str, at: str = "2024-05-02T10:00:00Z") -> Answer:
    text = (
        '<?xml version="1.0"?><OAI-PMH xmlns="http://www.openarchives.org/OAI/2.0/">'
        f"<responseDate>{at}</responseDate><request/>{inner}</OAI-PMH>"
    )
    return Answer(text.encode(), headers=XML)


def records(*each: str, token: str = "", at: str = "2024-05-02T10:00:00Z") -> Answer:
    mark = f'<resumptionToken completeListSize="3">{token}</resumptionToken>'
    return answer(f"<ListRecords>{''.join(each)}{mark}</ListRecords>", at)


def error(code: str, words: str = "") -> Answer:
    return answer(f'<error code="{code}">{words}</error>')


@dataclass
class Repository:
    """A repository on this machine, and the collection `c` that is built of it."""

    site: Site
    folder: Path
    given: dict[str, Any] = field(default_factory=dict)

    @property
    def url(self) -> str:
        return f"{self.site.address}/oai"

    def tells(self, deleted: str = "persistent", clock: str = "YYYY-MM-DDThh:mm:ssZ") -> None:
        self.site.serves(
            "/oai?verb=Identify",
            answer(
                "<Identify><repositoryName>Ostby Ports</repositoryName>"
                f"<deletedRecord>{deleted}</deletedRecord><granularity>{clock}</granularity>"
                "</Identify>"
            ),
        )

    def gives(self, request: Mapping[str, str], *answers: Answer) -> None:
        self.site.serves(f"/oai?{urlencode(request)}", *answers)

    def asked(self) -> list[dict[str, str]]:
        """The requests for records since the last time."""
        paths = [path for path, _ in self.site.requests if "ListRecords" in path]
        self.site.requests.clear()
        return [dict(parse_qsl(path.partition("?")[2])) for path in paths]

    def build(self, **options: Any) -> BuildReport:
        given = {**GIVEN, "source": [self.url], **options}
        reader = oai_reader([])
        sources = locate_oai([], reader, given, self.folder)
        chosen = BuildOptions("c", "oai", limits=ReadingLimits(workers=0))
        return build(self.folder, sources, reader, HashEmbedder(), chosen, silent)

    def first_lines(self) -> set[str]:
        return {each.text.split("\n")[0] for each in self.held().values()}

    def held(self) -> dict[str, Document]:
        store = EmbeddedStore(self.folder)
        try:
            return {id_: store.document(id_) for id_ in document_ids(self.folder)}
        finally:
            store.close()


@pytest.fixture
def repository(site: Site, tmp_path: Path) -> Repository:
    repository = Repository(site, tmp_path / "c")
    repository.tells()
    return repository


def test_a_record_is_a_document_of_its_description(repository: Repository) -> None:
    """However long its rights are; one without a description is what a catalogue says of it."""
    repository.gives(FIRST, records(record("1"), record("2", WALLS)))
    report = repository.build()
    assert report.refused == []
    assert [(each.id, each.label) for each in report.manifest.corpora] == [
        ("Ostby_Ports", "Ostby Ports")
    ]
    dues, walls = repository.held().values()
    assert (dues.id, dues.title, dues.text) == (
        *("Ostby_Ports.oai-o-1", "The Dues of Östby", "Of dues."),
    )
    said = {
        "author": ("Roe, Anna",), "contributor": ("Hay, Karl",), "date": "1887",
        "tags": ("ships", "dues"), "document_type": "Article", "publisher": "Harbour Press",
        "url": "https://ostby.example/1", "doi": "10.1000/182", "language": "en",
        "oai_identifier": "oai:o:1", "sets": ("ports",), "relation": ("Ports, 3",),
        "identifier": ("doi:10.1000/182", "MC 7"),
    }  # fmt: skip
    assert said.items() <= dues.metadata.items()
    assert walls.text == "Walls\n\nClerk, A.\n\n1901"


def test_all_pages_are_harvested(repository: Repository) -> None:
    repository.gives(FIRST, records(record("1"), token="a b/2"))
    following = {"verb": "ListRecords", "resumptionToken": "a b/2"}
    repository.gives(following, records(record("2", WALLS)))
    assert repository.build().manifest.documents == 2
    assert repository.asked() == [FIRST, following]


@pytest.mark.parametrize(
    ("clock", "since"),
    [("YYYY-MM-DDThh:mm:ssZ", "2024-05-02T09:59:59Z"), ("YYYY-MM-DD", "2024-05-01")],
)
def test_another_run_asks_for_what_changed_and_keeps_the_rest(
    repository: Repository, clock: str, since: str
) -> None:
    repository.tells(clock=clock)
    three = [record("1"), record("2", WALLS), record("3", WALLS)]
    repository.gives(FIRST, records(*three))
    repository.build()
    later = FIRST | {"from": since}
    changed = WALLS.replace("Clerk", "Mason")
    repository.gives(later, records(record("2", changed), record("3", None)))
    repository.asked()
    report = repository.build()
    assert repository.asked() == [later]
    assert report.read == 1
    texts = {id_[-1]: document.text for id_, document in repository.held().items()}
    assert texts == {"1": "Of dues.", "2": "Walls\n\nMason, A.\n\n1901"}
    # nothing new is no fault
    repository.gives(later, error("noRecordsMatch"))
    assert repository.build().unchanged
    # all is asked for again if somebody says so, or for something else
    repository.gives(FIRST, records(record("1")))
    assert repository.build(refresh=True).manifest.documents == 1
    other = FIRST | {"set": "coast"}
    repository.gives(other, records(record("7", WALLS)))
    repository.asked()
    repository.build(set="coast")
    assert repository.asked() == [other]
    assert [id_[-1] for id_ in repository.held()] == ["7"]


@pytest.mark.parametrize(
    ("deleted", "options"), [("no", {}), ("persistent", {"until": "2024-04-01"})]
)
def test_all_is_asked_for_again_where_a_change_would_not_be_told(
    repository: Repository, deleted: str, options: dict[str, str]
) -> None:
    repository.tells(deleted)
    request = FIRST | options
    repository.gives(request, records(record("1"), record("2", WALLS)), records(record("2", WALLS)))
    repository.build(**options)
    assert [id_[-1] for id_ in repository.held()] == ["1", "2"]
    repository.build(**options)
    assert [id_[-1] for id_ in repository.held()] == ["2"]


def test_a_harvest_that_fails_changes_nothing_and_is_made_good(repository: Repository) -> None:
    following = {"verb": "ListRecords", "resumptionToken": "t"}
    repository.gives(FIRST, records(record("1"), token="t"))
    for reply, message in (
        (error("badResumptionToken", "expired"), r"again \(badResumptionToken: expired\)"),
        (error("noRecordsMatch"), r"does not answer that \(noRecordsMatch\)"),
        (answer(""), "gave an answer without content"),
        (Answer(records(record("2")).body[:-60], headers=XML), "get the whole file again"),
    ):
        repository.gives(following, reply)
        with pytest.raises(SourceError, match=message):
            repository.build()
    repository.gives(following, records(record("2", WALLS)))
    repository.asked()
    repository.build()
    assert repository.asked() == [FIRST, following]
    assert len(repository.held()) == 2
    # one that repeats itself ends
    repository.gives(FIRST, records(record("1"), token="t"))
    repository.gives(following, records(record("2", WALLS), token="t"))
    with pytest.raises(SourceError, match="gives the same records again and again"):
        repository.build(refresh=True)


@pytest.mark.parametrize(
    ("reply", "message"),
    [
        (error("noRecordsMatch"), "has no record of that kind"),
        (error("noSetHierarchy"), "has no sets; leave out --set"),
        (error("cannotDisseminateFormat"), "choose another --prefix"),
        (error("badArgument", "until"), r"does not take these options \(badArgument: until\)"),
        (error("odd", "Sorry"), r"does not answer that \(odd: Sorry\)"),
        (Answer(b"<html><p>Welcome</p></html>"), "does not answer as a repository of OAI-PMH"),
        (Answer(b"Welcome"), "does not answer as a repository of OAI-PMH"),
        (Answer(b"", 404), "cannot be harvested: HTTP 404 Not Found"),
    ],
)
def test_what_a_repository_refuses_is_said_in_plain_words(
    repository: Repository, reply: Answer, message: str
) -> None:
    repository.gives(FIRST, reply)
    with pytest.raises(SourceError, match=message):
        repository.build()


def test_a_busy_repository_is_asked_again_when_it_says_so(repository: Repository) -> None:
    busy = Answer(b"", 503, {"Retry-After": "0"})
    repository.gives(FIRST, busy, records(record("1")))
    assert repository.build().manifest.documents == 1
    repository.gives(FIRST, Answer(b"", 503, {"Retry-After": "7200"}))
    with pytest.raises(SourceError, match="its server asks to wait 7200 s; fetch it later"):
        repository.build(refresh=True)


def test_a_repository_in_a_private_network_is_not_asked(repository: Repository) -> None:
    with pytest.raises(SourceError, match="--allow-private"):
        repository.build(allow_private="")
    assert repository.site.requests == []


def test_files_of_records_are_read_only_if_somebody_says_so(repository: Repository) -> None:
    """Those of the same host, with the metadata of the record, which they replace."""
    site = repository.site
    page = Answer(b"<html><title>x</title><p>The tide was low.</p></html>", headers=HTML)
    own = site.serves("/1.html", page)
    missing = site.serves("/2.pdf", page)
    named = "".join(
        f"<dc:relation>{each}</dc:relation>"
        for each in (own, "http://localhost:1/3.html", f"{site.address}/landing/1")
    )
    lost = f"<dc:identifier>{missing}</dc:identifier>"
    repository.gives(FIRST, records(record("1", DUES + named), record("2", WALLS + lost)))
    repository.build()
    assert repository.first_lines() == {"Of dues.", "Walls"}
    assert "/1.html" not in site.visits()
    report = repository.build(files=True, refresh=True)
    dues, walls = sorted(repository.held().values(), key=lambda each: each.title)
    assert (dues.text, dues.title) == ("The tide was low.", "The Dues of Östby")
    assert walls.title == "Walls"
    assert dues.metadata["abstract"] == "Of dues."
    assert dues.metadata["doi"] == "10.1000/182"
    told = {each.source: each.remarks for each in report.told}
    assert told == {missing: ("not a PDF but text/html",)}
    # without them the record is a document again
    repository.build(refresh=True)
    assert repository.first_lines() == {"Of dues.", "Walls"}


def test_saved_answers_are_read_too(reads: Reads) -> None:
    """So are records in a format that is read anyway."""
    tei = (
        '<TEI xmlns="http://www.tei-c.org/ns/1.0"><teiHeader><fileDesc><titleStmt><title>Log'
        "</title></titleStmt></fileDesc></teiHeader><text><body><p>Low tide.</p></body></text>"
        "</TEI>"
    )
    saved = records(record("1"), record("2", None), record("3", metadata=tei)).body
    dues, gone, log = reads(saved, "answer.xml")
    assert (dues.key, log.key) == ("oai:o:1", "oai:o:3")
    assert isinstance(gone, Skipped)
    assert gone.reason == GONE[0]
    assert not isinstance(log, Skipped)
    assert log.text == "Low tide."


def test_a_record_without_metadata_is_told(reads: Reads) -> None:
    bare = "<record><header><identifier>1</identifier></header></record>"
    empty = record("2", "")
    first, second = reads(records(bare, empty).body, "answer.xml")
    assert isinstance(first, Skipped)
    assert isinstance(second, Skipped)
    assert (first.reason, second.reason) == (GONE[1], "it holds no text")
