"""What a rewritten question brings that nobody said: a citation, an address, a number, a name."""

import re
from collections.abc import Collection, Iterator, Sequence
from itertools import takewhile

from atlas_search.core.domain import MARKER_LIKE, ChatTurn
from atlas_search.language.english import AUXILIARIES, MONTHS, NUMBERS
from atlas_search.language.languages import FUNCTION_WORDS
from atlas_search.language.spelling import fold
from atlas_search.language.text import words

_ADDRESS = re.compile(r"(?:https?://|www\.)[^\s<>\"”’)\]]+", re.IGNORECASE)
_DIGITS = re.compile(r"\d+(?:[,.]\d+)*")
_TOKEN = re.compile(r"[^\W\d_][\w'’-]*")
_SENTENCE_START = re.compile(r"(?:^|[.?!]\s+)[\"“‘(]*$")
_POSSESSIVE = re.compile(r"['’](?:s|S)?$")
_ENDINGS = frozenset("a an ian n s es e en er em ns ain ish y ies ese ans".split()) | {""}
"""How the same name ends in another form: `Canada` and `Canadian`, `Menzies` and `Menzies'`."""

_LEAST_STEM = 4  # letters that two forms of a name share
_PLAIN = FUNCTION_WORDS | frozenset(AUXILIARIES.split())
_VALUES = {word: value for word, value in NUMBERS.items() if word != "one"}  # "the one who"


def invention(written: str, question: str, history: Sequence[ChatTurn]) -> str:
    """What of `written` stands neither in the question nor in the history, as a clause: `names
    “Menzies”, which nobody mentioned`. Empty if nothing does."""
    if marker := MARKER_LIKE.search(written):
        return f"holds the citation “{marker.group()}”, and a question cites nothing"
    said = "\n".join([question, *(turn.content for turn in history)])
    for verb, found in (
        ("holds the address", _new_addresses(written, said)),
        ("names", _new_names(_ADDRESS.sub(" ", written), said)),
        ("gives the number", _new_numbers(_ADDRESS.sub(" ", written), said)),
    ):
        for new in found:
            return f"{verb} “{new}”, which nobody mentioned"
    return ""


def _new_addresses(written: str, said: str) -> Iterator[str]:
    known = {address.casefold().rstrip(".,?!/") for address in _ADDRESS.findall(said)}
    for address in _ADDRESS.findall(written):
        bare = address.rstrip(".,?!/")
        if bare.casefold() not in known:
            yield bare


def _new_numbers(written: str, said: str) -> Iterator[str]:
    known = {value for _, value in _numbers(said)}
    return (text for text, value in _numbers(written) if value not in known)


def _numbers(text: str) -> Iterator[tuple[str, str]]:
    """The numbers of a text as they are written, and their digits."""
    for match in _DIGITS.finditer(text):
        yield match.group(), match.group().replace(",", "")
    for word in re.findall(r"[a-z]+(?:-[a-z]+)?", text.lower()):
        if word in _VALUES:
            yield word, str(_VALUES[word])


def _new_names(written: str, said: str) -> Iterator[str]:
    """Capitalised words that were not said, those in a row together."""
    known = _Known(said)
    tokens = list(_TOKEN.finditer(written))
    new = [_is_new(token, written, known) for token in tokens]
    for at, token in enumerate(tokens):
        if new[at] and not (at and new[at - 1]):
            row = list(takewhile(lambda pair: pair[1], zip(tokens[at:], new[at:], strict=True)))
            text = written[token.start() : row[-1][0].end()]
            yield _POSSESSIVE.sub("", text)


class _Known:
    """The words that were said, to ask for one in any of its forms."""

    def __init__(self, said: str):
        folded = {_POSSESSIVE.sub("", fold(token)) for token in _TOKEN.findall(said)}
        self._terms = {word.term for word in words(said)}
        self._folded = folded | {part for word in folded for part in word.split("-")}
        self._begun = _by_beginning(self._folded)

    def __contains__(self, word: str) -> bool:
        bare = _POSSESSIVE.sub("", fold(word))
        if bare in self._folded or any(w.term in self._terms for w in words(bare)):
            return True
        alike = self._begun.get(bare[:_LEAST_STEM], ())
        return any(_same_name(bare, other) for other in alike) or _joins(bare, self._folded)


def _by_beginning(known: Collection[str]) -> dict[str, list[str]]:
    found: dict[str, list[str]] = {}
    for word in known:
        if len(word) >= _LEAST_STEM:
            found.setdefault(word[:_LEAST_STEM], []).append(word)
    return found


def _same_name(one: str, other: str) -> bool:
    shared = len([*takewhile(lambda pair: pair[0] == pair[1], zip(one, other, strict=False))])
    cuts = range(_LEAST_STEM, shared + 1)
    return any({one[cut:], other[cut:]} <= _ENDINGS for cut in cuts)


def _joins(word: str, known: Collection[str]) -> bool:
    """Whether all parts of a hyphenated word were said."""
    parts = word.split("-")
    return len(parts) > 1 and all(part in known for part in parts)


def _is_new(token: re.Match[str], written: str, known: _Known) -> bool:
    word = token.group()
    bare = _POSSESSIVE.sub("", word)
    if not word[0].isupper() or fold(bare) in _PLAIN or bare == "I":
        return False
    if word in known:
        return False
    opens = _SENTENCE_START.search(written, 0, token.start())
    # only what opens a sentence is capitalised without being a name
    return not opens or bare != word or fold(bare) in MONTHS or (bare.isupper() and len(bare) > 1)
