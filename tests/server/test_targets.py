"""Targets that cannot be served are listed with the reason, and stop nothing but themselves."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from flask.testing import FlaskClient

from atlas_search import Atlas
from atlas_search.building.flow import BuildReport
from atlas_search.cli.doctor import examine
from atlas_search.core.errors import ConfigurationError
from atlas_search.core.settings import Settings
from tests.hash_embedder import HashEmbedder
from tests.servers import app_of

SO = """ALGORITHM=HNSW
CHUNK_SIZE=1000
CHUNK_OVERLAP=100
TEXT_SPLITTER_TYPE=RecursiveCharacterTextSplitter
EMBEDDING_MODEL=hash
SEARCH_TYPE=similarity
SEARCH_K=3
"""
FILES = {
    "plain": "SEARCH_K=2\n",
    "documented": SO,
    "pooled": "POOLING=mean+max\n",
    "cut": "CHUNK_SIZE=800\n",
    "away": "VERIFY=nli\nVERIFY_MODEL=models/none\n",
    "unread": "READER_MODEL=models/none\n",
    "unruled": "SYSTEM_PROMPT=mine\n",
    "unknown": "RERANKER=mine\n",
    "nobody": "LLM_PROVIDER=nobody\n",
    "keyless": "LLM_PROVIDER=mistral\n",
    "replaced": "LLM_PROVIDER=mistral\nLLM_FALLBACK=extractive\n",
}
WHY = {
    "pooled": "pooled.txt: POOLING=mean+max is fixed when a collection is built",
    "cut": "cut.txt: CHUNK_SIZE=800 is fixed when a collection is built, and farm has 1000. Build",
    "away": "models/none",
    "unread": "READER_MODEL=models/none",
    "unruled": "SYSTEM_PROMPT=mine is neither",
    "unknown": "unknown.txt: RERANKER=mine",
    "nobody": "nobody.txt: LLM_PROVIDER=nobody",
    "keyless": "Mistral needs a key. Set MISTRAL_API_KEY",
}
ASKED = {"question": "What do sheep give?", "corpus_filter": "all"}


@contextmanager
def serving(folder: Path, root: Path, default: str) -> Iterator[FlaskClient]:
    (root / "targets").mkdir()
    for name, text in FILES.items():
        (root / "targets" / f"{name}.txt").write_text(text)
    options: dict[str, Any] = {"targets_directory": root / "targets", "test_target": default}
    with Atlas.open(folder, embedder=HashEmbedder(), **options) as atlas:
        yield app_of(atlas).test_client()


def test_the_others_are_served(farm_stores: Path, tmp_path: Path) -> None:
    with serving(farm_stores / "farm", tmp_path, "plain") as client:
        listed = client.get("/api/targets").get_json()
        assert {each["name"] for each in listed["targets"]} == FILES.keys() - WHY.keys()
        assert listed["unusable"].keys() == WHY.keys()
        for name, why in WHY.items():
            assert why in listed["unusable"][name]
            refusal = client.post("/api/search", json=ASKED | {"target": name})
            assert (refusal.status_code, refusal.get_json()["detail"]) == (
                503,
                listed["unusable"][name],
            )
        found = client.post("/api/search", json=ASKED | {"target": "documented"}).get_json()
        assert found["retrieval"]["legs"] == ["dense"]


def test_doctor_notes_each(settings: Settings, demo: BuildReport, tmp_path: Path) -> None:
    (tmp_path / "plain.txt").write_text("")
    (tmp_path / "pooled.txt").write_text("POOLING=mean+max\n")
    own = {"targets_directory": tmp_path, "test_target": "plain"}
    findings = {each.what: each for each in examine(settings.model_copy(update=own))}
    assert "target plain" not in findings
    assert findings["target pooled"].state == "note"
    assert "POOLING=mean+max is fixed" in findings["target pooled"].detail


@pytest.mark.parametrize("name", WHY)
def test_the_default_one_must_be_served(farm_stores: Path, tmp_path: Path, name: str) -> None:
    with (
        pytest.raises(ConfigurationError, match=WHY[name].split("=")[0]),
        serving(farm_stores / "farm", tmp_path, name),
    ):
        pass
