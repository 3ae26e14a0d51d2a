"""Files handed to a running server become part of its collection, and are kept beside it."""

import io
import zipfile
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest
from flask.testing import FlaskClient

from atlas_search.core.settings import Settings
from atlas_search.stores.manifest import Manifest
from tests.server.ingest.embedders import (
    failing_before_live,
    failing_once_live,
    other_model,
    waiting,
)
from tests.server.ingest.handing import (
    BEES,
    COLLECTION,
    detail,
    documents,
    done,
    ended,
    job_of,
    running,
    send,
    served_by,
)

LONG = "\n\n".join(f"Bees of hive {number} give honey in summer." for number in range(60))


@pytest.fixture
def kept(settings: Settings) -> Path:
    folder = settings.ingest_root / COLLECTION
    folder.mkdir(parents=True)
    return folder


def texts(kept: Path) -> dict[str, str]:
    """The kept files by name."""
    files = (p for p in kept.rglob("*") if p.is_file() and ".jobs" not in p.parts)
    return {path.relative_to(kept).as_posix(): path.read_text() for path in files}


def test_files_are_served_beside_what_was_there(client: FlaskClient, kept: Path) -> None:
    response = send(client, {"bees.txt": "Bees give honey.\n"}, corpus="garden")
    assert response.headers["Location"] == f"/api/jobs/{response.get_json()['id']}"
    job = done(client, response)
    assert job["files"] == [
        {"sent_as": "bees.txt", "name": "bees.txt", "bytes": 17, "replaces": False}
    ]
    result = job["result"]
    assert (result["documents"], result["documents_added"], result["passages_added"]) == (4, 1, 1)
    assert {stage["name"] for stage in job["progress"]} >= {"Reading files", "Going live"}
    assert documents(client) == {"farm": 2, "town": 1, "garden": 1}
    assert client.get("/api/documents/garden.bees").get_json()["text"] == "Bees give honey."
    assert client.get("/api/config").get_json()["collection_version"] == result["version"]
    second = done(client, send(client, {"ants.md": "Ants carry leaves.\n"}, corpus="garden"))
    assert second["result"]["documents_added"] == 1
    assert documents(client)["garden"] == 2
    assert texts(kept).keys() == {"garden/ants.md", "garden/bees.txt"}


@pytest.mark.thorough
def test_another_text_of_the_same_name_is_said_first(client: FlaskClient) -> None:
    done(client, send(client, {"bees.txt": "Bees give honey.\n"}))
    refusal = send(client, {"bees.txt": "Bees give wax.\n"})
    assert "names are kept: bees.txt" in detail(refusal, 409)
    assert done(client, send(client, {"bees.txt": "Bees give honey.\n"}))["result"]["unchanged"]
    job = done(client, send(client, {"bees.txt": "Bees give wax.\n"}, replace="true"))
    assert job["files"][0]["replaces"]
    assert job["result"]["documents_changed"] == 1
    assert client.get("/api/documents/documents.bees").get_json()["text"] == "Bees give wax."


def test_the_cut_of_passages_is_bounded_and_told(client: FlaskClient) -> None:
    for fields, size, overlap, clamped in (
        ({}, 1000, 100, {}),
        ({"chunk_size": 20}, 100, 10, {"chunk_size": (20, 100)}),
        ({"chunk_size": 9000}, 4000, 400, {"chunk_size": (9000, 4000)}),
        ({"chunk_size": 200, "chunk_overlap": 150}, 200, 100, {"chunk_overlap": (150, 100)}),
        ({"chunk_overlap": -3}, 1000, 0, {"chunk_overlap": (-3, 0)}),
    ):
        response = send(client, {"bees.txt": "Bees give honey.\n"}, **fields)
        chunks = response.get_json()["chunks"]
        assert (chunks["size"], chunks["overlap"]) == (size, overlap)
        assert {c["setting"]: (c["asked"], c["used"]) for c in chunks["clamped"]} == clamped
        assert chunks["defaults"] == (not fields)
        client.delete(f"/api/jobs/{job_of(response)}")
        ended(client, response.get_json()["id"])


@pytest.mark.thorough
def test_the_cut_holds_for_all_that_is_ingested_and_stays(
    client: FlaskClient, settings: Settings
) -> None:
    done(client, send(client, {"bees.txt": LONG}))
    job = done(client, send(client, {"ants.txt": "Ants carry leaves."}, chunk_size="150"))
    assert (job["chunks"]["size"], job["chunks"]["recut"]) == (150, 1)
    assert job["result"]["passages_added"] > 5
    again = send(client, {"flies.txt": "Flies are fast."}).get_json()
    assert (again["chunks"]["size"], again["chunks"]["recut"]) == (150, 0)
    client.delete(f"/api/jobs/{again['id']}")
    origins = Manifest.read(settings.collection_folder).origins
    assert {kind: origin.size for kind, origin in origins.items()} == {"txt": 1000, "ingest": 150}


