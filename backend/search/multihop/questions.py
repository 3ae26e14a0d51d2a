"""Questions that ask for several things, taken apart so that each can be searched alone.

Rules on words and punctuation, no model. A simple question taken apart gives places to its pieces;
a question left whole by mistake is still searched whole. So whatever is in doubt stays whole.
"""

import re
from collections.abc import Iterable
from itertools import pairwise

from backend.search.multihop.comparisons import taken_apart
from backend.search.multihop.ellipsis import completed_phrase
from backend.search.multihop.patterns import (
    AUXILIARY,
    BETWEEN,
    CAPITAL,
    JOINT,
    NAME,
    OPENING,
    PREPOSITION,
    QUESTION,
    REQUEST,
    VERSUS,
    WH,
    any_of,
    topics_of,
)
from backend.text import FUNCTION_WORDS, content_terms, sentences, words

MOST_PARTS = 4
LONGEST = 1000
"""Characters; a longer text tells a story, and its parts need each other."""
MOST_JOINTS = 12
"""Words like "and"; more are a list or a story, and each costs another look at the whole."""
_SHELTERED = re.compile(
    r'"[^"]*"|“[^“”]*”|‘[^‘]{1,300}?’(?!\w)|'
    r"""(?<!\w)'(?:[^']|'(?=\w)){1,300}'(?!\w)|\([^()"“”]*\)"""
)
_SHELTERS = re.compile("[\ue000-\uf8ff]")
_EDGES = ",;:?– "
_SUBJECT = rf"(?:{any_of('a an the he she it they')}|{CAPITAL})"
# "what did ...", "in which state was ...", not the indirect "what the state did"
_INVERTED = rf"(?:{PREPOSITION} )?{WH}(?: (?!{_SUBJECT})[^\s,]+){{0,3}} {AUXILIARY}"
_NEXT_CLAUSE = re.compile(
    rf"(?<=\?) |(?:[,;]? (?i:and|but)|;) (?=(?:(?i:also|then) )?{_INVERTED})"
    rf"|[,;]? (?i:and) (?=(?P<relative>{any_of('who which whose')} (?!{_SUBJECT})))"
    rf"|[,;] (?i:and) (?={AUXILIARY} {_SUBJECT})"
)
_RELATIVE = re.compile(any_of("who whose which that"))
_JOINING = re.compile(r"(?:(?:and|but|also|then) )+", re.I)
_ABOUT = re.compile(r"(?:what|how) about ", re.I)
# words that stand for something said before: a clause with one cannot be searched alone
_BACKWARDS = re.compile(
    any_of(
        r"""another each either former he her hers him his it its latter neither ones? others?
        respectively same she so such that their theirs them then they this these those
        (?<!\bis\s)(?<!\bare\s)there"""
    )
)
_EMPTY_TOPICS = frozenset(
    """answer apply applies approach case compare differ different equivalent happen happened
    happens law like position practice rule rules situation view""".split()
)


def sub_questions(question: str) -> tuple[str, ...]:
    """The things a question asks for, each as a question of its own; empty if it asks for one.

    Two to `MOST_PARTS` (the first ones), in the order they are asked. Each holds informative words
    and no two hold the same. What they share is repeated in each; what is quoted or bracketed
    stays together.
    """
    if len(question) > LONGEST or _SHELTERS.search(question):
        return ()
    sheltered: list[str] = []

    def shelter(match: re.Match[str]) -> str:
        sheltered.append(match.group())
        return chr(0xE000 + len(sheltered) - 1)

    text = " ".join(_SHELTERED.sub(shelter, question).split())
    short = len(JOINT.findall(text)) <= MOST_JOINTS
    parts = _parts(text.rstrip(". ")) if short and _asks(text) else []
    return _settled(
        _SHELTERS.sub(lambda match: sheltered[ord(match.group()) - 0xE000], part) for part in parts
    )


def _settled(parts: Iterable[str]) -> tuple[str, ...]:
    distinct = tuple(dict.fromkeys(part.strip(_EDGES) for part in parts))[:MOST_PARTS]
    told_apart = 1 < len(distinct) == len({content_terms(part) for part in distinct})
    return distinct if told_apart and all(map(_informative, distinct)) else ()


def _asks(text: str) -> bool:
    """Whether every sentence asks; a story told before a question belongs to all its parts."""
    *before, last = [text[start:end] for start, end in sentences(text)] or [""]
    if not all(sentence.endswith("?") for sentence in before):
        return False
    if last.endswith("?") or REQUEST.match(last):
        return True
    keywords = re.match(rf"(?:\w+ ){{0,2}}{BETWEEN.pattern}", last, re.I) or VERSUS.search(last)
    return not last.endswith(".") and bool(keywords or QUESTION.match(last))


def _informative(text: str) -> bool:
    return any(word.folded not in FUNCTION_WORDS for word in words(text))


def _parts(text: str) -> list[str]:
    """The clauses that can be searched alone, taken apart; others stay with the one before."""
    pieces = [text[start:end].strip(_EDGES) for start, end in pairwise(_cuts(text))]
    units = [(pieces[0], pieces[0])]
    for piece in pieces[1:]:
        alone = _alone(piece, pieces[0])
        core, whole = units.pop()
        units += [(core, whole), (alone, alone)] if alone else [(core, f"{whole}, {piece}")]
    return [part for core, whole in units for part in taken_apart(core) or [whole]]


def _cuts(text: str) -> list[int]:
    """Where clauses start, and the end of `text`."""
    cuts = [0]
    for match in _NEXT_CLAUSE.finditer(text):
        before = text[cuts[-1] : match.start()]
        asked = before.count(" ") > 2 and OPENING.search(before)
        # after "the judge who ..." an "and who ..." goes on about the judge
        apart = not match["relative"] or not _RELATIVE.search(before, 1)
        if before.endswith("?") or (asked and apart):
            cuts.append(match.start())
    return [*cuts, len(text)]


def _alone(piece: str, first: str) -> str:
    """The clause so that it can be searched without the `first`; empty if it cannot be."""
    body = piece[match.end() :] if (match := _JOINING.match(piece)) else piece
    if _BACKWARDS.search(body):
        return ""
    if about := _ABOUT.match(body):
        return completed_phrase(first, body[about.end() :])
    if not QUESTION.match(body):
        return completed_phrase(first, body)
    rest = body.partition(" ")[2]
    named, topics = NAME.search(rest), topics_of(rest)
    if named and topics and _EMPTY_TOPICS.issuperset(topics):
        places = [match.start() for match in re.finditer(PREPOSITION, rest)]
        return completed_phrase(first, rest[places[-1] :] if places else named.group())
    alike = body.casefold().split()[:2] == first.casefold().split()[:2]
    # after a question for a fact, "and did it ..." is about that fact
    leans = re.match(AUXILIARY, body) and not re.match(AUXILIARY, first)
    return body if not leans and (named or (alike and " the " not in body)) else ""
