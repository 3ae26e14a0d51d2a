"""RAGAS and DeepEval judge a run of `atlas eval`, by a model behind an OpenAI-compatible server.

`atlas eval export RUN set.jsonl --format ragas` writes what is read here. The two libraries cannot
be installed beside Atlas, so the Python of `make judges-venv` runs this file:

    OPENAI_API_KEY=... .venv-judges/bin/python examples/ragas_deepeval.py set.jsonl

OPENAI_BASE_URL names another server, such as https://api.mistral.ai/v1. A line of JSON for each
question goes to standard output, and at last one with the means.
"""

import argparse
import asyncio
import json
import math
import os
from collections.abc import Awaitable, Callable, Mapping
from pathlib import Path
from typing import Any

# read when the libraries are imported: they ask the server alone
os.environ["RAGAS_DO_NOT_TRACK"] = "true"
os.environ["DEEPEVAL_TELEMETRY_OPT_OUT"] = "1"
os.environ["DEEPEVAL_UPDATE_WARNING_OPT_IN"] = "0"
os.environ["DEEPEVAL_DISABLE_DOTENV"] = "1"

from deepeval.metrics import GEval
from deepeval.models import LocalModel
from deepeval.test_case import LLMTestCase, SingleTurnParams
from openai import AsyncOpenAI
from ragas.embeddings import OpenAIEmbeddings
from ragas.llms import llm_factory
from ragas.metrics.collections import (
    AnswerRelevancy,
    ContextPrecisionWithoutReference,
    ContextPrecisionWithReference,
    ContextRecall,
    Faithfulness,
)

SERVER = "https://api.openai.com/v1"
REPLY_TOKENS = 3000  # verdicts on all statements of an answer
CRITERIA = (
    "Determine whether the actual output is a right answer to the input, measured by the expected "
    "output, which is one. It is right if it says what the expected output says, in whatever "
    "words, order, language and length. What contradicts the expected output weighs most, then "
    "what is asked for and missing. What is said beyond it, and does not contradict it, weighs "
    "little. An answer that declines to answer is not right."
)
"""The rule of DeepEval's GEval: that of Atlas' own mark, in DeepEval's words."""

Sample = Mapping[str, Any]
Metric = Callable[..., Awaitable[float]]


def ragas_metrics(server: str, key: str, model: str, embedding_model: str) -> dict[str, Metric]:
    """Return the metrics by name; their arguments are the fields of a sample."""
    client = AsyncOpenAI(base_url=server, api_key=key)
    llm = llm_factory(model, client=client, temperature=0.0, max_tokens=REPLY_TOKENS)
    embeddings = OpenAIEmbeddings(client, embedding_model)
    metrics = {
        "faithfulness": Faithfulness(llm=llm),
        "context_precision": ContextPrecisionWithReference(llm=llm),
        "context_precision_by_answer": ContextPrecisionWithoutReference(llm=llm),
        "context_recall": ContextRecall(llm=llm),
        "answer_relevancy": AnswerRelevancy(llm=llm, embeddings=embeddings),
    }

    def value_of(metric: Any) -> Metric:
        async def value(**fields: Any) -> float:
            return float((await metric.ascore(**fields)).value)

        return value

    return {name: value_of(metric) for name, metric in metrics.items()}


def deepeval_metric(server: str, key: str, model: str) -> Metric:
    """Return the correctness of a response by a reference, from 0 to 1."""
    judge = LocalModel(model, key, server)
    fields = [
        SingleTurnParams.INPUT,
        SingleTurnParams.ACTUAL_OUTPUT,
        SingleTurnParams.EXPECTED_OUTPUT,
    ]

    async def value(user_input: str, response: str, reference: str) -> float:
        metric = GEval("Correctness", fields, criteria=CRITERIA, model=judge)
        case = LLMTestCase(input=user_input, actual_output=response, expected_output=reference)
        return float(await metric.a_measure(case, _show_indicator=False))

    return value


FIELDS = {
    "faithfulness": ("user_input", "response", "retrieved_contexts"),
    "context_precision": ("user_input", "reference", "retrieved_contexts"),
    "context_precision_by_answer": ("user_input", "response", "retrieved_contexts"),
    "context_recall": ("user_input", "reference", "retrieved_contexts"),
    "answer_relevancy": ("user_input", "response"),
    "answer_correctness": ("user_input", "response", "reference"),
}


async def judge(sample: Sample, metrics: Mapping[str, Metric]) -> dict[str, Any]:
    """Return the figures that a sample has the fields for; a failure is told in place of one."""
    figures: dict[str, Any] = {"user_input": sample["user_input"]}
    for name, fields in FIELDS.items():
        if not all(sample[field] for field in fields):
            continue
        if name == "context_precision_by_answer" and sample["reference"]:
            continue
        try:
            value = await metrics[name](**{field: sample[field] for field in fields})
            figures[name] = value if math.isfinite(value) else "no number"
        except Exception as error:  # a library may raise anything
            figures[name] = f"{type(error).__name__}: {error}"
    return figures


def means(questions: list[dict[str, Any]]) -> dict[str, float]:
    """Return the mean of each figure over the questions that have it."""
    values = {name: [q[name] for q in questions if type(q.get(name)) is float] for name in FIELDS}
    return {name: sum(each) / len(each) for name, each in values.items() if each}


def main() -> None:
    """Judge the samples of a file, one after the other."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("samples", type=Path)
    parser.add_argument("--model", default="gpt-4o-mini")
    parser.add_argument("--embedding-model", default="text-embedding-3-small")
    options = parser.parse_args()
    server, key = os.environ.get("OPENAI_BASE_URL", SERVER), os.environ["OPENAI_API_KEY"]
    metrics = ragas_metrics(server, key, options.model, options.embedding_model)
    metrics["answer_correctness"] = deepeval_metric(server, key, options.model)

    async def judge_all() -> list[dict[str, Any]]:
        questions = []
        for line in options.samples.read_text(encoding="utf-8").splitlines():
            questions.append(await judge(json.loads(line), metrics))
            print(json.dumps(questions[-1]), flush=True)
        return questions

    print(json.dumps({"means": means(asyncio.run(judge_all()))}))


if __name__ == "__main__":
    main()
