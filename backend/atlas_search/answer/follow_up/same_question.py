"""Whether a pronoun may point to something in its own question.

Of 7,461 questions that had been asked alone, put behind three others, the rules touch 33, nearly
all of which do point to something that they do not say; they touched 120 while they knew names
and determined nouns alone.
"""

import re

from atlas_search.answer.follow_up.names import ORGANISATIONS, Name, names_in
from atlas_search.language.english import AUXILIARIES, any_of
from atlas_search.language.languages import FUNCTION_WORDS

AUXILIARY = frozenset(f"{AUXILIARIES} be been being".split())
_STOP = "|".join(sorted(FUNCTION_WORDS | AUXILIARY))
_WH = any_of("who whom whose what which when where why how")
_ASKS = frozenset("which what whose".split())
_DETERMINED = re.compile(
    r"\b(?P<determiner>(?i:the|an?|every|each|any|some|no|another|which|what|whose|his|her|its|"
    r"their|my|our|your|such)) "
    rf"(?P<noun>(?!(?:{_STOP})\b)[a-z][\w-]*(?: (?!(?:{_STOP})\b)[a-z][\w-]*){{0,2}})"
)
_INDEFINITE = re.compile(
    rf"{any_of('someone somebody anyone anybody everyone everybody nobody people whoever one you')}"
    r"|\bno one\b"
)
_PLURAL = re.compile(
    rf"(?<!\bwho )\b(?!(?:{_STOP})\b)"
    r"(?:people|men|women|children|police|[a-z]{3,}(?<![suid'])s)\b"
)
_BARE_SUBJECT = re.compile(
    rf"(?:{any_of(' '.join(sorted(AUXILIARY)))}|n['’]t) (?:not )?(?!(?:{_STOP})\b)[a-z]"
)
_FRONTED = re.compile(
    rf"(?i:in|on|at|by|for|under|from|with|while|when|if|because|after|before|as|since|although) "
    rf"(?i:the |an? )?(?!(?:{_STOP})\b)[a-z]"
)
_SUBORDINATE = re.compile(
    r"(?i:if|when|while|because|although|unless|after|before|since|as soon as) (?![a-z]+ing\b)"
)
_IMPERATIVE = frozenset(
    "tell explain describe compare list show give name summarize summarise discuss define "
    "outline".split()
)
_LEAD_IN = re.compile(
    r"(?:(?:do|can|could|would) you (?:know|tell me|say|explain)|tell me|explain|i want to know) ?",
    re.IGNORECASE,
)
_NEW_CLAUSE = re.compile(
    rf"(?:[,;]|\b(?:and|or|but))? ?\b(?:and|or|but) (?={_WH}|{any_of(AUXILIARIES)})"
    r"|(?<!^)\b(?:if|when|because|before|after|while|although|unless|until|as) (?=$|\w)|[;,] ",
    re.IGNORECASE,
)
_BOUND = re.compile(
    r"(?<!^)\b(?:that|who|which|(?:want|think|say|said|believe|claim|know|feel)(?:s|ed)?"
    r"|to (?!the\b|an?\b)[a-z]\w*)\b",
    re.IGNORECASE,
)
_IMPERSONAL = ORGANISATIONS | frozenset(
    "act law case jury public press media war year years state country day time term date month "
    "reason circumstances grounds way extent age election trial book speech crime office "
    "search name cause date result effect outcome title role number amount purpose".split()
)
_SENTENCE_END = re.compile(r"[.?!] ")
_SUBJECT_LATER = re.compile(rf" {any_of('did does do was is has had can could will would')} (?=\S)")


def may_be_meant(text: str, start: int, end: int, referent: str, form: str) -> bool:
    """Whether the pronoun `text[start:end]` may mean something else in the text.

    `form` is `subject`, `object` or `possessive`; nobody does to himself what is done to him, so
    that the subject of a verb is not what its object means.
    """
    before = text[:start]
    earlier = _earlier_clause(before)
    generic = referent in {"it", "they"} or re.search(r"\b(?:if|unless) $", before)
    if _count(earlier, referent) or (generic and _has_content(earlier)):
        return True
    bound = form == "object" and not _BOUND.search(before) and not _SUBORDINATE.match(before)
    return (
        _count(before, referent) > bound
        or _is_said_later(text, end)
        or _is_of_who(text, start, form)
    )


