"""Rules about answers: each case of `cases.toml` is asked, and what it names must come out.

A case has a question and its sources, maybe earlier turns, a target and the replies of a model. A
group has what its cases share, and the columns of their rows.
"""

import json
import re
import tomllib
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from atlas_search import Atlas
from atlas_search.answer.answer import Answer
from atlas_search.answer.readings import Reading
from atlas_search.building.sources import by_mapping
from atlas_search.core.domain import ChatTurn, Citation
from tests.chat_server import KEY, said
from tests.hash_embedder import HashEmbedder
from tests.openai_server import OpenAIServer, openai_server
from tests.tiny import READERS, build_tiny, write_sources

HEAD = "---\ntitle: Rules\n---\n"
DATA = tomllib.loads(Path(__file__).with_name("cases.toml").read_text("utf-8"))
OPTIONS = ("target", "mode", "clarify", "read_follow_ups", "corpora")
"""What `Atlas.ask` takes; all that is none of these, nor made of them below, is expected."""


@dataclass(frozen=True)
class Case:
    """A question with the ids of the documents it is asked of, and what comes out by its name."""

    question: str
    files: Mapping[str, str]
    history: tuple[ChatTurn, ...] = ()
    model: tuple[str, ...] = ()
    options: Mapping[str, Any] = field(default_factory=dict)
    expected: Mapping[str, Any] = field(default_factory=dict)


def case_of(number: int, fields: dict[str, Any]) -> Case:
    """A case from its fields; sources without a name are files of the corpora in `places`."""
    del fields["promise"]
    sources, places = fields.pop("sources", {}), fields.pop("places", ["rules"] * 3)
    if isinstance(sources, list):
        sources = {
            f"{place}/{number:03}{letter}": text
            for letter, place, text in zip("abc", places, sources, strict=False)
        }
    turns, model = fields.pop("history", []), fields.pop("model", [])
    return Case(
        fields.pop("question"),
        {f"{name}.txt": text for name, text in sources.items()},
        tuple(map(turn, [turns] if isinstance(turns, str) else turns)),
        tuple([model] if isinstance(model, str) else model),
        {name: fields.pop(name) for name in OPTIONS if name in fields},
        fields,
    )


def turn(text: str) -> ChatTurn:
    """A turn of the user, or of the assistant behind a greater-than sign."""
    role, text = ("assistant", text[2:]) if text.startswith("> ") else ("user", text)
    return ChatTurn(role, text)  # type: ignore[arg-type]


def rows() -> Iterator[dict[str, Any]]:
    for group in DATA["group"]:
        shared = {name: value for name, value in group.items() if name not in ("columns", "cases")}
        for row in group["cases"]:
            values = [row] if isinstance(row, str) else row
            yield shared | dict(zip(group["columns"], values, strict=True))
    yield from DATA["case"]


ROWS = list(rows())
CASES = [case_of(number, dict(row)) for number, row in enumerate(ROWS)]
NAMES = [f"{row['promise']}: {row['question']}"[:90] for row in ROWS]


@dataclass(frozen=True)
class Small:
    """All sources of all cases, open, and the model that is asked."""

    atlas: Atlas
    model: OpenAIServer


def corpus(id_: str) -> str:
    """The lines of `corpora.toml` for a corpus."""
    language = DATA["languages"].get(id_, "en")
    label = id_.replace("_", " ").title()
    lines = {"id": id_, "label": label, "include": [f"{id_}/*"], "language": language}
    return "[[corpus]]\n" + "".join(f"{key} = {json.dumps(lines[key])}\n" for key in lines)


