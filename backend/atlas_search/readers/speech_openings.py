"""The beginnings of speeches on their lines."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Literal, NamedTuple

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
"""Words that an office may have, and no name."""
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
class SpeakerLabel:
    """The label of a speaker: `words` without the bracket, and the text `inside` it."""

    kind: Kind
    words: str
    inside: str = ""


def label(words: str, inside: str = "") -> SpeakerLabel | None:
    """Label the words before a colon; None for what is no speaker."""
    parts = words.strip().removesuffix(".").split()
    plain = [word.strip(".,").casefold() for word in parts]
    if not parts or len(parts) > _MOST_WORDS or not all(map(_is_word, parts)):
        return None
    kind = _kind(parts, plain)
    if kind != "office" and plain[0] == "the" and is_titled(inside) and _are_capitals(parts):
        kind = "office"  # `The Lord Privy Seal (Mr. Hay)`
    return SpeakerLabel(kind, " ".join(parts), inside) if kind else None


def unread(words: str) -> SpeakerLabel | None:
    """Label somebody who is not known: `LEE`, `Lee`, `Speaker 2`; None for what is no speaker."""
    name = words.strip()
    if not _UNREAD.fullmatch(name):
        return None
    first, *others = name.split()
    if first == "The" and _are_capitals(others):  # `The Duke of Hay`
        return SpeakerLabel("name", name)
    is_whole = all(word in _PARTICLES or not word[0].islower() for word in others)
    if _plain_word(first) in _TITLES and is_whole:
        return SpeakerLabel("name", name)  # `Mr. ____`, `Juror No. 5`
    is_one = (
        first.replace("-", "").isalpha() and len(others) < 2 and all(map(str.isdecimal, others))
    )
    is_other = first[0].isupper() and first.casefold() not in _NOBODY
    is_read = name.isupper() or first.casefold() in _ANYBODY or (is_one and is_other)
    return SpeakerLabel("name", name) if is_read else None


def is_anybody(words: str) -> bool:
    """Say if they say that somebody speaks, and not who."""
    first, *others = words.split()
    return first.casefold() in _ANYBODY or (bool(others) and _plain_word(first) in _TITLES)


def bare_name(said: SpeakerLabel) -> str:
    """The words of a person's label behind a title that is an ordinary word; else empty."""
    first, _, name = said.words.partition(" ")
    is_ordinary = said.kind == "person" and first.casefold() in _ORDINARY
    return name if is_ordinary and not said.words.isupper() else ""


def is_address(said: SpeakerLabel) -> bool:
    """Say if who presides is addressed so within a speech: `Mr. President: I rise.`"""
    first, *others = said.words.casefold().split()
    return len(others) == 1 and first.strip(".") in _ADDRESSES and others[0] in _OFFICES


def plain_titles(words: str) -> str:
    """`MR. HAY` as `Mr. HAY`."""
    return " ".join(
        word.capitalize() if word.strip(".").casefold() in _TITLES and word.isupper() else word
        for word in words.split()
    )


def is_office(words: str) -> bool:
    """Say if one of the words is that of an office."""
    return any(_is_of_office(word.strip(".,").casefold()) for word in words.split())


def is_titled(words: str) -> bool:
    """Say if they begin as those of a person with a title do: `Hon. Ann Hay`."""
    parts = words.split()
    return len(parts) > 1 and parts[0].strip(".,").casefold() in _TITLES and parts[-1][0].isupper()


