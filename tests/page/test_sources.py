"""Own sources, added in the page by somebody who has no key and reads no manual."""

import re
import time
import zipfile
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Locator, Page, expect
from pydantic import SecretStr

from atlas_search.building.maintain import make_empty
from atlas_search.core.settings import Settings
from atlas_search.providers.embedding_local import LocalEmbedder
from atlas_search.server.app import create_app
from atlas_search.server.collections import ServedCollections
from atlas_search.server.serving import Serving
from tests.first_archive import PHOTO, SCAN, write_archive
from tests.hash_embedder import HashEmbedder
from tests.page.asking import finished
from tests.page.test_accessibility import check_all
from tests.server.ingest.embedders import hashing
from tests.servers import served
from tests.tiny import FARM, build_tiny, write_sources
from tests.zotero_server import ZoteroServer

pytestmark = [pytest.mark.browser, pytest.mark.thorough]
JOB = 300_000  # ms: a job starts processes, which takes long on a busy machine
MINUTES = 3


@pytest.fixture(scope="module")
def settings(tmp_path_factory: pytest.TempPathFactory, zotero: ZoteroServer) -> Settings:
    """Settings of a server of one tiny collection."""
    folder = tmp_path_factory.mktemp("own")
    build_tiny(write_sources(folder / "source", FARM), folder / "stores" / "farm", HashEmbedder())
    return Settings(
        chroma_persist_directory=folder / "stores",
        chroma_collection_name="farm",
        ingest_root=folder / "ingest",
        atlas_state_directory=folder / "state",
        zotero_address=zotero.address,
    )


@pytest.fixture(scope="module")
def address(settings: Settings) -> Iterator[str]:
    collections = ServedCollections(Serving(settings, HashEmbedder()))
    app = create_app(collections, open_embedder=hashing)
    with served(app, threads=8) as started:
        yield started
    app.extensions["jobs"].close()
    collections.close()


