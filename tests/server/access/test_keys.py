"""The file of keys: what is kept, who is known, what a damaged file does, and `atlas keys`."""

import json
import logging
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from datetime import date
from pathlib import Path
from time import sleep

import pytest
from flask.testing import FlaskClient

from atlas_search import Atlas
from atlas_search.cli.main import main
from atlas_search.core.errors import ConfigurationError, RequestError
from atlas_search.core.settings import Settings
from atlas_search.server.access.keys import (
    SHARED,
    TOLD_AFTER,
    KeyFile,
    KeyLimits,
    KeyPlace,
    KeyRing,
    SharedKeys,
    add_key,
    key_place,
    revoke_key,
)
from atlas_search.server.state import StateFile
from tests.server.two_corpora import COLLECTION, OPEN, TOKEN, Signed

TODAY = date(2026, 5, 1)
Run = Callable[..., tuple[object, str, str]]


def test_a_key_is_known_by_its_text_and_only_its_hash_is_kept(keys_file: Path) -> None:
    made = add_key(
        KeyFile(keys_file), "Anna", corpora={"parish": ["meadow"]}, limits=KeyLimits(streams=2)
    )
    assert KeyRing(KeyFile(keys_file)).find(made.text, TODAY) == made.key
    _, id_, secret = made.text.split("_")
    assert len(secret) == 64
    assert secret not in keys_file.read_text()
    assert id_ in keys_file.read_text()
    assert made.key.sees("parish") == {"meadow"}
    assert made.key.sees("another") == frozenset()


def test_only_its_owner_may_read_the_file(keys_file: Path) -> None:
    for name in ("Anna", "Ben"):
        add_key(KeyFile(keys_file), name)
    assert keys_file.stat().st_mode & 0o777 == 0o600
    assert [key.name for key in KeyFile(keys_file).read()] == ["Anna", "Ben"]


@pytest.mark.parametrize(
    "text",
    ["", "_", "__", "atlas__", "atlas_0_é", "\udcff_a_b", "a_b_c_d", "{key}x", "{short}x", "{KEY}"],
)
def test_another_text_is_no_key(keys_file: Path, text: str) -> None:
    key = add_key(KeyFile(keys_file), "Anna").text
    other = text.format(key=key, short=key[:-1], KEY=key.upper())
    assert KeyRing(KeyFile(keys_file)).find(other, TODAY) is None


@pytest.fixture(params=["file", "shared"])
def place(request: pytest.FixtureRequest, keys_file: Path) -> KeyPlace:
    """Where keys are kept: both do the same."""
    if request.param == "file":
        return KeyFile(keys_file)
    return SharedKeys(StateFile(keys_file.with_suffix(".sqlite"), SHARED))


def test_a_key_opens_nothing_from_the_day_it_expires(place: KeyPlace) -> None:
    made = add_key(place, "Anna", expires=TODAY)
    ring = KeyRing(place)
    assert ring.find(made.text, date(2026, 4, 30)) == made.key
    assert ring.find(made.text, TODAY) is None


def test_names_are_taken_once_and_absent_keys_cannot_be_revoked(place: KeyPlace) -> None:
    add_key(place, "Anna")
    with pytest.raises(RequestError, match="There is a key 'Anna' already"):
        add_key(place, "Anna")
    with pytest.raises(RequestError, match="Known keys: Anna"):
        revoke_key(place, "Ben")
    with pytest.raises(RequestError, match="name="):
        add_key(place, "\n")


def test_keys_added_at_once_are_all_kept(place: KeyPlace) -> None:
    with ThreadPoolExecutor(8) as executor:
        list(executor.map(lambda number: add_key(place, f"key {number}"), range(16)))
    assert len(place.read()) == 16


def test_keys_that_are_shared_without_a_database_are_refused() -> None:
    with pytest.raises(ConfigurationError, match="set STATE_URL"):
        key_place(Settings(atlas_access="shared"))