def test_unreadable_files_are_left_out_with_a_reason(client: FlaskClient) -> None:
    files = {"bees.txt": "Bees give honey.\n", "bees.exe": "no", "empty.txt": ""}
    job = done(client, send(client, files))
    assert [each["name"] for each in job["left_out"]] == ["bees.exe"]
    assert job["left_out"][0]["reason"].startswith("files of this kind are not read")
    (remark,) = job["result"]["remarks"]
    assert (remark["source"], remark["refused"]) == ("documents/empty.txt", True)
    assert "There is no file to take in (a.exe: files of" in detail(
        send(client, {"a.exe": "x"}), 400
    )


def test_an_ingested_document_can_be_removed_and_no_other(client: FlaskClient, kept: Path) -> None:
    rows = "".join(f'{{"id": "{name}", "text": "About {name}."}}\n' for name in ("ox", "cow"))
    done(client, send(client, {"bees.txt": "Bees give honey.", "stalls.jsonl": rows}))
    assert "was not ingested" in detail(client.delete("/api/documents/farm.sheep"), 409)
    assert "no document" in detail(client.delete("/api/documents/farm.goats"), 404)
    assert "holds 1 other" in detail(client.delete("/api/documents/documents.ox"), 409)
    job = done(client, client.delete("/api/documents/documents.bees"))
    assert (job["kind"], job["result"]["documents_removed"]) == ("remove", 1)
    assert client.get("/api/documents/documents.bees").status_code == 404
    assert documents(client) == {"farm": 2, "town": 1, "documents": 2}
    assert texts(kept) == {"documents/stalls.jsonl": rows}


def test_another_model_does_not_embed_everything_again(settings: Settings, kept: Path) -> None:
    with served_by(settings, other_model) as client:
        job = ended(client, job_of(send(client, BEES)))
    assert job["state"] == "failed"
    assert "was built with hash" in job["problem"]
    assert texts(kept) == {}


@pytest.mark.thorough
def test_a_path_below_the_root_is_copied_and_the_kept_folder_built_again(
    client: FlaskClient, settings: Settings
) -> None:
    inbox = settings.ingest_root / "inbox" / "deep"
    inbox.mkdir(parents=True)
    (inbox / "bees.txt").write_text("Bees give honey.")
    (inbox.parent / "ants.txt").write_text("Ants carry leaves.")
    job = done(client, client.post("/api/ingest", json={"path": "inbox", "corpus": "garden"}))
    assert sorted(file["name"] for file in job["files"]) == ["ants.txt", "deep/bees.txt"]
    assert documents(client)["garden"] == 2
    again = done(client, client.post("/api/ingest", json={"path": COLLECTION}))
    assert again["result"]["unchanged"]


# the kept files are those of the live version: all of a job are moved, or none, and not astray


def job_in(
    settings: Settings,
    files: dict[str, str],
    opener: Callable[..., Any] | None = None,
    **fields: str,
) -> dict[str, Any]:
    """The end of a job of a server of its own."""
    with served_by(settings, *([opener] if opener else [])) as client:
        return ended(client, job_of(send(client, files, corpus="garden", **fields)))


@pytest.mark.thorough
def test_files_of_a_job_that_fails_before_it_is_live_are_as_before(
    settings: Settings, kept: Path
) -> None:
    (kept / "garden").mkdir()
    (kept / "garden" / "bees.txt").write_text("Bees give honey.")
    files = {"bees.txt": "Bees give wax.", "new/ants.txt": "Ants."}
    job = job_in(settings, files, failing_before_live, replace="true")
    assert (job["state"], "The disk is full" in job["problem"]) == ("failed", True)
    assert texts(kept) == {"garden/bees.txt": "Bees give honey."}
    assert not (kept / "garden" / "new").exists()


@pytest.mark.thorough
def test_files_of_a_job_that_fails_once_it_is_live_are_the_new_ones(
    settings: Settings, kept: Path
) -> None:
    (kept / "garden").mkdir()
    (kept / "garden" / "bees.txt").write_text("Bees give honey.")
    files = {"bees.txt": "Bees give wax.", "new/ants.txt": "Ants."}
    assert job_in(settings, files, failing_once_live, replace="true")["state"] == "done"
    assert texts(kept) == {"garden/bees.txt": "Bees give wax.", "garden/new/ants.txt": "Ants."}


