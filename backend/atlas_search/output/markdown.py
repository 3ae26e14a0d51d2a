"""Markdown, for reading and for word processors."""

import re
from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime

from atlas_search.core.domain import MARKER
from atlas_search.core.ids import CLOSEST, CONFIDENCE
from atlas_search.output.answer_document import (
    AnswerDocument,
    CitationOut,
    PointOut,
    SideOut,
    place_of,
)
from atlas_search.output.links import Base, permalink
from atlas_search.output.references import one_line

Numbers = Mapping[int, int]
"""The number of each citation by its index."""

# wherever they stand; `www.` and what looks like an address would become links on some sites
_MARKUP = re.compile(r"[\\`*_{}\[\]<>#|~&$^=@]|:(?=\S)|(?<=www)\.", re.IGNORECASE)
_AT_START = re.compile(r"^([-+]|\d+(?=[.)]))")
# from the first blank on, or a long run of them takes quadratic time
_MARKER = re.compile(rf"(?<!\s)\s*+{MARKER.pattern}")
_NO_LINK = re.compile(r"[^\w%/:?#@!$&'*+,;=.~-]", re.ASCII)
_NAMED = re.compile(r"&(?=#?\w+;)")


def markdown(answers: Sequence[AnswerDocument], base: Base) -> str:
    """Each answer with its numbered sources."""
    return "\n---\n\n".join(_answer(answer, base.of(answer.collection)) for answer in answers)


def escape_line(text: str) -> str:
    """`text` as one line that Markdown and HTML show as it is, also at the start of a block."""
    plain = _MARKUP.sub(r"\\\g<0>", one_line(text))
    return _AT_START.sub(_inert, plain)


_CHECKED_BY = {
    "model": "citations, and the language model",
    "nli": "citations, and an entailment model",
}


def _inert(match: re.Match[str]) -> str:
    mark = match[1]
    return f"{mark}\\" if mark.isdigit() else f"\\{mark}"


def _answer(answer: AnswerDocument, base_url: str) -> str:
    numbers = _numbers(answer)
    blocks = [
        *_question_lines(answer),
        *_text(answer, numbers),
        *_comparison(answer, numbers),
        *_closest(answer, base_url),
        *_scope(answer),
        *_struck(answer),
        *_conflicts(answer, base_url),
        *_sources(answer, numbers, base_url),
        _footer(answer),
    ]
    return "\n\n".join(blocks) + "\n"


def _numbers(answer: AnswerDocument) -> Numbers:
    """From 1, in reading order."""
    cited = (index for said in answer.said for index in said.citations)
    order = dict.fromkeys((*cited, *range(len(answer.citations))))
    return {index: number for number, index in enumerate(order, start=1)}


def _question_lines(answer: AnswerDocument) -> Iterator[str]:
    yield f"# {escape_line(answer.question)}"
    if answer.standalone_question:
        yield f"Searched for: {escape_line(answer.standalone_question)}"
    code = re.sub(r"[^\w.-]", "", answer.reason.code)
    yield f"**{answer.decision}**: {escape_line(answer.reason.message)} (`{code}`)"
    if answer.fallback:
        yield f"Note: {escape_line(answer.fallback.message)}"
    if answer.confidence:
        yield f"{CONFIDENCE[answer.confidence.word]}."
    for warning in answer.validation.warnings:
        yield f"Note: {escape_line(warning)}"


def _text(answer: AnswerDocument, numbers: Numbers) -> Iterator[str]:
    if answer.sentences:
        yield " ".join(_cite(said.text, said.citations, numbers) for said in answer.sentences)
    elif answer.answer:
        yield escape_line(answer.answer)


def _cite(text: str, citations: Sequence[int], numbers: Numbers) -> str:
    marks = "".join(f"[{numbers[index]}]" for index in citations)
    return f"{escape_line(text)} {marks}".rstrip()


