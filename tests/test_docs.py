"""Documentation under test: what it says is what the code does."""

import ast
import io
import json
import re
import shlex
import tomllib
from collections.abc import Iterable, Iterator, Sequence
from importlib.util import find_spec
from itertools import chain, pairwise, takewhile
from pathlib import Path
from typing import get_args

import click
import pytest
import yaml
from dotenv import dotenv_values
from dotenv.parser import parse_stream
from flask.testing import FlaskClient
from rich.console import Console
from typer.main import get_command

import atlas_search
from atlas_search.answer import decide
from atlas_search.answer.quotes.scores import LIKELY
from atlas_search.building.chunking import Splitter
from atlas_search.cli.ask import print_answer
from atlas_search.cli.main import LazyGroup, app
from atlas_search.core.files import bundled_folder
from atlas_search.core.settings import Settings, environment_target, load_settings
from atlas_search.core.targets import Target, target_names
from atlas_search.documents.export import FORMATS
from atlas_search.server.api import STATUSES
from tests.conftest import sample_documents
from tests.places import ROOT
from tests.settings_docs import EXAMPLE, PAGE, SECTIONS, example, item, page

PACKAGE = Path(atlas_search.__file__).parent
PAGES = sorted(
    [
        *(ROOT / f"{name}.md" for name in ("README", "ARCHITECTURE", "CHANGELOG", "CONTRIBUTING")),
        *(ROOT / "docs").glob("*.md"),
    ]
)
CODE = re.compile(r"^```bash\n(.*?)^```", re.MULTILINE | re.DOTALL)
SPAN = re.compile(r"`([^`\n]+)`")

every_page = pytest.mark.parametrize("document", PAGES, ids=lambda path: path.stem)


def text_of(name: str) -> str:
    return (ROOT / name).read_text(encoding="utf-8")


def table(name: str, heading: str) -> list[list[str]]:
    """The rows of the table below a heading of a page, without its head."""
    section = re.search(rf"^#+ {heading}\n(.*?)(?=^#|\Z)", text_of(name), re.M | re.DOTALL)
    assert section, heading
    rows = re.findall(r"^\|(.*)\|$", section[1], re.MULTILINE)
    return [[cell.strip() for cell in row.split("|")] for row in rows[2:]]


def items(name: str, heading: str) -> list[tuple[str, str]]:
    """The list below a heading of a page: what stands before and behind each first colon."""
    section = re.search(rf"^#+ {heading}\n(.*?)(?=^#|\Z)", text_of(name), re.M | re.DOTALL)
    assert section, heading
    listed = re.findall(r"^- (.+\n(?: +.+\n)*)", section[1], re.MULTILINE)
    parts = (" ".join(item.split()).partition(": ") for item in listed)
    return [(name, meaning) for name, _, meaning in parts]


def names_in(cells: Iterator[str] | Sequence[str]) -> list[str]:
    """What stands in backticks in some cells."""
    return [name for cell in cells for name in SPAN.findall(cell)]


# settings


def test_the_env_example_and_the_settings_page_are_written_from_the_classes() -> None:
    assert EXAMPLE.read_text(encoding="utf-8") == example()
    assert PAGE.read_text(encoding="utf-8") == page(PAGE.read_text(encoding="utf-8"))


def test_the_settings_page_lists_every_setting_with_its_default_and_meaning() -> None:
    listed = [each for heading in SECTIONS for each in items("docs/settings.md", heading)]
    assert listed == [
        item(name, field)
        for model in SECTIONS.values()
        for name, field in model.model_fields.items()
    ]