def _kind(parts: list[str], plain: list[str]) -> Kind | None:
    if not _are_capitals(parts) and not (
        plain[-1] in ("member", "members") and set(plain[:-1]) <= _MEMBERS
    ):
        return None
    own = plain[1:] if plain[0] in ("the", "an", "a") else plain
    if len(own) < len(plain) or any(word in _OFFICES for word in own[-1:]):
        if any(map(_is_of_office, own)):
            return "office"
        return "person" if is_titled(" ".join(parts[1:])) else None
    if own[0] in _OFFICES and len(own) > 1 and own[1] in ("of", "for", "at"):
        return "office"
    if set(own) & _JOINING:
        return None
    if len(own) > 2 and _OFFICES.issuperset(own[:2]):  # `Attorney General HAY`
        return "person"
    if own[0] in _TITLES and len(own) > 1:
        return "person" if len(own) <= _MOST_OF_A_NAME + 3 else None
    if parts[0].endswith(","):  # `Hay, Ann`, as a bibliography has it
        return None
    return "name" if 1 < len(own) <= _MOST_OF_A_NAME and not set(own) & _NOBODY else None


def _plain_word(word: str) -> str:
    return word.strip(".,").casefold()


def _is_of_office(word: str) -> bool:
    """Say if it is one of an office, as `under-secretary` is, too."""
    return not _OFFICES.isdisjoint(word.replace("‐", "-").split("-"))


def _are_capitals(parts: list[str]) -> bool:
    return all(
        word[0].isupper() or word[:2] in ("d'", "d’") or word in _PARTICLES for word in parts
    )


def _is_word(word: str) -> bool:
    if not _WORD.fullmatch(word):
        return False
    return not word.endswith(".") or len(word) <= _SHORT + 1 or word.casefold()[:-1] in _TITLES


_Speech = Literal["colon", "stop", "dash", "question", "answer", "examiner", "witness"]
Form = _Speech | Literal["unread", "salutation", "end", "none"]

_HEAD = 320
"""Characters of a line, and of the next where a bracket goes on, in which a speech has begun."""

