"""Run by the Python of the libraries' environment, where there is no Atlas. See the package."""

import asyncio
import importlib.metadata
import json
import os
import re
import sys
from collections.abc import Awaitable, Callable, Mapping, Sequence
from threading import Thread
from typing import Any, TextIO

LIBRARIES = ("ragas", "deepeval")

CRITERIA = (
    "Determine whether the actual output is a right answer to the input, measured by the expected "
    "output, which is one. It is right if it says what the expected output says, in whatever "
    "words, order, language and length. What contradicts the expected output weighs most, then "
    "what is asked for and missing. What is said beyond it, and does not contradict it, weighs "
    "little. An answer that declines to answer is not right."
)
"""Of DeepEval's GEval: what Atlas' own mark of an answer goes by, in DeepEval's words."""

_NETWORK = (
    "socket.connect",
    "socket.getaddrinfo",
    "socket.gethostbyaddr",
    "socket.gethostbyname",
    "socket.sendmsg",
    "socket.sendto",
)
_FENCED = re.compile(r"```(?:json)?\s*(.*?)\s*```", re.DOTALL | re.IGNORECASE)
_YES_OR_NO = ("verdict", "attributed", "noncommittal")

Send = Callable[..., None]
Found = tuple[float, list[dict[str, Any]]]


class Job:
    """A metric of one question. `replies` are the model's so far, as the library has them."""

    def __init__(self, number: int, send: Send):
        self.number = number
        self.inbox: asyncio.Queue[Mapping[str, Any]] = asyncio.Queue()
        self.replies: list[Any] = []
        self._send = send
        self._turn = asyncio.Lock()

    async def ask(self, library: str, prompt: str, form: Any) -> Any:
        """The model's reply to a prompt, in the form, a pydantic model, that the library names."""
        async with self._turn:
            self._send(job=self.number, ask=prompt, library=library)
            while "reply" not in (message := await self.inbox.get()):
                self._send(job=self.number, usable=read(message["check"], form) is not None)
            self.replies.append(read(message["reply"], form))
            return self.replies[-1]

    async def embed(self, texts: Sequence[str]) -> list[list[float]]:
        """A vector for each text."""
        async with self._turn:
            self._send(job=self.number, embed=list(texts))
            vectors: list[list[float]] = (await self.inbox.get())["vectors"]
            return vectors


def read(text: str, form: Any) -> Any:
    """A reply in its form; None for one that has none, or a verdict or mark that there is not.

    The libraries add up a verdict of 7, or a mark of 80 of 10, as it is.
    """
    text = text.strip()
    fenced = _FENCED.fullmatch(text)
    try:
        reply = form.model_validate_json(fenced[1] if fenced else text)
    except ValueError:  # pydantic's is one
        return None
    return reply if _in_range(reply.model_dump()) else None


def _in_range(said: Any) -> bool:
    if isinstance(said, list):
        return all(map(_in_range, said))
    if not isinstance(said, dict):
        return True
    decided = all(said[name] in (0, 1) for name in _YES_OR_NO if name in said)
    return decided and 0 <= said.get("score", 0) <= 10 and all(map(_in_range, said.values()))


def ragas_metrics() -> dict[str, Callable[[Job, Mapping[str, Any]], Awaitable[Found]]]:
    """By name: the job and the sample to a value and its decisions."""
    from ragas.embeddings.base import BaseRagasEmbedding
    from ragas.llms.base import InstructorBaseRagasLLM
    from ragas.metrics.collections import (
        AnswerRelevancy,
        ContextPrecisionWithoutReference,
        ContextPrecisionWithReference,
        ContextRecall,
        Faithfulness,
    )

    class Model(InstructorBaseRagasLLM):  # type: ignore[misc]
        def __init__(self, job: Job):
            self.job = job

        def generate(self, prompt: str, response_model: Any) -> Any:
            raise NotImplementedError("every metric here is asynchronous")

        async def agenerate(self, prompt: str, response_model: Any) -> Any:
            return await self.job.ask("ragas", prompt, response_model)

    class Embeddings(BaseRagasEmbedding):  # type: ignore[misc]
        def __init__(self, job: Job):
            super().__init__()
            self.job = job

        def embed_text(self, text: str, **_: Any) -> list[float]:
            raise NotImplementedError("every metric here is asynchronous")

        async def aembed_text(self, text: str, **_: Any) -> list[float]:
            return (await self.job.embed([text]))[0]

        async def aembed_texts(self, texts: list[str], **_: Any) -> list[list[float]]:
            return await self.job.embed(texts)

    async def faithfulness(job: Job, sample: Mapping[str, Any]) -> Found:
        result = await Faithfulness(llm=Model(job)).ascore(
            user_input=sample["question"],
            response=sample["answer"],
            retrieved_contexts=sample["passages"],
        )
        return result.value, [
            decision(one.statement, one.verdict, one.reason) for one in job.replies[-1].statements
        ]

    async def context_precision(job: Job, sample: Mapping[str, Any]) -> Found:
        asked = {
            "user_input": sample["question"],
            "retrieved_contexts": sample["passages"],
        }
        if reference := sample["reference"]:
            metric = ContextPrecisionWithReference(llm=Model(job))
            result = await metric.ascore(**asked, reference=reference)
        else:
            metric = ContextPrecisionWithoutReference(llm=Model(job))
            result = await metric.ascore(**asked, response=sample["answer"])
        each = zip(sample["passage_ids"], job.replies, strict=True)
        return result.value, [decision(id_, one.verdict, one.reason) for id_, one in each]

    async def context_recall(job: Job, sample: Mapping[str, Any]) -> Found:
        result = await ContextRecall(llm=Model(job)).ascore(
            user_input=sample["question"],
            retrieved_contexts=sample["passages"],
            reference=sample["reference"],
        )
        return result.value, [
            decision(one.statement, one.attributed, one.reason)
            for one in job.replies[-1].classifications
        ]

    async def answer_relevancy(job: Job, sample: Mapping[str, Any]) -> Found:
        metric = AnswerRelevancy(llm=Model(job), embeddings=Embeddings(job))
        result = await metric.ascore(user_input=sample["question"], response=sample["answer"])
        return result.value, [
            decision("commits itself", not one.noncommittal, one.question) for one in job.replies
        ]

    return {
        "faithfulness": faithfulness,
        "context_precision": context_precision,
        "context_recall": context_recall,
        "answer_relevancy": answer_relevancy,
    }


