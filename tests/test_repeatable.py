"""The same question on the same store gives the same bytes in every process."""

import os
import subprocess
import sys
from pathlib import Path

from atlas_search.build.build import BuildReport
from tests.places import ROOT

PROGRAM = """
import json
from atlas_search.server.app import create_app
from atlas_search.atlas import Atlas
from atlas_search.services import open_services
from atlas_search.core.settings import load_settings
services = open_services(load_settings())
client = create_app(lambda: Atlas(services)).test_client()
for question in ("rights of a person on arrest", "Compare privacy in Britain with New Zealand"):
    for body in ({}, {"exact": True, "facets": True}, {"fuzzy": True, "filters": {"date": "1966"}}):
        found = client.post("/api/search", json={"question": question, "explain": True} | body)
        document = found.get_json()
        del document["timings_ms"], document["trace_id"]
        print(json.dumps(document, ensure_ascii=False))
services.close()
"""


def test_two_processes_give_the_same_bytes(stores: Path, demo: BuildReport, tmp_path: Path) -> None:
    def output(seed: str) -> bytes:
        environment = os.environ | {
            "CHROMA_PERSIST_DIRECTORY": str(stores),
            "CHROMA_COLLECTION_NAME": demo.manifest.collection,
            "PYTHONHASHSEED": seed,
            "PYTHONPATH": str(ROOT),
        }
        command = [sys.executable, "-c", PROGRAM]
        done = subprocess.run(
            command, env=environment, cwd=tmp_path, check=True, capture_output=True, timeout=120
        )
        return done.stdout

    first = output("1")
    assert first.count(b"\n") == 6
    assert first == output("2")
