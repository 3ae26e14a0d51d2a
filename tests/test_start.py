"""For what `atlas serve` refuses to start, `atlas doctor` says so too, with the same words."""

from pathlib import Path

import pytest

from atlas_search.cli.doctor import examine
from atlas_search.cli.serve import serve
from atlas_search.core.errors import ConfigurationError
from atlas_search.core.settings import Settings
from atlas_search.server.access.gate import check_start
from atlas_search.server.access.keys import add_key

# each: the settings (ROOT is a folder with a file `plain` and keys that are no JSON), and its mend
FAULTS: dict[str, tuple[dict[str, str], str]] = {
    "access": ({"atlas_host": "0.0.0.0"}, "Set API_KEYS_FILE (`atlas keys add NAME` makes a key)"),
    "keys": ({"api_keys_file": "ROOT/broken.json"}, "broken.json is not valid JSON"),
    "audit": ({"audit_log": "ROOT/plain/audit.log"}, "or name another file."),
    "state": ({"atlas_state_directory": "ROOT/plain/state"}, "or set it to another folder."),
}


@pytest.fixture
def root(tmp_path: Path) -> Path:
    (tmp_path / "plain").write_text("")
    (tmp_path / "broken.json").write_text('{"keys": [')
    return tmp_path


def settings_of(root: Path, changes: dict[str, str]) -> Settings:
    own = {"chroma_persist_directory": root, "atlas_state_directory": root / "state"}
    return Settings(
        **own | {name: text.replace("ROOT", str(root)) for name, text in changes.items()}
    )


@pytest.mark.parametrize("what", FAULTS)
def test_doctor_finds_what_the_server_refuses_to_start_for(root: Path, what: str) -> None:
    changes, mend = FAULTS[what]
    settings = settings_of(root, changes)
    with pytest.raises(ConfigurationError) as refused:
        serve(settings)
    found = {finding.what: finding for finding in examine(settings)}
    assert found[what].state == "fault"
    assert found[what].detail == str(refused.value)
    assert mend in found[what].detail
    assert {name for name in FAULTS if found[name].state == "fault"} == {what}


def test_a_file_of_the_state_that_cannot_be_written_is_told(root: Path) -> None:
    (root / "state" / "spending.sqlite").mkdir(parents=True)
    with pytest.raises(ConfigurationError, match=r"Is a directory.*another folder"):
        check_start(settings_of(root, {}))


def test_looking_leaves_no_trace(root: Path) -> None:
    add_key(root / "keys.json", "Anna")
    before = sorted(root.iterdir())
    named = {"api_keys_file": "ROOT/keys.json", "audit_log": "ROOT/log/audit.log"}
    check_start(settings_of(root, named | {"atlas_host": "0.0.0.0"}))
    assert sorted(root.iterdir()) == before
