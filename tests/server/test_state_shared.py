"""Servers that share their state in a PostgreSQL: they answer alike, also while it is away."""

import json
import logging
import socket
import socketserver
import ssl
import threading
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from datetime import UTC, datetime, timedelta
from pathlib import Path
from time import monotonic

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import rsa
from flask.testing import FlaskClient
from pydantic import SecretStr

from atlas_search import Atlas
from atlas_search.core import registry
from atlas_search.core.errors import ConfigurationError, Conflict, MissingLibrary, NotFound
from atlas_search.core.settings import Settings
from atlas_search.providers.open import Remembered
from atlas_search.server import runs as runs_module
from atlas_search.server import state as state_module
from atlas_search.server.access.gate import check_state
from atlas_search.server.access.keys import KeyFile, KeyLimits, add_key
from atlas_search.server.access.quotas import SPENDING_TABLE, Spending
from atlas_search.server.runs import ANSWERS_TABLE, KEPT_SECONDS, KeptAnswers, Run, Runs
from atlas_search.server.state import Database, OpenState, StateTables, Transaction
from tests.chat_server import KEY
from tests.conftest import free_port
from tests.hash_embedder import HashEmbedder
from tests.openai_server import openai_server
from tests.postgres import Postgres
from tests.server.two_corpora import QUESTION, Signed, client_of, guard
from tests.servers import app_of

ASKED = {"question": QUESTION, "qa_id": "q1", "session_id": "s1", "include_context": True}
UP = {"qa_id": "q1", "thumb": "up"}


@pytest.fixture
def url(database: Postgres) -> str:
    return database.url()


# answers that are kept, in either place


class Clock:
    now = 1e9

    def __call__(self) -> float:
        return self.now


def finished(qa_id: str, session_id: str = "s1", owner: str = "anna") -> Run:
    run = Run(qa_id, session_id, 0.0, owner)
    run.document, run.bundled = {"qa_id": qa_id, "answer": "é\x00"}, "bundle"
    return run


def test_answers_are_found_by_their_owner_for_an_hour(open_state: OpenState) -> None:
    clock = Clock()

    def kept() -> KeptAnswers:
        return KeptAnswers(open_state("answers", ANSWERS_TABLE), clock)

    assert kept().get("anna", "q1") is None
    for qa_id in ("q2", "q1"):
        kept().add(finished(qa_id))
        clock.now += 1
    kept().add(finished("q3", "s2"))
    run = kept().get("anna", "q1")
    assert run
    assert (run.document, run.bundle, run.ended) == (finished("q1").document, "bundle", True)
    ((number, name, data),) = run.next(0, 0)
    assert (number, name, json.loads(data)) == (1, "complete", run.document)
    assert [run.qa_id for run in kept().of_session("anna", "s1")] == ["q2", "q1"]
    assert kept().get("bert", "q1") is None
    assert kept().of_session("bert", "s1") == []
    clock.now += KEPT_SECONDS - 1
    assert [run.qa_id for run in kept().of_session("anna", "s1")] == []
    assert kept().get("anna", "q3")


