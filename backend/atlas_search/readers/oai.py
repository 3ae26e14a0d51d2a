"""Harvesting the records of a repository by OAI-PMH 2.0, into a folder that is read like any other.

https://www.openarchives.org/OAI/openarchivesprotocol.html
"""

import json
from collections.abc import Callable, Iterator, Mapping
from contextlib import closing, suppress
from datetime import datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, NamedTuple
from urllib.parse import urlencode, urlsplit

import typer

from atlas_search.core.errors import SourceError
from atlas_search.core.files import write_whole
from atlas_search.providers.http import Fault
from atlas_search.readers import Skipped
from atlas_search.readers.fetch import (
    PAGES,
    PDF,
    AllowPrivate,
    Contact,
    Delay,
    FetchOptions,
    PoliteSession,
    Robots,
    file_name,
    page_name,
    read_held_page,
    reason,
    remove_pages,
    save_page,
)
from atlas_search.readers.files import FilesReader, files_reader
from atlas_search.readers.records.oai import (
    ROOT,
    description,
    dublin_core,
    identifier_of,
    is_deleted,
    links,
)
from atlas_search.readers.tesseract import Ocr
from atlas_search.readers.xml.parse import parse

if TYPE_CHECKING:
    from lxml import etree

_PREFIX = "oai_dc"
_DAY = "YYYY-MM-DD"
_TYPES = {".pdf": frozenset({PDF}), ".html": PAGES, ".htm": PAGES, ".xhtml": PAGES}
"""What a link to a file must give, by what its path ends in."""
_ERRORS = {
    "badArgument": "does not take these options",
    "badResumptionToken": "no longer knows how far it had come; run the command again",
    "cannotDisseminateFormat": "does not give its records in that form; choose another --prefix",
    "noSetHierarchy": "has no sets; leave out --set",
}


def oai_reader(
    source: Annotated[
        list[str], typer.Argument(help="Base URL of the repository, or saved answers of it")
    ],
    prefix: Annotated[str, typer.Option(help="Form of metadata: metadataPrefix")] = _PREFIX,
    set: Annotated[str, typer.Option(help="The one set to harvest: setSpec")] = "",
    since: Annotated[
        str, typer.Option("--from", "--since", help="First day of changes: 2024-01-31")
    ] = "",
    until: Annotated[str, typer.Option(help="Last day of changes")] = "",
    files: Annotated[
        bool, typer.Option(help="Read the PDFs and pages of the same host that records name")
    ] = False,
    contact: Contact = FetchOptions.contact,
    delay: Delay = FetchOptions.delay,
    refresh: Annotated[
        bool, typer.Option(help="Ask for all records again, not only for what changed")
    ] = FetchOptions.refresh,
    allow_private: AllowPrivate = FetchOptions.allow_private,
    ocr: Ocr = "",
) -> FilesReader:
    """Build a collection from a repository, by OAI-PMH: a document a record.

    Another run asks for what changed. Where a repository does not tell of deleted records, and
    with --until, it asks for all.
    """
    # it is known where the text stands: the words of its rights may be more
    return files_reader("description", ocr)


def harvest(
    url: str,
    selection: Mapping[str, str],
    folder: Path,
    options: FetchOptions,
    progress: Callable[[int, int], None],
) -> str:
    """Make `folder` hold the records of the repository at `url`, a file each; return its name.

    `selection` has arguments of the protocol. The next harvest of the same asks for what changed
    since, unless `options.refresh`. `progress` gets the records so far and all of them. Raises
    SourceError.
    """
    folder.mkdir(parents=True, exist_ok=True)
    note = folder / ".harvest.json"
    request = {"verb": "ListRecords"} | {name: each for name, each in selection.items() if each}
    same = {"url": url, **request}
    with closing(PoliteSession(options)) as session:
        about = _ask(session, url, {"verb": "Identify"})
        tells_all = about.findtext("identify/deletedrecord") != "no" and "until" not in request
        since = ""
        with suppress(OSError, ValueError, TypeError):
            was, moment = json.loads(note.read_bytes())
            if was == same and tells_all and not options.refresh:
                since = _before(moment, about.findtext("identify/granularity") == _DAY)
        if since:
            request["from"] = since
        else:  # until it is complete, nothing counts as harvested
            note.unlink(missing_ok=True)
        began, kept, count = "", set(), 0
        for answer in _answers(session, url, request):
            began = began or (answer.findtext("responsedate") or "").strip()
            for record in answer.iterfind("listrecords/record"):
                name = identifier_of(record)
                path = folder / file_name(name, name, ".xml")
                if is_deleted(record):
                    path.unlink(missing_ok=True)
                    kept.discard(path)
                else:
                    _write(path, record)
                    kept.add(path)
                count += 1
            progress(count, count)
    if not (kept or since):
        raise SourceError(f"{url} has no record of that kind. Choose others.")
    for path in () if since else set(folder.glob("[!.]*.xml")) - kept:
        path.unlink()
    write_whole(note, json.dumps([same, began]).encode())
    return (about.findtext("identify/repositoryname") or "").strip()


