"""Standing questions: what counts as a change, and the page, feed and status that say so."""

import json
import re
from collections.abc import Callable, Mapping
from datetime import UTC, datetime, timedelta
from functools import partial
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest
from lxml import html

from atlas_search import Atlas
from atlas_search.building.chunking import chunking
from atlas_search.cli.main import main
from atlas_search.cli.watch import CHANGED, ask_and_say
from atlas_search.core.errors import SourceError
from atlas_search.documents.references import Base
from atlas_search.integrations.standing import (
    ANSWERS,
    FEED,
    MOST_CHANGES,
    PAGE,
    StandingReplies,
    ask_again,
    read_questions,
)
from tests.hash_embedder import HashEmbedder
from tests.server.test_watch import nothing, watched
from tests.tiny import write_sources

WHO = "Who keeps the granite bridge over the river in repair?"
PARISH = "The parish keeps the granite bridge over the river in repair."
COUNTY = "The county keeps the granite bridge over the river in repair."
TOLL = "The miller pays a toll for every cart that crosses the granite bridge."
ASKED = f"# of the survey\n\n{WHO}\ncount: bridge*\n"
SOURCES = {"valley/bridge.txt": f"{PARISH}\n\n{TOLL}\n", "valley/mill.txt": "The mill is old.\n"}
START = datetime(2026, 3, 1, 12, 0, tzinfo=UTC)
ATOM = {"a": "http://www.w3.org/2005/Atom"}


class Valley:
    """A collection whose sources change, and the questions that are asked after each build."""

    def __init__(self, folder: Path, questions: str = ASKED, name: str = "asked.txt"):
        self.folder, self.report, self.now = folder, folder / "report", START
        self.base = Base("")
        self.write_questions(questions, name)

    def write_questions(self, text: str, name: str = "asked.txt") -> None:
        path = self.folder / name
        path.write_text(text, encoding="utf-8")
        self.questions = read_questions(path)

    def ask(self, sources: Mapping[str, str], name: str = "valley", **cut: Any) -> StandingReplies:
        """Build these sources and ask, an hour later than last time."""
        embedder, store = HashEmbedder(), self.folder / name
        found = write_sources(self.folder / "sources", sources)
        Atlas.build(found, store, embedder=embedder, chunking=chunking(**cut))
        self.now += timedelta(hours=1)
        with Atlas.open(store, embedder=embedder) as atlas:
            return ask_again(atlas, self.questions, self.report, self.base, self.now)

    def page(self) -> str:
        """The page as a reader sees it: its words, each blank once."""
        read = html.fromstring((self.report / PAGE).read_bytes())
        return " ".join(read.find("body").text_content().split())

    def entries(self) -> list[ElementTree.Element]:
        return ElementTree.parse(self.report / FEED).getroot().findall("a:entry", ATOM)