def test_a_shared_key_is_revoked_for_every_server_within_a_second(keys_file: Path) -> None:
    table = keys_file.with_suffix(".sqlite")
    here, there = (SharedKeys(StateFile(table, SHARED)) for _ in range(2))
    ring = KeyRing(there)
    made = add_key(here, "Anna")
    assert KeyRing(here).find(made.text, TODAY) == made.key
    assert made.text.rpartition("_")[2].encode() not in table.read_bytes()
    sleep(TOLD_AFTER)
    assert ring.find(made.text, TODAY) == made.key
    revoke_key(here, "Anna")
    sleep(TOLD_AFTER)
    assert ring.find(made.text, TODAY) is None


@pytest.mark.parametrize("damage", ["UPDATE keys SET content = '{'", "DROP TABLE keys"])
def test_damaged_shared_keys_open_nothing(keys_file: Path, damage: str) -> None:
    table = keys_file.with_suffix(".sqlite")
    state = StateFile(table, SHARED)
    made, ring = add_key(SharedKeys(state), "Anna"), KeyRing(SharedKeys(state))
    with state.open() as transaction:
        transaction.execute(damage)
    sleep(TOLD_AFTER)
    if damage.startswith("DROP"):
        assert ring.find(made.text, TODAY) is None
        return
    with pytest.raises(ConfigurationError, match="cannot be read"):
        ring.find(made.text, TODAY)


@pytest.mark.parametrize(
    ("content", "fault"),
    [
        ("{", "is not valid JSON"),
        ("[" * 100_000, "is not valid JSON"),
        ("{}", "keys: Field required"),
        ('{"keys": [{"id": "x"}]}', "keys.0.id"),
        ('{"keys": [], "more": 1}', "more: Extra inputs"),
        ("twice", "two keys have the same id"),
        ("for others", "chmod 600"),
        ("gone", "there is no such file"),
    ],
)
def test_a_damaged_file_is_refused_and_then_opens_nothing(
    keys_file: Path, content: str, fault: str
) -> None:
    made = add_key(KeyFile(keys_file), "Anna")
    ring = KeyRing(KeyFile(keys_file))
    if content == "twice":
        document = json.loads(keys_file.read_text())
        keys_file.write_text(json.dumps({"keys": document["keys"] * 2}))
    elif content == "for others":
        keys_file.chmod(0o622)
    elif content == "gone":
        keys_file.unlink()
    else:
        keys_file.write_text(content)
    with pytest.raises(ConfigurationError, match="cannot be read"):
        ring.find(made.text, TODAY)
    assert fault in ring.problem
    with pytest.raises(ConfigurationError, match="API_KEYS_FILE"):
        KeyRing(KeyFile(keys_file))


# a file that changes while the server runs


def test_a_broken_file_lets_nobody_in_and_health_names_it_to_the_administrator(
    client: FlaskClient, whole: Signed, keys_file: Path
) -> None:
    administrator = Signed(client, TOKEN)
    assert client.get("/api/ready").status_code == 200
    assert administrator.get("/api/health").get_json()["parts"]["keys"]["status"] == "ok"
    content = keys_file.read_text()
    keys_file.write_text("{")
    assert whole.get("/api/corpora").status_code == 503
    assert client.get("/", buffered=True).status_code == 200
    ready, health = client.get("/api/ready"), client.get("/api/health")
    assert (ready.status_code, health.get_json()["status"]) == (503, "degraded")
    for response in (ready, health):
        assert str(keys_file) not in response.get_data(as_text=True)
    assert "is not valid JSON" in administrator.get("/api/ready").get_json()["detail"]
    health = administrator.get("/api/health").get_json()
    assert (health["status"], health["parts"]["keys"]["status"]) == ("degraded", "fault")
    assert f"API_KEYS_FILE={keys_file}" in health["parts"]["keys"]["detail"] == health["problem"]
    assert health["parts"]["store"]["status"] == "ok"
    keys_file.write_text(content)
    assert client.get("/api/ready").status_code == 200
    assert whole.get("/api/corpora").status_code == 200


