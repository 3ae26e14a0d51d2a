"""Bodies that nobody writes by hand: each is answered, or refused in a few words, and little of it
is kept."""

import json
from collections.abc import Iterator, Sequence
from dataclasses import replace
from string import ascii_lowercase

import pytest
from flask.testing import FlaskClient

from atlas_search import Atlas
from atlas_search.answer.answer import Answer
from atlas_search.answer.follow_up import CHARACTERS_READ, TURNS_READ
from atlas_search.answer.write.prompt import CHARACTERS_OF_TOKEN, count_tokens
from atlas_search.documents.bundle import RunBundle, replay
from atlas_search.search.unknown import MOST_LOOKED_UP, Spellings
from atlas_search.server.runs import Runs
from tests.hash_embedder import HashEmbedder
from tests.servers import app_of
from tests.slow_model import SlowModel
from tests.tiny import write_sources

LONGEST_PROBLEM = 20_000  # bytes; telling every fault of every value took 11 s and 77 MB
SEARCH, ASK, VALIDATE, EXPORT = "/api/search", "/api/ask", "/api/validate", "/api/export"
WOOL = "Who gives wool?"
LONG = "x" * 1_800_000
NUMBERS = ("1e400", "-1e400", "NaN", "Infinity", "9" * 4000, "9" * 5000, "-0", "1.5", "1e308")
TEXTS = (r'"\u0000"', r'"wool\u0000"', r'"\ud800"', r'"\udc00wool"', '""', f'"{LONG}"', r'"\n"')
LISTS = ("[" * depth + "]" * depth for depth in (50, 900, 5000, 900_000))
NESTED = (*LISTS, '{"a":' * 300_000 + "1" + "}" * 300_000)
OTHERS = ("null", "true", "[]", "{}", "[null]", "[[1]]", '{"from":null}')
SINGLE = (
    "question corpus_filter target k freshness_days fuzzy require exclude max_per_document as_of "
    "facets exact explain"
).split()
OF_ANSWERS = "mode clarify chat_history read_follow_ups session_id qa_id include_context".split()
FIELDS = ("date", "title", "document_id", "speaker", "section")


def listed(count: int, *, of: str = "null") -> str:
    return f"[{','.join([of] * count)}]"


def fields(count: int) -> str:
    return json.dumps(dict.fromkeys(map(str, range(count)), "a"))


def of_question(name: str, value: str) -> str:
    parts = {"question": json.dumps(WOOL), name: value}
    return "{" + ",".join(f'"{key}":{text}' for key, text in parts.items()) + "}"