def test_the_env_example_sets_the_defaults(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    lines = re.sub(r"^# (?=[A-Z0-9_]+=)", "", text_of(".env.example"), flags=re.MULTILINE)
    (tmp_path / ".env").write_text(lines)
    monkeypatch.chdir(tmp_path)
    assert set(dotenv_values(tmp_path / ".env")) == {
        name.upper() for model in (Settings, Target) for name in model.model_fields
    }
    assert load_settings(targets_directory=bundled_folder("targets")) == Settings(_env_file=None)
    assert Target.model_validate(environment_target()) == Target()


def test_the_settings_page_lists_every_bundled_target() -> None:
    listed = names_in(name for name, _ in items("docs/settings.md", "Bundled targets"))
    assert listed == target_names(ROOT / "targets")


# what the pages show and list


def test_the_curl_of_the_api_page_gives_the_output_shown(client: FlaskClient) -> None:
    text = text_of("docs/api.md")
    body = re.search(r"/api/ask .*?-d '(\{.*?\})'", text, re.DOTALL)
    block = re.search(r"```json\n(.*?)```", text, re.DOTALL)
    assert body
    assert block
    shown_answer = json.loads(block[1])
    answer = client.post("/api/ask", json=json.loads(body[1])).get_json()
    assert answer["decision"] == shown_answer["decision"]
    assert answer["answer"].startswith(shown_answer["answer"].removesuffix(" ..."))
    assert shown_answer["citations"][0].items() <= answer["citations"][0].items()
    assert shown_answer["scope"].items() <= answer["scope"].items()
    assert shown_answer["confidence"].items() <= answer["confidence"].items()
    assert shown_answer["closest"] == answer["closest"]


def test_every_curl_of_the_pages_is_a_request_the_server_takes(client: FlaskClient) -> None:
    sent = [
        (words[words.index("-X") + 1] if "-X" in words else "POST", words)
        for document in PAGES
        for words in commands(document)
        if words[0] == "curl"
    ]
    assert len(sent) >= 4
    # else nothing would be asked of who changes it
    elsewhere = {"REMOTE_ADDR": "192.0.2.7"}
    for method, words in sent:
        address = next(word for word in words if word.startswith("http://127.0.0.1:8000/"))
        path = address.removeprefix("http://127.0.0.1:8000").replace("$QA_ID", "nobodys")
        if "-F" in words:
            form = [field for flag, field in pairwise(words) if flag == "-F"]
            data = dict(field.split("=") for field in form)
            response = client.open(path, method=method, data=data, environ_overrides=elsewhere)
        else:
            body = json.loads(words[words.index("-d") + 1]) if "-d" in words else None
            response = client.open(path, method=method, json=body, environ_overrides=elsewhere)
        # without the administrator's token a well-formed change is refused as such, and nobody has
        # an answer of the id that stands for one
        changes = any(word.startswith("Authorization") for word in words)
        of_answer = 404 if "$QA_ID" in address else 403
        assert response.status_code == (of_answer if changes else 200), address


def test_the_answer_of_the_readme_is_what_the_command_prints(client: FlaskClient) -> None:
    asked = re.search(r'^atlas ask "(.*)"$', text_of("README.md"), re.MULTILINE)
    block = re.search(r"```text\n(.*?)```", text_of("README.md"), re.DOTALL)
    assert asked
    assert block
    printed = io.StringIO()
    answer = client.post("/api/ask", json={"question": asked[1]}).get_json()
    print_answer(Console(file=printed, highlight=False), answer)
    assert block[1] == printed.getvalue()


def test_the_api_page_lists_every_route(client: FlaskClient) -> None:
    described = client.get("/api/openapi.json").get_json()["paths"]
    routes = {f"{m.upper()} {path}" for path, methods in described.items() for m in methods}
    assert set(names_in(names for _, names in items("docs/api.md", "Routes"))) == routes


def test_the_api_page_lists_every_status() -> None:
    listed = [int(status) for status, _ in items("docs/api.md", "Problems")]
    assert set(listed) == set(STATUSES)


def test_the_pages_list_every_type_splitter_reranker_and_format() -> None:
    types = names_in(name for name, _ in items("docs/sources.md", "Formats"))
    create, _ = atlas_command(["create"])
    assert sorted(types) == sorted(create.list_commands(click.Context(create)))
    splitters = names_in(name for name, _ in items("docs/sources.md", "Passages"))
    assert sorted(splitters) == sorted(get_args(Splitter))
    rerankers = names_in(name for name, _ in items("docs/search.md", "Rerankers"))
    meaning = Target.model_fields["reranker"].description
    assert set(rerankers) == set(names_in([meaning]))
    formats = re.search(r"export\?format=` gives (.*?)\.", text_of("docs/answers.md"), re.DOTALL)
    assert formats
    assert SPAN.findall(formats[1]) == list(FORMATS)


def test_the_answers_page_lists_reasons_that_are_given_and_when_an_answer_is_likely() -> None:
    listed = set(names_in(code for code, _ in items("docs/answers.md", "Reasons")))
    given = Path(decide.__file__).read_text(encoding="utf-8")
    abstains = set(re.findall(r'_abstain\(\s*"(\w+)"', given))
    assert abstains
    assert abstains <= listed
    assert f"| `likely` | from {LIKELY} on |" in text_of("docs/answers.md")
    written = "".join(path.read_text(encoding="utf-8") for path in PACKAGE.glob("answer/**/*.py"))
    assert [code for code in listed if f'"{code}"' not in written] == []


def test_the_search_page_lists_every_signal(client: FlaskClient) -> None:
    found = client.post("/api/search", json={"question": "right to a lawyer"}).get_json()
    listed = names_in(name for name, _ in items("docs/search.md", "Signals"))
    assert set(listed) == {*found["passages"][0]["signals"], "sparse"}


def test_a_word_has_one_meaning() -> None:
    words = [word for word, _ in items("docs/glossary.md", "Glossary")]
    assert words == sorted(set(words))


def test_the_readme_and_the_architecture_are_short() -> None:
    assert len(text_of("README.md").splitlines()) <= 130
    assert len(text_of("ARCHITECTURE.md").split()) <= 1350


def test_the_architecture_lists_every_room_and_names_files_that_exist() -> None:
    rooms = names_in(row[0] for row in table("ARCHITECTURE.md", "Rooms"))
    held = {path.name for path in PACKAGE.iterdir() if (path / "__init__.py").exists()}
    assert set(rooms) == held | {"services"}
    named = [
        name
        for name in SPAN.findall(text_of("ARCHITECTURE.md"))
        if re.fullmatch(r"[\w.-]+(/[\w.-]+)+/?", name)
    ]
    missing = [name for name in named if not ((PACKAGE / name).exists() or (ROOT / name).exists())]
    assert missing == []
    assert len(named) > 15


# links and commands


def slug(heading: str) -> str:
    return re.sub(r"[^\w -]", "", heading.lower()).replace(" ", "-")


@every_page
def test_links_lead_somewhere(document: Path) -> None:
    broken = []
    for link in re.findall(r"\]\((?!https?:)([^)]+)\)", document.read_text(encoding="utf-8")):
        path, _, anchor = link.partition("#")
        target = document.parent / path if path else document
        if not target.exists():
            broken.append(link)
        elif anchor:
            headings = re.findall(r"^#+ (.*)$", target.read_text(encoding="utf-8"), re.MULTILINE)
            broken += [link] if anchor not in map(slug, headings) else []
    assert broken == []


def test_the_index_leads_to_every_page_in_three_sections() -> None:
    index = text_of("docs/index.md")
    assert re.findall(r"^## (.*)$", index, re.MULTILINE) == ["Use", "Run", "Extend"]
    linked = re.findall(r"^- \[.*?\]\((\S+)\): ", index, re.MULTILINE)
    assert "(docs/index.md)" in text_of("README.md")
    assert sorted((ROOT / "docs" / link).resolve() for link in linked) == [
        page for page in PAGES if page.name != "index.md"
    ]


def commands(document: Path) -> Iterator[list[str]]:
    """The commands of a page's blocks of shell, as words, up to a redirection or a pipe."""
    for block in CODE.findall(document.read_text(encoding="utf-8")):
        # single quotes may span lines, all else ends with its line
        for line in re.findall(r"(?:'[^']*'|\\\n|[^\n'])+", block):
            words = shlex.split(line.replace("\\\n", " "), comments=True)
            while words and re.fullmatch(r"[A-Z_]+=.*", words[0]):
                words.pop(0)
            end = next((at for at, word in enumerate(words) if word in {">", "|", "&&"}), None)
            if words:
                yield words[:end]


def spans(document: Path) -> Iterator[list[str]]:
    """What stands in backticks within the lines of a page, as words."""
    prose = re.sub(r"^```.*?^```", "", document.read_text(encoding="utf-8"), flags=re.M | re.DOTALL)
    for span in SPAN.findall(prose):
        yield span.split()


def atlas_command(words: Sequence[str]) -> tuple[click.Command, list[str]]:
    """The command that words after `atlas` name, and what is left of them."""
    command: click.Command = get_command(app)
    left = list(words)
    # `atlas eval` does something by itself
    while left and hasattr(command, "get_command") and not left[0].startswith("-"):
        name = left.pop(0)
        if isinstance(command, LazyGroup):
            found = command.load(name)
        else:
            found = command.get_command(click.Context(command), name)
        assert found, f"atlas {' '.join(words)}: there is no {name}"
        command = found
    return command, left


@every_page
def test_commands_in_blocks_are_taken_with_their_arguments(document: Path) -> None:
    for words in commands(document):
        if Path(words[0]).name == "atlas":
            command, left = atlas_command(words[1:])
            command.make_context("atlas", left)  # raises what a wrong use would print


@every_page
def test_commands_in_sentences_exist_with_their_options(document: Path) -> None:
    for words in spans(document):
        if words[0] == "atlas":
            command, left = atlas_command([*takewhile(lambda word: not word.isupper(), words[1:])])
            known = {name for p in command.params for name in (*p.opts, *p.secondary_opts)}
            used = {word.partition("=")[0] for word in left if word.startswith("-")}
            assert used - {"--help"} <= known, " ".join(words)


def options_of(command: click.Command) -> set[str]:
    """The options of a command, and of those below it."""
    names = command.list_commands(None) if hasattr(command, "list_commands") else []
    below = (command.load(n) if isinstance(command, LazyGroup) else command.get_command(None, n)
             for n in names)  # fmt: skip
    own = {name for p in command.params for name in (*p.opts, *p.secondary_opts)}
    return own.union(*map(options_of, below))


def test_every_option_that_a_message_of_the_package_names_exists() -> None:
    # of every command, of qpdf and tesseract, and before a name
    others = {"--help", "--decrypt", "--dpi", "--list-langs", "--no-"}
    others |= set(
        re.findall(r"--[a-z-]+", (PACKAGE / "evaluation" / "report_plots.py").read_text())
    )
    known = options_of(get_command(app)) | others
    for path in PACKAGE.rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Constant) and isinstance(node.value, str):
                named = set(re.findall(r"(?<![\w-])--[a-z][a-z-]+", node.value))
                assert named <= known, f"{path}:{node.lineno}"


