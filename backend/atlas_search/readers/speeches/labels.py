"""What stands before the words of a speech: a person with a title, an office, perhaps a name."""

import re
from dataclasses import dataclass
from typing import Literal

Kind = Literal["person", "office", "name"]

_TITLES = frozenset(
    "mr mrs ms miss mx dr prof professor sir dame lord lady baroness baron viscount earl senator "
    "sen deputy representative rep congressman congresswoman delegate chairman chairwoman "
    "chairperson chair chief justice judge minister secretary general gen admiral adm colonel col "
    "captain capt major lieutenant lt sergeant sgt ambassador governor gov mayor councillor "
    "councilor councilmember cllr commissioner reverend rev bishop hon honourable honorable rt "
    "right madam president speaker shri smt dato datuk m mme mlle".split()
)
_OFFICES = frozenset(
    "speaker president chair chairman chairwoman chairperson clerk secretary minister premier "
    "taoiseach tánaiste cathaoirleach leas-chathaoirleach comhairle officer leader whip chancellor "
    "treasurer attorney solicitor general court witness reporter videographer interpreter "
    "defendant accused bailiff usher foreperson juror judge justice member members senator "
    "senators commissioner director governor ambassador ombudsman moderator coroner counsel "
    "prosecutor convener rapporteur tribunal registrar chaplain".split()
)
_PARTICLES = frozenset(
    "of for the and de van von der den la le du da di bin binti al el y pro tempore in on at to & "
    "arap ole wa ap ter ten dos das ibn ó".split()
)
_JOINING = frozenset("the for and in on at to &".split())
"""What an office may have in its words, and no name."""
_MEMBERS = frozenset("several some an a hon honourable honorable the other many".split())
# what lists, letters, reports and forms begin with; a sentence may follow it as it does a name
_NOBODY = frozenset(
    "present absent apologies attendance attending also in note notes nb date dated time place "
    "venue author authors re ref reference subject to from cc bcc attn question questions answer "
    "answers example examples term terms definition see source sources summary abstract "
    "background objective objectives method methods result results conclusion conclusions "
    "purpose introduction discussion facts issue issues held holding order orders warning caution "
    "tip important step section article chapter part schedule table figure act bill amendment "
    "title name address phone email fax dear first second third if when where while before after "
    "how what why who this that these those with without no not our your".split()
)
_WORD = re.compile(r"[^\W\d_](?:[\w'’‐-]*[^\W_])?[.,]?|(?:[^\W\d_]\.){1,3}[^\W\d_]\.?|&")
_UNREAD = re.compile(r"[^\W\d_][\w'’.-]*(?:,? [\w'’.-]+){0,4}")
# who is asked or heard, and not named
_ANYBODY = frozenset(
    "question answer voice voices operator speaker participant unidentified unknown juror".split()
)
# words of headings, too: `General Provisions`, `Major Changes`
_ORDINARY = frozenset("general major chief right justice deputy chair".split())
_ADDRESSES = frozenset("mr mrs ms madam".split())
_SHORT = 4  # letters of what a full stop shortens: `Prof.`
_MOST_WORDS = 16
_MOST_OF_A_NAME = 5


@dataclass(frozen=True, slots=True)
class Label:
    """Who is said to speak: his words without brackets, and what stands in those."""

    kind: Kind
    words: str
    inside: str = ""


def label(words: str, inside: str = "") -> Label | None:
    """What `words` are, as they stand before a colon; None for what is no speaker."""
    found = words.strip().removesuffix(".").split()
    plain = [word.strip(".,").casefold() for word in found]
    if not found or len(found) > _MOST_WORDS or not all(map(_is_word, found)):
        return None
    kind = _kind(found, plain)
    if kind != "office" and plain[0] == "the" and is_titled(inside) and _are_capitals(found):
        kind = "office"  # `The Lord Privy Seal (Mr. Hay)`
    return Label(kind, " ".join(found), inside) if kind else None


