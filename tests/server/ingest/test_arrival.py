"""Files that are handed over stay in their folder, within their limits, and hide nothing."""

import io
import json
import os
import sys
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from io import BufferedRandom
from pathlib import Path
from typing import cast

import httpx2
import pytest
from flask.testing import FlaskClient
from werkzeug.datastructures import FileStorage, MultiDict
from werkzeug.formparser import parse_form_data
from werkzeug.test import encode_multipart

from atlas_search.core.errors import Conflict, RequestError
from atlas_search.core.settings import Settings
from atlas_search.server.ingest.arrival import (
    MOST_FILES,
    MOST_LEFT_OUT,
    Arrival,
    FormFiles,
    Handed,
    Places,
    UploadLimits,
    check_clash,
    files_below,
    path_below,
    safe_name,
    take_in,
)
from atlas_search.server.sockets import LargeBodies
from tests.server.ingest.handing import (
    ADMINISTRATOR,
    BEES,
    COLLECTION,
    detail,
    send,
    served_by,
    settings_for,
)
from tests.server.listening import listening
from tests.stores.disks import longest_file, small_disk


@pytest.mark.parametrize(
    ("name", "kept"),
    [
        ("bees.txt", "bees.txt"),
        ("../../etc/passwd.txt", "etc/passwd.txt"),
        ("/etc/cron.d/bees.txt", "etc/cron.d/bees.txt"),
        ("..\\..\\windows\\bees.txt", "windows/bees.txt"),
        ("C:\\bees.txt", "C_/bees.txt"),
        (".hidden/.bees.txt", "hidden/bees.txt"),
        ("a/./b/../bees.txt", "a/b/bees.txt"),
        ("bees\x00.txt", "bees_.txt"),
        ("<b>bees</b>.txt", "_b_bees_/b_.txt"),
        ("蜜蜂 и пчёлы.txt", "蜜蜂 и пчёлы.txt"),
        ("e\u0301.txt", "é.txt"),
        ("é" * 300 + ".txt", "é" * 98 + ".txt"),
        ("bees.txt. . ", "bees.txt"),
    ],
)
def test_names_are_made_safe(name: str, kept: str) -> None:
    assert safe_name(name) == kept