VALUES = (*NUMBERS, *TEXTS, *NESTED, *OTHERS, *(f"[{text}]" for text in (*NUMBERS, *TEXTS)))
FILTERS = (
    *VALUES,
    *(f'{{"from":{value}}}' for value in (*NUMBERS, *TEXTS, '"nan"')),
    *(json.dumps([f"v{number}" for number in range(count)]) for count in (1000, 100_000)),
    json.dumps("%" * 50_000),
    json.dumps([str(1000 + number) for number in range(999)]),
)
MANY = [
    (SEARCH, of_question("filters", fields(100_000))),
    (SEARCH, of_question("filters", f'{{"{LONG}":1}}')),
    (SEARCH, of_question("filters", '{"date":' + fields(100_000) + "}")),
    (SEARCH, of_question("filters", '{"date":' + listed(300_000) + "}")),
    (SEARCH, of_question("corpus_filter", listed(100_000, of='"farm"'))),
    (SEARCH, of_question("corpus_filter", json.dumps([f"c{n}" for n in range(999)]))),
    (SEARCH, of_question("facets", listed(100_000, of='"date"'))),
    (SEARCH, of_question("facets", json.dumps([f"f{n}" for n in range(999)]))),
    (SEARCH, of_question("require", listed(100_000, of='"wool"'))),
    (SEARCH, of_question("require", json.dumps([" ".join(f"w{n}" for n in range(150_000))]))),
    (SEARCH, of_question("exclude", json.dumps(["wool give " * 9000] * 20))),
    (SEARCH, of_question("exclude", listed(20, of=json.dumps("wool give " * 99)))),
    (SEARCH, fields(100_000)),
    (SEARCH, '{"question":"' + " ".join(f"zq{n:03}ab" for n in range(400)) + '","fuzzy":true}'),
    (SEARCH, '{"question":' + json.dumps('+"wool give" -"milk" ' * 190) + "}"),
    (ASK, of_question("chat_history", listed(300_000))),
    (ASK, of_question("chat_history", f'[{{"role":"user","content":"{LONG}"}}]')),
    (
        ASK,
        of_question("chat_history", listed(200, of=json.dumps({"role": "user", "content": "a"}))),
    ),
    (ASK, of_question("chat_history", '[{"role":"user","content":"a",' + fields(90_000)[1:] + "]")),
    (VALIDATE, f'{{"answer":"{LONG}"}}'),
    (VALIDATE, r'{"answer":"a\u0000 [a\u0000 p1]","passages":[]}'),
    (VALIDATE, '{"answer":"a","passages":' + listed(300_000) + "}"),
    (VALIDATE, '{"answer":"a","passages":[' + fields(100_000) + "]}"),
    (VALIDATE, json.dumps({"answer": "a", "passages": ["x" * 9000] * 200})),
    (VALIDATE, json.dumps({"answer": "a", "passages": [f"farm:{n}" for n in range(200)]})),
    (VALIDATE, '{"answer":"a","citation_limit":1e400}'),
    (EXPORT, '{"format":"json","answers":' + listed(300_000) + "}"),
    (EXPORT, '{"format":"json","answers":[{"a":1e400}]}'),
    (EXPORT, '{"format":"json","answers":[{"a":' + "[" * 900 + "]" * 900 + "}]}"),
    (EXPORT, '{"format":"markdown","answers":' + listed(500, of="{}") + "}"),
]


def post(client: FlaskClient, path: str, body: str) -> None:
    """Send a body, and see that the answer is none of a fault, and none that floods."""
    about = f"{path} {body[:200]} ({len(body)} characters)"
    response = client.post(path, data=body, content_type="application/json")
    assert response.status_code < 500, about
    if response.status_code >= 400:
        problem = response.get_json(force=True)
        assert problem["status"] == response.status_code, about
        assert problem["detail"], about
        assert len(response.data) < LONGEST_PROBLEM, about


@pytest.mark.thorough
@pytest.mark.parametrize("name", SINGLE)
def test_a_hostile_value_in_a_search(farm_client: FlaskClient, name: str) -> None:
    for value in VALUES:
        post(farm_client, SEARCH, of_question(name, value))


@pytest.mark.thorough
@pytest.mark.parametrize("name", OF_ANSWERS)
def test_a_hostile_value_in_a_question(farm_client: FlaskClient, name: str) -> None:
    for value in VALUES:
        post(farm_client, ASK, of_question(name, value))


@pytest.mark.thorough
@pytest.mark.parametrize("field", FIELDS)
def test_a_hostile_filter(farm_client: FlaskClient, field: str) -> None:
    for value in FILTERS:
        post(farm_client, SEARCH, of_question("filters", f'{{"{field}":{value}}}'))


@pytest.mark.thorough
@pytest.mark.parametrize(("path", "body"), MANY, ids=[body[:60] for _, body in MANY])
def test_a_body_with_too_much_in_it(farm_client: FlaskClient, path: str, body: str) -> None:
    post(farm_client, path, body)


@pytest.mark.parametrize("path", ["documents", "passages", "ask"])
@pytest.mark.parametrize("id_", ["%00", "a%00", "%ff", "%ed%a0%80", "x" * 8000])
def test_a_hostile_id_is_not_found(farm_client: FlaskClient, path: str, id_: str) -> None:
    assert farm_client.get(f"/api/{path}/{id_}").status_code in (400, 404)


# filters with many values: all of them count, and too many are refused with how many are taken