def test_of_too_many_answers_the_oldest_are_forgotten(
    open_state: OpenState, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(runs_module, "SHARED", 2)
    clock = Clock()
    kept = KeptAnswers(open_state("answers", ANSWERS_TABLE), clock)
    for number in range(4):
        kept.add(finished(f"q{number}"))
        clock.now += 1
    assert [run.qa_id for run in kept.of_session("anna", "s1")] == ["q2", "q3"]


def test_a_server_keeps_no_id_that_another_has(open_state: OpenState) -> None:
    kept = KeptAnswers(open_state("answers", ANSWERS_TABLE))
    runs = Runs(4, 0.0, kept)
    runs.share(finished("q1"))
    with pytest.raises(Conflict):
        runs.start("q1", "s1", lambda _: None, "anna")
    runs.start("q1", "s1", lambda _: None, "bert")


def test_what_fails_is_undone(open_state: OpenState) -> None:
    state = open_state("spending", SPENDING_TABLE)

    def spend(then: Callable[[Transaction], object]) -> None:
        with state.open() as transaction:
            row = ("2026-05-01", "anna", 1.0)
            transaction.execute("INSERT INTO spent VALUES (?, ?, ?)", row)
            then(transaction)

    def refuse(_: Transaction) -> None:
        raise NotFound("it is not there")

    with pytest.raises(NotFound):
        spend(refuse)
    with pytest.raises(ConfigurationError):
        spend(lambda transaction: transaction.execute("SELECT nothing FROM nowhere"))
    with pytest.raises(ConfigurationError, match="is damaged"):
        spend(lambda _: json.loads("{"))
    with state.open() as transaction:
        assert not transaction.execute("SELECT * FROM spent").fetchall()
    assert state.check() == ""


def test_of_a_name_one_transaction_runs_at_a_time(open_state: OpenState) -> None:
    """Of either kind another process waits, and gives up after a second."""
    first, second = (open_state("spending", SPENDING_TABLE) for _ in range(2))
    with first.open():
        began = monotonic()
        with pytest.raises(ConfigurationError, match="is locked by another program"):
            second.open().__enter__()
        assert monotonic() - began < 3
    assert second.check() == ""


# two servers


@pytest.fixture
def key(keys_file: Path) -> str:
    limits = KeyLimits(requests_per_minute=1000)
    return add_key(KeyFile(keys_file), "Anna", limits=limits).text


@pytest.fixture
def servers(parish: Atlas, keys_file: Path, key: str, url: str) -> Callable[..., Signed]:
    def another(key: str = key, **settings: object) -> Signed:
        return Signed(client_of(parish, keys_file, state_url=SecretStr(url), **settings), key)

    return another


def test_an_answer_of_one_server_is_found_by_another(servers: Callable[..., Signed]) -> None:
    first, second = servers(), servers()
    answer = first.post("/api/ask", ASKED).get_json()
    assert answer["decision"] == "ANSWER"
    for path in (
        "/api/ask/q1",
        "/api/ask/q1/export?format=markdown",
        "/api/ask/q1/export?format=bundle",
        "/api/sessions/s1/export?format=json",
    ):
        here, there = first.get(path), second.get(path)
        assert (here.status_code, there.status_code) == (200, 200), path
        assert here.data == there.data, path
    events = second.get("/api/ask/q1/stream", buffered=True).text.splitlines()
    assert events[:2] == ["id: 1", "event: complete"]
    assert json.loads(events[2].removeprefix("data: ")) == answer
    assert second.post("/api/ask", ASKED).status_code == 409
    assert second.open("DELETE", "/api/ask/q1").get_json() == {"qa_id": "q1", "stopped": False}


def test_links_and_ratings_of_one_server_are_those_of_another(
    servers: Callable[..., Signed],
) -> None:
    first, second, third = servers(), servers(), servers()
    first.post("/api/ask", ASKED)
    assert second.post("/api/feedback", UP).status_code == 200
    assert third.get("/api/feedback/q1").get_json()["thumb"] == "up"
    link = second.post("/api/ask/q1/link", {}).get_json()["url"].removeprefix("http://localhost")
    assert third.client.get(link).get_json()["question"] == QUESTION
    assert first.open("DELETE", link).get_json() == {"deleted": True}
    assert third.client.get(link).status_code == 404


def test_what_is_anothers_is_so_on_every_server(
    servers: Callable[..., Signed], keys_file: Path
) -> None:
    servers().post("/api/ask", ASKED)
    other = servers(add_key(KeyFile(keys_file), "Bert").text)
    assert other.get("/api/ask/q1").status_code == 404
    assert other.get("/api/sessions/s1/export").status_code == 404
    assert other.post("/api/ask/q1/link", {}).status_code == 404
    assert other.post("/api/feedback", UP).status_code == 404
    assert other.client.get("/api/ask/q1").status_code == 401


def test_what_must_leave_no_trace_stays_with_its_server(
    servers: Callable[..., Signed], database: Postgres, url: str
) -> None:
    first, second = servers(), servers()
    first.headers = {**first.headers, "Sec-GPC": "1"}
    first.post("/api/ask", ASKED)
    assert first.get("/api/ask/q1").status_code == 200
    assert second.get("/api/ask/q1").status_code == 404
    # the table is made by who looks into it
    assert database.run("SELECT * FROM finished", url.rpartition("/")[2]) == []


def test_requests_of_a_minute_count_over_all_servers(
    servers: Callable[..., Signed], keys_file: Path
) -> None:
    limits = KeyLimits(requests_per_minute=3)
    slow = add_key(KeyFile(keys_file), "Bert", limits=limits).text
    every = [servers(slow) for _ in range(3)]
    assert [each.get("/api/corpora").status_code for each in every] == [200] * 3
    refusals = [each.get("/api/corpora") for each in every]
    assert [each.status_code for each in refusals] == [429] * 3
    assert all(1 <= int(each.headers["Retry-After"]) <= 60 for each in refusals)
    assert servers().get("/api/corpora").status_code == 200


def test_the_newest_vote_is_the_last_that_phoenix_gets(database: Postgres, url: str) -> None:
    """Of servers that deliver votes one does at a time."""
    turns = [StateTables(Database(url), "delivery", "") for _ in range(2)]
    with turns[0].open(), pytest.raises(state_module.Busy):
        turns[1].open().__enter__()
    with turns[1].open():
        pass


# a database that is away


@pytest.fixture
def client(
    parish: Atlas, tmp_path: Path, url: str, monkeypatch: pytest.MonkeyPatch
) -> Iterator[FlaskClient]:
    """A client of a server that quotes for nothing, and writes at a price."""
    monkeypatch.setattr("atlas_search.providers.open.SECONDS", 0.0)
    monkeypatch.setattr(Remembered.result, "__defaults__", (30.0,))
    monkeypatch.setattr(state_module, "AWAY_SECONDS", 0.0)
    targets = tmp_path / "targets"
    targets.mkdir()
    (targets / "quotes.txt").write_text("ANSWER_THRESHOLD=0\nANSWER_LIKELIHOOD=0\n")
    (targets / "model.txt").write_text(
        "LLM_PROVIDER=openai\nLLM_PRICE_INPUT=1000000\nANSWER_THRESHOLD=0\n"
    )
    options = {"targets_directory": targets, "test_target": "quotes", "openai_api_key": KEY}
    own = {"limit_cost_per_day": 1, "limit_requests_per_minute": 500, "state_url": SecretStr(url)}
    with ExitStack() as opened:
        model = opened.enter_context(openai_server())
        options |= {"openai_base_url": model.address, "query_cache_enabled": False}
        folder = parish.services.settings.collection_folder
        atlas = opened.enter_context(Atlas.open(folder, embedder=HashEmbedder(), **options))
        yield app_of(guard(atlas, None, **own)).test_client()


def health(client: FlaskClient) -> dict[str, str]:
    state: dict[str, str] = client.get("/api/health").get_json()["parts"]["state"]
    return state


def test_without_the_database_answers_are_given_and_costs_wait(
    client: FlaskClient, database: Postgres, url: str, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    paid, free = ASKED | {"target": "model", "qa_id": "paid"}, ASKED | {"target": "quotes"}
    assert client.post("/api/ask", json=free).status_code == 200
    assert health(client)["status"] == "ok"
    database.stop()
    try:
        texts = []
        assert client.post("/api/ask", json=free | {"qa_id": "q2"}).status_code == 200
        assert client.post("/api/search", json={"question": QUESTION}).status_code == 200
        assert client.get("/api/ask/q1").status_code == 200  # of its own
        cost = client.post("/api/ask", json=paid).get_json()["usage"]["cost"]
        assert cost > 1
        assert client.post("/api/ask", json=paid | {"qa_id": "more"}).status_code == 429
        for refusal in (
            client.get("/api/feedback"),
            client.post("/api/feedback", json=UP),
            client.post("/api/ask/q1/link", json={}),
            client.get("/api/shared/none"),
            client.get("/api/ask/unknown"),
        ):
            assert refusal.status_code == 503
            assert "STATE_URL cannot be reached" in refusal.get_json(force=True)["detail"]
            texts.append(refusal.text)
        state = health(client)
        assert state["status"] == "fault"
        assert state["detail"].count("cannot be reached") == 1
        texts += [state["detail"], client.get("/api/config").text, caplog.text]
    finally:
        database.start()
    assert not [text for text in texts if "zvsecret" in text or str(database.port) in text]
    assert client.post("/api/feedback", json=UP | {"qa_id": "q2"}).status_code == 200
    assert health(client)["status"] == "ok"
    spending = Spending(StateTables(Database(url), "spending", SPENDING_TABLE))
    assert spending.of("127.0.0.1", datetime.now(UTC).date()) == cost


def test_connections_that_were_cut_are_made_anew(database: Postgres, url: str) -> None:
    state = StateTables(Database(url), "spending", SPENDING_TABLE)
    for _ in range(3):
        assert state.check() == ""
        database.run(
            "SELECT pg_terminate_backend(pid) FROM pg_stat_activity "
            "WHERE application_name = 'atlas'"
        )


def test_a_server_that_vanishes_in_a_transaction_holds_nobody_up(
    url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(state_module, "HELD_SECONDS", 0.2)
    first, second = (StateTables(Database(url), "spending", SPENDING_TABLE) for _ in range(2))
    vanished = first.open()
    vanished.__enter__()
    assert second.check() == ""
    with pytest.raises(ConfigurationError, match="cannot be reached"):
        vanished.__exit__(None, None, None)
    assert first.check() == ""


def test_a_database_that_says_nothing_is_waited_for_once(url: str) -> None:
    with socket.create_server(("127.0.0.1", 0)) as silent:
        port = silent.getsockname()[1]
        state = StateTables(Database(f"postgresql://a:zvsecret@127.0.0.1:{port}/a"), "s", "")
        began = monotonic()
        problems = {state.check() for _ in range(5)}
        assert monotonic() - began < 2 * state_module.SILENCE_SECONDS
    assert problems == {
        "The database of STATE_URL cannot be reached (timed out). Start it, or correct STATE_URL."
    }


def test_many_threads_have_few_connections(database: Postgres, url: str) -> None:
    spending = Spending(StateTables(Database(url), "spending", SPENDING_TABLE))
    others = [
        Spending(StateTables(spending.state._database, f"n{n}", SPENDING_TABLE)) for n in range(4)
    ]
    today = datetime.now(UTC).date()
    threads = [
        threading.Thread(target=each.add, args=("anna", today, 1.0))
        for each in [spending, *others] * 10
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert spending.of("anna", today) == 50
    ((count,),) = database.run(
        "SELECT COUNT(*) FROM pg_stat_activity WHERE application_name = 'atlas' "
        f"AND datname = '{url.rpartition('/')[2]}'"
    )
    assert 1 <= count <= state_module.CONNECTIONS


# addresses


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        (("zvsecret", "wrong"), "lets nobody in by this name and password"),
        (("/state_", "/none_"), "does not exist"),
        (("postgres:zvsecret%20p%40ss%2Fword@", ""), "STATE_URL is postgresql://USER:PASSWORD@"),
        (("127.0.0.1:", "127.0.0.1:9"), "STATE_URL is postgresql://USER:PASSWORD@"),
    ],
)
def test_a_server_does_not_start_with_an_address_that_leads_nowhere(
    url: str, change: tuple[str, str], reason: str
) -> None:
    with pytest.raises(ConfigurationError, match=reason) as refusal:
        check_state(Settings(state_url=SecretStr(url.replace(*change))))
    assert "zvsecret" not in str(refusal.value)


@pytest.mark.parametrize(
    ("options", "reason"),
    [
        ("", ""),
        ("?sslmode=disable", ""),
        ("?sslmode=prefer&host=SOCKET", ""),
        ("?sslmode=require", "Server refuses SSL"),
        ("?sslmode=verify-full", "Server refuses SSL"),
        ("?sslmode=allow", "Its options are sslmode (disable, prefer, require, verify-full)"),
        ("?sslmode=verify-full&sslrootcert=/none", "sslrootcert (a file of certificates)"),
        ("?target_session_attrs=any", "Its options are"),
    ],
)
def test_options_of_an_address(database: Postgres, options: str, reason: str) -> None:
    address = database.url(options.replace("SOCKET", str(database.socket)))
    try:
        problem = StateTables(Database(address), "spending", SPENDING_TABLE).check()
    except ConfigurationError as error:
        problem = str(error)
    assert reason in problem
    assert bool(reason) == bool(problem)


def test_another_scheme_is_said_where_settings_are_read() -> None:
    with pytest.raises(ValueError, match="does not begin with postgresql://") as refusal:
        Settings(state_url=SecretStr("mysql://anna:zvsecret@here/a"))
    assert "zvsecret" not in str(refusal.value)


def test_without_the_driver_the_error_names_the_command(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(registry.LIBRARIES, "postgres", ("no_such_module",))  # type: ignore[misc]
    with pytest.raises(MissingLibrary, match=r"pip install 'atlas-research-search\[postgres\]'"):
        check_state(Settings(state_url=SecretStr(f"postgresql://a@127.0.0.1:{free_port()}/a")))


# TLS, which the PostgreSQL of the tests was built without


@contextmanager
def with_tls(port: int, certificate: Path) -> Iterator[int]:
    """A relay that speaks TLS as PostgreSQL does, before one that does not; its port."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate)

    class Relay(socketserver.BaseRequestHandler):
        def handle(self) -> None:
            assert self.request.recv(8)[4:] == (80877103).to_bytes(4, "big")  # SSLRequest
            self.request.sendall(b"S")
            with (
                suppress(OSError),
                context.wrap_socket(self.request, server_side=True) as client,
                socket.create_connection(("127.0.0.1", port)) as server,
            ):
                answers = threading.Thread(target=_pump, args=(server, client), daemon=True)
                answers.start()
                _pump(client, server)
                server.shutdown(socket.SHUT_WR)
                answers.join(10)

    with socketserver.ThreadingTCPServer(("127.0.0.1", 0), Relay) as relay:
        threading.Thread(target=relay.serve_forever, args=(0.02,), daemon=True).start()
        yield int(relay.server_address[1])
        relay.shutdown()


def _pump(source: socket.socket, sink: socket.socket) -> None:
    with suppress(OSError):
        while piece := source.recv(65536):
            sink.sendall(piece)


@pytest.fixture(scope="module")
def certificate(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The key and the certificate of `localhost`, signed by itself."""
    key = rsa.generate_private_key(65537, 2048)
    name = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, "localhost")])
    now = datetime.now(UTC)
    signed = (
        x509.CertificateBuilder(name, name, key.public_key(), x509.random_serial_number())
        .not_valid_before(now - timedelta(days=1))
        .not_valid_after(now + timedelta(days=1))
        .add_extension(x509.SubjectAlternativeName([x509.DNSName("localhost")]), critical=False)
        .sign(key, hashes.SHA256())
    )
    pem = serialization.Encoding.PEM
    form, secret = serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
    path = tmp_path_factory.mktemp("tls") / "server.pem"
    path.write_bytes(key.private_bytes(pem, form, secret) + signed.public_bytes(pem))
    return path


@pytest.mark.parametrize(
    ("host", "options", "reason"),
    [
        ("localhost", "", ""),
        ("localhost", "?sslmode=require", ""),
        ("localhost", "?sslmode=verify-full&sslrootcert=FILE", ""),
        ("localhost", "?sslmode=verify-full", "self-signed certificate"),
        ("127.0.0.1", "?sslmode=verify-full&sslrootcert=FILE", "IP address mismatch"),
    ],
)
def test_a_certificate_is_checked(
    database: Postgres, certificate: Path, host: str, options: str, reason: str
) -> None:
    with with_tls(database.port, certificate) as port:
        address = database.url(options.replace("FILE", str(certificate)))
        address = address.replace(f"127.0.0.1:{database.port}", f"{host}:{port}")
        state = StateTables(Database(address), "spending", SPENDING_TABLE)
        problem = state.check()
        del state
    assert reason in problem
    assert bool(reason) == bool(problem)
