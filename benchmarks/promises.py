"""What other programs' documents promise, and what shows it here: `python -m benchmarks.promises`.

`promises.toml` lists every promise with a request or command of ours and what its output must have.
All of them are run in a new folder, over the bundled demo collection, with real servers; models are
local servers that speak the protocols of Mistral, OpenAI and Cohere. Then `docs/promises.md` is
written. A row of which the output lacks what is promised is printed, and the status is 1.
"""

import json
import os
import re
import shlex
import subprocess
import sys
import tempfile
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from itertools import count
from pathlib import Path
from typing import Annotated, Any

import httpx2
import typer

from tests.chat_server import KEY, ChatServer, Request, Told, sentence
from tests.cohere_server import cohere_server
from tests.collector import Collector, collecting
from tests.conftest import free_port
from tests.evaluation.judging import GOOD, Script, is_of_judge
from tests.mistral_server import mistral_server
from tests.openai_server import openai_server
from tests.places import ROOT
from tests.servers import ATLAS, running, wait_for

LIST = Path(__file__).with_suffix(".toml")
PAGE = ROOT / "docs" / "promises.md"
CHECK = re.compile(r"(?P<path>\S+)(?: (?P<sign>=|~|>=) (?P<value>.+))?")
REQUEST = re.compile(r"(GET|POST|PUT|DELETE) (\S+)(?: (.*))?")
HEAD = """# Promises of five documents

`benchmarks/promises.toml` lists what the documents of ATLAS, bedrock-rag-eval, rag-eval-box,
sentinel and Reliable RAG promise, and what shows it here. `python -m benchmarks.promises` runs it
all over the demo collection, with local servers in place of models, and writes this page of what
Atlas does in another way, or not at all. Where only a name differs, `alias` in the list is the one
here.
"""


@dataclass(frozen=True)
class Row:
    """One promise: the steps that show it, and what the output of the last must have.

    `target` are lines of a target file called `name`, `environment` variables of an own server.
    Where only a name differs, `alias` is the one here.
    """

    name: str
    promise: str
    run: Sequence[str] = ()
    shows: Sequence[str] = ()
    target: str = ""
    environment: str = ""
    alias: str = ""
    differs: str = ""
    not_kept: str = ""


@dataclass
class Place:
    """The folder with collection and targets, what runs in it, and each server by its variables."""

    folder: Path
    variables: dict[str, str]
    collector: Collector
    stack: ExitStack
    addresses: dict[str, str] = field(default_factory=dict)

    def address(self, environment: str) -> str:
        """That of the server with these variables, started when first asked for."""
        if environment not in self.addresses:
            own = {**self.variables, **assignments(environment), "ATLAS_PORT": str(free_port())}
            server = running(*ATLAS, "serve", environment=own, folder=self.folder)
            self.addresses[environment] = self.stack.enter_context(server).address("Atlas")
        return self.addresses[environment]


def main(
    folder: Annotated[Path | None, typer.Option(help="Kept, with its collection")] = None,
    only: Annotated[str, typer.Option(help="Pattern of rows to run; writes no page")] = "",
) -> None:
    """Run every row, print what fails, and write the page."""
    files, documents = promises()
    runs = failures = 0
    with ExitStack() as stack:
        home = folder or Path(stack.enter_context(tempfile.TemporaryDirectory()))
        every = [row for rows in documents.values() for row in rows]
        place = stack.enter_context(placed(home.absolute(), files, every))
        for document, rows in documents.items():
            for row in rows:
                if not re.search(only, f"{document}: {row.promise}"):
                    continue
                runs += 1
                try:
                    keep(row, place)
                except (AssertionError, httpx2.HTTPError) as failure:
                    failures += 1
                    print(f"{document}: {row.promise}\n  {failure}")
    if not only:
        PAGE.write_text(page(documents), encoding="utf-8")
    print(f"{runs} rows, {failures} failed")
    sys.exit(failures > 0)