LIGHT = "Who keeps the light?"
LIGHTS = {
    "a/one.md": "---\ntitle: One\ndate: 1901-05\nkeeper: Ada\n---\nThe light is kept by one.\n",
    "a/two.md": "---\ntitle: Two\ndate: 1902\nkeeper: Bea\n---\nThe light is kept by two.\n",
    "a/both.md": "---\ntitle: Both\ndate: 1901-12/1902-01\nkeeper: 100%\n---\nThey keep light.\n",
}
RECORDS = [
    {
        "id": "talk",
        "text": "I keep the light.",
        "speaker": "Mr Roe; Mrs Doe",
        "section": "Works > Oil",
    },
    {"id": "other", "text": "Who keeps the light?", "speaker": "Mr Roebuck", "section": "Rates"},
]


@pytest.fixture(scope="module")
def lights(tmp_path_factory: pytest.TempPathFactory) -> Iterator[FlaskClient]:
    root, embedder = tmp_path_factory.mktemp("lights"), HashEmbedder()
    records = "".join(json.dumps(record) + "\n" for record in RECORDS)
    sources = write_sources(root / "source", {**LIGHTS, "b/said.jsonl": records})
    Atlas.build(sources, root / "stores" / "c", embedder=embedder)
    with Atlas.open(root / "stores" / "c", embedder=embedder) as opened:
        yield app_of(opened).test_client()


def titles(lights: FlaskClient, **filters: object) -> set[str]:
    body = {"question": LIGHT, "filters": filters, "exact": True, "k": 100}
    response = lights.post("/api/search", json=body)
    assert response.status_code == 200, response.text
    return {result["title"] for result in response.get_json()["passages"]}


def refusal(lights: FlaskClient, **filters: object) -> str:
    response = lights.post("/api/search", json={"question": LIGHT, "filters": filters})
    assert response.status_code == 400, response.text[:200]
    return response.get_json(force=True)["detail"]


NONE = [f"none {number}" for number in range(990)]


def test_one_of_a_thousand_values_is_enough(lights: FlaskClient) -> None:
    assert titles(lights, keeper=[*NONE, "ada"]) == {"One"}
    assert titles(lights, title=[*NONE, "two", "ONE"]) == {"One", "Two"}
    assert titles(lights, keeper=NONE) == set()


def test_one_of_many_documents_is_enough(lights: FlaskClient) -> None:
    result = lights.post("/api/search", json={"question": LIGHT, "exact": True}).get_json()
    ids = {each["title"]: each["document_id"] for each in result["passages"]}
    assert titles(lights, document_id=[*NONE, ids["Two"]]) == {"Two"}


def test_one_of_many_dates_is_enough(lights: FlaskClient) -> None:
    years = [str(year) for year in range(1000, 1900)]
    assert titles(lights, date=[*years, "1902"]) == {"Two"}
    assert titles(lights, date=[*years, "1901-05"]) == {"One"}
    # what lies in two of the years lies in none of them
    assert titles(lights, date=[*years, "1901", "1902"]) == {"One", "Two"}
    assert titles(lights, date=[*years, "1901-11/1902-02", "1901-12"]) == {"Both"}


def test_one_of_many_speakers_is_enough(lights: FlaskClient) -> None:
    spoken = titles(lights, speaker=[*NONE, "mrs doe"])
    assert len(spoken) == 1
    assert titles(lights, speaker="Mr Roe") == spoken
    assert titles(lights, speaker=["Roe", "%", "_r Roe"]) == set()
    assert titles(lights, speaker="Mr Roebuck").isdisjoint(spoken)


@pytest.mark.thorough
def test_one_of_many_sections_is_enough(lights: FlaskClient) -> None:
    assert len(titles(lights, section=[*NONE, "oil"])) == 1
    assert titles(lights, section=["O%l", "O_l"]) == set()


def test_too_many_values_are_refused_with_how_many_are_taken(lights: FlaskClient) -> None:
    assert refusal(lights, keeper=["a"] * 600, title=["b"] * 401) == (
        "filters: the lists of filters 'keeper', 'title' hold 1,001 values; at most 1,000 are "
        "taken. Narrow by another field, or search several times."
    )