@pytest.fixture(scope="module")
def small(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Small]:
    folder = tmp_path_factory.mktemp("cases")
    files = {"aside/sheep.txt": "Sheep give wool."} | {
        name: text if text.startswith("---") else f"{HEAD}{text}\n"
        for case in CASES
        for name, text in case.files.items()
    }
    (folder / "targets").mkdir()
    for name, changes in DATA["targets"].items():
        lines = [f"{key}={value}\n" for key, value in (DATA["targets"]["loose"] | changes).items()]
        (folder / "targets" / f"{name}.txt").write_text("".join(lines))
    files["corpora.toml"] = "".join(map(corpus, sorted({name.split("/")[0] for name in files})))
    mapping = write_sources(folder / "sources", files) / "corpora.toml"
    sources = by_mapping(mapping.parent, mapping, READERS["txt"].suffixes, "")
    build_tiny(sources, folder / "small", HashEmbedder())
    with (
        openai_server() as model,
        Atlas.open(
            folder / "small",
            embedder=HashEmbedder(),
            targets_directory=folder / "targets",
            test_target="loose",
            openai_base_url=model.address,
            openai_api_key=KEY,
            query_cache_enabled=False,
        ) as atlas,
    ):
        yield Small(atlas, model)


MISSING = re.compile("No passage found speaks of (.+)\\.")
SEEN: Mapping[str, Callable[[Answer], Any]] = {
    "decision": lambda a: a.outcome.decision,
    "code": lambda a: a.outcome.code,
    "answer": lambda a: [s.text for s in a.verification.sentences] if a.text else [],
    "closest": lambda a: [citation.quote for citation in a.closest],
    "word": lambda a: a.confidence.word if a.confidence else "",
    "warnings": lambda a: list(a.verification.warnings),
    "missing": lambda a: MISSING.findall("\n".join(a.verification.warnings)),
    "languages": lambda a: sorted({item.passage.language for item in a.result.passages}),
    "conflicts": lambda a: [conflict.kind for conflict in a.conflicts],
    "details": lambda a: [conflict.detail for conflict in a.conflicts],
    "stated": lambda a: [conflict.stated for conflict in a.conflicts],
    "sides": lambda a: sorted({s.quote for c in a.conflicts for s in (c.first, c.second)}),
    "choices": lambda a: sorted(choice.label for choice in a.choices),
    "choice_quotes": lambda a: sorted(choice.citation.quote for choice in a.choices),
    "choice_filters": lambda a: sorted(str(dict(choice.filters)) for choice in a.choices),
    "choice_documents": lambda a: sorted(list(choice.documents) for choice in a.choices),
    "counted": lambda a: a.counted.words if a.counted else "",
    "read_as": lambda a: a.read_as,
    "standalone": lambda a: a.standalone,
    "note": lambda a: a.standalone_note,
    "fallback": lambda a: a.writer.fallback.code if a.writer.fallback else "",
    "attempts": lambda a: a.writer.attempts,
}


def quotes(answer: Answer) -> list[Citation]:
    """All that an answer quotes, in itself and beside it."""
    sides = [side for c in answer.conflicts for side in (c.first, c.second)]
    return [*answer.citations, *answer.closest, *sides, *(c.citation for c in answer.choices)]


@pytest.mark.parametrize("case", CASES, ids=NAMES)
def test_what_is_asked_has_the_answer_it_must_have(small: Small, case: Case) -> None:
    small.model.told.clear()
    small.model.says(case.model[-1] if case.model else "")
    small.model.then(*map(said, case.model[:-1]))
    where: dict[str, Any] = {"corpora": "aside"}
    if case.files:
        ids = [name.removesuffix(".txt").replace("/", ".") for name in case.files]
        where = {"filters": {"document_id": ids}}
    answer = small.atlas.ask(case.question, history=case.history, **where | dict(case.options))
    assert {name: SEEN[name](answer) for name in case.expected} == case.expected
    for quote in quotes(answer):
        text = small.atlas.document(quote.passage.document_id).text
        assert text[quote.start : quote.end] == quote.quote
    for choice in answer.choices:
        again = small.atlas.ask(case.question, clarify=True, corpora=choice.corpora, **only(choice))
        assert (again.choices, again.outcome.decision) == ((), "ANSWER")
        assert {c.passage.document_id for c in again.citations} <= {*choice.documents}


def only(choice: Reading) -> dict[str, Any]:
    """The documents of a reading alone."""
    return {"filters": {"document_id": choice.documents}}