@pytest.fixture(scope="module")
def archive(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_archive(tmp_path_factory.mktemp("mine") / "Dock strike 1912")


def open_panel(tab: Page, address: str) -> Locator:
    tab.goto(address)
    tab.get_by_role("button", name="Add sources").click()
    panel = tab.get_by_role("dialog", name="Add sources")
    expect(panel).to_be_visible()
    return panel


def choose_files(panel: Locator, *files: Path) -> None:
    panel.locator("input[type=file][multiple]").set_input_files(files)


def report_of(panel: Locator) -> Locator:
    """The report on what was added, once it is there."""
    report = panel.locator("section").last
    expect(report).to_be_visible(timeout=JOB)
    return report


def drop(page: Page, *paths: Path) -> None:
    """Drop files and folders onto the page, as the system does."""
    network = page.context.new_cdp_session(page)
    data = {"items": [], "files": [str(path) for path in paths], "dragOperationsMask": 1}
    for kind in ("dragEnter", "dragOver"):
        network.send("Input.dispatchDragEvent", {"type": kind, "x": 300, "y": 300, "data": data})
    expect(page.locator("#sources-veil")).to_be_visible()
    network.send("Input.dispatchDragEvent", {"type": "drop", "x": 300, "y": 300, "data": data})


def test_a_folder_becomes_a_cited_answer_in_minutes(tab: Page, address: str, archive: Path) -> None:
    begun = time.monotonic()
    panel = open_panel(tab, address)
    panel.locator("input[webkitdirectory]").set_input_files(archive)
    expect(panel.locator("fieldset")).to_contain_text("12 files")
    expect(panel.get_by_label("Name of the corpus")).to_have_value("Dock strike 1912")
    check_all(tab)
    panel.get_by_role("button", name="Add them").click()
    report = report_of(panel)
    expect(report.get_by_role("heading", name="Dock strike 1912")).to_be_visible()
    expect(report).to_contain_text("12 files: 10 read, 2 left out. New: 10 documents.")
    left_out = report.get_by_role("listitem")
    expect(left_out.filter(has_text=PHOTO)).to_contain_text("text in pictures is not read")
    expect(left_out.filter(has_text=SCAN)).to_contain_text("has no text, as in a scan; run OCR")
    check_all(tab)
    question = report.get_by_role("button")
    asked = question.inner_text()
    question.click()
    answer = finished(tab)
    expect(answer.get_by_role("heading", name=asked)).to_be_visible()
    expect(answer).to_contain_text("Dock strike 1912")
    assert time.monotonic() - begun < MINUTES * 60
    chosen = tab.locator("select#collection")
    expect(chosen).to_have_value("Dock_strike_1912")
    expect(chosen.locator("option:checked")).to_have_text("Dock strike 1912 (10 documents)")


@pytest.fixture
def by_meaning(settings: Settings, tmp_path: Path, embedder: LocalEmbedder) -> Iterator[str]:
    """A server of an empty collection with a real model: hashes are no reason to answer."""
    own = {"chroma_persist_directory": tmp_path / "stores", "ingest_root": tmp_path / "ingest"}
    empty = settings.model_copy(update=own)
    empty.collection_folder.mkdir(parents=True)
    make_empty(empty.collection_folder, embedder)
    collections = ServedCollections(Serving(empty, embedder))
    app = create_app(collections)
    with served(app, threads=8) as started:
        yield started
    app.extensions["jobs"].close()
    collections.close()


def test_a_collection_of_zotero_becomes_a_cited_answer(
    tab: Page, by_meaning: str, tmp_path: Path, zotero: ZoteroServer
) -> None:
    sank = "The ferry to Ostby sank in the storm of May."
    letters = write_sources(tmp_path / "letters", {"reed.md": f"# The ferry\n\n{sank}"})
    zotero.shown = {
        "collections": [
            {"key": "COAST111", "name": "Coast", "parentCollection": False},
            {"key": "FERRY111", "name": "Ferries", "parentCollection": "COAST111"},
        ],
        "items": [
            {"key": "REED1111", "itemType": "letter", "title": "The ferry", "date": "1912-05-03",
             "collections": ["FERRY111"]},
            *({"key": key, "itemType": "attachment", "parentItem": "REED1111",
               "linkMode": "imported_file", "filename": name}
              for key, name in (("FILE1111", "reed.md"), ("FILE2222", "gone.pdf"))),
        ],
    }  # fmt: skip
    zotero.files = {"FILE1111": f"{letters}/reed.md", "FILE2222": f"{letters}/gone.pdf"}
    tab.goto(by_meaning)
    tab.locator("#views").get_by_role("button", name="Add sources").click()
    panel = tab.get_by_role("dialog", name="Add sources")
    zotero.allowed = False
    panel.get_by_role("button", name="Choose from Zotero").click()
    expect(panel.get_by_role("alert")).to_contain_text(
        "Allow it there, in Settings > Advanced > Allow other applications on this computer"
    )
    zotero.allowed = True
    panel.get_by_role("button", name="Choose from Zotero").click()
    offered = panel.get_by_label("Collection in Zotero")
    expect(offered.locator("option")).to_have_text(
        ["Coast", "Coast > Ferries", "The whole library"]
    )
    check_all(tab)
    offered.select_option("Coast > Ferries")
    panel.get_by_role("button", name="Choose it").click()
    expect(panel.locator("fieldset")).to_contain_text("Zotero: Coast > Ferries")
    expect(panel.get_by_label("Name of the corpus")).to_have_value("Ferries")
    panel.get_by_role("button", name="Add them").click()
    report = report_of(panel)
    expect(report).to_contain_text("New: 1 document.")
    expect(report.get_by_role("listitem")).to_contain_text("Zotero does not have it here")
    check_all(tab)
    report.get_by_role("button", name="What is “The ferry” about?").click()
    answer = finished(tab)
    expect(answer.locator(".sources mark")).to_have_text(sank)
    source = answer.locator(".sources .document")
    expect(source.get_by_role("heading", name="The ferry")).to_be_visible()
    expect(source.locator(".context")).to_have_count(0)  # the heading in the text says the same


def test_what_is_dropped_anywhere_is_added_in_corpora_of_their_folders(
    tab: Page, address: str, tmp_path: Path
) -> None:
    folder = write_sources(
        tmp_path / "Letters",
        {"deep/anna.txt": "Anna writes of hay.", ".DS_Store": "x", "karl.txt": "Karl writes."},
    )
    with zipfile.ZipFile(tmp_path / "box.zip", "w") as box:
        box.writestr("maps/list.txt", "A list of maps of the coast.")
    tab.goto(address)
    expect(tab.get_by_role("button", name="Add sources")).to_be_visible()
    drop(tab, folder, tmp_path / "box.zip")
    panel = tab.get_by_role("dialog", name="Add sources")
    expect(panel.locator("fieldset")).to_have_count(2)
    names = panel.get_by_label("Name of the corpus")
    expect(names.nth(0)).to_have_value("Letters")
    expect(names.nth(1)).to_have_value("box")
    names.nth(1).fill("Maps of the coast")
    panel.get_by_label("Date of undated documents").nth(1).fill("1866")
    panel.get_by_role("button", name="Add them").click()
    expect(panel.locator("section")).to_have_count(2, timeout=JOB)
    expect(panel.locator("section").nth(0)).to_contain_text("2 files: 2 read, 0 left out")
    expect(panel.get_by_role("heading", name="Maps of the coast")).to_be_visible()
    found = tab.request.get(f"{address}/api/documents?corpus=Maps_of_the_coast").json()
    assert [document["first_day"] for document in found["documents"]] == ["1866-01-01"]
    panel.get_by_role("button", name="Close").click()
    expect(
        tab.locator("select#collection option", has_text="Letters (2 documents)")
    ).to_be_attached()


def test_the_panel_finds_its_job_after_a_reload(tab: Page, address: str, tmp_path: Path) -> None:
    write_sources(tmp_path, {"note.txt": "A note on tides."})
    panel = open_panel(tab, address)
    choose_files(panel, tmp_path / "note.txt")
    expect(panel.get_by_label("Name of the corpus")).to_have_value("My sources")
    panel.get_by_role("button", name="Add them").click()
    expect(panel.locator("fieldset")).to_have_count(0)
    tab.reload()
    report = report_of(panel)
    expect(report).to_contain_text("1 file: 1 read, 0 left out.")
    expect(report.get_by_role("button")).to_have_count(0)  # one line is nothing to ask about
    panel.get_by_role("button", name="Close").click()
    tab.reload()
    expect(tab.get_by_role("button", name="Add sources")).to_be_visible()
    expect(panel).to_have_count(0)


def test_files_of_the_same_names_are_replaced_when_that_is_said(
    tab: Page, address: str, tmp_path: Path
) -> None:
    panel = open_panel(tab, address)
    for text, ticks in (("The first text.", False), ("Another text.", True)):
        write_sources(tmp_path, {"same.txt": text})
        choose_files(panel, tmp_path / "same.txt")
        panel.get_by_label("Name of the corpus").fill("Twice")
        panel.get_by_role("button", name="Add them").click()
        if ticks:
            expect(panel.get_by_role("alert")).to_contain_text(
                "Other files of these names are kept"
            )
            panel.get_by_label("Replace files of the same names").check()
            panel.get_by_role("button", name="Add them").click()
        expect(report_of(panel)).to_contain_text("1 file: 1 read")
        panel.get_by_role("button", name="Close").click()
        panel = open_panel(tab, address)
    text = tab.request.get(f"{address}/api/documents/Twice.same").json()["text"]
    assert text == "Another text."


def test_an_empty_server_asks_for_sources_first(
    tab: Page, settings: Settings, tmp_path: Path
) -> None:
    own = {"chroma_persist_directory": tmp_path / "stores", "ingest_root": tmp_path / "ingest"}
    empty = settings.model_copy(update=own)
    empty.collection_folder.mkdir(parents=True)
    make_empty(empty.collection_folder, HashEmbedder())
    collections = ServedCollections(Serving(empty, HashEmbedder()))
    app = create_app(collections, open_embedder=hashing)
    own_files = write_sources(tmp_path / "own", {"note.txt": "A note on tides."})
    with served(app, threads=8) as address:
        tab.goto(address)
        expect(tab.get_by_role("heading", name="No sources yet")).to_be_visible()
        expect(tab.locator("#question")).to_be_hidden()
        check_all(tab)
        tab.locator("#views").get_by_role("button", name="Add sources").click()
        panel = tab.get_by_role("dialog", name="Add sources")
        choose_files(panel, own_files / "note.txt")
        panel.get_by_role("button", name="Add them").click()
        expect(report_of(panel)).to_contain_text("1 file: 1 read, 0 left out.")
        panel.get_by_role("button", name="Close").click()
        expect(tab.locator("#question")).to_be_visible()
        expect(tab.locator("#served")).to_contain_text("1 document")
    app.extensions["jobs"].close()
    collections.close()


def test_what_runs_is_cancelled_and_nothing_is_added(
    tab: Page, address: str, tmp_path: Path
) -> None:
    write_sources(tmp_path, {"gone.txt": "A note that nobody keeps."})
    panel = open_panel(tab, address)
    choose_files(panel, tmp_path / "gone.txt")
    panel.get_by_label("Name of the corpus").fill("Gone")
    cancel = panel.get_by_role("button", name="Cancel")
    expect(cancel).to_be_hidden()
    panel.get_by_role("button", name="Add them").click()
    # a process is started first, which takes longer than to press
    expect(panel.get_by_role("status")).to_have_text(re.compile("Starting to read|Waiting"))
    cancel.click()
    expect(report_of(panel)).to_contain_text("It was cancelled. Nothing was added.")
    expect(cancel).to_be_hidden()
    corpora = tab.request.get(f"{address}/api/corpora").json()["corpora"]
    assert "Gone" not in [corpus["id"] for corpus in corpora]


def test_nothing_is_offered_to_who_may_not_add(tab: Page, settings: Settings) -> None:
    closed = settings.model_copy(update={"atlas_admin_token": SecretStr("token")})
    collections = ServedCollections(Serving(closed, HashEmbedder()))
    with served(create_app(collections), threads=8) as address:
        tab.goto(address)
        expect(tab.locator("select#target option").first).to_be_attached()
        expect(tab.get_by_role("button", name="Add sources")).to_be_hidden()
        assert tab.request.get(f"{address}/api/ingest/zotero").status == 403
    collections.close()


def test_a_corpus_is_renamed_and_dated(tab: Page, address: str, tmp_path: Path) -> None:
    panel = open_panel(tab, address)
    write_sources(tmp_path, {"tides.txt": "The tide is high."})
    choose_files(panel, tmp_path / "tides.txt")
    panel.get_by_label("Name of the corpus").fill("Tides")
    panel.get_by_role("button", name="Add them").click()
    report_of(panel)
    panel.get_by_role("button", name="Close").click()
    panel = open_panel(tab, address)
    panel.get_by_text("Rename, date or describe a corpus").click()
    panel.get_by_label("Corpus", exact=True).select_option("Tides")
    expect(panel.get_by_label("New name")).to_have_value("Tides")
    panel.get_by_label("New name").fill("Tides & winds")
    panel.get_by_label("Date of undated documents").fill("1866")
    panel.get_by_label("What it holds").fill("Tables of the harbour at Ostby.")
    check_all(tab)
    panel.get_by_role("button", name="Save").click()
    expect(report_of(panel)).to_contain_text("It is saved.")
    panel.get_by_role("button", name="Close").click()
    offered = tab.locator("select#collection option[value=Tides]")
    expect(offered).to_have_text("Tides & winds (1 document)")
    tab.locator("select#collection").select_option("Tides")
    expect(tab.locator("#corpus-description")).to_have_text("Tables of the harbour at Ostby.")
    (found,) = tab.request.get(f"{address}/api/documents?corpus=Tides").json()["documents"]
    assert found["first_day"] == "1866-01-01"
