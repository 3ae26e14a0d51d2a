"""A running server as the subject of a run: a real one, and one that is in trouble."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

import pytest
from pydantic import SecretStr

from atlas_search.cli.evaluate_options import remarks_on, status_of
from atlas_search.core.errors import AtlasError, ConfigurationError, RequestError, UnknownTarget
from atlas_search.core.settings import load_settings
from atlas_search.core.telemetry.tracer import Tracer
from atlas_search.evaluation.carry_out import ProcessSubject, RunRequest, carry_out
from atlas_search.evaluation.remote import (
    ATTEMPTS,
    RemoteServer,
    ServedDocuments,
    ServerSubject,
    server_facts,
)
from tests.conftest import TODAY
from tests.evaluation.farm import LABELS, figures, new_run, opened_farm
from tests.hash_embedder import HashEmbedder
from tests.servers import Handler, app_of, listening, served

NO_KEY = SecretStr("")
Answer = tuple[int, object, dict[str, str]]


@pytest.fixture
def here(farm: Path) -> Iterator[ProcessSubject]:
    with opened_farm(farm) as opened:
        yield opened


@pytest.fixture
def address(here: ProcessSubject) -> Iterator[str]:
    app = app_of(here.atlas)
    with served(app) as result:
        yield result
    app.extensions["runs"].close()


def subject_at(address: str, target: str | None = None, collection: str = "") -> ServerSubject:
    server = RemoteServer(address, NO_KEY, collection, sleep=lambda _: None)
    tracer = Tracer("", "test", content=False)
    return ServerSubject(server, server_facts(server, target), tracer, HashEmbedder())


def test_a_server_gives_the_figures_of_this_process(
    address: str, here: ProcessSubject, tmp_path: Path
) -> None:
    there = subject_at(address)
    assert list(there.documents.documents()) == list(here.documents.documents())
    folders = [new_run(tmp_path / name, side) for name, side in (("here", here), ("there", there))]
    for folder, side in zip(folders, (here, there), strict=True):
        assert carry_out(folder, side, parallel=4).complete
    assert figures(folders[1]) == figures(folders[0])
    one, other = (folder.spec() for folder in folders)
    assert (one.where, other.where) == ("process", address)
    for name in ("options", "composite_target", "collection", "collection_version", "corpora"):
        assert getattr(one, name) == getattr(other, name)
    assert other.settings["embedding_model"] == "hash"
    assert other.settings == one.settings
    answers = [reply.answer for reply in folders[1].replies().values()]
    assert {answer.session_id for answer in answers if answer} == {other.id}
    assert all(answer.passages for answer in answers if answer)


def test_a_server_can_only_be_searched_too(
    address: str, here: ProcessSubject, tmp_path: Path
) -> None:
    request = RunRequest(TODAY, search_only=True, k=3)
    folders = [
        new_run(tmp_path / name, side, request=request)
        for name, side in (("here", here), ("there", subject_at(address)))
    ]
    carry_out(folders[0], here)
    carry_out(folders[1], subject_at(address))
    assert figures(folders[1]) == figures(folders[0])
    assert {len(reply.passages) for reply in folders[1].replies().values()} == {3}


def test_what_a_server_does_not_have_is_told_before_a_question_is_asked(address: str) -> None:
    with pytest.raises(UnknownTarget, match=r"no target mine\. Known targets: bedrock, k10"):
        subject_at(address, "mine")
    with pytest.raises(AtlasError, match="nowhere"):
        subject_at(address, collection="nowhere")
    documents = subject_at(address).documents
    assert documents.text_of("farm.sheep")
    assert not documents.holds_passage("farm.goats/..?#")
    with pytest.raises(RequestError, match=r"http://h/ holds a user name or a password\.$"):
        RemoteServer("http://me:secret@h/", NO_KEY)


def test_the_collection_that_was_chosen_is_asked_whatever_is_served_first(address: str) -> None:
    there = subject_at(address)
    assert there.server.collection == "farm"
    there.server.collection = "pond"
    with pytest.raises(AtlasError, match="pond"):
        there.server.get("targets")


def test_an_answer_from_another_version_is_an_error_of_its_question(
    address: str, here: ProcessSubject, tmp_path: Path
) -> None:
    there = subject_at(address)
    before = replace(there.facts, collection_version="v0")
    folder = new_run(tmp_path / "run", replace(there, facts=before))
    outcome = carry_out(folder, there)
    version = there.facts.collection_version
    message = f"{address} answered from farm {version}, and the run asks farm v0. Begin a new run."
    assert outcome.run.failed == [message] * len(LABELS)


def test_a_target_that_was_changed_while_it_was_asked_is_told(
    address: str, here: ProcessSubject, tmp_path: Path
) -> None:
    there = subject_at(address)

    def changing(done: int, of: int) -> None:
        here.atlas.services.configure_reranker("k10_extractive", {"reranker": "rrf"})

    outcome = carry_out(new_run(tmp_path / "run", there), there, told=changing)
    assert outcome.complete
    assert outcome.changed == ("options was reranker=fused and is reranker=rrf",)
    assert "begin a new run" in remarks_on(outcome)[-1]
    assert status_of(outcome, require_llm=False) == 1


@pytest.mark.parametrize("key", ["lamp\r\nX-Other: oil", "lämp", "la\x00mp"])
def test_a_key_that_is_none_is_never_shown(key: str) -> None:
    with pytest.raises(ConfigurationError, match="ATLAS_API_KEY holds characters") as refused:
        RemoteServer("http://127.0.0.1:9", SecretStr(key))
    assert "mp" not in str(refused.value)
    for name in ("atlas_api_key", "phoenix_api_key"):
        with pytest.raises(
            ConfigurationError, match=f"{name.upper()}=.*cannot be part of a key"
        ) as refused:
            load_settings(**{name: key})
        assert "mp" not in str(refused.value)
    RemoteServer("http://127.0.0.1:9", SecretStr(" k1\r\n"))  # as files with keys end


@contextmanager
def troubled(answers: Callable[[str], Answer]) -> Iterator[tuple[str, list[str]]]:
    """A server that answers to each path as told, and the paths it was asked for."""
    requests: list[str] = []

    class _Handler(Handler):
        def do_GET(self) -> None:
            self.body()
            requests.append(f"{self.path} {self.headers['Authorization']}")
            self.send(*answers(self.path))

        do_POST = do_GET

    with listening(_Handler, str) as address:
        yield address, requests


def one_after_the_other(*answers: Answer) -> Callable[[str], Answer]:
    left = list(answers)
    return lambda _: left.pop(0) if len(left) > 1 else left[0]


def test_a_server_that_is_not_healthy_is_not_asked() -> None:
    sick = {"status": "degraded", "problem": "The disk is gone."}
    with troubled(lambda _: (200, sick, {})) as (address, requests):
        with pytest.raises(AtlasError, match=r"is not healthy: The disk is gone\."):
            subject_at(address)
        assert requests == ["/api/health None"]


@pytest.mark.parametrize("status", [429, 503])
def test_a_busy_server_is_asked_again_when_it_says(status: int) -> None:
    busy: Answer = (status, {"detail": "busy"}, {"Retry-After": "7"})
    waits: list[float] = []
    with troubled(one_after_the_other(busy, busy, (200, {"all": "well"}, {}))) as (
        address,
        requests,
    ):
        sent = RemoteServer(address, SecretStr("k1"), sleep=waits.append).post("ask", {})
    assert (sent.document, sent.tries) == ({"all": "well"}, 3)
    assert waits == [7, 7]
    assert requests == ["/api/ask Bearer k1"] * 3


def test_a_server_that_goes_away_is_waited_for_once(here: ProcessSubject, tmp_path: Path) -> None:
    waits: list[float] = []
    with troubled(lambda _: (200, {}, {})) as (address, _):
        server = RemoteServer(address, NO_KEY, sleep=waits.append)
        server.get("health")
    subject = ServerSubject(server, here.facts, here.tracer, HashEmbedder())
    outcome = carry_out(new_run(tmp_path / "run", subject), subject)
    assert len(outcome.run.failed) == len(LABELS)
    assert all(error.startswith("No server answers") for error in outcome.run.failed)
    assert len(waits) == ATTEMPTS - 1


@pytest.mark.parametrize(
    ("answer", "said"),
    [
        ((401, {"detail": "No key."}, {}), r"No key\. The key is taken from ATLAS_API_KEY"),
        ((422, {"detail": "k is wrong."}, {}), "answers 422: k is wrong"),
        ((200, ["no", "object"], {}), "is not Atlas"),
    ],
)
def test_what_asking_again_would_not_mend_is_asked_once(answer: Answer, said: str) -> None:
    with troubled(lambda _: answer) as (address, requests):
        with pytest.raises(AtlasError, match=said):
            RemoteServer(address, NO_KEY).post("ask", {})
        assert len(requests) == 1


def test_a_server_that_breaks_costs_a_run_only_the_questions_it_fails(
    here: ProcessSubject, tmp_path: Path
) -> None:
    """Refusals come back, and documents that are no answers."""
    facts = replace(here.facts, where="http://broken")
    came: Sequence[Answer] = [(400, {"detail": "no"}, {}), (200, {"un": "like"}, {})]
    with troubled(one_after_the_other(*came)) as (address, _):
        server = RemoteServer(address, NO_KEY, sleep=lambda _: None)
        subject = ServerSubject(server, facts, here.tracer, HashEmbedder())
        outcome = carry_out(new_run(tmp_path / "run", subject), subject)
    assert [error.split(":")[0] for error in outcome.run.failed[1:]] == ["ValidationError"] * 5
    assert outcome.run.failed[0] == f"{address} answers 400: no"
    assert not outcome.complete


def test_labels_may_name_any_corpus_of_a_server() -> None:
    document = {"corpora": [{"id": "coast"}, {"id": "island"}], "all": ["coast"]}
    with troubled(lambda _: (200, document, {})) as (address, _):
        assert ServedDocuments(RemoteServer(address, NO_KEY)).corpora == ["coast", "island"]