def _comparison(answer: AnswerDocument, numbers: Numbers) -> Iterator[str]:
    if answer.comparison:
        yield from _points("Agreements", answer.comparison.agreements, numbers)
        yield from _points("Differences", answer.comparison.differences, numbers)


def _points(heading: str, points: Sequence[PointOut], numbers: Numbers) -> Iterator[str]:
    if points:
        yield f"## {heading}"
        texts = ((_MARKER.sub("", point.text), point.citations) for point in points)
        yield "\n".join(f"- {_cite(*said, numbers)}" for said in texts)


def _closest(answer: AnswerDocument, base_url: str) -> Iterator[str]:
    if answer.closest:
        yield f"## {CLOSEST}"
    for quoted in answer.closest:
        yield _quote(quoted, base_url)


def _scope(answer: AnswerDocument) -> Iterator[str]:
    if answer.scope:
        yield escape_line(answer.scope.sentence)


def _struck(answer: AnswerDocument) -> Iterator[str]:
    if answer.validation.struck:
        yield "## Struck, because the sources do not support it"
        yield "\n".join(
            f"- {escape_line(struck.sentence)} ({struck.verdict.replace('_', ' ')}: "
            f"{escape_line(struck.reason)})"
            for struck in answer.validation.struck
        )


def _conflicts(answer: AnswerDocument, base_url: str) -> Iterator[str]:
    for heading, is_repealed in (
        ("Contradictions between the sources", False),
        ("Superseded sources", True),
    ):
        listed = [c for c in answer.conflicts if (c.kind == "repealed") == is_repealed]
        if listed:
            yield f"## {heading}"
            yield "\n".join(
                f"- {escape_line(conflict.detail)}\n"
                f"  - {_side(conflict.first, base_url)}\n"
                f"  - {_side(conflict.second, base_url)}"
                for conflict in listed
            )


def _side(side: SideOut, base_url: str) -> str:
    facts = ", ".join(escape_line(fact) for fact in (side.title, side.date, side.locator) if fact)
    link = _link(permalink(base_url, side.passage_id))
    return f"{facts}: “{escape_line(side.quote)}” [passage]({link})"


def _sources(answer: AnswerDocument, numbers: Numbers, base_url: str) -> Iterator[str]:
    if numbers:
        yield "## Sources"
    for index, number in numbers.items():
        yield f"[{number}] {_quote(answer.citations[index], base_url)}"


def _quote(cited: CitationOut, base_url: str) -> str:
    """Where a quote is from, the quote, and links."""
    facts = [cited.title, cited.date, place_of(cited), cited.section, cited.speaker]
    links = [f"[passage]({_link(permalink(base_url, cited.passage_id))})"]
    if cited.url:
        links.append(f"[original]({_link(cited.url)})")
    return (
        f"{', '.join(escape_line(fact) for fact in facts if fact)}\n\n"
        f"> {escape_line(cited.quote)}\n\n{' · '.join(links)}"
    )


def _footer(answer: AnswerDocument) -> str:
    lines = {
        "Collection": f"{answer.collection}, version {answer.collection_version}",
        "Target": answer.target,
        "Written by": " ".join(filter(None, answer.written_by)),
        "Checked by": _CHECKED_BY.get(answer.validation.verified_by or "", ""),
    }
    return "\n".join(
        (
            *(f"- {name}: {escape_line(said)}" for name, said in lines.items() if said),
            f"- Date: {datetime.fromisoformat(answer.created).isoformat()}",
            f"- Answer: {escape_line(answer.qa_id)}",
        )
    )


def _link(url: str) -> str:
    """`url` without characters that could end the link, which are percent-encoded, and with nothing
    that Markdown would read as the name of a character: `&GT;`."""
    kept = _NO_LINK.sub(lambda m: "".join(f"%{b:02X}" for b in m[0].encode()), one_line(url))
    return _NAMED.sub("&amp;", kept)
