"""Results as tables and as HTML, for notebooks."""

from collections.abc import Iterable, Mapping, Sequence
from html import escape
from typing import TYPE_CHECKING, Any

from atlas_search.core.addresses import is_link
from atlas_search.core.errors import ConfigurationError
from atlas_search.core.ids import CLOSEST, CONFIDENCE

if TYPE_CHECKING:
    from pandas import DataFrame


def frame(rows: Sequence[Mapping[str, Any]]) -> "DataFrame":
    """A pandas table of `rows`. Raises ConfigurationError where pandas is not installed."""
    try:
        from pandas import DataFrame
    except ImportError as error:
        raise ConfigurationError(
            "A table needs pandas, which is not installed with Atlas: `pip install pandas`."
        ) from error
    return DataFrame(rows)


def search_frame(document: Mapping[str, Any]) -> "DataFrame":
    """A row for each passage of a search, a column for each value and signal."""
    rows = [dict(passage) for passage in document["passages"]]
    return frame([{**row, **row.pop("signals"), **row.pop("metadata")} for row in rows])


def answer_frame(document: Mapping[str, Any]) -> "DataFrame":
    """A row for each citation of each sentence of an answer."""
    return frame(
        [
            {"sentence": sentence["text"], **document["citations"][index]}
            for sentence in document["sentences"]
            for index in sentence["citations"]
        ]
    )


def search_html(document: Mapping[str, Any]) -> str:
    """The passages with what speaks to the question marked, what was searched, and counts."""
    counts = (
        f"{corpus}: {of['kept']} of {of['candidates']}"
        for corpus, of in document["retrieval"]["per_corpus"].items()
    )
    scope = footer_html([document["scope"]["sentence"]])
    return passages_html(document["passages"]) + scope + footer_html(counts)


def answer_html(document: Mapping[str, Any]) -> str:
    """An answer with its quotes, or why there is none and what comes closest.

    Below it what was searched, and counts.
    """
    counts = (
        f"{corpus}: {of['cited']} cited, {of['kept']} kept"
        for corpus, of in document["retrieval"]["per_corpus"].items()
    )
    text = document["answer"] or f"{document['decision']}: {document['reason']['message']}"
    shown = html_with_citations(text, document["citations"]) + closest_html(document["closest"])
    if document["confidence"]:
        shown += footer_html([CONFIDENCE[document["confidence"]["word"]]])
    return shown + footer_html([document["scope"]["sentence"]]) + footer_html(counts)


def passages_html(passages: Sequence[Mapping[str, Any]]) -> str:
    """A numbered list of passages as `to_dict` gives them, their highlights marked."""
    items = "".join(
        f"<li><b>{_titled(p)}</b> <code>{escape(p['marker'])}</code> {p['score']:.3f}"
        f"<br>{_mark(p['text'], p['highlights'])}</li>"
        for p in passages
    )
    return f"<ol>{items}</ol>"


def html_with_citations(text: str, citations: Sequence[Mapping[str, Any]]) -> str:
    """A text in paragraphs, and below it the quotes it cites."""
    paragraphs = "".join(f"<p>{escape(part)}</p>" for part in text.splitlines() if part)
    quotes = "".join(
        f"<li><code>{escape(c['marker'])}</code> {_titled(c)}: <q>{escape(c['quote'])}</q></li>"
        for c in citations
    )
    return f"{paragraphs}<ul>{quotes}</ul>"


def closest_html(closest: Sequence[Mapping[str, Any]]) -> str:
    """Quotes that do not answer, below a heading that says so; empty without any."""
    quotes = "".join(
        f"<li>{_titled(c)}<blockquote>{escape(c['quote'])}</blockquote></li>" for c in closest
    )
    return f"<h4>{CLOSEST}</h4><ul>{quotes}</ul>" if quotes else ""


def footer_html(lines: Iterable[str]) -> str:
    """Lines of a footer, in small print."""
    return f"<small>{'; '.join(escape(line) for line in lines)}</small>"


def _titled(of: Mapping[str, Any]) -> str:
    """The title, which leads to the source if that stands on the web."""
    title = escape(of["title"])
    return f'<a href="{escape(of["url"])}">{title}</a>' if is_link(of["url"]) else title


def _mark(text: str, highlights: Sequence[Mapping[str, int]]) -> str:
    pieces, last = [], 0
    for highlight in highlights:
        start, end = highlight["start"], highlight["end"]
        pieces += [escape(text[last:start]), f"<mark>{escape(text[start:end])}</mark>"]
        last = end
    return "".join([*pieces, escape(text[last:])])