def _before(moment: str, are_days: bool) -> str:
    """A step of its clock before: what changed just then may have been too late for the answer."""
    step = timedelta(days=1) if are_days else timedelta(seconds=1)
    earlier = datetime.fromisoformat(moment) - step
    return earlier.strftime("%Y-%m-%d" if are_days else "%Y-%m-%dT%H:%M:%SZ")


def _answers(
    session: PoliteSession, url: str, request: Mapping[str, str]
) -> Iterator["etree._Element"]:
    tokens = {""}
    while True:
        answer = _ask(session, url, request)
        yield answer
        token = (answer.findtext("listrecords/resumptiontoken") or "").strip()
        if not token:
            return
        if token in tokens:
            raise SourceError(f"{url} gives the same records again and again. Tell who runs it.")
        tokens.add(token)
        request = {"verb": "ListRecords", "resumptionToken": token}


def _ask(session: PoliteSession, url: str, request: Mapping[str, str]) -> "etree._Element":
    """The answer to a request; one without records if none match. Raises SourceError."""
    try:
        page = session.get(f"{url}{'&' if '?' in url else '?'}{urlencode(request)}")
    except Fault as fault:
        raise SourceError(f"{url} cannot be harvested: {reason(fault)}.") from fault
    parsed = parse(page.content, "")
    if isinstance(parsed, Skipped) or parsed.root.tag != ROOT:
        why = f" ({parsed.reason})" if isinstance(parsed, Skipped) else ""
        raise SourceError(
            f"{url} does not answer as a repository of OAI-PMH{why}. Give its base URL, such as "
            "https://example.org/oai."
        )
    for error in parsed.root.iterfind("error"):
        code, said = error.get("code", ""), " ".join((error.text or "").split())
        if code == "noRecordsMatch" and "resumptionToken" not in request:
            return parsed.root
        told = _ERRORS.get(code, "does not answer that")
        raise SourceError(f"{url} {told} ({': '.join(filter(None, (code, said)))}).")
    if parsed.root.find(request["verb"].lower()) is None:
        raise SourceError(f"{url} gave an answer without content. Run the command again.")
    return parsed.root


def _write(path: Path, record: "etree._Element") -> None:
    """Write a record that changed, as an answer of its own."""
    from lxml import etree

    inner = etree.tostring(record, with_tail=False, encoding="utf-8")
    content = b"<%s><listrecords>%s</listrecords></%s>\n" % (ROOT.encode(), inner, ROOT.encode())
    if not path.exists() or path.read_bytes() != content:
        write_whole(path, content)


class LinkedFiles(NamedTuple):
    """Files that records name: what the record of each says, and the records that they replace.

    `failures` are addresses that gave no file, and why.
    """

    metadata: Mapping[Path, Mapping[str, object]] = {}
    replaced: frozenset[Path] = frozenset()
    failures: tuple[tuple[str, str], ...] = ()


def fetch_files(
    records: Path,
    folder: Path,
    url: str,
    options: FetchOptions,
    progress: Callable[[int, int], None],
) -> LinkedFiles:
    """Fetch the PDFs and pages on the host of the repository that harvested `records` name.

    One that was fetched before is asked for again only with `options.refresh`.
    """
    host = urlsplit(url).hostname
    metadata: dict[Path, dict[str, object]] = {}
    replaced: set[Path] = set()
    failures = []
    paths = sorted(records.glob("[!.]*.xml"))
    with closing(PoliteSession(options)) as session:
        robots = Robots(session)
        for done, record_file in enumerate(paths, start=1):
            parsed = parse(record_file.read_bytes(), "")
            record = None if isinstance(parsed, Skipped) else parsed.root.find("*/record")
            for link in () if record is None else links(record):
                suffix = Path(urlsplit(link).path).suffix.lower()
                if urlsplit(link).hostname != host or suffix not in _TYPES:
                    continue
                path = folder / "held" / page_name(link, suffix)
                page = read_held_page(path)
                try:
                    if options.refresh or not page:
                        page = session.get(link, robots.check, _TYPES[suffix], page)
                        save_page(path, *page)
                except Fault as fault:
                    failures.append((link, reason(fault)))
                if page:
                    metadata[path] = dublin_core(record) | {"abstract": description(record)}
                    replaced.add(record_file)
            progress(done, len(paths))
    remove_pages(folder, frozenset(metadata))
    return LinkedFiles(metadata, frozenset(replaced), tuple(failures))
