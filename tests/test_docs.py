"""Documentation under test: what it says is what the code does."""

import json
import re
import tomllib
from itertools import chain, pairwise
from pathlib import Path

import pytest
import yaml
from dotenv.parser import parse_stream
from flask.testing import FlaskClient

from atlas_search.core.settings import Settings
from atlas_search.core.targets import Target, target_names
from tests.conftest import sample_documents
from tests.places import ROOT

FIELDS = {
    name.upper(): field
    for model in (Settings, Target)
    for name, field in model.model_fields.items()
}


def shown(default: object) -> str:
    """A default as the documents write it."""
    if isinstance(default, bool):
        return str(int(default))
    if isinstance(default, Path) and default.is_absolute():
        return str(default.relative_to(ROOT))
    return str(default)


def test_the_env_example_lists_every_setting_with_its_default_and_meaning() -> None:
    lines = (ROOT / ".env.example").read_text().splitlines()
    listed = {}
    for meaning, line in pairwise(lines):
        if match := re.fullmatch(r"# ([A-Z0-9_]+)=(.*)", line):
            listed[match[1]] = (match[2], meaning.removeprefix("# "))
    assert listed == {
        name: (shown(field.default), field.description) for name, field in FIELDS.items()
    }


def test_the_readme_tables_list_every_setting_with_its_default_and_meaning() -> None:
    rows = re.findall(
        r"^\| `([A-Z0-9_]+)` \| (.*?) \| (.*) \|$", (ROOT / "README.md").read_text(), re.MULTILINE
    )
    listed = {
        name: ("" if default == "(empty)" else default.strip("`"), meaning)
        for name, default, meaning in rows
    }
    assert listed == {
        name: (shown(field.default), field.description) for name, field in FIELDS.items()
    }


def test_the_curl_in_the_readme_gives_the_output_shown(client: FlaskClient) -> None:
    readme = (ROOT / "README.md").read_text()
    body = re.search(r"/api/ask .*?-d '(\{.*?\})'", readme, re.DOTALL)
    block = re.search(r"```json\n(.*?)```", readme, re.DOTALL)
    assert body
    assert block
    shown_answer = json.loads(block[1])
    answer = client.post("/api/ask", json=json.loads(body[1])).get_json()
    assert answer["decision"] == shown_answer["decision"]
    assert answer["answer"].startswith(shown_answer["answer"].removesuffix(" ..."))
    assert shown_answer["citations"][0].items() <= answer["citations"][0].items()
    assert shown_answer["retrieval"]["per_corpus"] == answer["retrieval"]["per_corpus"]


def test_the_architecture_is_at_most_two_pages() -> None:
    assert len((ROOT / "ARCHITECTURE.md").read_text().split()) <= 1200


@pytest.mark.parametrize("document", ["README.md", "ARCHITECTURE.md", "CHANGELOG.md"])
def test_links_to_files_lead_somewhere(document: str) -> None:
    links = re.findall(r"\]\((?!https?:)([^)#]+)\)", (ROOT / document).read_text())
    assert [link for link in links if not (ROOT / link).exists()] == []


def test_every_make_command_of_the_readme_exists() -> None:
    targets = set(re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text(), re.MULTILINE))
    used = set(re.findall(r"\bmake ([a-z-]+)(?=[\s`])", (ROOT / "README.md").read_text()))
    assert {"run", "test", "eval", "help"} <= used
    assert used <= targets
    assert {"install", "check", "serve", "phoenix", "store"} <= targets


def test_constraints_pin_what_is_installed_and_no_nvidia_package() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    pins = dict(
        line.split("==")
        for line in (ROOT / "constraints.txt").read_text().lower().splitlines()
        if "==" in line
    )
    assert not [name for name in pins if name.startswith("nvidia")]
    wanted = [*project["dependencies"], *chain(*project["optional-dependencies"].values())]
    names = {re.match(r"[A-Za-z0-9_-]+", each)[0].lower().replace("_", "-") for each in wanted}
    assert names - {name.replace("_", "-") for name in pins} == {"torch", project["name"]}


def test_compose_offers_the_server_and_phoenix_from_the_dockerfile() -> None:
    compose = yaml.safe_load((ROOT / "docker-compose.yml").read_text())
    dockerfile = (ROOT / "Dockerfile").read_text()
    stages = set(re.findall(r"^FROM \S+ AS (\w+)$", dockerfile, re.MULTILINE))
    assert {service["build"]["target"] for service in compose["services"].values()} == stages
    known = {name.upper() for name in Settings.model_fields}
    assert set(compose["services"]["atlas"]["environment"]) <= known
    for source in re.findall(r"^COPY (.+) \S+$", dockerfile, re.MULTILINE):
        assert all((ROOT / path).exists() for path in source.split())


def test_every_bundled_target_says_what_it_is_for() -> None:
    for name in target_names(ROOT / "targets"):
        with (ROOT / "targets" / f"{name}.txt").open() as file:
            first = next(parse_stream(file))
        assert first.original.string.startswith("# ")


def test_every_sample_names_its_source() -> None:
    for document in sample_documents():
        metadata = document.metadata
        assert metadata["source"], document.id
        assert str(metadata["url"]).startswith("https://"), document.id
        assert metadata["date"], document.id
        assert metadata["tags"], document.id
        assert "court" in metadata or "body" in metadata, document.id