@pytest.mark.thorough
def test_a_removal_that_fails_at_its_end_leaves_the_file(settings: Settings, kept: Path) -> None:
    assert job_in(settings, {"a/bees.txt": "Bees give honey."})["state"] == "done"
    with served_by(settings, failing_before_live) as client:
        (document,) = client.get("/api/documents?corpus=garden").get_json()["documents"]
        path = f"/api/documents/{document['document_id']}"
        assert "The disk is full" in ended(client, job_of(client.delete(path)))["problem"]
    assert texts(kept) == {"garden/a/bees.txt": "Bees give honey."}
    with served_by(settings) as client:
        assert done(client, client.delete(path))["result"]["documents_removed"] == 1
    assert texts(kept) == {}
    assert not (kept / "garden").exists()


@pytest.mark.thorough
@pytest.mark.parametrize("place", ["garden", "garden/a"])
def test_a_link_that_comes_before_the_end_leads_nothing_away(
    settings: Settings, kept: Path, tmp_path: Path, place: str
) -> None:
    outside = tmp_path / "outside"
    (outside / "a").mkdir(parents=True)
    with served_by(settings, waiting) as client:
        job = job_of(send(client, {"a/bees.txt": "Bees give honey."}, corpus="garden"))
        running(client, job)
        (kept / place).parent.mkdir(exist_ok=True)
        (kept / place).symlink_to(outside)
        (settings.ingest_root / "go").touch()
        assert "Nothing has changed" in ended(client, job)["problem"]
    assert not [path for path in outside.rglob("*") if path.is_file()]


@pytest.mark.thorough
def test_where_one_file_has_no_place_none_is_moved(settings: Settings, kept: Path) -> None:
    with served_by(settings, waiting) as client:
        job = job_of(send(client, {"aaa.txt": "Ants.", "zz.txt": "Wasps."}, corpus="garden"))
        running(client, job)
        (kept / "garden" / "zz.txt").mkdir(parents=True)
        (settings.ingest_root / "go").touch()
        assert "Nothing has changed" in ended(client, job)["problem"]
    assert texts(kept) == {}


@pytest.mark.thorough
def test_a_removal_does_not_follow_a_link(settings: Settings, kept: Path, tmp_path: Path) -> None:
    with served_by(settings) as client:
        done(client, send(client, {"a/bees.txt": "Bees give honey."}, corpus="garden"))
        (document,) = client.get("/api/documents?corpus=garden").get_json()["documents"]
        (kept / "garden" / "a").rename(tmp_path / "outside")
        (kept / "garden" / "a").symlink_to(tmp_path / "outside")
        response = client.delete(f"/api/documents/{document['document_id']}")
        assert "Nothing has changed" in ended(client, job_of(response))["problem"]
    assert (tmp_path / "outside" / "bees.txt").exists()


@pytest.mark.thorough
def test_a_rollback_names_the_kept_files_that_the_next_ingest_would_bring_back(
    client: FlaskClient,
) -> None:
    done(client, send(client, {"bees.txt": "Bees give honey.", "ants.txt": "Ants."}))
    files = {"ants.txt": "Ants carry seeds.", "oops.txt": "Sent by mistake."}
    done(client, send(client, files, replace="true"))
    before = client.post("/api/collections/farm/rollback", json={}).get_json()
    assert before["kept_files_beside"] == ["documents/ants.txt", "documents/oops.txt"]
    assert before["more_kept_files_beside"] == 0
    body = {"version": before["versions"][0]["version"]}
    again = client.post("/api/collections/farm/rollback", json=body).get_json()
    assert again["kept_files_beside"] == []


# a ZIP file, and what is said of a corpus


def zipped(files: Mapping[str, str], **options: int) -> bytes:
    """A ZIP file."""
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", **options) as archive:  # type: ignore[arg-type]
        for name, content in files.items():
            archive.writestr(name, content)
    return buffer.getvalue()


def test_a_zip_file_is_read_like_the_folder_in_it(client: FlaskClient, settings: Settings) -> None:
    hidden = {"__MACOSX/letters/._bees.txt": "x", "letters/.DS_Store": "x"}
    names = {"letters/bees.txt": "Bees give honey.", "../../wasps.txt": "Wasps give none."}
    sent = {"box.zip": zipped(names | hidden | {"letters/scan.tiff": "x"}), "moths.txt": "Moths."}
    job = done(client, send(client, sent, label="Letters of 1866"))
    assert [file["name"] for file in job["files"]] == ["letters/bees.txt", "wasps.txt", "moths.txt"]
    (left_out,) = job["left_out"]
    assert left_out["name"] == "letters/scan.tiff"
    assert left_out["reason"].startswith("it is a picture, and text in pictures is not read")
    assert job["corpus"] == "Letters_of_1866"
    assert documents(client)["Letters_of_1866"] == 3
    kept = settings.ingest_root / COLLECTION / "Letters_of_1866"
    assert sorted(path.name for path in kept.iterdir()) == ["letters", "moths.txt", "wasps.txt"]
    assert not list(settings.ingest_root.parent.glob("wasps.txt"))


