"""The same question on the same store gives the same bytes in every process."""

import json
import os
import subprocess
import sys
from pathlib import Path

from flask.testing import FlaskClient

from atlas_search.building.flow import BuildReport
from tests.places import ROOT

QUESTIONS = ("rights of a person on arrest", "Compare privacy in Britain with New Zealand")
CHANGES = ({}, {"exact": True, "facets": True}, {"fuzzy": True, "filters": {"date": "1966"}})
PROGRAM = """
from atlas_search.server.app import create_app
from atlas_search.atlas import Atlas
from atlas_search.services import open_services
from atlas_search.core.settings import load_settings
from tests.test_repeatable import found_by
services = open_services(load_settings())
print(found_by(create_app(lambda: Atlas(services)).test_client()))
services.close()
"""


def found_by(client: FlaskClient) -> str:
    """What six searches find, one in each line."""
    lines = []
    for question in QUESTIONS:
        for changes in CHANGES:
            body = {"question": question, "explain": True, **changes}
            document = client.post("/api/search", json=body).get_json()
            del document["timings_ms"], document["trace_id"]
            lines.append(json.dumps(document, ensure_ascii=False))
    return "\n".join(lines)


def test_two_processes_give_the_same_bytes(
    client: FlaskClient, stores: Path, demo: BuildReport, tmp_path: Path
) -> None:
    """This process and another, whose hashes differ from those of this one."""
    environment = os.environ | {
        "CHROMA_PERSIST_DIRECTORY": str(stores),
        "CHROMA_COLLECTION_NAME": demo.manifest.collection,
        "PYTHONHASHSEED": "2" if os.environ.get("PYTHONHASHSEED") == "1" else "1",
        "PYTHONPATH": os.pathsep.join(filter(None, (str(ROOT), os.environ.get("PYTHONPATH")))),
        "PYTHONIOENCODING": "utf-8",
    }
    command = [sys.executable, "-c", PROGRAM]
    done = subprocess.run(
        command, env=environment, cwd=tmp_path, check=True, capture_output=True, timeout=120
    )
    found = found_by(client)
    assert found.count("\n") == 5
    assert done.stdout.decode() == f"{found}\n"