def test_the_log_has_one_line_for_each_state_of_the_file(
    whole: Signed, keys_file: Path, caplog: pytest.LogCaptureFixture
) -> None:
    for content in ("{", '{"keys": [', None):
        keys_file.unlink()
        if content is not None:
            keys_file.write_text(content)
            keys_file.chmod(0o600)
        for _ in range(3):
            assert whole.get("/api/corpora").status_code == 503
    lines = [each.getMessage() for each in caplog.records if each.levelno == logging.ERROR]
    assert len(lines) == 3
    assert all(line.startswith("Nobody may ask: API_KEYS_FILE=") for line in lines)
    assert "there is no such file" in lines[2]


# the command


@pytest.fixture
def run(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Run:
    """`atlas keys`: its status, and both streams."""
    monkeypatch.setenv("COLUMNS", "200")

    def run(*arguments: str) -> tuple[object, str, str]:
        with pytest.raises(SystemExit) as end:
            main(["keys", *arguments])
        streams = capsys.readouterr()
        return end.value.code or 0, streams.out, streams.err

    return run


@pytest.fixture
def keys(run: Run, parish: Atlas, keys_file: Path, monkeypatch: pytest.MonkeyPatch) -> Run:
    """`atlas keys` for the collection."""
    settings = parish.services.settings
    monkeypatch.setenv("API_KEYS_FILE", str(keys_file))
    monkeypatch.setenv("CHROMA_PERSIST_DIRECTORY", str(settings.chroma_persist_directory))
    monkeypatch.setenv("CHROMA_COLLECTION_NAME", COLLECTION)
    return run


def test_the_command_adds_lists_and_revokes(keys: Run, keys_file: Path) -> None:
    name = "Anna of the reading room at the far end of the second floor"
    options = ("--corpora", f"{OPEN}, mill", "--expires", "2999-01-01", "--streams", "2")
    status, text, notes = keys("add", name, *options)
    key = KeyRing(KeyFile(keys_file)).find(text.strip(), TODAY)
    assert status == 0
    assert key
    assert key.sees(COLLECTION) == {OPEN, "mill"}
    assert key.limits == KeyLimits(streams=2)
    assert f"{OPEN}, mill of {COLLECTION}" in notes
    assert f"Note: {COLLECTION} has no corpus mill as of now; it has" in notes
    _, listing, _ = keys("list")
    assert all(part in listing for part in (name, key.id, "2999-01-01"))
    assert key.sha256 not in listing
    assert keys("revoke", name)[:2] == (0, f"The key {name} is revoked.\n")
    assert KeyFile(keys_file).read() == ()


@pytest.mark.parametrize(
    ("collection", "corpora"), [(COLLECTION, OPEN), ("not_yet", "no corpus of it")]
)
def test_what_is_there_or_cannot_be_read_needs_no_note(
    keys: Run, monkeypatch: pytest.MonkeyPatch, collection: str, corpora: str
) -> None:
    monkeypatch.setenv("CHROMA_COLLECTION_NAME", collection)
    status, _, notes = keys("add", "Ben", "--corpora", corpora)
    assert status == 0
    assert "Note" not in notes


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("add", "Anna", "--expires", "soon"), "--expires soon: give a day"),
        (("add", "Anna", "--expires", "2020-01-01"), "give one after today"),
        (("add", "Anna", "--corpora", ","), "--corpora names none"),
        (("revoke", "Anna"), "There is no key 'Anna'"),
    ],
)
def test_a_command_that_is_no_use_says_why_and_makes_no_file(
    keys: Run, keys_file: Path, arguments: tuple[str, ...], message: str
) -> None:
    status, _, error = keys(*arguments)
    assert status == 1
    assert message in error
    assert not keys_file.exists()


def test_without_a_file_the_command_asks_for_one(run: Run) -> None:
    status, _, error = run("list")
    assert status == 1
    assert "API_KEYS_FILE is not set" in error