def test_a_zip_file_that_is_damaged_or_a_bomb_is_left_out_and_the_rest_goes_on(
    client: FlaskClient,
) -> None:
    bomb = zipped({"a.txt": "a" * 11_000_000}, compression=zipfile.ZIP_DEFLATED)
    damaged = bytearray(zipped({"good.txt": "Bees.", "bad.txt": "Wasps give no honey at all."}))
    at = damaged.index(b"Wasps")
    damaged[at : at + 5] = b"Hoard"
    sent = {"bomb.zip": bomb, "text.zip": b"This is a text.", "cut.zip": bytes(damaged), **BEES}
    job = done(client, send(client, sent, corpus="box"))
    assert [file["name"] for file in job["files"]] == ["good.txt", "bees.txt"]
    reasons = {file["name"]: file["reason"] for file in job["left_out"]}
    assert "it would unpack to 11,000,000 bytes" in reasons["bomb.zip"]
    assert "it is not a ZIP file" in reasons["text.zip"]
    assert "it is damaged in its ZIP file" in reasons["bad.txt"]


def test_a_table_of_metadata_says_what_files_are_whenever_it_comes(client: FlaskClient) -> None:
    def table(*rows: str) -> str:
        return "\n".join(("file,title,date", *rows, ""))

    def titles() -> list[tuple[str, str]]:
        found = client.get("/api/documents?corpus=hive").get_json()["documents"]
        return [(each["title"], each["first_day"]) for each in found]

    box = zipped({**BEES, "metadata.csv": table("bees.txt,On bees,1866", "wasps.txt,Wasps,")})
    (remark,) = done(client, send(client, {"box.zip": box}, corpus="hive"))["result"]["remarks"]
    assert (remark["source"], remark["refused"]) == ("hive/metadata.csv", False)
    assert remark["remarks"][0].startswith("line 3: no source is called 'wasps.txt'")
    assert titles() == [("On bees", "1866-01-01")]
    again = {"metadata.csv": table("bees.txt,Bees again,1867")}
    job = done(client, send(client, again, corpus="hive", replace="true"))
    assert (job["result"]["documents_changed"], job["result"]["remarks"]) == (1, [])
    assert titles() == [("Bees again", "1867-01-01")]
    name = client.get("/api/collections").get_json()["default"]
    rolled = client.post(f"/api/collections/{name}/rollback", json={}).get_json()
    assert rolled["kept_files_beside"] == []


def test_a_table_that_comes_later_says_in_which_encoding_a_file_is(client: FlaskClient) -> None:
    letter = "Письмо консула из Москвы.".encode("koi8_r")
    (refused,) = done(client, send(client, {**BEES, "l.txt": letter}))["result"]["remarks"]
    assert "column `encoding` of a `metadata.csv`" in refused["remarks"][0]
    table = {"metadata.csv": "file,encoding\nl.txt,koi8_r\n"}
    assert done(client, send(client, table))["result"]["remarks"] == []


def test_a_corpus_is_renamed_and_dated_without_its_files(client: FlaskClient) -> None:
    done(client, send(client, BEES, corpus="bees"))
    again = {"path": COLLECTION, "corpus": "bees", "label": "Bees & honey", "date": "1866"}
    again["description"] = "What bees do."
    done(client, client.post("/api/ingest", json=again))

    def bees() -> dict[str, Any]:
        corpora = client.get("/api/corpora").get_json()["corpora"]
        return next(corpus for corpus in corpora if corpus["id"] == "bees")

    said = {"label": "Bees & honey", "date": "1866", "description": "What bees do."}
    assert said.items() <= bees().items()
    (document,) = client.get("/api/documents?corpus=bees").get_json()["documents"]
    assert (document["first_day"], document["last_day"]) == ("1866-01-01", "1866-12-31")
    done(client, send(client, {"wasps.txt": "Wasps."}, corpus="bees"))
    assert said.items() <= bees().items()
    away = {"path": COLLECTION, "corpus": "bees", "date": "", "description": ""}
    done(client, client.post("/api/ingest", json=away))
    assert (bees()["label"], bees()["date"], bees()["description"]) == ("Bees & honey", "", "")
    found = client.get("/api/documents?corpus=bees").get_json()["documents"]
    assert [document["first_day"] for document in found] == [None, None]
    assert "'soon' is not a date" in detail(
        client.post("/api/ingest", json=again | {"date": "soon"}), 400
    )
