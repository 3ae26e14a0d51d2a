"""How well a language model answers: `python -m benchmarks.model --url URL --rows FILE`.

URL is that of a server that speaks OpenAI's protocol, up to `/v1`. The test labels of the bundled
collection are put to its model through the target `k5_openai`, and those of `--asked`, as
`benchmarks.rules` describes it. FILE gets a row for each question as soon as it is answered;
what it holds of the same model already is not asked again, so a long run can be taken up.

    decided    answered where there is an answer, not answered where there is none
    right      answered, and right: cites a gold document, or holds the keys (of all answerable)
    wrong      answered, and not right (likewise)
    declined   not answered (of all unanswerable)
    blocked    held back because of its citations or its end (of all)
    quotes     the sources' own sentences stand in for the model (of all)
    doubtful   sentences with a number or quotation that no passage they cite holds, or without a
               word of it, and those that a judge struck (of all that the model wrote)
    tried      drafts for each question that reached the model
"""

import json
import time
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Annotated, Any

import typer
from rich.console import Console
from rich.table import Table

from atlas_search.answer.answer import Answer
from atlas_search.atlas import Atlas
from atlas_search.core.files import bundled_folder
from benchmarks.rules import TODAY, Case, bundled_cases, own_cases

COLUMNS = (
    "decided",
    "right",
    "wrong",
    "declined",
    "blocked",
    "quotes",
    "doubtful",
    "tried",
    "s",
    "tokens",
)
PATIENCE = 600  # seconds for a call: a model may be served by one core


def main(
    url: Annotated[str, typer.Option(help="Address of an OpenAI-compatible server, up to /v1")],
    rows: Annotated[Path, typer.Option(help="Where to write a row for each question")] = Path(
        "data/model.jsonl"
    ),
    model: Annotated[str, typer.Option(help="Its model")] = "",
    demo: Annotated[Path, typer.Option(help="The bundled collection")] = Path(
        "data/stores/atlas_demo"
    ),
    asked: Annotated[list[str] | None, typer.Option(help="QUESTIONS=COLLECTION")] = None,
    target: Annotated[str, typer.Option(help="How it is asked")] = "k5_openai",
    every: Annotated[int, typer.Option(min=1, help="Ask every n-th question only")] = 1,
) -> None:
    """Ask what has not been asked, print."""
    rows.parent.mkdir(parents=True, exist_ok=True)
    sets = [("bundled", demo, bundled_cases("test"))]
    for each in asked or []:
        path, _, collection = each.partition("=")
        sets.append((Path(path).stem, Path(collection), own_cases(Path(path))))
    found = _read(rows)
    with ExitStack() as stack:
        targets = Path(stack.enter_context(TemporaryDirectory()))
        text = (bundled_folder("targets") / f"{target}.txt").read_text(encoding="utf-8")
        patient = f"{text}\nLLM_MODEL={model}\nLLM_SECONDS={PATIENCE}\n"
        (targets / f"{target}.txt").write_text(patient, encoding="utf-8")
        for name, folder, cases in sets:
            atlas = stack.enter_context(
                Atlas.open(
                    folder,
                    openai_base_url=url,
                    openai_api_key="none",
                    phoenix_collector_endpoint="",
                    query_cache_enabled=False,
                    llm_concurrency=1,
                    targets_directory=targets,
                    test_target=target,
                )
            )
            for case in cases[::every]:
                if (name, case.question) not in found:
                    row = {"set": name, **_row(atlas, case)}
                    found[name, case.question] = row
                    with rows.open("a", encoding="utf-8") as file:
                        file.write(json.dumps(row, ensure_ascii=False) + "\n")
    Console().print(_table([row for row in found.values() if row["set"] in {s[0] for s in sets}]))


def _read(rows: Path) -> dict[tuple[str, str], dict[str, Any]]:
    if not rows.exists():
        return {}
    lines = [json.loads(line) for line in rows.read_text(encoding="utf-8").splitlines()]
    return {(line["set"], line["question"]): line for line in lines}


def _row(atlas: Atlas, case: Case) -> dict[str, Any]:
    begun = time.perf_counter()
    answer = atlas.ask(case.question, as_of=TODAY)
    sentences = () if answer.writer.fallback else answer.verification.sentences
    return {
        "question": case.question,
        "answerable": case.answerable,
        "answered": answer.outcome.decision == "ANSWER",
        "right": _is_right(answer, case),
        "code": answer.outcome.code,
        "decision": answer.outcome.decision,
        "fallback": answer.writer.fallback.code if answer.writer.fallback else "",
        "attempts": answer.writer.attempts,
        "model": answer.writer.model,
        "sentences": len(sentences),
        "doubtful": len(answer.verification.struck) + sum(bool(s.warnings) for s in sentences),
        "tokens": answer.writer.usage.prompt_tokens + answer.writer.usage.completion_tokens,
        "seconds": round(time.perf_counter() - begun, 1),
        "text": answer.text,
        "message": answer.outcome.message,
    }


def _is_right(answer: Answer, case: Case) -> bool:
    text = " ".join([answer.text, *(citation.quote for citation in answer.citations)])
    return answer.outcome.decision == "ANSWER" and case.right(text, answer.citations)


def _table(rows: Sequence[Mapping[str, Any]]) -> Table:
    table = Table("set", "questions", *COLUMNS, title=" ".join(sorted({r["model"] for r in rows})))
    for name in dict.fromkeys(row["set"] for row in rows):
        own = [row for row in rows if row["set"] == name]
        known = [row for row in own if row["answerable"]]
        absent = [row for row in own if not row["answerable"]]
        written = [row for row in own if row["tokens"]]
        figures = (
            _share(own, lambda r: r["answered"] == r["answerable"]),
            _share(known, lambda r: r["right"]),
            _share(known, lambda r: r["answered"] and not r["right"]),
            _share(absent, lambda r: not r["answered"]),
            _share(own, lambda r: r["decision"] == "BLOCK"),
            _share(own, lambda r: r["answered"] and bool(r["fallback"])),
            _ratio(own, "doubtful", "sentences"),
            _share(written, lambda r: r["attempts"]),
            _share(written, lambda r: r["seconds"]),
            _share(written, lambda r: r["tokens"]),
        )
        table.add_row(name, str(len(own)), *figures)
    return table


def _share(rows: Sequence[Mapping[str, Any]], value: Any) -> str:
    return f"{sum(float(value(row)) for row in rows) / len(rows):.2f}" if rows else "-"


def _ratio(rows: Sequence[Mapping[str, Any]], part: str, whole: str) -> str:
    total = sum(row[whole] for row in rows)
    return f"{sum(row[part] for row in rows) / total:.2f}" if total else "-"


if __name__ == "__main__":
    typer.run(main)
