"""A site on this machine, and the folder that its pages are fetched into."""

from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from threading import Event

from atlas_search.readers.fetch import FetchOptions, FetchReport, fetch_urls
from tests.servers import Handler, listening

PAGE = b"<html><head><title>Minutes</title></head><body><p>The court sat.</p></body></html>"
LATER = PAGE.replace(b"sat", b"rose")
HTML = {"Content-Type": "text/html; charset=utf-8"}
OPTIONS = FetchOptions(delay=0.001, timeout=5, allow_private="127.0.0.1")


@dataclass
class Answer:
    body: bytes = PAGE
    status: int = 200
    headers: dict[str, str] = field(default_factory=lambda: dict(HTML))


SILENCE = Answer(status=0)


@dataclass
class Site:
    """A server that answers each path with its answers in turn, the last one again and again."""

    answers: dict[str, list[Answer]] = field(default_factory=dict)
    requests: list[tuple[str, dict[str, str]]] = field(default_factory=list)
    closing: Event = field(default_factory=Event)
    address: str = ""

    def serves(self, path: str, *answers: Answer) -> str:
        self.answers[path] = list(answers)
        return self.address + path

    def visits(self) -> Counter[str]:
        return Counter(path for path, _ in self.requests)

    def answer(self, path: str, headers: dict[str, str]) -> Answer:
        self.requests.append((path, headers))
        answers = self.answers.get(path, [Answer(b"", 404)])
        answer = answers.pop(0) if len(answers) > 1 else answers[0]
        etag = answer.headers.get("ETag", "")
        unchanged = etag and headers.get("If-None-Match") == etag
        return Answer(b"", 304, {"ETag": etag}) if unchanged else answer


@contextmanager
def serving(site: Site) -> Iterator[Site]:
    def at(address: str) -> Site:
        site.address = address
        return site

    with listening(_Handler, at):
        yield site
        site.closing.set()


class _Handler(Handler):
    def do_GET(self) -> None:
        answer = self.kept.answer(self.path, dict(self.headers.items()))
        if answer is SILENCE:
            self.kept.closing.wait(timeout=30)
        else:
            body = b"" if answer.status == 304 else answer.body
            self.send(answer.status, body, answer.headers)


@dataclass
class Folder:
    """Where a test fetches to, and its list of addresses."""

    path: Path
    progress: list[tuple[int, int]] = field(default_factory=list)

    def fetch(self, *lines: str, **options: object) -> FetchReport:
        list_file = self.path / "list.urls"
        list_file.write_text("\n".join(lines))
        chosen = replace(OPTIONS, **options)  # type: ignore[arg-type]
        return fetch_urls(
            list_file, self.path / "pages", chosen, lambda *done: self.progress.append(done)
        )


def reasons(report: FetchReport) -> list[str]:
    return [reason for _, reason in report.failures]
