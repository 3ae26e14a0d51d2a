"""What a follow-up is read as: the question with names in the place of what points to them."""

import re
from collections.abc import Sequence
from dataclasses import dataclass

from atlas_search.answer.follow_up.antecedents import Conversation, antecedent, first_sentence
from atlas_search.answer.follow_up.fragments import complete, is_fragment
from atlas_search.answer.follow_up.pointers import Pointer, pointers
from atlas_search.core.domain import MARKER, ChatTurn

LONGEST = 300
"""Characters; a longer question tells what it is about."""

TURNS_READ = 20
CHARACTERS_READ = 2000
"""Of an answer; of a question fewer."""

_CONJUNCTION = re.compile(r"(?:and|but|so|then|ok|okay),? +(?=\w)", re.IGNORECASE)
_SINGULAR = {"are": "is", "were": "was", "have": "has", "do": "does"}
_VERB = re.compile(r"\b(are|were|have|do) $", re.IGNORECASE)
_PLACED = re.compile(
    r"\b(?:from|in|near|around|over|through|to|of|for|by|since|until|before|after) $"
)


@dataclass(frozen=True)
class FollowUp:
    """The `question` a follow-up was read as, empty if none is sure.

    `pointer` is the first word that points back to what is not known, empty if none does.
    """

    question: str = ""
    pointer: str = ""


def read_follow_up(question: str, history: Sequence[ChatTurn]) -> FollowUp:
    """Read a question after `history`, oldest turn first. Whatever is in doubt is left as it is."""
    return _read(question, _conversation(history[-TURNS_READ:]))


def _conversation(history: Sequence[ChatTurn]) -> Conversation:
    """What was said, each question as it was read itself."""
    said = Conversation()
    for turn in history:
        if turn.role == "user":
            asked = MARKER.sub("", turn.content).strip()
            read = _read(asked, said).question or asked
            said = Conversation((*said.questions, read[:LONGEST]))
        else:
            answer = first_sentence(MARKER.sub("", turn.content[:CHARACTERS_READ]).strip())
            said = Conversation(said.questions, answer[:LONGEST])
    return said


def _read(question: str, said: Conversation) -> FollowUp:
    question = " ".join(question.split())
    if len(question) > LONGEST:
        return FollowUp()
    if is_fragment(question):
        previous = said.questions[-1] if said.questions else ""
        whole = complete(question, previous, said.answer)
        if whole or not pointers(question):
            return FollowUp(whole, "" if whole else question)
    return _with_names(question, said)


def _with_names(question: str, said: Conversation) -> FollowUp:
    found = [(p, antecedent(p, question, said)) for p in pointers(question)]
    strong = [(pointer, name) for pointer, name in found if name or not pointer.weak]
    unknown = [pointer for pointer, name in strong if not name]
    if unknown:
        return FollowUp(pointer=question[unknown[0].start : unknown[0].end])
    written = question
    for pointer, name in reversed(strong):
        written = _put(written, pointer, name)
    return FollowUp(_as_question(written)) if strong else FollowUp()


def _put(question: str, pointer: Pointer, name: str) -> str:
    """The question with a name for a pointer, its verb in the name's number."""
    before, after = question[: pointer.start], question[pointer.end :]
    if name.startswith("in ") and _PLACED.search(before):
        name = name.removeprefix("in ")
    if pointer.possessive:
        name += "'" if name.endswith("s") and name[:1].islower() else "'s"
    if pointer.referent == "they" and not _is_plural(name):
        before = _VERB.sub(lambda m: f"{_in_case(_SINGULAR[m[1].lower()], m[1])} ", before)
    return f"{before}{name}{after}"


def _is_plural(name: str) -> bool:
    return " and " in name or name.split()[-1].islower()


def _in_case(word: str, like: str) -> str:
    return word.capitalize() if like[:1].isupper() else word


def _as_question(text: str) -> str:
    text = _CONJUNCTION.sub("", text, count=1) if _CONJUNCTION.match(text) else text
    return text[:1].upper() + text[1:]
