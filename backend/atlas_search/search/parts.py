"""Questions that ask for two or more things, taken apart so that each can be searched alone.

A few rules on English words. A question left whole by mistake is still searched whole, so whatever
is in doubt stays whole. `benchmarks.rules` finds no set on which 525 lines of such rules
changed an answer; these are for comparisons and for several questions in one.
"""

import re

from atlas_search.language.english import AUXILIARIES, any_of
from atlas_search.language.text import content_terms, words

MOST_PARTS = 4
LONGEST = 1000
"""Characters; a longer text tells a story, and its parts need each other."""

_WH = any_of("who whom whose what which when where why how")
_PREPOSITION = any_of("about after against at before by during for from in of on over to under")
_NAME = r"(?:the )?[A-Z0-9][\w.'’-]*(?: (?:of |v\.? |the )?[A-Z0-9][\w.'’-]*)*"
_COMPARED = re.compile(
    r"(?:please |(?:can|could|would) you (?:please )?)?"
    r"(?:compare|contrast)(?: and (?:compare|contrast))? (?P<sides>.+)|"
    r"(?:what (?:is|are|was|were) )?(?:the )?(?:difference|similarity|comparison|contrast)s?"
    r"(?: (?:in|of) (?P<topic>.+?))? between (?P<between>.+)",
    re.IGNORECASE,
)
_DIFFER = re.compile(
    rf"how (?:do|does|did) (?P<of>the [a-z ]+? (?:of|in|at) )?(?P<one>{_NAME}) and "
    rf"(?P<other>{_NAME}) (?:differ|compare)"
    r"(?: (?:in|on|about|over|as to) (?P<topic>.+))?|"
    rf"(?:which|who) (?:of (?:the two|both|them)|one)?,? ?(?P<first>{_NAME}) or "
    rf"(?P<second>{_NAME}),? (?P<asked>.+)",
)
# "the law in Wales with that in Jersey"
_STANDS_FOR_LEFT = re.compile(rf"^(?:those|that|the ones?) (?={_PREPOSITION})")
_VERSUS = re.compile(r" versus (?=[a-z])")
_JOINTS = [
    re.compile(rf",? {joint}")
    for joint in (rf"and (?={_PREPOSITION} )", "(?:with|against|versus) ", "and ")
]
# a further question: "... and what did Roe decide", not "... and what the law was"
_FURTHER = re.compile(
    rf"(?<=\?) +|[,;]? (?:and|but) (?=(?:(?:in|by|of|for|to) )?{_WH}"
    rf"(?: (?!the |an? )[\w'’]+){{0,2}}? {any_of(AUXILIARIES)})"
)
_OPENING = re.compile(r"(?:\w+ ){2}")
# "and what is the position in Wales" asks the same of another place
_SAME_AGAIN = re.compile(r"\b(?:answer|law|position|practice|rule|situation)\b", re.IGNORECASE)
_ASKS = re.compile(rf"(?:(?:in|by|of|for|to) )?(?:{_WH}|{any_of(AUXILIARIES)})")
_QUOTED = re.compile(r'"[^"]*"|“[^“”]*”|\([^()]*\)')
# words that stand for something said before: a clause with one cannot be searched alone
_BACKWARDS = re.compile(
    any_of("he her him his it its that their them then they this these those such other same one")
)


def sub_questions(question: str) -> tuple[str, ...]:
    """The things a question asks for, each as a question of its own; empty if it asks for one.

    Two to `MOST_PARTS`, in the order they are asked, no two of the same informative words.
    """
    text = " ".join(question.split()).rstrip("?. ")
    if len(question) > LONGEST or _QUOTED.search(text):
        return ()
    if compared := _COMPARED.fullmatch(text):
        parts = _sides(compared["sides"] or compared["between"], compared["topic"] or "")
    elif differ := _DIFFER.fullmatch(text[:1].lower() + text[1:]):
        topic = differ["topic"] or differ["asked"] or ""
        sides = (differ["one"] or differ["first"], differ["other"] or differ["second"])
        places = [(differ["of"] or "") + side for side in sides]
        parts = [f"{topic} in {place}" if topic else place for place in places]
    elif len(versus := _VERSUS.split(text)) == 2:
        parts = versus
    else:
        parts = [part.strip(" ,;?") for part in _FURTHER.split(text)]
        if not all(_stands_alone(part, parts[0]) for part in parts[1:]):
            return ()
    distinct = tuple(dict.fromkeys(parts))[:MOST_PARTS]
    told_apart = len({content_terms(part) for part in distinct}) == len(distinct) > 1
    informative = all(any(word.informative for word in words(part)) for part in distinct)
    return distinct if told_apart and informative else ()


def _stands_alone(part: str, first: str) -> bool:
    """Check that a further question names its subject, so it can be searched without the first."""
    if not _ASKS.match(part) or _BACKWARDS.search(part) or _SAME_AGAIN.search(part):
        return False
    alike = [
        opening and opening.group().casefold() for opening in map(_OPENING.match, (part, first))
    ]
    named = re.search(rf" {_NAME}", part) is not None
    return named or (alike[0] == alike[1] and " the " not in part)


def _sides(text: str, topic: str) -> list[str]:
    """Split a comparison into its sides, and repeat in each the words that both share.

    `the law in Britain and France` gives `the law in Britain` and `the law in France`. Empty if the
    sides are unclear.
    """
    joints = next((found for joint in _JOINTS if (found := [*joint.finditer(text)])), [])
    if len(joints) != 1:
        return []
    left, right = text[: joints[0].start()], text[joints[0].end() :]
    if topic:
        return [f"{topic} in {left}", f"{topic} in {right}"]
    named = re.fullmatch(rf"(?P<name>{_NAME}) (?:on|about|as to) (?P<topic>.+)", right)
    if named and re.fullmatch(_NAME, left):
        return [f"{named['topic']} in {left}", f"{named['topic']} in {named['name']}"]
    right = _STANDS_FOR_LEFT.sub("", right)
    if leading := re.match(_PREPOSITION, right):
        head = left.rpartition(f" {leading.group()} ")[0]
        return [left, f"{head} {right}"] if head else []
    place = re.search(rf"^(?P<head>.*\S) (?P<by>{_PREPOSITION}) {_NAME}$", left)
    if place and re.fullmatch(_NAME, right):
        return [left, f"{place['head']} {place['by']} {right}"]
    tail = re.search(rf" {_PREPOSITION} {_NAME}$", right)
    shared = tail.group() if tail and not re.search(_PREPOSITION, left) else ""
    return [left + shared, right]