def promises() -> tuple[Mapping[str, str], Mapping[str, Sequence[Row]]]:
    """The files that the rows need, and the rows of each document."""
    lists = tomllib.loads(LIST.read_text(encoding="utf-8"))
    files = lists.pop("files")
    numbers = count(1)
    return files, {
        document: [Row(f"row{next(numbers)}", **row) for row in rows]
        for document, rows in lists.items()
    }


@contextmanager
def placed(folder: Path, files: Mapping[str, str], rows: Sequence[Row]) -> Iterator[Place]:
    """The demo collection, the files and targets of the list, and the servers of models."""
    for name, text in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text, encoding="utf-8")
    (folder / "targets").mkdir(exist_ok=True)
    for path in (*(ROOT / "targets").iterdir(), ROOT / "docker-compose.yml"):
        (folder / path.relative_to(ROOT)).write_bytes(path.read_bytes())
    for row in (row for row in rows if row.target):
        lines = "\n".join(shlex.split(row.target))
        (folder / "targets" / f"{row.name}.txt").write_text(f"{lines}\n")
    with (
        ExitStack() as stack,
        openai_server() as openai,
        mistral_server() as mistral,
        cohere_server() as cohere,
        collecting() as collector,
    ):
        teach(openai)
        teach(mistral)
        variables = {
            "HOME": str(folder),
            "PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}",
            "PYTHONPATH": str(ROOT / "backend"),
            "COLUMNS": "200",
            "PHOENIX": "0",
            "HF_HUB_OFFLINE": "1",
            "HF_HOME": os.environ.get("HF_HOME", str(Path.home() / ".cache" / "huggingface")),
            "ATLAS_PORT": str(free_port()),
            "ATLAS_ADMIN_TOKEN": KEY,
            "COLLECTIONS": "*",
            "TARGETS_DIRECTORY": str(folder / "targets"),
            "OPENAI_BASE_URL": openai.address,
            "OPENAI_API_KEY": KEY,
            "MISTRAL_SERVER_URL": mistral.address,
            "MISTRAL_API_KEY": KEY,
            "MISTRAL_REQUESTS_PER_MINUTE": "60000",
            "COHERE_SERVER_URL": cohere.address,
            "COHERE_API_KEY": KEY,
            "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT": f"{collector.address}/v1/traces",
            "OTEL_BSP_SCHEDULE_DELAY": "50",
        }
        place = Place(folder, variables, collector, stack)
        built = typed("atlas demo --no-serve", place)
        if built["exit"]:
            raise SystemExit(built["text"])
        with running(*ATLAS, "serve", environment=variables, folder=folder) as server:
            place.addresses[""] = server.address("Atlas")
            yield place


def teach(server: ChatServer) -> None:
    """Let models cite the best passage, but for those whose names say else; a judge judges."""
    server.models = (*server.models, "mistral-large-latest", "declines", "cites-nothing")
    judge = Script(server, **GOOD)
    named = {"declines": "The passages do not say.", "cites-nothing": "The council lost."}
    cited = sentence("The council could not sue for libel.", 1)

    def answer(request: Request) -> str | Told:
        if is_of_judge(request):
            return judge.answer(request)
        return named.get(request.body["model"], cited)

    server.says(answer)


def keep(row: Row, place: Place) -> None:
    """Run the steps of a row; AssertionError if the last one lacks what is promised."""
    output: Mapping[str, Any] = {}
    for step in row.run:
        known = step.replace("$id", output.get("id", ""))
        output = taken(known, row, place, output.get("trace_id", ""))
    for check in row.shows:
        hold(check, output)


def taken(step: str, row: Row, place: Place, trace_id: str) -> Mapping[str, Any]:
    """The output of one step: a request, a span of the trace of the step before, or a command."""
    if step.startswith("TRACE "):
        return traced(step.removeprefix("TRACE "), trace_id, place.collector)
    if not (request := REQUEST.fullmatch(step)):
        return typed(step, place)
    method, path, body = request.groups()
    sent = json.loads(body) if body else None
    if row.target and sent is not None:
        sent["target"] = row.name
    headers = {"Authorization": f"Bearer {KEY}"}
    with httpx2.Client(base_url=place.address(row.environment), timeout=60) as client:
        return received(client.request(method, path, json=sent, headers=headers))


