"""The prompt of a model and its reply: rules, remembered turns, and passages as quoted material.

Search never sees the turns that are kept of a conversation.

The texts of sources neither end their quotation nor speak in a chat model's tokens: the opening
bracket of these is replaced. What reads as a number or token of a passage is in round brackets: a
model that copies it cites nothing. All else stays as the source has it, format characters (such as
the joiners of Persian) among it, for what a model quotes is looked up in the source.

A reply is one JSON object of sentences with the numbers of their passages, read while it comes. A
schema leaves a model nothing but the numbers of passages it was given; a server that takes no
schema, or a model that writes plain text with `[1]` in it, is read as well.
"""

import json
import re
from collections.abc import Callable, Container, Iterable, Mapping, Sequence
from dataclasses import replace
from itertools import accumulate
from string import Template
from typing import Any

from atlas_search.answer.answer import Context
from atlas_search.answer.check.markers import ROUND, MarkedSentence, as_quoted, read_marked
from atlas_search.answer.follow_up import CHARACTERS_READ, TURNS_READ
from atlas_search.answer.prompts import prompt
from atlas_search.core.domain import MARKER, ChatTurn, Passage
from atlas_search.core.targets import Target
from atlas_search.language.word_pieces import tokenizer
from atlas_search.providers.chat import Message

TokenCounter = Callable[[Sequence[str]], list[int]]


def count_tokens(texts: Sequence[str]) -> list[int]:
    """The tokens of each text, in MiniLM's vocabulary of 30,522 word pieces.

    Every language model has a vocabulary of its own; budgets are kept in this one.
    """
    encodings = tokenizer().encode_batch(list(texts), add_special_tokens=False)
    return [len(encoding) for encoding in encodings]


CHARACTERS_OF_TOKEN = 16
"""At most: prose has four or five, but blanks and words without an end count for none, or for one.
Those are sent to the model, too."""


def remember(
    history: Sequence[ChatTurn], budget: int, count: TokenCounter
) -> tuple[list[ChatTurn], int]:
    """The newest whole turns whose tokens fit into `budget`, oldest first, and these tokens.

    What cannot fit is not counted, so `count` is given few characters, however many there are.
    """
    turns: list[ChatTurn] = []
    tokens = 0
    for turn in reversed(history):
        size = _size(turn.content, budget - tokens, count)
        if not turn.whole or tokens + size > budget:
            break
        tokens += size
        turns.append(turn)
    return turns[::-1], tokens


def keep(history: Sequence[ChatTurn], budget: int, count: TokenCounter) -> list[ChatTurn]:
    """Return the turns of a conversation that an answer needs, oldest first.

    These are the turns within `budget` and, of older ones, the beginnings of those that a
    follow-up is read after.
    """
    remembered, _ = remember(history, budget, count)
    before = len(history) - len(remembered)
    first = min(max(len(history) - TURNS_READ, 0), before)
    return [*map(_beginning, history[first:before]), *remembered]


def _size(content: str, left: int, count: TokenCounter) -> int:
    """The tokens of a turn, or a smaller number that is more than is `left`."""
    least = len(content) // CHARACTERS_OF_TOKEN
    return least if least > left else max(least, *count([content]))


def _beginning(turn: ChatTurn) -> ChatTurn:
    if len(turn.content) <= CHARACTERS_READ:
        return turn
    return replace(turn, content=turn.content[:CHARACTERS_READ], whole=False)


_FORMAT = (
    "\u00ad\u0600-\u0605\u061c\u06dd\u070f\u0890\u0891\u08e2\u180e\u200b-\u200f\u202a-\u202e"
    "\u2060-\u2064\u2066-\u206f\ufeff\ufff9-\ufffb\U000110bd\U000110cd\U00013430-\U0001343f"
    "\U0001bca0-\U0001bca3\U0001d173-\U0001d17a\U000e0001\U000e0020-\U000e007f"
)
"""Characters of the category Cf: not seen, and skipped by who reads a tag."""

_GAP = rf"[\s{_FORMAT}]*"
_SLASH = rf"(?:{_GAP}/)?{_GAP}"