def unread(words: str) -> Label | None:
    """What may stand before the words of somebody who is not known: `LEE`, `Lee`, `Speaker 2`."""
    said = words.strip()
    if not _UNREAD.fullmatch(said):
        return None
    first, *others = said.split()
    if first == "The" and _are_capitals(others):  # `The Duke of Hay`
        return Label("name", said)
    is_whole = all(word in _PARTICLES or not word[0].islower() for word in others)
    if _plain_word(first) in _TITLES and is_whole:
        return Label("name", said)  # `Mr. ____`, `Juror No. 5`
    is_one = (
        first.replace("-", "").isalpha() and len(others) < 2 and all(map(str.isdecimal, others))
    )
    is_other = first[0].isupper() and first.casefold() not in _NOBODY
    is_read = said.isupper() or first.casefold() in _ANYBODY or (is_one and is_other)
    return Label("name", said) if is_read else None


def is_anybody(words: str) -> bool:
    """Whether they say that somebody speaks, and not who."""
    first, *others = words.split()
    return first.casefold() in _ANYBODY or (bool(others) and _plain_word(first) in _TITLES)


def bare_name(said: Label) -> str:
    """The words of a person's label behind a title that is an ordinary word; else empty."""
    first, _, name = said.words.partition(" ")
    is_ordinary = said.kind == "person" and first.casefold() in _ORDINARY
    return name if is_ordinary and not said.words.isupper() else ""


def is_address(said: Label) -> bool:
    """Whether who presides is addressed so within a speech: `Mr. President: I rise.`"""
    first, *others = said.words.casefold().split()
    return len(others) == 1 and first.strip(".") in _ADDRESSES and others[0] in _OFFICES


def plain_titles(words: str) -> str:
    """`MR. HAY` as `Mr. HAY`."""
    return " ".join(
        word.capitalize() if word.strip(".").casefold() in _TITLES and word.isupper() else word
        for word in words.split()
    )


def is_office(words: str) -> bool:
    """Whether one of the words is that of an office."""
    return any(_is_of_office(word.strip(".,").casefold()) for word in words.split())


def is_titled(words: str) -> bool:
    """Whether they begin as those of a person with a title do: `Hon. Ann Hay`."""
    found = words.split()
    return len(found) > 1 and found[0].strip(".,").casefold() in _TITLES and found[-1][0].isupper()


def _kind(found: list[str], plain: list[str]) -> Kind | None:
    if not _are_capitals(found) and not (
        plain[-1] in ("member", "members") and set(plain[:-1]) <= _MEMBERS
    ):
        return None
    own = plain[1:] if plain[0] in ("the", "an", "a") else plain
    if len(own) < len(plain) or any(word in _OFFICES for word in own[-1:]):
        if any(map(_is_of_office, own)):
            return "office"
        return "person" if is_titled(" ".join(found[1:])) else None
    if own[0] in _OFFICES and len(own) > 1 and own[1] in ("of", "for", "at"):
        return "office"
    if set(own) & _JOINING:
        return None
    if len(own) > 2 and _OFFICES.issuperset(own[:2]):  # `Attorney General HAY`
        return "person"
    if own[0] in _TITLES and len(own) > 1:
        return "person" if len(own) <= _MOST_OF_A_NAME + 3 else None
    if found[0].endswith(","):  # `Hay, Ann`, as a bibliography has it
        return None
    return "name" if 1 < len(own) <= _MOST_OF_A_NAME and not set(own) & _NOBODY else None


def _plain_word(word: str) -> str:
    return word.strip(".,").casefold()


def _is_of_office(word: str) -> bool:
    """Whether it is one of an office, as `under-secretary` is, too."""
    return not _OFFICES.isdisjoint(word.replace("‐", "-").split("-"))


def _are_capitals(found: list[str]) -> bool:
    return all(_is_capital(word) or word in _PARTICLES for word in found)


def _is_word(word: str) -> bool:
    if not _WORD.fullmatch(word):
        return False
    return not word.endswith(".") or len(word) <= _SHORT + 1 or word.casefold()[:-1] in _TITLES


def _is_capital(word: str) -> bool:
    return word[0].isupper() or word[:2] in ("d'", "d’")