def received(response: httpx2.Response) -> dict[str, Any]:
    """A response as one object."""
    kind = response.headers.get("Content-Type", "")
    told: dict[str, Any] = {"HTTP": response.status_code}
    if "json" in kind:
        body = response.json()
        return told | (body if isinstance(body, dict) else {"list": body})
    if "event-stream" in kind:
        events = re.findall(r"^event: (\w+)\ndata: (.*)$", response.text, re.MULTILINE)
        told |= {name: json.loads(data) for name, data in events}
        return told | {"events": [name for name, _ in events]}
    return told | {"text": response.text}


def typed(command: str, place: Place) -> dict[str, Any]:
    """What a command printed, and the JSON in it."""
    ended = subprocess.run(
        ["bash", "-c", command],
        capture_output=True,
        text=True,
        cwd=place.folder,
        env=place.variables,
        check=False,
    )
    told = {"exit": ended.returncode, "text": ended.stdout + ended.stderr}
    try:
        body = json.loads(ended.stdout)
    except ValueError:
        return told
    return told | (body if isinstance(body, dict) else {"list": body})


def traced(name: str, trace_id: str, collector: Collector) -> Mapping[str, Any]:
    """The attributes of the span of this name in a trace."""

    def sent() -> Mapping[str, Any] | None:
        spans = [span for span in list(collector.spans) if span.trace_id == trace_id]
        named = (span.attributes for span in spans if span.name.split(" · ")[0] == name)
        return next(named, None)

    return wait_for(sent, 30, f"a span {name}")


def hold(check: str, output: Mapping[str, Any]) -> None:
    """AssertionError if an output fails a check."""
    match = CHECK.fullmatch(check)
    assert match, f"{check} is no check"
    path, sign, value = match["path"], match["sign"], match["value"]
    found = at(output, path)
    printed = found if isinstance(found, str) else json.dumps(found)
    if sign == "=":
        holds = found == json.loads(value)
    elif sign == ">=":
        holds = isinstance(found, (int, float)) and found >= float(value)
    elif sign == "~":
        holds = re.search(value, printed) is not None
    else:
        holds = found not in (None, "", [], {})
    assert holds, f"{check}: {printed[:300]}"


def at(output: Any, path: str) -> Any:
    """The value at a path of keys and positions; `*` is each of a list, `length` their number."""
    found = output
    for number, key in enumerate(names := path.split("/")):
        if key == "*":
            rest = "/".join(names[number + 1 :])
            return [at(each, rest) if rest else each for each in found]
        if key == "length":
            return len(found)
        try:
            found = found[int(key)] if isinstance(found, list) else found[key]
        except (KeyError, IndexError, TypeError, ValueError):
            raise AssertionError(f"no {path} in {json.dumps(output)[:300]}") from None
    return found


def assignments(environment: str) -> dict[str, str]:
    """The variables of `A=1 B=2`."""
    return dict(part.split("=", 1) for part in shlex.split(environment))


def line(row: Row) -> str:
    """A line of the page."""
    return f"- {row.promise} → {f'not kept: {row.not_kept}' if row.not_kept else row.differs}"


def page(documents: Mapping[str, Sequence[Row]]) -> str:
    """The page with a list for each document."""
    parts = [HEAD]
    for document, rows in documents.items():
        other = [line(row) for row in rows if row.differs or row.not_kept]
        counts = f"{len(rows)} promises, {len(rows) - len(other)} kept."
        lines = "\n".join(other)
        parts.append(f"## {document}\n\n{counts}\n\n{lines}\n")
    return "\n".join(parts)


if __name__ == "__main__":
    typer.run(main)