@pytest.mark.parametrize("sent", ["", ".", "..", "///", "a/..", "folder/", "a/" * 17 + "b"])
def test_a_name_of_nothing_is_refused(sent: str) -> None:
    with pytest.raises(RequestError):
        safe_name(sent)


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A root with ways to a file outside of it."""
    root = tmp_path_factory.mktemp("place") / "ingest"
    secret = root.parent / "secret" / "key.txt"
    secret.parent.mkdir()
    secret.write_text("do not read")
    for name in ("plain", "linked", "folder", "inner", ".hidden"):
        (root / name).mkdir(parents=True)
    (root / "linked" / "key.txt").symlink_to(secret)
    (root / "folder" / "all").symlink_to(secret.parent)
    (root / "way").symlink_to(secret.parent)
    (root / "inner" / "bees.txt").write_text("Bees give honey.")
    (root / "inner" / "same.txt").symlink_to("bees.txt")
    (root / ".hidden" / "bees.txt").write_text("Bees")
    (root / "x.txt").write_text("A file.")
    os.mkfifo(root / "plain" / "pipe.txt")
    return root.parent


@pytest.fixture(scope="module")
def refusing(place: Path, farm_stores: Path) -> Iterator[FlaskClient]:
    """The administrator, at a server that takes nothing in of all that is sent here."""
    settings = settings_for(
        place,
        chroma_persist_directory=farm_stores,
        collections="*",
        audit_log=place / "audit.jsonl",
        ingest_max_file_mb=1,
        ingest_max_request_mb=2,
    )
    with served_by(settings) as client:
        yield client
        assert client.get("/api/jobs").get_json() == {"jobs": []}
        assert not list((place / "ingest").glob(f"{COLLECTION}/**/*.txt"))


@pytest.mark.parametrize("corpus", ["../x", "a/b", ".jobs", "", "all", "a\\b"])
def test_a_corpus_cannot_lead_out(refusing: FlaskClient, corpus: str) -> None:
    assert "cannot be a corpus id" in detail(send(refusing, BEES, corpus=corpus), 400)


@pytest.mark.parametrize("collection", ["../stores", "other", "a/b"])
def test_nor_can_a_collection(client: FlaskClient, collection: str) -> None:
    assert "Served: farm." in detail(send(client, BEES, collection=collection), 400)


def test_names_that_are_too_long_are_refused(refusing: FlaskClient) -> None:
    assert "no collection" in detail(send(refusing, BEES, collection="c" * 256), 400)
    assert "128 characters" in detail(send(refusing, BEES, corpus="c" * 129), 400)


def test_too_large_files_are_refused_and_not_kept(refusing: FlaskClient, place: Path) -> None:
    large = {"bees.txt": b"b" * 1_000_001}
    message = detail(send(refusing, large), 400)
    assert "larger than 1 MB" in message
    assert "INGEST_MAX_FILE_MB" in message
    three = {f"{number}.txt": b"b" * 900_000 for number in range(3)}
    assert "INGEST_MAX_REQUEST_MB" in detail(send(refusing, three), 400)
    assert send(refusing, {"bees.txt": b"b" * 4_000_000}).status_code == 413
    for files in ({"a.xyz": "1"}, large):
        assert send(refusing, files, collection="new").status_code == 400
    assert not (place / "ingest" / "new").exists()


@contextmanager
def upload_address(client: FlaskClient, root: Path) -> Iterator[str]:
    """The route of files, behind a listener to which more than 100 KB are a large body."""
    large = LargeBodies(20_000_000, client.application.extensions["access"], root)
    with listening(client.application, max_body=100_000, large=large) as (host, port):
        yield f"http://{host}:{port}/api/ingest"


def upload(address: str, sizes: Sequence[int]) -> httpx2.Response:
    files = [("files", (f"{n}.txt", bytes([97 + n % 26]) * size)) for n, size in enumerate(sizes)]
    return httpx2.post(address, files=files, headers=ADMINISTRATOR, timeout=60)


def test_an_upload_has_a_thousand_files(client: FlaskClient, settings: Settings) -> None:
    with upload_address(client, settings.ingest_root) as address:
        response = upload(address, [10] * MOST_FILES)
        assert [file["bytes"] for file in response.json()["files"]] == [10] * MOST_FILES
        for more in (1, 100):
            refused = upload(address, [10] * (MOST_FILES + more))
            assert refused.status_code == 413
            assert "at most 1000 files, and 200 MB" in refused.json()["detail"]


def test_an_upload_takes_its_size_once_on_the_disk_of_kept_files(
    client: FlaskClient, settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    root = settings.ingest_root
    with small_disk(root, 1500), upload_address(client, root) as address:
        monkeypatch.setattr(tempfile, "tempdir", str(root))
        response = upload(address, [1_000_000, 100_000])
        assert response.status_code == 202, response.text
        client.application.extensions["jobs"].close()
        full = upload(address, [1_400_000, 400_000])
    assert full.status_code == 507
    assert "Make room there" in full.json()["detail"]


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux makes holes in files")
def test_files_of_a_form_need_no_room_beside_it_and_give_it_back(tmp_path: Path) -> None:
    contents = [bytes([97 + number]) * 1_000_000 for number in range(3)]
    parts = [FileStorage(io.BytesIO(each), "a.txt") for each in contents]
    boundary, sent = encode_multipart(MultiDict([*(("files", p) for p in parts), ("corpus", "a")]))
    with tempfile.TemporaryFile(dir=tmp_path) as body:
        body.write(sent)
        body.seek(0)
        kind = f"multipart/form-data; boundary={boundary}"
        environ = {"wsgi.input": body, "CONTENT_LENGTH": str(len(sent)), "CONTENT_TYPE": kind}
        _, form, files = parse_form_data(environ, FormFiles(cast(BufferedRandom, body)))
        assert form["corpus"] == "a"
        assert os.fstat(body.fileno()).st_size == len(sent)
        assert [each.stream.read() for each in files.getlist("files")] == contents
        assert os.fstat(body.fileno()).st_blocks * 512 < 100_000


def test_a_full_disk_is_told(refusing: FlaskClient) -> None:
    with longest_file(100_000):
        message = detail(send(refusing, {"bees.txt": b"b" * 200_000}), 507)
    assert message.startswith("'bees.txt' cannot be kept in INGEST_ROOT: File too large.")


def test_many_fields_are_refused(refusing: FlaskClient) -> None:
    parts = {f"f{number}": "x" for number in range(1100)}
    response = refusing.post("/api/ingest", data={**parts, "files": (io.BytesIO(b"x"), "a.txt")})
    assert response.status_code == 413


@pytest.mark.parametrize(
    "fields",
    [{"chunk_size": "large"}, {"chunk_size": "1e9999"}, {"colour": "red"}, {"replace": "perhaps"}],
)
def test_wrong_fields_are_named(refusing: FlaskClient, fields: dict[str, str]) -> None:
    assert next(iter(fields)) in detail(send(refusing, BEES, **fields), 400)


OUTSIDE = "nothing outside of it is read"


@pytest.mark.parametrize(
    ("path", "reason"),
    [
        ("../secret", OUTSIDE),
        ("linked", OUTSIDE),
        ("linked/key.txt", OUTSIDE),
        ("folder", OUTSIDE),
        ("way", OUTSIDE),
        ("way/key.txt", OUTSIDE),
        ("/etc/hostname", OUTSIDE),
        (".", "Name a folder or file in it"),
        (".hidden", "is hidden"),
        ("inner/../.hidden/bees.txt", "is hidden"),
        ("nowhere", "There is no 'nowhere'"),
        ("a\x00b", "There is no"),
        ("x" * 3000, "There is no"),
        ("plain", "no file to take in"),
        ("plain/pipe.txt", "no file to take in"),
    ],
)
def test_no_path_leads_out_of_the_root(refusing: FlaskClient, path: str, reason: str) -> None:
    assert reason in detail(refusing.post("/api/ingest", json={"path": path}), 400)


def test_one_sentence_for_what_is_not_there_and_what_lies_outside(
    refusing: FlaskClient, place: Path
) -> None:
    paths = ("../secret/key.txt", "../secret/wasp.txt", str(place / "secret"), "/nowhere")
    messages = {
        # no more is told of a long one
        detail(refusing.post("/api/ingest", json={"path": path}), 400).replace(path[:80], "PATH")
        for path in paths
    }
    assert len(messages) == 1, messages


def test_a_collection_with_the_name_of_a_file_is_refused(refusing: FlaskClient) -> None:
    body = {"path": "inner", "collection": "x.txt"}
    for response in (
        send(refusing, {"q.txt": "Quails."}, collection="x.txt"),
        refusing.post("/api/ingest", json=body),
    ):
        assert "Choose another name" in detail(response, 409)


def test_the_audit_log_says_where_files_went(refusing: FlaskClient, place: Path) -> None:
    log = place / "audit.jsonl"
    before = len(log.read_text().splitlines()) if log.exists() else 0
    send(refusing, {"a.xyz": "1"}, collection="new", corpus="garden").close()
    body = {"path": "nowhere", "collection": "other", "corpus": "wood"}
    refusing.post("/api/ingest", json=body, buffered=True)
    refusing.post("/api/collections/lost/rollback", json={}, buffered=True)
    refusing.get("/api/corpora", headers={"Atlas-Collection": "far"}, buffered=True)
    refusing.get("/api/corpora", buffered=True)
    lines = [json.loads(line) for line in log.read_text().splitlines()[before:]]
    assert [(line["collection"], line["corpora"]) for line in lines] == [
        ("new", ["garden"]),
        ("other", ["wood"]),
        ("lost", None),
        ("far", None),
        ("farm", None),
    ]


def test_a_name_cannot_lead_out_of_the_folder(client: FlaskClient, settings: Settings) -> None:
    response = send(client, {"../../../../stores/farm/bees.txt": "Bees"}, corpus="x")
    client.delete(f"/api/jobs/{response.get_json()['id']}")
    assert response.get_json()["files"][0]["name"] == "stores/farm/bees.txt"
    assert not (settings.collection_folder / "bees.txt").exists()


def test_a_link_within_the_root_is_read(client: FlaskClient, settings: Settings) -> None:
    inner = settings.ingest_root / "inner"
    inner.mkdir(parents=True)
    (inner / "bees.txt").write_text("Bees give honey.")
    (inner / "same.txt").symlink_to("bees.txt")
    response = client.post("/api/ingest", json={"path": "inner"})
    assert [file["name"] for file in response.get_json()["files"]] == ["bees.txt", "same.txt"]
    client.delete(f"/api/jobs/{response.get_json()['id']}")


def test_a_file_cannot_take_the_place_of_a_folder(client: FlaskClient, settings: Settings) -> None:
    kept = settings.ingest_root / COLLECTION / "documents"
    (kept / "bees.txt").mkdir(parents=True)
    (kept / "ants.txt").write_text("Ants")
    assert "has that name already" in detail(send(client, BEES), 409)
    assert "has that name already" in detail(send(client, {"ants.txt/bees.txt": "Bees"}), 409)
    both = {"a.txt": "Bees", "a.txt/b.txt": "Bees"}
    assert "name of a folder and of a file" in detail(send(client, both), 400)
    assert "are both 'c.txt'" in detail(send(client, {"c.txt": "x", "/c.txt": "y"}), 400)


def test_a_clash_of_names_is_seen() -> None:
    check_clash(["a.txt"], ["b.txt", "a.txt"])
    with pytest.raises(Conflict, match=r"'a\.txt' cannot be kept"):
        check_clash(["z.txt", "a.txt"], ["a.txt/b.txt"])
    with pytest.raises(Conflict, match=r"'a\.txt/b/c\.txt' cannot be kept"):
        check_clash(["a.txt/b/c.txt"], ["a.txt"])


# folders that become links while files are taken in, which no request can time

LIMITS = UploadLimits(1_000_000, 10_000_000, frozenset({".txt"}))
PLACES = ("farm/.jobs/20260102T030405-0a1b2c3d/documents", "farm/documents")


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """A root with a folder `inbox` of two files."""
    folder = tmp_path / "root" / "inbox" / "inner"
    folder.mkdir(parents=True)
    (folder.parent / "ants.txt").write_text("Ants carry leaves.")
    (folder / "bees.txt").write_text("Bees give honey.")
    return tmp_path / "root"


@pytest.fixture
def outside(tmp_path: Path) -> Path:
    folder = tmp_path / "outside"
    folder.mkdir()
    (folder / "bees.txt").write_text("Do not read this.")
    return folder


def files_at(root: Path, path: str) -> list[Handed]:
    return files_below(root, path_below(root, path), LIMITS.suffixes)


def take(root: Path, handed: list[Handed]) -> Arrival:
    places = Places(root, *(Path(place) for place in PLACES))
    return take_in(handed, places, LIMITS, replace=False, waiting=())


def swap(folder: Path, outside: Path) -> None:
    folder.rename(folder.with_name(f".{folder.name}"))
    folder.symlink_to(outside)


@pytest.mark.parametrize("path", ["inbox", "inbox/inner", "inbox/inner/bees.txt"])
def test_a_folder_that_becomes_a_link_after_it_was_listed_is_not_followed(
    root: Path, outside: Path, path: str
) -> None:
    handed = files_at(root, path)
    swap(root / "inbox" / "inner", outside)
    with pytest.raises(RequestError, match="cannot be read"):
        take(root, handed)
    assert not list(root.rglob(f"{PLACES[0]}/**/bees.txt"))


def test_nor_one_that_becomes_a_link_before_it_is_listed(root: Path, outside: Path) -> None:
    inner = path_below(root, "inbox/inner")
    swap(root / "inbox" / "inner", outside)
    with pytest.raises(RequestError, match="cannot be listed"):
        files_below(root, inner, LIMITS.suffixes)


@pytest.mark.parametrize("place", ["farm/documents", "farm/documents/a", "farm"])
def test_a_link_among_the_kept_files_is_a_conflict(root: Path, outside: Path, place: str) -> None:
    (root / place).parent.mkdir(parents=True, exist_ok=True)
    (root / place).symlink_to(outside)
    (outside / "documents" / "a").mkdir(parents=True)
    handed = [Handed("a/bees.txt", files_at(root, "inbox/inner/bees.txt")[0].open)]
    with pytest.raises((Conflict, RequestError)):
        take(root, handed)
    assert (outside / "bees.txt").read_text() == "Do not read this."


def test_a_link_in_the_place_of_a_kept_file_is_not_compared(root: Path, outside: Path) -> None:
    (root / PLACES[1]).mkdir(parents=True)
    (root / PLACES[1] / "bees.txt").symlink_to(outside / "bees.txt")
    with pytest.raises(Conflict, match="link has that name"):
        take(root, files_at(root, "inbox/inner/bees.txt"))


def test_a_path_leads_to_as_many_files_as_a_request_may_have(root: Path) -> None:
    for number in range(MOST_FILES - 1):
        (root / "inbox" / "inner" / f"{number}.txt").touch()
    for number in range(MOST_LEFT_OUT + 20):
        (root / "inbox" / f"{number}.bin").touch()
    with pytest.raises(RequestError, match=f"More than {MOST_FILES} files"):
        files_at(root, "inbox")
    (root / "inbox" / "ants.txt").unlink()
    arrival = take(root, files_at(root, "inbox"))
    assert len(arrival.files) == MOST_FILES
    assert (len(arrival.left_out), arrival.more_left_out) == (MOST_LEFT_OUT, 20)