def deepeval_metrics() -> dict[str, Callable[[Job, Mapping[str, Any]], Awaitable[Found]]]:
    """By name, likewise."""
    from deepeval.metrics import GEval
    from deepeval.models import DeepEvalBaseLLM
    from deepeval.test_case import LLMTestCase, SingleTurnParams

    class Model(DeepEvalBaseLLM):  # type: ignore[misc]
        def __init__(self, job: Job):
            self.job = job
            super().__init__("judge")

        def load_model(self) -> Any:
            return self

        def get_model_name(self) -> str:
            return "judge"

        def generate(self, prompt: str, schema: Any = None) -> Any:
            raise NotImplementedError("every metric here is asynchronous")

        async def a_generate(self, prompt: str, schema: Any) -> Any:
            return await self.job.ask("deepeval", prompt, schema)

    async def answer_correctness(job: Job, sample: Mapping[str, Any]) -> Found:
        metric = GEval(
            name="Correctness",
            criteria=CRITERIA,
            evaluation_params=[
                SingleTurnParams.INPUT,
                SingleTurnParams.ACTUAL_OUTPUT,
                SingleTurnParams.EXPECTED_OUTPUT,
            ],
            model=Model(job),
        )
        case = LLMTestCase(
            input=sample["question"],
            actual_output=sample["answer"],
            expected_output=sample["reference"],
        )
        value = await metric.a_measure(case, _show_indicator=False)
        return value, [decision("the answer", value, metric.reason)]

    return {"answer_correctness": answer_correctness}


def decision(about: str, verdict: float, reason: str) -> dict[str, Any]:
    """What was decided about a part, as Atlas keeps it; one vote agrees with itself."""
    return {"about": about, "verdict": float(verdict), "agreement": 1.0, "reason": reason}


async def serve(source: TextIO, send: Send) -> None:
    """Do the jobs that come, many at once, until the source ends."""
    metrics = {**ragas_metrics(), **deepeval_metrics()}
    send(versions={name: importlib.metadata.version(name) for name in LIBRARIES})
    jobs: dict[int, Job] = {}
    tasks: dict[int, asyncio.Task[None]] = {}

    async def carry_out(job: Job, metric: str, sample: Mapping[str, Any]) -> None:
        try:
            value, decisions = await metrics[metric](job, sample)
            send(job=job.number, found={"value": value, "decisions": decisions})
        except Exception as error:  # a library may raise anything
            send(job=job.number, failed=f"{type(error).__name__}: {error}")
        finally:
            del jobs[job.number], tasks[job.number]

    async for message in lines(source):
        number = message["job"]
        if "metric" in message:
            job = jobs[number] = Job(number, send)
            asked = carry_out(job, message["metric"], message["sample"])
            tasks[number] = asyncio.create_task(asked)
        elif "cancel" not in message:
            jobs[number].inbox.put_nowait(message)
        elif number in tasks:
            tasks[number].cancel()


async def lines(source: TextIO) -> Any:
    """Each line of the source, as it comes, as JSON."""
    loop = asyncio.get_running_loop()
    read_lines: asyncio.Queue[str] = asyncio.Queue()

    def forward() -> None:
        for line in source:
            loop.call_soon_threadsafe(read_lines.put_nowait, line)
        loop.call_soon_threadsafe(read_lines.put_nowait, "")

    Thread(target=forward, daemon=True).start()
    while line := await read_lines.get():
        yield json.loads(line)


def without_network(send: Send) -> None:
    """Let nothing in this process open a connection from now on, and tell of what tries to."""

    def refuse(event: str, arguments: tuple[Any, ...]) -> None:
        if event in _NETWORK:
            send(refused=f"{event} {[str(each)[:200] for each in arguments[:2]]}")
            raise PermissionError("the libraries may ask the judge alone")

    sys.addaudithook(refuse)  # nothing can take it away again


def main() -> None:
    """Read from standard input and write to standard output, which nothing else reaches."""
    target = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)  # what the libraries print is no message

    def send(**message: Any) -> None:
        target.write(json.dumps(message) + "\n")
        target.flush()

    without_network(send)
    asyncio.run(serve(sys.stdin, send))
    os._exit(0)  # without what libraries do at the end, such as sending what they counted


if __name__ == "__main__":
    main()
