"""Who does what to whom, in a question and in a sentence that may answer it.

Few forms are read, and those surely: `who killed Parker?` is not answered by `Parker killed
Dudley`, nor `what did Brandeis call it?` by `Holmes called it a dirty business`.
"""

import re
from collections.abc import Iterator
from itertools import pairwise

from atlas_search.answer.quotes.names import names_in, terms_of_name
from atlas_search.answer.quotes.speakers import is_said_by_another
from atlas_search.language.english import FORMS_OF_ADDRESS, OFFICES, any_of
from atlas_search.language.text import Word, all_terms, words

_DONE = r"\w+ed|beat|sued|shot|led|taught|met|fought|told|chose|hit|saw"
_WHO = re.compile(rf"^who (?P<verb>{_DONE}) (?P<whom>[^,?]+)", re.IGNORECASE)
_WHOM = re.compile(
    r"^whom? (?:did|does|has|had) (?P<who>[^,?]+?) (?P<verb>\w+)\s*(?:\?|$|\b(?:in|on|at|with|by|"
    r"for|to|after|before|during)\b)",
    re.IGNORECASE,
)
_SAYS = re.compile(
    r"(?P<who>(?:[A-Z][\w.’'-]*\s)+)(?:\w+ly\s|also\s|then\s)?"
    rf"{any_of('said says stated states called calls argued argues claimed claims told wrote')}\b"
)
_CALLED = FORMS_OF_ADDRESS | OFFICES


def is_of_others(question: str, sentence: str) -> bool:
    """Whether an English sentence says of others what is asked: another does it, or it is done to
    another, or another says it."""
    sayings = [said["who"] for said in _SAYS.finditer(sentence)]
    return is_said_by_another(question, sayings) or _is_done_by_others(question, sentence)


def _is_done_by_others(question: str, sentence: str) -> bool:
    done = _WHO.match(question)
    if done:
        objects = list(_names_after(done["verb"], sentence))
        return _are_others(done["whom"], objects, list(_names_before(done["verb"], sentence)))
    doing = _WHOM.match(question)
    if doing:
        subjects = list(_names_before(doing["verb"], sentence))
        return _are_others(doing["who"], subjects, list(_names_after(doing["verb"], sentence)))
    return False


def _are_others(name: str, same_role: list[str], other_role: list[str]) -> bool:
    """Whether others have the part of whom a question names, or he has another part himself."""
    if not names_in(f"x {name}"):
        return False
    own = terms_of_name(name)
    if any(term in own for term in same_role):
        return False
    return bool(same_role) or any(term in own for term in other_role)


def _names_after(verb: str, sentence: str) -> Iterator[str]:
    """The stems of names that a form of `verb` is directly followed by."""
    forms = all_terms(verb)
    for before, word in pairwise(_telling(sentence)):
        if before.term in forms and _stand_together(sentence, before, word):
            yield word.term


def _names_before(verb: str, sentence: str) -> Iterator[str]:
    """The stems of names that directly stand before a form of `verb`."""
    forms = all_terms(verb)
    for word, after in pairwise(_telling(sentence)):
        if after.term in forms and _stand_together(sentence, word, after):
            yield word.term


def _telling(sentence: str) -> list[Word]:
    return [word for word in words(sentence) if word.folded not in _CALLED]


def _stand_together(sentence: str, one: Word, other: Word) -> bool:
    """Whether nothing but a form of address is between a name and a verb."""
    name = one if sentence[one.start].isupper() else other
    between = words(sentence[one.end : other.start])
    return sentence[name.start].isupper() and all(word.folded in _CALLED for word in between)
