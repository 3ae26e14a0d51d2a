"""The file of keys: what is kept, who is known, and what a damaged file does."""

import json
import stat
from concurrent.futures import ThreadPoolExecutor
from datetime import date
from pathlib import Path

import pytest

from atlas_search.cli.main import main
from atlas_search.core.errors import ConfigurationError, RequestError
from atlas_search.server.access.keys import KeyLimits, KeyRing, add_key, read_keys, revoke_key

TODAY = date(2026, 5, 1)


def test_a_key_is_found_by_its_text_and_only_its_hash_is_kept(keys_file: Path) -> None:
    made = add_key(keys_file, "Anna", corpora={"parish": ["meadow"]}, limits=KeyLimits(streams=2))
    assert KeyRing(keys_file).find(made.text, TODAY) == made.key
    _, id_, secret = made.text.split("_")
    assert len(secret) == 64
    assert secret not in keys_file.read_text()
    assert id_ in keys_file.read_text()
    assert made.key.sees("parish") == {"meadow"}
    assert made.key.sees("another") == frozenset()


def test_only_its_owner_may_read_the_file(keys_file: Path) -> None:
    add_key(keys_file, "Anna")
    add_key(keys_file, "Ben")
    assert stat.S_IMODE(keys_file.stat().st_mode) == 0o600
    assert [key.name for key in read_keys(keys_file)] == ["Anna", "Ben"]


@pytest.mark.parametrize("change", [lambda t: t[:-1] + "x", lambda t: t.upper(), lambda t: ""])
def test_another_text_finds_nothing(keys_file: Path, change) -> None:
    made = add_key(keys_file, "Anna")
    assert KeyRing(keys_file).find(change(made.text), TODAY) is None


@pytest.mark.parametrize("text", ["", "_", "__", "atlas__", "atlas_0_é", "\udcff_a_b", "a_b_c_d"])
def test_what_is_no_key_finds_nothing(keys_file: Path, text: str) -> None:
    add_key(keys_file, "Anna")
    assert KeyRing(keys_file).find(text, TODAY) is None


def test_a_key_opens_nothing_from_the_day_it_expires(keys_file: Path) -> None:
    made = add_key(keys_file, "Anna", expires=TODAY)
    ring = KeyRing(keys_file)
    assert ring.find(made.text, date(2026, 4, 30)) == made.key
    assert ring.find(made.text, TODAY) is None


def test_a_running_server_sees_keys_come_and_go(keys_file: Path) -> None:
    first = add_key(keys_file, "Anna")
    ring = KeyRing(keys_file)
    second = add_key(keys_file, "Ben")
    assert ring.find(second.text, TODAY)
    revoke_key(keys_file, "Anna")
    assert ring.find(first.text, TODAY) is None


def test_names_are_taken_once_and_keys_that_are_not_there_cannot_be_revoked(
    keys_file: Path,
) -> None:
    add_key(keys_file, "Anna")
    with pytest.raises(RequestError, match="There is a key 'Anna' already"):
        add_key(keys_file, "Anna")
    with pytest.raises(RequestError, match="Known keys: Anna"):
        revoke_key(keys_file, "Ben")
    with pytest.raises(RequestError, match="name="):
        add_key(keys_file, "\n")


def test_keys_added_at_once_are_all_kept(keys_file: Path) -> None:
    with ThreadPoolExecutor(8) as executor:
        list(executor.map(lambda number: add_key(keys_file, f"key {number}"), range(16)))
    assert len(read_keys(keys_file)) == 16


@pytest.mark.parametrize(
    ("content", "says"),
    [
        ("{", "is not valid JSON"),
        ("[" * 100_000, "is not valid JSON"),
        ("{}", "keys: Field required"),
        ('{"keys": [{"id": "x"}]}', "keys.0.id"),
        ('{"keys": [], "more": 1}', "more: Extra inputs"),
    ],
)
def test_a_damaged_file_is_refused_and_then_opens_nothing(
    keys_file: Path, content: str, says: str
) -> None:
    made = add_key(keys_file, "Anna")
    ring = KeyRing(keys_file)
    keys_file.write_text(content)
    with pytest.raises(ConfigurationError, match="cannot be read"):
        ring.find(made.text, TODAY)
    assert says in ring.problem
    with pytest.raises(ConfigurationError, match="API_KEYS_FILE"):
        KeyRing(keys_file)


def test_a_file_that_goes_away_or_that_others_may_change_opens_nothing(keys_file: Path) -> None:
    made = add_key(keys_file, "Anna")
    ring = KeyRing(keys_file)
    keys_file.chmod(0o622)
    with pytest.raises(ConfigurationError):
        ring.find(made.text, TODAY)
    assert f"chmod 600 {keys_file}" in ring.problem
    keys_file.chmod(0o600)
    assert ring.find(made.text, TODAY)
    keys_file.unlink()
    with pytest.raises(ConfigurationError):
        ring.find(made.text, TODAY)
    assert "there is no such file" in ring.problem


def test_two_keys_of_one_id_are_refused(keys_file: Path) -> None:
    add_key(keys_file, "Anna")
    content = json.loads(keys_file.read_text())
    content["keys"] *= 2
    keys_file.write_text(json.dumps(content))
    with pytest.raises(ConfigurationError, match="two keys have the same id"):
        KeyRing(keys_file)


# the command


def atlas(capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[int, str, str]:
    with pytest.raises(SystemExit) as ended:
        main(arguments)
    captured = capsys.readouterr()
    return int(ended.value.code or 0), captured.out, captured.err


def test_the_command_adds_lists_and_revokes(
    keys_file: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("API_KEYS_FILE", str(keys_file))
    monkeypatch.setenv("CHROMA_COLLECTION_NAME", "parish")
    monkeypatch.setenv("COLUMNS", "200")
    options = ("--corpora", "meadow, mill", "--expires", "2027-01-01", "--streams", "2")
    status, out, err = atlas(capsys, "keys", "add", "Anna", *options)
    assert status == 0
    found = KeyRing(keys_file).find(out.strip(), TODAY)
    assert found
    assert found.sees("parish") == {"meadow", "mill"}
    assert found.limits == KeyLimits(streams=2)
    assert "meadow, mill of parish" in err
    status, out, _ = atlas(capsys, "keys", "list")
    assert "Anna" in out
    assert "2027-01-01" in out
    assert found.sha256 not in out
    assert atlas(capsys, "keys", "revoke", "Anna")[:2] == (0, "The key Anna is revoked.\n")
    assert read_keys(keys_file) == ()


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (("add", "Anna", "--expires", "soon"), "--expires soon: give a day"),
        (("add", "Anna", "--corpora", ","), "--corpora names none"),
        (("revoke", "Anna"), "there is no such file"),
    ],
)
def test_what_the_command_cannot_do_it_says(
    keys_file: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
    arguments: tuple[str, ...],
    says: str,
) -> None:
    monkeypatch.setenv("API_KEYS_FILE", str(keys_file))
    status, _, err = atlas(capsys, "keys", *arguments)
    assert status == 1
    assert says in err
    assert not keys_file.exists()


def test_without_a_file_the_command_asks_for_one(capsys: pytest.CaptureFixture[str]) -> None:
    status, _, err = atlas(capsys, "keys", "list")
    assert status == 1
    assert "API_KEYS_FILE is not set" in err