def _spread(word: str) -> str:
    return f"[{_FORMAT}]*".join(word)


# `<|im_start|>`, `<s>` and `[INST]` as several families of models have them; not `<|>` and `|>`,
# which are operators
_CHAT = (
    rf"<(?={_GAP}\|[^<>|\n]{{1,40}}\|{_GAP}>)",
    rf"<(?={_SLASH}s{_GAP}>)",
    rf"\[(?={_SLASH}{_spread('INST')}{_GAP}\])",
)
_CHAT_TOKEN = re.compile("|".join(_CHAT), re.IGNORECASE)


def opening_of(tags: Iterable[str]) -> re.Pattern[str]:
    """The first character of what could pass for one of these tags, or for a token of a chat."""
    names = "|".join(map(_spread, tags))
    return re.compile("|".join((rf"<(?={_SLASH}(?:{names}))", *_CHAT)), re.IGNORECASE)


# also where a model would leave out what is not seen, or write the brackets of its own numbers
_NUMBER_LIKE = re.compile(rf"(?<![\[［【])[\[［【]++{_GAP}+\d{{1,3}}{_GAP}[\]］】]+")


def _uncited(text: str) -> str:
    """A text of equal length that holds no number or token of a passage."""
    return _NUMBER_LIKE.sub(lambda found: found[0].translate(ROUND), as_quoted(text))


def attribute(value: str) -> str:
    """A value that cannot end its attribute or tag, and holds no token of a chat model."""
    plain = _CHAT_TOKEN.sub("‹", value)
    return " ".join(plain.translate({ord("<"): "‹", ord(">"): "›", ord('"'): "'"}).split())


# what could pass for the end of a quotation, or the beginning of another
_TAG = opening_of(["passage"])


def context_of(
    question: str,
    passages: Sequence[Passage],
    history: Sequence[ChatTurn],
    rules: Template,
    target: Target,
    absent: Sequence[str] = (),
) -> Context:
    """Return the prompt of a model, before it is told what to write.

    It holds the best passages within `context_tokens` (the first in any case) and the newest turns
    within `chat_memory_tokens`, and names what of the question is `absent` from all passages.
    """
    blocks = [render(p, f"[{number}]") for number, p in enumerate(passages, start=1)]
    used = list(accumulate(count_tokens(blocks)))
    fitting = max(1, sum(tokens <= target.context_tokens for tokens in used))
    turns, turn_tokens = remember(history, target.chat_memory_tokens, count_tokens)
    return Context(
        messages=(
            Message("system", rules.substitute(citation_limit=target.citation_limit)),
            *(Message(turn.role, _uncited(_TOKEN.sub("", turn.content))) for turn in turns),
            Message("user", _user(question, blocks[:fitting], absent)),
        ),
        passages=len(blocks[:fitting]),
        passages_dropped=len(blocks[fitting:]),
        passage_tokens=used[fitting - 1] if used else 0,
        turns=len(turns),
        turns_dropped=len(history) - len(turns),
        turn_tokens=turn_tokens,
    )


def ending_in(messages: Sequence[Message], asked: str) -> tuple[Message, ...]:
    """Add a request to the last message of a prompt."""
    *before, last = messages
    return (*before, Message(last.role, f"{last.content}\n\n{asked.strip()}"))


def repair(
    messages: Sequence[Message], draft: str, problems: Sequence[str], passages: Sequence[Passage]
) -> tuple[Message, ...]:
    """Add to a prompt a draft that could not be verified, and the reasons."""
    listed = "\n".join(f"- {problem}" for problem in problems)
    for number, passage in enumerate(passages, start=1):
        listed = listed.replace(passage.marker, f"[{number}]")
    numbers = ", ".join(map(str, range(1, len(passages) + 1)))
    complaint = prompt("repair").substitute(problems=listed, numbers=numbers)
    return (*messages, Message("assistant", draft), Message("user", complaint))