@every_page
def test_every_make_command_exists(document: Path) -> None:
    targets = set(re.findall(r"^([a-z-]+):", text_of("Makefile"), re.MULTILINE))
    lines = [*commands(document), *spans(document)]
    used = {words[1] for words in lines if len(words) > 1 and words[0] == "make"}
    assert used <= targets


def test_the_pages_name_the_commands_one_starts_with() -> None:
    used = {tuple(words[:2]) for document in PAGES for words in commands(document)}
    assert {("make", "run"), ("make", "test"), ("make", "check"), ("atlas", "ask")} <= used
    assert {("make", "bench-quality"), ("make", "install")} <= used


@every_page
def test_every_module_and_script_that_python_runs_exists(document: Path) -> None:
    for words in [*commands(document), *spans(document)]:
        if not re.fullmatch(r"(\S*/)?python3?", words[0]) or len(words) < 2:
            continue
        if words[1] == "-m":
            assert find_spec(words[2]), words
        else:
            assert (ROOT / words[1]).is_file(), words


# what surrounds the code


def test_the_hooks_are_the_checks_of_make_check() -> None:
    recipe = re.search(r"^check:.*\n((?:\t.*\n)+)", text_of("Makefile"), re.MULTILINE)
    assert recipe
    checks = {
        line.strip().removeprefix("$(BIN)/").replace("format --check", "format").removesuffix(" .")
        for line in recipe[1].splitlines()
    }
    hooks = yaml.safe_load(text_of(".pre-commit-config.yaml"))["repos"][0]["hooks"]
    assert {hook["entry"].removeprefix(".venv/bin/") for hook in hooks} == checks


