"""RAGAS and DeepEval judge an exported run: the example, by a model on a local server."""

import json
import subprocess
from pathlib import Path
from typing import Any

import pytest

from tests.chat_server import KEY, Reply, Request
from tests.conftest import require
from tests.openai_server import MODEL, openai_server
from tests.places import ROOT
from tests.servers import JUDGES_PYTHON

QUESTION = "What do cows give?"
SAMPLE = {
    "user_input": QUESTION,
    "retrieved_contexts": ["Cows give milk.", "Hens give eggs."],
    "response": "Cows give milk.",
    "reference": "Milk.",
}
SAMPLES = (SAMPLE, SAMPLE | {"reference": None}, SAMPLE | {"response": None})
REPLIES: dict[str, dict[str, Any]] = {
    '"title": "StatementGeneratorOutput"': {"statements": ["Cows give milk.", "They give it."]},
    '"title": "NLIStatementOutput"': {
        "statements": [
            {"statement": "Cows give milk.", "reason": "It says so.", "verdict": 1},
            {"statement": "They give it.", "reason": "It does not.", "verdict": 0},
        ]
    },
    '"title": "ContextPrecisionOutput"': {"reason": "It is useful.", "verdict": 1},
    '"title": "ContextRecallOutput"': {
        "classifications": [{"statement": "Milk.", "reason": "It says so.", "attributed": 1}]
    },
    '"title": "AnswerRelevanceOutput"': {"question": QUESTION, "noncommittal": 0},
    "generate 3-4 concise evaluation steps": {"steps": ["Compare.", "Mark."]},
    "Given the following evaluation steps": {"score": 8, "reason": "It is right."},
}
"""Replies of the model, by a sign in the prompt."""


def answer(request: Request) -> Reply:
    if request.path.endswith("/embeddings"):
        texts = request.body["input"]
        count = len(texts) if isinstance(texts, list) else 1
        vectors = [{"index": n, "embedding": [0.6, 0.8]} for n in range(count)]
        return Reply(200, {"object": "list", "model": "vectors", "data": vectors})
    reply = next(reply for sign, reply in REPLIES.items() if sign in request.prompt)
    message = {"role": "assistant", "content": json.dumps(reply)}
    choice = {"index": 0, "finish_reason": "stop", "message": message}
    return Reply(200, {"id": "c1", "object": "chat.completion", "created": 1, "model": MODEL,
                       "choices": [choice]})  # fmt: skip


@pytest.mark.thorough
@pytest.mark.judges
def test_the_example_judges_an_exported_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    require("judges", present=JUDGES_PYTHON.exists(), remedy="`make judges-venv` has not run")
    here = tmp_path / "here"
    here.mkdir()
    samples = tmp_path / "set.jsonl"
    samples.write_text("".join(json.dumps(sample) + "\n" for sample in SAMPLES))
    with openai_server() as server:
        monkeypatch.setattr(server, "answer", answer)
        done = subprocess.run(
            (JUDGES_PYTHON, ROOT / "examples" / "ragas_deepeval.py", samples, "--model", MODEL),
            env={"HOME": str(tmp_path), "OPENAI_API_KEY": KEY, "OPENAI_BASE_URL": server.address},
            cwd=here,
            capture_output=True,
            text=True,
            timeout=240,
            check=False,
        )
    assert done.returncode == 0, done.stderr
    whole, without_reference, declined, last = map(json.loads, done.stdout.splitlines())
    one = pytest.approx(1.0)
    figures = {
        "user_input": QUESTION,
        "faithfulness": 0.5,  # one of two statements
        "context_precision": one,
        "context_recall": 1.0,
        "answer_relevancy": one,
        "answer_correctness": 0.8,
    }
    assert whole == figures
    assert without_reference == {
        "user_input": QUESTION,
        "faithfulness": 0.5,
        "context_precision_by_answer": one,
        "answer_relevancy": one,
    }
    assert declined == {"user_input": QUESTION, "context_precision": one, "context_recall": 1.0}
    assert last == {
        "means": {
            "faithfulness": 0.5,
            "context_precision": one,
            "context_precision_by_answer": one,
            "context_recall": 1.0,
            "answer_relevancy": one,
            "answer_correctness": 0.8,
        }
    }
    assert not list(here.iterdir())