def test_too_many_fields_are_refused(lights: FlaskClient) -> None:
    result = refusal(lights, **{f"f{number}": "a" for number in range(101)})
    assert result == "filters: 101 fields are given; at most 100 are taken."


@pytest.mark.parametrize("field", ["keeper", "speaker", "section", "document_id", "date"])
def test_a_long_value_is_refused(lights: FlaskClient, field: str) -> None:
    assert refusal(lights, **{field: ["a", "x" * 50_000]}) == (
        f"filters.{field}: a value has 50,000 characters; at most 1,000 are compared."
    )


@pytest.mark.parametrize("end", ["nan", "inf", "-1e400"])
def test_an_end_that_is_no_number_is_refused(lights: FlaskClient, end: str) -> None:
    assert "is neither a number nor a date" in refusal(lights, date={"from": end})


def test_a_nul_character_is_refused(lights: FlaskClient) -> None:
    assert refusal(lights, section="\0") == "filters.section: '\\x00' holds a NUL character."


@pytest.mark.parametrize("name", ["require", "exclude"])
def test_a_long_phrase_is_refused(lights: FlaskClient, name: str) -> None:
    body = {"question": LIGHT, name: ["wool", "wool " * 201]}
    response = lights.post("/api/search", json=body)
    assert response.status_code == 400
    assert response.get_json(force=True)["detail"] == (
        f"{name}: a phrase has 1,005 characters; at most 1,000 are looked for. Shorten it."
    )


# questions of words that nobody knows: few of them are compared with all words of the sources


MISSPELT = [f"merchant{first}{last}" for first in ascii_lowercase for last in "qxz"]


def test_the_first_unknown_words_have_suggestions(farm: Atlas) -> None:
    result = farm.search(" ".join(MISSPELT), fuzzy=False).unknown_words
    assert [each.word for each in result] == MISSPELT
    suggested = [bool(each.suggestions) for each in result]
    assert suggested.count(True) > 10
    assert not any(suggested[MOST_LOOKED_UP:])


def test_the_first_unknown_words_are_looked_for_in_other_spellings(farm: Atlas) -> None:
    searcher = replace(farm.services.searcher)
    searcher.__dict__["spellings"] = spellings = Spellings(searcher.store.tokens)
    answerer = replace(farm.services.answerer, searcher=searcher)
    Atlas(replace(farm.services, answerer=answerer)).search(" ".join(MISSPELT), fuzzy=True)
    assert 0 < spellings.of.cache_info().misses <= MOST_LOOKED_UP


# long conversations: an answer keeps what it needs of them, and counts the tokens of no more


BUDGET = 300  # tokens of chat memory
LONG_TURNS = [
    {"role": role, "content": f"{role} speaks of wool {number}. " * 300}
    for number in range(100)
    for role in ("user", "assistant")
]
SHORT_TURNS = [
    {"role": "user", "content": "Do cows give milk?"},
    {"role": "assistant", "content": "Cows give milk."},
]
HISTORIES = {
    "one turn": [{"role": "user", "content": "wool " * 350_000}],
    "one word": [{"role": "user", "content": "w" * 1_500_000}],
    "blanks": [{"role": "user", "content": " " * 1_500_000}],
    "long turns": LONG_TURNS,
    "long turns before short ones": LONG_TURNS[:198] + SHORT_TURNS,
}