def opens_a_text(text: str, start: int) -> bool:
    """Whether nothing stands before a word but its own sentence, or a word or two."""
    said = _SENTENCE_END.split(text[:start])[:-1]
    return len(" ".join(said).split()) < 3


def _earlier_clause(before: str) -> str:
    """What stands before the clause a pronoun is in, without what only leads to a question."""
    breaks = list(_NEW_CLAUSE.finditer(before))
    return _LEAD_IN.sub("", before[: breaks[-1].start()]) if breaks else ""


def _has_content(text: str) -> bool:
    words = re.findall(r"[^\W\d_][\w'’-]*", text)
    return any(
        word.lower() not in FUNCTION_WORDS | AUXILIARY and word[0].islower() for word in words
    )


def _count(before: str, referent: str) -> int:
    """How much in the same question, before a pronoun, it may mean."""
    people = referent in {"he", "she"}
    names = names_in(before)
    held = [name for name in names if not name.located and _can_be(name, referent)]
    phrases = [m for m in _DETERMINED.finditer(before) if _is_phrase(m, before, people=people)]
    apart = [m for m in phrases if not any(n.start <= m.start() < n.end for n in names)]
    others = len(_INDEFINITE.findall(before)) if referent != "it" else 0
    others += _opens_with_subject(before)
    if not people:
        others += len(_BARE_SUBJECT.findall(before)) + bool(_FRONTED.match(before))
    if referent == "they" and not others:
        others += len(_PLURAL.findall(before))
    return len(held) + len(apart) + others


def _can_be(name: Name, referent: str) -> bool:
    if referent in {"he", "she"}:
        return name.kind in {"person", "unknown"}
    return referent == "they" or name.kind != "person"


def _is_phrase(phrase: re.Match[str], text: str, *, people: bool) -> bool:
    nouns = phrase["noun"].lower().split()
    if phrase["determiner"].lower() in _ASKS:
        # "In which year was it ...", "What powers did Parliament ...": asked for, not meant
        before, after = text[: phrase.start()], text[phrase.end() :]
        fronted = re.fullmatch(r"(?:and |but )?(?P<preposition>\w+ )?", before, re.IGNORECASE)
        asked = re.match(r" (?:do|does|did)\b| (?:is|was|are|were|has|had) $", after)
        if (
            fronted
            and (asked or fronted["preposition"])
            and phrase["determiner"].lower() != "whose"
        ):
            return False
    return not (people and any(noun in _IMPERSONAL for noun in nouns))


def _opens_with_subject(before: str) -> bool:
    """Whether the question begins with a word that is neither of grammar nor a request."""
    first = re.match(r"[^\W\d_][\w’'-]*", before)
    word = first.group().lower().replace("’", "'").removesuffix("'s") if first else ""
    return bool(word) and word not in _GRAMMAR | _IMPERATIVE


_GRAMMAR = FUNCTION_WORDS | AUXILIARY | frozenset(
    "there then since which whose whom unless although as isn't wasn't aren't weren't doesn't "
    "didn't don't can't couldn't won't wouldn't hasn't hadn't haven't thanks ok okay yes no also "
    "or near against despite without like concerning regarding exactly within until till".split()
)  # fmt: skip


def _is_said_later(text: str, end: int) -> bool:
    """Whether a name follows that may be meant: `When he resigned, did Holt`, `above his quota did
    Filburn harvest`."""
    rest = text[end:]
    _, comma, behind = rest.partition(",")
    later = _SUBJECT_LATER.search(rest)
    subject = (
        rest[later.end() :] if later and re.match(r"(?:the )?[A-Z]", rest[later.end() :]) else ""
    )
    return (bool(comma) and bool(names_in(f"x {behind}"))) or bool(subject)


def _is_of_who(text: str, start: int, form: str) -> bool:
    """Whether it may be the one who is asked for: `Who lost his seat?`, not `Who was his wife?`"""
    opening = re.match(r"(?:and |but )?who (?P<verb>[\w'’-]+)", text, re.IGNORECASE)
    if not opening or form == "object" or opening["verb"].lower() in AUXILIARY:
        return False
    return opening.end() < start