_TIME = r"[\[(]?\d{1,2}:\d\d(?::\d\d(?:[.,]\d{1,3})?)?[\])]?"
_BEFORE = re.compile(
    rf"[^\S\n]{{0,60}}(?:{_TIME}[^\S\n]+)?(?:[*†•>-](?!\*)[^\S\n]?)?(?:\*\*|__)?[^\S\n]?"
)
_BRACKET = r"\((?:[^()\n]|\n(?!\n)|\([^()\n]{0,80}\)){1,200}\)"
_REMARK = r"\[[^\[\]\n]{1,60}\]"  # `[continuing]`
_OUTSIDE = r"[^\W\d_][^\n:()\[\]—–\"“”?!;*]{0,110}"
_COLON = re.compile(
    rf"({_OUTSIDE})(?:\*\*|__)?[^\S\n]?(?:{_REMARK}[^\S\n]?)?({_BRACKET})?[^\S\n]?((?:{_BRACKET}[^\S\n]?){{0,2}})"
    r"(?::(?:\*\*|__)|(?:\*\*|__):|:)(?=\s|$|[\"“])"
)
_STOP = re.compile(
    r"((?:The|An|Mrs?|Ms|Miss|Dr|Prof|Professor|Senator|Chair(?:man|woman|person)?|Judge|Justice"
    r"|Representative|Secretary|Ambassador|Governor|General|Gen|Admiral|Colonel|Captain|Mayor"
    r"|Commissioner|Director|Delegate|Rev)\b\.?"
    r"(?: (?:[A-Z]\.|[^\W\d_][\w'’‐-]*)){0,6}? [^\W\d_][\w'’‐-]+)"
    rf"(?: (\([^()\n]{{1,80}}\))| {_REMARK})?\.[^\S\n]+(?=[\"“'‘(\[]{{0,2}}[^\W\d_a-z])"
)
_DASH = re.compile(
    rf"({_OUTSIDE}?)[^\S\n]?({_BRACKET})?[^\S\n]?((?:{_BRACKET}[^\S\n]?){{0,2}})(?:\.?--|\.[—–-]|[—–])(?=[^\S\n]?[\"“‘(]?[^\W\d_])"
)
# `Hon. (Dr) Hay`; blanks take the places of the brackets
_TITLE_INSIDE = re.compile(
    r"\b(Hon|Sen|Mr|Mrs|Ms|Prof|Dr|Rev|Amb)(\.? ?)"
    r"\(((?:[A-Z][A-Za-z]{0,5}\.?,? ?){1,3})\)(?= ?[A-Z])"
)
_HAS_DASH = re.compile(r"[—–]|\.-|--")
_CAPITALS = re.compile(r"\b(?:Ma?c)?[^\W\d_a-z]{2,}\b")
_QUESTION = re.compile(r"([QA])(?:[.:](?=\s)|(?=[^\S\n]{3}))[^\S\n]*")
_EXAMINER = re.compile(
    r"(?:[^\W\d_a-z]++[- ]?){0,3}\bB[yY] "
    r"((?:MR|MS|MRS|MISS|DR|Mr|Ms|Mrs|Miss|Dr)\.? [^\n:()]{2,60}):"
)
_NAME = r"(?:[^\W\d_a-z][^\Wa-z_]*\.? ){1,4}[^\W\d_a-z](?:[^\Wa-z_]|['’-])+"
_WITNESS = re.compile(
    rf"((?:Mrs?\.? |Ms\.? |Dr\.? )?{_NAME})(?:, [^\n]{{1,60}}?)?,?\s{{1,40}}"
    r"(?:(?:was |were )?(?:re)?called (?:in|as)|a witness|recalled"
    r"|(?:having )?(?:been )?(?:first )?(?:duly )?(?:sworn|affirmed))\b"
)
_STATEMENT = re.compile(
    r"(?:PREPARED |OPENING )?STATEMENT (?:OF|BY) (?:THE )?"
    rf"((?:HON(?:ORABLE)?\.? )?{_NAME})(?=,)"
)
# each behind a word without which the slower pattern need not be tried
_TESTIMONY: Sequence[tuple[re.Pattern[str], Form, Kind, re.Pattern[str]]] = (
    (re.compile(r"B[yY] [DM]"), "examiner", "person", _EXAMINER),
    (re.compile("STATEMENT"), "witness", "name", _STATEMENT),
    (re.compile("sworn|affirmed|called|a witness"), "witness", "name", _WITNESS),
)
_CLOSE = re.compile(r"[\[(]Whereupon\b|_{5,}[^\S\n]*$", re.MULTILINE)
# `My dear Sir:`, `GENTLEMEN:--`, `Dear Ann,` on a line of its own
_SALUTATION = re.compile(
    r"(?:(?:(?:my|very|most|dear|dearest|kind|good|worthy|respected|esteemed|honou?red"
    r"|hon|honou?rable|rev|reverend|rt|right|ladies|and)\b\.? ){0,5}(?:sirs?|madame?|gentlemen)"
    r"|(?:my )?(?:very )?(?:dear|dearest|beloved)\b[^\n:;—–]{1,40}?)"
    r"(?:[:;,.]?(?:--|[—–])|:(?=\s|$)|,(?=[^\S\n]*$))",
    re.IGNORECASE | re.MULTILINE,
)
_HEADING_LETTERS = 4
_INDENTED = 2  # columns of a paragraph in which a name in small letters can open a speech
_CENTRED = 8


class Opening(NamedTuple):
    """The beginning of a speech at `start`, or what ends one; its words begin at `said`.

    A salutation has a label if somebody may speak behind it.
    """

    start: int
    said: int
    form: Form
    label: SpeakerLabel | None = None


def openings(text: str) -> Iterator[Opening]:
    """Every line that begins as a speech may, in order; whether they are speeches is not said."""
    start, is_paragraph = 0, True
    while start < len(text):
        end = text.find("\n", start)
        end = end if end >= 0 else len(text)
        if end > start and (opening := _opening(text, start, end, is_paragraph)):
            yield opening
        is_paragraph = not text[start:end].strip()
        start = end + 1


def begins_speech(line: str) -> bool:
    """Say if a line begins as the speech of a person with a title or of an office does."""
    opening = next(openings(line), None) if ":" in line else None
    speaker = opening.label if opening is not None and opening.form == "colon" else None
    return speaker is not None and speaker.kind != "name"


