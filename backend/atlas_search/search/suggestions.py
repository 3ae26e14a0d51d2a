"""Questions that a collection can be asked, made from its own titles and headings.

A heading alone is answered half of the time, so its title goes with it; and what the text below
does not say in the same words is not asked.
"""

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

from atlas_search.core.domain import Corpus, Passage
from atlas_search.language.text import content_words, words
from atlas_search.stores.record_files import ListedDocument
from atlas_search.stores.store import Store

DOCUMENTS = 16  # of a corpus that are looked at
LONGEST = 400  # passages of one of them: to read more takes too long
MOST_CHARACTERS = 110  # of a title or heading that can stand in a question
HEADING_WORDS = range(2, 9)  # in a heading that says what it is about


class _Forms(NamedTuple):
    """Questions about a decision, a heading, what was said below one, and a whole document."""

    decided: str
    heading: str
    said: str
    title: str


_FORMS = {
    "en": _Forms(
        "What was decided in {title}?",
        "What does {title} say about {heading}?",
        "What was said about {heading} in {title}?",
        "What is {title} about?",
    ),
    "fr": _Forms(
        "Qu’a-t-on décidé dans {title} ?",
        "Que dit {title} sur {heading} ?",
        "Qu’a-t-on dit sur {heading} dans {title} ?",
        "De quoi parle {title} ?",
    ),
}
_QUOTED = {"en": "“{}”", "fr": "« {} »"}
_PARTIES = re.compile(r"\S+ (v|v\.|c\.|contre) [A-Z(]")
_LAW = re.compile(r"[A-Z].*\b(Act|Bill|Code|Regulations|Rules|Order)( \d{4})?")


@dataclass(frozen=True)
class Suggestion:
    """A question, and the document it was made from; `language` is that of the corpus."""

    question: str
    corpus: str
    document_id: str
    language: str


def suggestions(store: Store, corpora: Sequence[str], limit: int) -> list[Suggestion]:
    """At most `limit` questions, from every corpus in turn; always the same of one version."""
    chosen = [corpus for corpus in store.corpora if corpus.id in corpora]
    by_corpus = [_of_corpus(store, corpus, limit) for corpus in chosen]
    in_turn = [
        questions[turn] for turn in range(limit) for questions in by_corpus if turn < len(questions)
    ]
    return in_turn[:limit]


def _of_corpus(store: Store, corpus: Corpus, limit: int) -> list[Suggestion]:
    documents = store.documents_of([corpus.id])
    spread = documents[:: max(1, len(documents) // DOCUMENTS)][:DOCUMENTS]
    listed = [
        (document, store.document_passages(document.id))
        for document in store.list_documents(spread, "id", DOCUMENTS, 0)
        if document.passages <= LONGEST
    ]
    # what stands above several documents tells none of them
    common = Counter(heading for _, passages in listed for heading in set(_headings(passages)))
    made = []
    for document, passages in listed:
        own = [heading for heading in _headings(passages) if common[heading] == 1]
        if question := _question(document, passages, own, corpus.language):
            made.append(Suggestion(question, corpus.id, document.id, corpus.language))
    # some of the first, of the middle and of the last
    return [made[at * len(made) // limit] for at in range(limit)] if len(made) > limit else made


def _question(
    document: ListedDocument, passages: Sequence[Passage], headings: Sequence[str], language: str
) -> str:
    """A question about a document; empty if its title says nothing."""
    title = _plain(document.title)
    if not passages or not passages[0].is_titled or not _can_stand(title):
        return ""
    forms = _FORMS.get(language, _FORMS["en"])
    if _PARTIES.search(title):
        return forms.decided.format(title=title)
    named = _named(title, language)
    about = next((h for h in headings if _is_discussed(h, title, passages, language)), "")
    if not about:
        # a text of one line says all that it is about, and a table is about nothing
        line, *_ = passages[0].text.split("\n")
        is_prose = document.characters > len(line) and " | " not in line
        is_about = is_prose and _speaks(passages, title, language)
        return forms.title.format(title=named) if is_about else ""
    form = forms.said if any(passage.speaker for passage in passages) else forms.heading
    return form.format(title=named, heading=_within_sentence(about))


def _is_discussed(heading: str, title: str, passages: Sequence[Passage], language: str) -> bool:
    """Check that the text below a heading uses its words, and the title does not."""
    below = [p for p in passages if _plain(p.section.split(" > ")[-1]) == heading]
    return not _stems(heading, language) <= _stems(title, language) and _speaks(
        below, heading, language
    )


def _speaks(passages: Sequence[Passage], text: str, language: str) -> bool:
    """Check that passages hold every informative word of a text outside lines that are the text."""
    lines = (line for passage in passages for line in passage.text.splitlines())
    others = [line for line in lines if _plain(line.lstrip("#")) != text]
    stems = {word.term for word in content_words(words(text, language))}
    return stems <= _stems("\n".join(others), language)


def _stems(text: str, language: str) -> set[str]:
    return {word.term for word in words(text, language)}


def _headings(passages: Sequence[Passage]) -> list[str]:
    """The innermost headings that say what is below them, each once, in order."""
    last = (_plain(passage.section.split(" > ")[-1]) for passage in passages if passage.section)
    return [
        heading
        for heading in dict.fromkeys(last)
        if len(heading.split()) in HEADING_WORDS
        and _can_stand(heading)
        # a question with a number is about that number
        and not any(character.isdigit() for character in heading)
    ]


def _can_stand(text: str) -> bool:
    """Check that a text can be quoted in a question: short, printable, without query syntax."""
    return (
        0 < len(text) <= MOST_CHARACTERS
        and any(character.isalpha() for character in text)
        and not set(text) & set('"?<>{}[]|\\')
        and text.isprintable()
    )


def _named(title: str, language: str) -> str:
    if language == "en" and _LAW.fullmatch(title):
        return title if title.startswith("The ") else f"the {title}"
    return _QUOTED.get(language, _QUOTED["en"]).format(title)


def _within_sentence(heading: str) -> str:
    """`Codes and exceptions` as it stands in a sentence; names and capitals stay."""
    words = heading.split()
    lowered = all(word.islower() for word in words[1:])
    return heading[0].lower() + heading[1:] if lowered else heading


def _plain(text: str) -> str:
    return " ".join(text.split())