@pytest.fixture
def valley(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Valley:
    """It has a target that answers however unlikely it is."""
    targets = tmp_path / "targets"
    targets.mkdir()
    (targets / "certain.txt").write_text("ANSWER_THRESHOLD=0\nANSWER_LIKELIHOOD=0\n")
    monkeypatch.setenv("TARGETS_DIRECTORY", str(targets))
    monkeypatch.setenv("TEST_TARGET", "certain")
    monkeypatch.setenv("READ_WORKERS", "0")  # to start a process takes longer than to read
    return Valley(tmp_path)


def text(entry: ElementTree.Element, name: str) -> str:
    found = entry.findtext(f"a:{name}", None, ATOM)
    assert found is not None
    return found


def test_at_first_everything_is_new_and_nothing_changed(valley: Valley) -> None:
    first = valley.ask(SOURCES)
    assert (first.changed, first.problems, first.changes) == (0, {}, [])
    assert not valley.entries()
    assert "none of 2 changed" in valley.page()
    assert PARISH in valley.page()
    assert valley.page().endswith("In all 2 1")  # hits and documents
    again = valley.ask(SOURCES)
    assert again.changed == 0
    assert again.feed == first.feed


def test_an_answer_and_a_count_that_changed_are_told(valley: Valley) -> None:
    valley.ask(SOURCES)
    new = valley.ask(SOURCES | {"valley/bridge.txt": f"{COUNTY}\n"})
    assert new.changed == 2
    answer, count = new.changes
    assert (answer.version, answer.when) == (new.version, "2026-03-01T14:00:00.000+00:00")
    page = valley.page()
    assert "2 of 2 changed" in page
    parts = [f"Before {PARISH} {TOLL}", f"After {COUNTY}", f"New citations {COUNTY}"]
    parts += [f"Gone citations {PARISH}", TOLL, "In all 2 → 1 1 → 1", f"Answers now {WHO} {COUNTY}"]
    places = [page.index(part) for part in parts[:4]]
    places += [page.index(part, places[-1]) for part in parts[4:]]
    assert places == sorted(places)
    assert "(valley.bridge, 0 to 61) no longer stands there" in page

    assert [text(entry, "id") for entry in valley.entries()] == [answer.id, count.id]
    told = html.fromstring(text(valley.entries()[0], "content")).text_content()
    assert COUNTY in told
    assert text(valley.entries()[1], "title") == "count: bridge*"
    assert "In all\n2 → 1" in html.fromstring(text(valley.entries()[1], "content")).text_content()


def test_a_question_that_is_answered_no_longer_is_a_change(valley: Valley) -> None:
    valley.ask(SOURCES)
    new = valley.ask({"valley/mill.txt": "The mill is old.\n"})
    change = new.changes[0]
    assert (change.before.decision, change.after.decision) == ("ANSWER", "ABSTAIN")
    assert change.lost == [("valley.bridge", PARISH), ("valley.bridge", TOLL)]
    assert "After ABSTAIN: " in valley.page()


def test_a_quote_that_still_stands_is_no_change_however_its_document_is_cut(
    valley: Valley,
) -> None:
    before = valley.ask(SOURCES, size=1000, overlap=0)
    moved = SOURCES["valley/bridge.txt"].replace("\n\n", "\n \n\n").replace(" keeps ", "\nkeeps ")
    after = valley.ask(SOURCES | {"valley/bridge.txt": f"\n\n{moved}"}, size=100, overlap=0)
    assert after.changed == 0
    (was, _), (now, _) = (next(iter(each.replies.values())).citations for each in (before, after))
    assert was.passage_id != now.passage_id
    assert was.quote != now.quote  # another line break
    assert was.document_id == now.document_id


def test_a_citation_that_is_not_repeated_but_stands_is_not_called_lost(valley: Valley) -> None:
    valley.ask(SOURCES)
    better = {f"valley/{n}.txt": f"{WHO[:-1].replace('Who', name)}.\n" for n, name in NAMES.items()}
    new = valley.ask(SOURCES | better)
    (change,) = [one for one in new.changes if WHO in one.question]
    assert PARISH not in {each.quote for each in change.after.citations}
    assert not change.lost
    assert f"Gone citations {PARISH}" in valley.page()
    assert "no longer stands" not in valley.page()


NAMES = {"a": "Alma", "b": "Bruno", "c": "Clara", "d": "Dora", "e": "Emil"}
HOSTILE = 'The parish <script>alert("a&b")</script> ]]> \x01 keeps the granite bridge.'


def test_texts_of_sources_are_texts_in_page_and_feed(valley: Valley) -> None:
    valley.write_questions(f"{WHO} <b>&amp;</b>\n")
    valley.ask(SOURCES)
    title = {"valley/bridge.txt": f"---\ntitle: Bridge < river & Co\n---\n{HOSTILE}\n"}
    assert valley.ask(title).changed == 1
    raw = (valley.report / PAGE).read_text(encoding="utf-8")
    assert not re.search("<(script|i|b)>", raw)
    assert not re.search("[\\x00-\\x08\\x0b-\\x1f]", raw)
    assert '<script>alert("a&b")</script> ]]>' in valley.page()
    (entry,) = valley.entries()
    assert text(entry, "title") == f"{WHO} <b>&amp;</b>"
    content = html.fromstring(text(entry, "content"))
    assert not content.xpath("//script | //i | //b")
    assert '<script>alert("a&b")</script>' in content.text_content()
    assert "Bridge < river & Co" in content.text_content()


def test_the_page_has_no_script_and_its_citations_lead_to_the_server(valley: Valley) -> None:
    valley.base = Base("https://atlas.example.org", "other")
    valley.ask(SOURCES)
    read = html.fromstring((valley.report / PAGE).read_bytes())
    assert not read.xpath("//script | //@onclick")
    assert (
        read.xpath("//a/@href")
        == ["https://atlas.example.org/?collection=valley&passage=valley.bridge%3A0-133"] * 2
    )


def test_a_feed_keeps_the_entries_of_earlier_builds_as_they_were(valley: Valley) -> None:
    valley.write_questions(f"{WHO}\n")
    valley.ask(SOURCES)
    valley.ask(SOURCES | {"valley/bridge.txt": COUNTY})
    (first,) = valley.entries()
    valley.ask(SOURCES)
    newest, kept = valley.entries()
    assert ElementTree.tostring(kept).strip() == ElementTree.tostring(first).strip()
    assert text(newest, "id") != text(kept, "id")
    feed = ElementTree.parse(valley.report / FEED).getroot()
    assert text(feed, "updated") == text(newest, "updated") > text(kept, "updated")
    for element in (feed, newest):  # as RFC 4287 asks
        assert re.fullmatch("urn:uuid:[0-9a-f-]{36}", text(element, "id"))
        assert datetime.fromisoformat(text(element, "updated")).tzinfo
    assert feed.findtext("a:author/a:name", None, ATOM) == "Atlas"
    valley.ask(SOURCES)
    assert len(valley.entries()) == 2


def test_a_report_that_was_cut_short_loses_no_change(valley: Valley) -> None:
    valley.ask(SOURCES)
    (valley.report / FEED).unlink()
    (valley.report / FEED).mkdir()  # ends the report before its last file
    changed = SOURCES | {"valley/bridge.txt": COUNTY}
    with pytest.raises(OSError, match=FEED):
        valley.ask(changed)
    (valley.report / FEED).rmdir()
    assert valley.ask(changed).changed == 0
    assert [text(entry, "title") for entry in valley.entries()] == [WHO, "count: bridge*"]
    assert f"After {COUNTY}" in valley.page()
    assert {path.name for path in valley.report.iterdir()} == {ANSWERS, FEED, PAGE}


def test_the_oldest_changes_make_room(valley: Valley) -> None:
    valley.write_questions("count: bridge*\n")
    many = valley.ask(SOURCES)
    valley.ask({"valley/bridge.txt": COUNTY})
    path = valley.report / ANSWERS
    kept = json.loads(path.read_text())
    path.write_text(json.dumps(kept | {"changes": kept["changes"] * MOST_CHANGES}))
    many = valley.ask(SOURCES)
    assert len(many.changes) == len(valley.entries()) == MOST_CHANGES
    assert many.changes[0].when == many.when


OLD = "---\ndate: 1931\n---\n"
TABLES = """
[[question]]
question = "Who keeps the granite bridge over the river in repair?"
corpora = ["valley"]
filters = { date = { from = "1900" } }

[[question]]
query = "bridge*"
by = "corpus"
"""


def test_tables_say_where_and_how_to_ask(valley: Valley) -> None:
    valley.write_questions(TABLES, "asked.toml")
    dated = f"{OLD}{PARISH}\n"
    valley.ask({"valley/bridge.txt": dated, "hill/old.txt": "A bridge.\n"})
    page = valley.page()
    assert f'{WHO} {{"corpora": ["valley"], "filters": {{"date": {{"from": "1900"}}}}}}' in page
    assert 'count: bridge* {"by": "corpus"}' in page
    assert "In all 2 2 valley 1 1 hill 1 1" in page
    new = valley.ask({"valley/bridge.txt": dated, "hill/old.txt": "A bridge, a bridge.\n"})
    assert new.changed == 1
    assert "In all 2 → 3 2 → 2 hill 1 → 2 1 → 1 Answers now" in valley.page()


def test_what_cannot_be_asked_keeps_its_reply_and_is_no_change(valley: Valley) -> None:
    valley.write_questions(TABLES, "asked.toml")
    valley.ask({"valley/bridge.txt": f"{OLD}{PARISH}\n"})
    new = valley.ask({"hill/old.txt": f"{OLD}A bridge, a bridge.\n"})
    (key,) = new.problems
    assert "valley" in new.problems[key]
    assert new.replies[key].sentences[0].text == PARISH
    assert new.changed == 1  # the count
    assert f"Not asked now: {new.problems[key]}{PARISH}" in valley.page()
    valley.write_questions("count: (\n")
    never = valley.ask(SOURCES)
    assert not never.replies
    assert "Answers now count: ( Not asked now: " in valley.page()


def test_an_outage_of_the_model_is_no_change(
    valley: Valley, monkeypatch: pytest.MonkeyPatch
) -> None:
    valley.write_questions(f"{WHO}\n")
    first = valley.ask(SOURCES)
    (valley.folder / "targets" / "away.txt").write_text(
        "ANSWER_THRESHOLD=0\nLLM_PROVIDER=openai\nLLM_MODEL=m\nLLM_SECONDS=1\nLLM_FALLBACK=extractive\n"
    )
    monkeypatch.setenv("TEST_TARGET", "away")
    monkeypatch.setenv("OPENAI_API_KEY", "k")
    monkeypatch.setenv("OPENAI_BASE_URL", "http://127.0.0.1:9")
    new = valley.ask(SOURCES | {"valley/bridge.txt": COUNTY})
    assert new.changed == 0
    assert list(new.problems) == list(new.replies)
    assert new.replies == first.replies


@pytest.mark.parametrize(
    ("name", "content", "reason"),
    [
        ("none.txt", "# nothing\n\n", "each question is a table"),
        ("none.toml", "", "each question is a table"),
        ("one.toml", 'question = "Who?"', "each question is a table"),
        ("number.toml", "question = [1]", "each question is a table"),
        ("other.toml", "[[questions]]\nquestion = 'Who?'", "each question is a table"),
        ("broken.toml", "[[question]", "cannot be read"),
        ("wrong.toml", "[[question]]\nquestion = 'Who?'\ncorpus = 1", "question 1: corpus: there"),
    ],
)
def test_a_file_without_questions_is_refused(
    tmp_path: Path, name: str, content: str, reason: str
) -> None:
    (tmp_path / name).write_text(content)
    with pytest.raises(SourceError, match=reason):
        read_questions(tmp_path / name)
    with pytest.raises(SourceError, match="cannot be read"):
        read_questions(tmp_path / "absent.txt")


def test_replies_of_another_collection_are_not_compared(valley: Valley) -> None:
    valley.ask(SOURCES)
    with pytest.raises(SourceError, match="is about valley"):
        valley.ask(SOURCES, name="glen")
    (valley.report / ANSWERS).write_text("{")
    with pytest.raises(SourceError, match="is damaged"):
        valley.ask(SOURCES)


Watch = Callable[..., tuple[object, str]]
"""Runs `atlas watch sources --collection valley` with options: its status, and what it printed."""


@pytest.fixture
def once(
    valley: Valley, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> Watch:
    monkeypatch.setattr("atlas_search.cli.watch.open_embedder", lambda _: HashEmbedder())
    monkeypatch.setattr("atlas_search.cli.watch.stop_on_signal", nothing)
    monkeypatch.setenv("CHROMA_PERSIST_DIRECTORY", str(valley.folder))

    def run(sources: Mapping[str, str], *options: object) -> tuple[object, str]:
        folder = write_sources(valley.folder / "sources", sources)
        with pytest.raises(SystemExit) as ended:
            main(["watch", str(folder), "--collection", "valley", "--once", *map(str, options)])
        return ended.value.code, "".join(capsys.readouterr())

    return run


def test_the_status_says_whether_a_reply_changed(
    valley: Valley, once: Watch, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ATLAS_PUBLIC_URL", "https://atlas.example.org/")
    asked = ("--questions", valley.folder / "asked.txt")
    assert once(SOURCES, *asked)[0] == 0  # all is new
    assert once(SOURCES, *asked)[0] == 0
    status, said = once({"valley/bridge.txt": COUNTY}, *asked)
    page = valley.folder / "valley" / "standing" / PAGE
    assert status == CHANGED == 3
    assert f"2 of 2 replies changed: {page}" in said
    assert 'href="https://atlas.example.org/?collection=valley&amp;passage=' in page.read_text()
    assert once({"valley/bridge.txt": COUNTY}, *asked)[0] == 0

    valley.write_questions("count: bridge*\ncount: (\n")
    status, said = once(SOURCES, *asked, "--report", valley.report)
    assert status == 1
    assert "Not asked: count: (: " in said
    assert (valley.report / FEED).exists()


def test_one_build_needs_no_questions(once: Watch) -> None:
    status, said = once(SOURCES)
    assert status == 0
    assert "2 added" in said
    assert once({})[0] == 1


@pytest.mark.parametrize("option", ["--questions", "--report"])
def test_what_would_be_read_as_a_source_is_refused(
    valley: Valley, once: Watch, option: str
) -> None:
    inside = valley.folder / "sources" / "valley" / "mill.txt"
    options = {"--questions": valley.folder / "asked.txt", option: inside}
    status, said = once(SOURCES, *(part for pair in options.items() for part in pair))
    assert status == 1
    assert f"{inside} would be a source in" in said


def test_a_watch_asks_after_each_build_and_goes_on_after_a_fault(valley: Valley) -> None:
    folder, store = write_sources(valley.folder / "sources", SOURCES), valley.folder / "valley"
    said: list[str] = []
    ask = partial(ask_and_say, store, HashEmbedder(), valley.questions, valley.report, said.append)

    def damage() -> None:
        (valley.report / ANSWERS).write_text("{")
        (folder / "valley" / "mill.txt").unlink()

    bridge = folder / "valley" / "bridge.txt"
    lines = watched(
        folder, store, nothing, lambda: bridge.write_text(COUNTY), nothing, damage, nothing, ask=ask
    )
    assert [line.split(" replies")[0] for line in said] == ["0 of 2", "2 of 2"]
    assert lines[-1].startswith("Built, but not asked: ")
    assert "is damaged" in lines[-1]