def _opening(text: str, start: int, end: int, is_paragraph: bool) -> Opening | None:
    mark = _BEFORE.match(text, start, end)
    at = mark.end() if mark else start
    if at >= end or not (text[at].isalpha() and text[at].isupper()):
        return Opening(start, end, "end") if _CLOSE.match(text, at, end) else None
    head = text[start : min(start + _HEAD, len(text))]
    if "(" in head:
        head = _TITLE_INSIDE.sub(r"\1\2 \3 ", head)
    at -= start
    if greeting := _SALUTATION.match(head, at):
        who = greeting[0].removesuffix(":")  # `SIR:`, who may be a person of a play
        speaker = unread(who) if who.isupper() and who.isalpha() else None
        return Opening(start, start + greeting.end(), "salutation", speaker)
    if testimony := _testimony(head, at, start):
        return testimony
    if colon := _COLON.match(head, at):
        if speaker := _labelled(colon):
            return Opening(start, start + colon.end(), "colon", speaker)
        other = unread(colon[1])
        return Opening(start, start + colon.end(), "unread", other) if other else None
    first = head[: end - start]
    if stop := _STOP.match(first, at):
        if not (_CAPITALS.search(stop[1]) or _begins_paragraph(text, start, at, is_paragraph)):
            return None
        if head.startswith(stop[1], stop.end()):  # `The Clerk. The Clerk shall keep the seal.`
            return None
        speaker = label(stop[1], _bare(stop[2]))
        return Opening(start, start + stop.end(), "stop", speaker) if speaker else None
    if _HAS_DASH.search(first):
        dash = _DASH.match(first, at)
        if dash and _CAPITALS.search(dash[1]) and (speaker := _labelled(dash)):
            if dash[1].endswith(","):  # `SIR ROBERT,--I write`
                return Opening(start, start + dash.end(), "salutation")
            is_person = speaker.kind == "name"
            return None if is_person else Opening(start, start + dash.end(), "dash", speaker)
    return _end(first, at, start, is_paragraph)


def _begins_paragraph(text: str, start: int, indent: int, is_paragraph: bool) -> bool:
    """Say if a line is indented more than the one before it, or follows another speech.

    `Mr. President. I yield.` may well be how a line within a speech begins.
    """
    if indent < _INDENTED or not text[start : start + indent].isspace():
        return False
    before = text[text.rfind("\n", 0, max(start - 1, 0)) + 1 : max(start - 1, 0)]
    margin = len(before) - len(before.lstrip())
    is_speech = margin == indent and _STOP.match(before, margin) is not None
    return is_paragraph or margin < indent or is_speech


def _testimony(head: str, at: int, start: int) -> Opening | None:
    if head[at] in "QA" and (question := _QUESTION.match(head, at)):
        form: Form = "question" if question[1] == "Q" else "answer"
        return Opening(start, start + question.end(), form)
    for mark, form_, kind, pattern in _TESTIMONY:
        if mark.search(head) and (match := pattern.match(head, at)):
            return Opening(start, start + match.end(), form_, SpeakerLabel(kind, match[1]))
    return None


def _labelled(match: re.Match[str]) -> SpeakerLabel | None:
    return label(match[1], _bare(match[2]))


def _bare(bracket: str | None) -> str:
    return " ".join((bracket or "")[1:-1].split())


def _end(line: str, at: int, start: int, is_paragraph: bool) -> Opening | None:
    """A heading in capitals: who spoke before it is not known to go on."""
    heading = line.strip()
    letters = sum(map(str.isalpha, heading))
    is_heading = (
        letters >= _HEADING_LETTERS and heading.isupper() and not heading.endswith((".", ",", "?"))
    )
    if is_heading and (is_paragraph or at >= _CENTRED):
        return Opening(start, start + len(line), "end")
    return None
