"""Bodies that nobody writes by hand: each is answered, or refused in a few words."""

import json

import pytest
from flask.testing import FlaskClient

LONGEST_PROBLEM = 20_000  # bytes; telling every fault of every value took 11 s and 77 MB

SEARCH, ASK, VALIDATE, EXPORT = "/api/search", "/api/ask", "/api/validate", "/api/export"
QUESTION = "Who gives wool?"
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
    given = {"question": json.dumps(QUESTION), name: value}
    return "{" + ",".join(f'"{key}":{text}' for key, text in given.items()) + "}"


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
    told = f"{path} {body[:200]} ({len(body)} characters)"
    response = client.post(path, data=body, content_type="application/json")
    assert response.status_code < 500, told
    if response.status_code >= 400:
        problem = response.get_json(force=True)
        assert problem["status"] == response.status_code, told
        assert problem["detail"], told
        assert len(response.data) < LONGEST_PROBLEM, told


@pytest.mark.parametrize("name", SINGLE)
def test_a_hostile_value_in_a_search(farm_client: FlaskClient, name: str) -> None:
    for value in VALUES:
        post(farm_client, SEARCH, of_question(name, value))


@pytest.mark.parametrize("name", OF_ANSWERS)
def test_a_hostile_value_in_a_question(farm_client: FlaskClient, name: str) -> None:
    for value in VALUES:
        post(farm_client, ASK, of_question(name, value))


@pytest.mark.parametrize("field", FIELDS)
def test_a_hostile_filter(farm_client: FlaskClient, field: str) -> None:
    for value in FILTERS:
        post(farm_client, SEARCH, of_question("filters", f'{{"{field}":{value}}}'))


@pytest.mark.parametrize(("path", "body"), MANY, ids=[body[:60] for _, body in MANY])
def test_a_body_with_too_much_in_it(farm_client: FlaskClient, path: str, body: str) -> None:
    post(farm_client, path, body)


@pytest.mark.parametrize("path", ["documents", "passages", "ask"])
@pytest.mark.parametrize("id_", ["%00", "a%00", "%ff", "%ed%a0%80", "x" * 8000])
def test_a_hostile_id_is_not_found(farm_client: FlaskClient, path: str, id_: str) -> None:
    assert farm_client.get(f"/api/{path}/{id_}").status_code in (400, 404)