def render(passage: Passage, token: str) -> str:
    """One passage behind its `token`, delimited so that its text cannot end the quotation."""
    about = {"corpus": passage.corpus, "date": passage.date, "title": passage.title}
    attributes = "".join(
        f' {name}="{_uncited(attribute(value))}"' for name, value in about.items() if value
    )
    text = _uncited(_TAG.sub("‹", passage.text))
    return f"<passage{attributes}>\n{token} {text}\n</passage>"


def _user(question: str, blocks: Sequence[str], absent: Sequence[str]) -> str:
    note = f"No passage speaks of: {', '.join(absent)}. State nothing of it." if absent else ""
    return "\n\n".join(filter(None, [*blocks, note, f"Question: {_uncited(question)}"]))


_SENTENCE = re.compile(
    r'\{\s*"text"\s*:\s*(?P<text>"(?:[^"\\]|\\.)*")\s*,'
    r'\s*"passages"\s*:\s*\[(?P<numbers>[^\]]*)\]\s*\}',
    re.DOTALL,
)
_NONE = re.compile(r'"sentences"\s*:\s*\[\s*\]')
_NUMBER = re.compile(r"\[(\d{1,3})\]")
_TOKEN = re.compile(rf"\s*{MARKER.pattern}")


def schema_of(passages: int) -> Mapping[str, Any]:
    """The JSON schema of a reply about so many passages."""
    sentence = {
        "text": {"type": "string"},
        "passages": {
            "type": "array",
            "items": {"type": "integer", "enum": list(range(1, passages + 1))},
            "minItems": 1,
        },
    }
    return _object({"sentences": {"type": "array", "items": _object(sentence)}})


def _object(properties: Mapping[str, Any]) -> dict[str, Any]:
    return {
        "type": "object",
        "properties": properties,
        "required": list(properties),
        "additionalProperties": False,
    }


class StreamedReply:
    """A reply about `given` passages as it comes.

    `add` gives the sentences that a piece completes, `finish` those of a reply that is no JSON.
    One that says that the passages do not answer has none. A number that no passage has becomes a
    token that no passage has either. A model knows passages by numbers only: a token that it writes
    is copied from a source, and so is a number in a sentence that gives others beside its text.
    """

    def __init__(self, given: Sequence[Passage]):
        self._passages = given
        self._markers = {number: passage.marker for number, passage in enumerate(given, start=1)}
        self._read = 0
        self.raw = ""

    def add(self, piece: str) -> list[MarkedSentence]:
        """Take the next piece, and return the sentences that it completes."""
        self.raw += piece
        if "}" not in piece:
            return []
        matches = list(_SENTENCE.finditer(self.raw, self._read))
        self._read = matches[-1].end() if matches else self._read
        sentences = (self._sentence(match["text"], match["numbers"]) for match in matches)
        return [sentence for sentence in sentences if re.search(r"\w", sentence.text)]

    def finish(self) -> list[MarkedSentence]:
        """Return the sentences of a whole reply that is no JSON."""
        if self._read or _NONE.search(self.raw):
            return []
        return read_marked(self._with_tokens(self.raw, self._markers), self._passages)

    def _sentence(self, text: str, numbers: str) -> MarkedSentence:
        try:
            content = str(json.loads(text, strict=False))
        except ValueError:  # a wrong escape
            content = text.strip('"')
        given = [int(number) for number in re.findall(r"\d+", numbers)]
        content = self._with_tokens(" ".join(content.split()), given or self._markers)
        tokens = [self._token(number) for number in given]
        markers = dict.fromkeys((*tokens, *MARKER.findall(content)))
        return MarkedSentence(" ".join(_TOKEN.sub("", content).split()), tuple(markers))

    def _with_tokens(self, text: str, numbers: Container[int]) -> str:
        """A text with no tokens of the passages but those for these `numbers`."""
        for marker in self._markers.values():
            text = text.replace(marker, as_quoted(marker))
        return _NUMBER.sub(
            lambda found: self._token(number) if (number := int(found[1])) in numbers else found[0],
            text,
        )

    def _token(self, number: int) -> str:
        return self._markers.get(number, f"[passage p{number}]")