@pytest.fixture
def counted(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Every text whose tokens are counted."""
    result: list[str] = []

    def count(texts: Sequence[str]) -> list[int]:
        result.extend(texts)
        return count_tokens(texts)

    for module in ("planning", "answer.write.condense", "answer.write.prompt"):
        monkeypatch.setattr(f"atlas_search.{module}.count_tokens", count)
    return result


@pytest.fixture
def atlas(farm: Atlas) -> Atlas:
    """The farm, answered by a model that may write at once."""
    model = SlowModel()
    model.go.release(1000)
    name = farm.services.settings.test_target
    changed = {"llm_provider": "openai", "chat_memory_tokens": BUDGET, "answer_threshold": 0.0}
    target = farm.services.targets[name].model_copy(update=changed)
    answerer = replace(farm.services.answerer, models={"openai": model})
    return Atlas(replace(farm.services, answerer=answerer, targets={name: target}))


@pytest.fixture
def writer(atlas: Atlas) -> FlaskClient:
    return app_of(atlas).test_client()


def answer_to(writer: FlaskClient, history: object, number: int = 0) -> Answer:
    """The answer as the server keeps it."""
    body = {"question": WOOL, "chat_history": history, "qa_id": f"q{number}"}
    response = writer.post("/api/ask", json=body)
    assert response.status_code == 200, response.text
    runs = writer.application.extensions["runs"]
    assert isinstance(runs, Runs)
    result = runs.get(f"q{number}").answer
    assert result
    return result


def characters_kept(answer: Answer) -> int:
    """Characters of the conversation that an answer holds on to."""
    turns = {id(turn.content): len(turn.content) for turn in answer.request.history}
    # the last message is the question with its passages
    about = {id(m.content): len(m.content) for m in answer.context.messages[1:-1]}
    return sum({**turns, **about}.values())


MOST_KEPT = BUDGET * CHARACTERS_OF_TOKEN + TURNS_READ * CHARACTERS_READ


@pytest.mark.parametrize("history", HISTORIES.values(), ids=HISTORIES)
def test_an_answer_keeps_little_of_a_long_conversation(
    writer: FlaskClient, counted: list[str], history: list[dict[str, str]]
) -> None:
    answer = answer_to(writer, history)
    assert characters_kept(answer) <= MOST_KEPT
    of_turns = [text for text in counted if not text.startswith("<passage")]
    assert sum(map(len, of_turns)) <= 4 * BUDGET * CHARACTERS_OF_TOKEN
    assert answer.context.turns + answer.context.turns_dropped == len(history)


def test_the_newest_turns_reach_the_model_whole(writer: FlaskClient) -> None:
    answer = answer_to(writer, HISTORIES["long turns before short ones"])
    about = [message.content for message in answer.context.messages[1:-1]]
    assert about == [turn["content"] for turn in SHORT_TURNS]
    assert (answer.context.turns, answer.context.turns_dropped) == (2, 198)


def test_a_bundle_says_how_many_turns_were_used_and_can_be_replayed(
    writer: FlaskClient, atlas: Atlas
) -> None:
    answer_to(writer, HISTORIES["long turns before short ones"])
    content = writer.get("/api/ask/q0/export?format=bundle").text
    bundle = RunBundle.from_json(content, "the answer")
    assert (bundle.conversation.turns, bundle.conversation.turns_dropped) == (2, 198)
    assert [message.content for message in bundle.prompt[1:-1]] == [
        t["content"] for t in SHORT_TURNS
    ]
    assert replay(atlas.services.searcher, bundle).identical


def test_a_bundle_of_before_that_counts_no_turns_is_read(writer: FlaskClient) -> None:
    answer_to(writer, SHORT_TURNS)
    content = writer.get("/api/ask/q0/export?format=bundle").get_json(force=True)
    del content["conversation"]
    assert RunBundle.from_json(json.dumps(content), "it").conversation.turns == 0


def test_without_a_model_only_what_follow_ups_are_read_after_is_kept(
    farm_client: FlaskClient, counted: list[str]
) -> None:
    answer = answer_to(farm_client, LONG_TURNS)
    assert len(answer.request.history) == TURNS_READ
    assert answer.request.turns_dropped == len(LONG_TURNS) - TURNS_READ
    assert characters_kept(answer) == TURNS_READ * CHARACTERS_READ
    assert counted == []


def test_a_follow_up_is_read_after_the_last_turns(farm_client: FlaskClient) -> None:
    body = {"question": "Why not?", "chat_history": [*LONG_TURNS[:150], *SHORT_TURNS]}
    result = farm_client.post("/api/ask", json=body).get_json()
    alone = farm_client.post("/api/ask", json={**body, "chat_history": SHORT_TURNS}).get_json()
    assert result["read_as"] == alone["read_as"] != ""