def test_the_workflow_runs_everything_on_every_python_that_is_supported() -> None:
    job = yaml.safe_load(text_of(".github/workflows/ci.yml"))["jobs"]["test"]
    supported = tomllib.loads(text_of("pyproject.toml"))["project"]["requires-python"]
    low, high = map(int, re.fullmatch(r">=3\.(\d+),<3\.(\d+)", supported).groups())
    assert job["strategy"]["matrix"]["python"] == [f"3.{minor}" for minor in range(low, high)]
    assert job["steps"][-1]["run"] == ".ci/run"
    assert (ROOT / ".ci" / "run").is_file()
    assert set(job["env"]) <= set(re.findall(r"^([A-Z_]+) \?=", text_of("Makefile"), re.MULTILINE))


LISTS = {path.name: path.read_text().splitlines() for path in ROOT.glob("constraints*.txt")}
PIN = r"([\w.-]+)==[\w.]+( ; [^#]+?)?( --hash=sha256:[0-9a-f]{64})+"


@pytest.mark.parametrize("name", LISTS)
def test_a_list_of_packages_has_the_hashes_of_each_and_is_installed_whole(name: str) -> None:
    pins = [re.fullmatch(PIN, line) for line in LISTS[name]]
    assert all(pins)
    assert not [pin[1] for pin in pins if pin[1].startswith(("nvidia", "torch"))]
    makefile = text_of("Makefile")
    assert f"/pip install $(HASHED) {name}\n" in makefile.replace("$(BIN)", "/")
    assert f"\t$(PINS) {name} " in makefile


def test_every_requirement_is_pinned() -> None:
    project = tomllib.loads(text_of("pyproject.toml"))["project"]
    extras = project["optional-dependencies"]
    for_tests = extras.pop("test")
    del extras["remote"]  # for one who has such a store: its libraries want others of their own
    beside = [extras.pop(name) for name in ("langchain", "llama-index", "haystack", "notebook")]
    pins = {line.partition("==")[0] for line in LISTS["constraints.txt"]}
    own = {project["name"], "torch"}  # an extra may name others of this project
    assert requirements(chain(project["dependencies"], *extras.values())) - pins == own
    pins |= {line.partition("==")[0] for line in LISTS["constraints-test.txt"]}
    assert requirements(chain(for_tests, *beside)) - pins == own - {"torch"}


def requirements(lines: Iterable[str]) -> set[str]:
    return {re.split("[<>=[]", line)[0].lower().replace("_", "-") for line in lines}


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
