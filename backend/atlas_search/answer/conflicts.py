"""Contradictions between the passages that an answer is written from."""

import re
from collections import defaultdict
from collections.abc import Hashable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import combinations, pairwise
from typing import Literal, NamedTuple

from atlas_search.answer.check.citations import Verification
from atlas_search.answer.check.phrases import is_superseded, took_over
from atlas_search.core.domain import CheckedPassage, Citation, Passage
from atlas_search.language.english import (
    AUXILIARIES,
    DENIES,
    MONTHS,
    NEGATIONS,
    Quantity,
    any_of,
    are_opposite,
    quantities,
    stems,
)
from atlas_search.language.languages import DEFAULT_LANGUAGE
from atlas_search.language.lines import unwrap
from atlas_search.language.numerals import NUMBERS
from atlas_search.language.text import Word, content_terms, sentences, trim, words

Force = Literal["", "permitted", "required", "forbidden", "optional", "mixed"]

_BE = r"(?:is|are|was|were|be|been)"
_NOT = r"(?:\s+not|n['’]t|\s+never)"
_PERMITTED = r"(?:allowed|permitted|authori[sz]ed|entitled|free\s+to)"
_REQUIRED = r"(?:required|mandatory|compulsory|obligatory|obliged|necessary|needed)"
_FORBIDDEN = r"(?:prohibited|forbidden|banned|barred)"
_OPTIONAL = r"(?:optional|voluntary)"
RULED = rf"(?:{_PERMITTED}|{_REQUIRED}|{_FORBIDDEN}|{_OPTIONAL})"
"""Words that rule on anything one does: it is forbidden to enter."""

_PHRASES = re.compile(
    # what bounds an amount neither permits nor forbids; the longest come first
    rf"(?P<bound>\b(?:[Nn]o|[Nn]ot|never)\s+(?:more|less|fewer|later|longer|over|older)\b(?:\s+than\b)?|"
    rf"\b(?:must|may|shall|can|should)\s*(?:not|never)\s+exceed\b|\bnot\s+exceed(?:ing)?\b)|"
    rf"(?P<optional>\bneed(?:\s+not|n['’]t)\b|\b(?:do|does|did){_NOT}\s+(?:have|need)\s+to\b|"
    rf"\b{_BE}{_NOT}\s+{_REQUIRED}\b|\b{_BE}\s+(?:always\s+|entirely\s+)?{_OPTIONAL}\b)|"
    rf"(?P<forbidden>\b(?:must|shall|can|may|MAY|MUST|SHALL|CAN)(?:\s*not|\s*NOT|n['’]t|\s+never)\b|"
    rf"\bcan['’]t\b|\b{_BE}{_NOT}\s+{_PERMITTED}\b|\b{_BE}\s+(?:strictly\s+)?{_FORBIDDEN}\b|"
    rf"\b(?:prohibits?|forbids?|bans?)\b)|"
    rf"(?P<demanded>\b(?:must|shall|MUST|SHALL)\b|\b(?:has|have|had)\s+to\b)|"
    rf"(?P<required>\b{_BE}\s+(?:always\s+)?{_REQUIRED}\b|\brequires?\b)|"
    rf"(?P<permitted>\b(?:may|can|MAY|CAN)\b|\b{_BE}\s+(?:also\s+)?{_PERMITTED}\b|"
    rf"\b(?:allows?|permits?)\b)"
)
_DENIES_ALL = re.compile(r"^(?:No(?!\s+(?:more|less|fewer|later))|Nobody|No\s+one|None|Neither)\b")
_DENIED: dict[str, Force] = {
    "permitted": "forbidden",
    "demanded": "forbidden",  # no person shall
    "required": "optional",  # no licence is required
    "forbidden": "permitted",
}
_CLASHES = (
    frozenset({"permitted", "forbidden"}),
    frozenset({"required", "forbidden"}),
    frozenset({"required", "optional"}),
)


def _rule(sentence: str) -> tuple[Force, frozenset[int]]:
    """The rule that a sentence states: `no person shall` forbids, `need not` leaves open.

    Empty for none, `mixed` for several. With all characters that say so, or bound an amount.
    """
    matches = [(match, match.lastgroup or "") for match in _PHRASES.finditer(sentence)]
    places = [match.span() for match, _ in matches]
    names = [name for _, name in matches if name != "bound"]
    start = _DENIES_ALL.match(sentence)
    if start and names and names[0] in _DENIED:
        places.append(start.span())
        forces = {_DENIED[names[0]], *map(_plain, names[1:])}
    else:
        forces = {_plain(name) for name in names}
    force: Force = forces.pop() if len(forces) == 1 else "mixed" if forces else ""
    return force, frozenset(at for place in places for at in range(*place))


def clash(one: Force, other: Force) -> bool:
    """Return True if two rules on one thing cannot both hold."""
    return frozenset({one, other}) in _CLASHES


def _plain(name: str) -> Force:
    return "required" if name == "demanded" else name  # type: ignore[return-value]


_LIGHT = stems(
    "allow permit get give grant make take have hold provide offer issue apply state say set put "
    "pay cost obtain use enable entitle available possible maximum minimum limit cap quota "
    "period deadline window least most up within exactly just request ask need want able term "
    "length amount number rate level total always ever currently now today there place time age "
    "policy rule require requirement support accept bear charge last sum equal include must may "
    "exceed restrict ceiling prohibit forbid ban mandatory compulsory optional voluntary oblige "
    f"can shall should will {NEGATIONS} {' '.join(NUMBERS)} {' '.join(MONTHS)}"
)
"""Stems that say how a thing stands, not which thing: `is limited to`, `may be granted`."""

_COMMON = stems(
    "court judge justice jury law statute act section article case decision opinion majority "
    "minority appeal member party plaintiff defendant appellant respondent claimant applicant "
    "state government parliament congress house committee bill person people man men woman women "
    "right power thing way part question issue matter group country world company work order "
    "judgment ruling provision agreement contract clause document paper report supreme united"
)
"""Stems of things so common that two sentences which share them need not mean the same one."""

_NOT_FREE = re.compile(
    # somebody's opinion, a condition, what only its document makes clear, what holds at times
    r"\b(?:argu\w+|claim(?:s|ed|ing)|contend\w*|alleg\w+|suggest\w*|propos\w+|recommend\w*|"
    r"draft\w*|suppos\w+|imagin\w+|assum\w+|hypothe\w+|for (?:example|instance)|"
    r"dissent\w*|believ\w+|thought|would|could|might|according to|predict\w+|expect\w*|hope[ds]?|"
    r"if|unless|except|only|provided|whether|until|although|where(?:as)?|while|when|but|"
    r"some(?:times)?|many|(?<!at )(?<!at the )most|few|several|often|usually|generally|typically|"
    r"certain|rarely|subject to|other than|rather than|no longer(?! than)|both|"
    r"not (?:all|always|every)|th(?:is|ese|at|ose)|"
    rf"it(?! is (?:\w+ )?{RULED}\b)|"
    r"i|my|you|your|he|she|they|his|her|its|their|such|hereof|herein|hereto)\b|\?[\"”’)]*$",
    re.IGNORECASE,
)
_PAST = re.compile(
    rf"{any_of('was were had did')}|\b\w{{3,}}ed\b|\b(?:cost|got|held|made|won|sent)\b"
)
_PRESENT = re.compile(any_of("is are may must shall can cannot will should does do has have be"))
_DIGIT = re.compile(r"\d")
_NARROWS = re.compile(
    any_of(
        "of for with in on at to from by during after before over outside inside within through "
        "against between among via into onto about near under above below upon"
    )
)
_ENDS_PHRASE = re.compile(any_of(f"{AUXILIARIES} and or which who"))
_WITHOUT_EXCEPTION = re.compile(rf"{any_of('never always any every all')}|\b(?:must|shall) not\b")
_CEILING = re.compile(any_of("limit limits limited cap capped quota maximum ceiling restricted"))
_FLOOR = re.compile(r"\bminimum\b", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Statement:
    """The content of a sentence, as far as it is compared with others.

    `said` are its folded words by their stems, `subject` the stems of what it is about, `names`
    those of its capitalised words but the first, which is its `opening`, `labels` its numbers that
    are no quantities (sections, years in a name). `narrowed` are the stems behind a preposition,
    `beside` the pairs of stems next to each other, which make one thing of two. A `past` statement
    tells of one event. One that is not `free` holds under a condition or for somebody only, or
    speaks of what its document alone makes clear. One `without_exception` says so: never, any.
    `denies` leaves out what its `force` says.
    """

    said: dict[str, str]
    subject: frozenset[str]
    names: frozenset[str]
    opening: frozenset[str]
    labels: frozenset[str]
    quantities: tuple[Quantity, ...]
    narrowed: frozenset[str]
    beside: frozenset[frozenset[str]]
    force: Force
    denies: bool
    past: bool
    free: bool
    is_ceiling: bool
    is_floor: bool
    without_exception: bool

    @property
    def terms(self) -> frozenset[str]:
        """The stems of all that it says, of what it counts too."""
        return frozenset({*self.said, *(amount.noun for amount in self.quantities)})


@lru_cache(maxsize=4096)  # a passage is found by many questions
def read(sentence: str) -> Statement:
    """Read an English sentence."""
    amounts = tuple(quantities(sentence))
    force, in_rule = _rule(sentence)
    counted = in_rule.union(*(range(amount.start, amount.end) for amount in amounts))
    outside = [word for word in words(sentence) if word.start not in counted]
    informative = [word for word in outside if word.informative]
    denials = [match for match in DENIES.finditer(sentence) if match.start() not in in_rule]
    return Statement(
        said={w.term: w.folded for w in informative if not _DIGIT.search(w.folded)},
        subject=frozenset(
            w.term for w in informative if w.term not in _LIGHT and not _DIGIT.search(w.folded)
        ),
        names=frozenset(w.term for w in informative if w.start and sentence[w.start].isupper())
        - _COMMON,
        opening=frozenset(w.term for w in informative if not w.start) - _COMMON,
        labels=frozenset(w.folded for w in outside if _DIGIT.search(w.folded)),
        quantities=amounts,
        narrowed=_narrowed(sentence, outside),
        beside=_beside(sentence, outside),
        force=force,
        denies=len(denials) % 2 == 1,
        past=bool(_PAST.search(sentence)) and not _PRESENT.search(sentence),
        free=not _NOT_FREE.search(sentence),
        is_ceiling=force == "permitted" or bool(_CEILING.search(sentence)),
        is_floor=bool(_FLOOR.search(sentence)) or any(q.bound == "least" for q in amounts),
        without_exception=bool(_WITHOUT_EXCEPTION.search(sentence)),
    )


def _narrowed(sentence: str, outside: Sequence[Word]) -> frozenset[str]:
    """The stems of the words behind a preposition, as far as its phrase goes."""
    terms, inside, end = set(), False, 0
    for word in outside:
        between = sentence[end : word.start]
        if between.strip(" -") or _ENDS_PHRASE.fullmatch(word.folded):
            inside = False
        if _NARROWS.fullmatch(word.folded):
            inside = True
        elif inside and word.informative:
            terms.add(word.term)
        end = word.end
    return frozenset(terms)


def _beside(sentence: str, outside: Sequence[Word]) -> frozenset[frozenset[str]]:
    """The pairs of informative stems with nothing but a blank or a hyphen between them."""
    return frozenset(
        frozenset({one.term, two.term})
        for one, two in pairwise(outside)
        if one.informative and two.informative and sentence[one.end : two.start] in (" ", "-")
    )


def specific(terms: frozenset[str]) -> frozenset[str]:
    """Drop the stems of common things, which do not tell one thing from another."""
    return terms - _COMMON


SHARED = 0.4  # least share of the words of both that two statements on one thing have in common

_QUALIFYING = stems(
    "average median initial additional further extra annual monthly weekly daily net gross "
    "estimated proposed original former previous first second third last next new old temporary "
    "interim partial half single joint adult child children early late upper lower personal "
    "corporate commercial private foreign international local federal national standard premium "
    "senior junior other another each every remaining combined overall current minor serious direct"
)
"""Stems that make another thing of what they stand with: the annual fee is not the fee."""

_BINDING: dict[str, Force] = {"least": "required", "over": "forbidden"}
"""The force that makes a bound a rule: `must have at least 8`, `may not park over 2 hours`."""

_GRANTS = stems("api service server system platform gateway")
_IS_GRANTED = stems("client user customer caller consumer developer")
"""The side that allows so many requests and the side that may make them, of one rule."""


class Clash(NamedTuple):
    """A contradiction between two statements; `detail` is for people."""

    kind: Literal["polarity", "number"]
    detail: str


def difference(a: Statement, b: Statement, titles: frozenset[str] = frozenset()) -> Clash | None:
    """Return the contradiction between two statements on the same thing; None if there is none.

    They speak of the same thing if one names nothing that the other, or the title of its document,
    does not. What happened once must be tied to a name both use.
    """
    if not (a.free and b.free) or a.labels != b.labels or a.past != b.past:
        return None
    if not specific(_common(a, b)):  # what most pairs lack, told before what takes longer
        return None
    opposed = _opposed(a, b)
    if not _speak_of_one_thing(a, b, titles, opposed):
        return None
    if a.past and not (a.names | a.opening) & (b.names | b.opening):
        return None
    if a.denies == b.denies and not opposed and not clash(a.force, b.force):
        return _numbers(a, b)
    return _polarity(a, b, opposed)


def may_agree(a: Statement, b: Statement) -> bool:
    """Return True if no number, date or denial of one is against the other."""
    return a.denies == b.denies and not clash(a.force, b.force) and _amounts_agree(a, b)


def _opposed(a: Statement, b: Statement) -> list[tuple[str, str]]:
    """The stems of each that deny one of the other."""
    return [
        (one, two)
        for one in a.said.keys() - b.said.keys()
        for two in b.said.keys() - a.said.keys()
        if are_opposite(a.said[one], b.said[two])
    ]


def _speak_of_one_thing(
    a: Statement, b: Statement, titles: frozenset[str], opposed: list[tuple[str, str]]
) -> bool:
    own = a.subject - b.subject - {one for one, _ in opposed}
    other = b.subject - a.subject - {two for _, two in opposed}
    if _narrows(a, b, own) or _narrows(b, a, other):
        return False
    own, other = own - titles, other - titles
    if own and other:
        own, other = _without_sides(own, other)
    if (own and other) or (own | other) & (_QUALIFYING | a.names | b.names):
        return False
    common = _common(a, b)
    return len(common) >= SHARED * len(common | own | other)


def _common(a: Statement, b: Statement) -> frozenset[str]:
    """Return the stems that both speak of, those of things they only count included."""
    counted = {q.noun for q in a.quantities} & {q.noun for q in b.quantities} - {""}
    return (a.subject & b.subject) | counted


def _without_sides(
    own: frozenset[str], other: frozenset[str]
) -> tuple[frozenset[str], frozenset[str]]:
    """The words that only one of two has, but for the two sides of one rule: the API, clients."""
    for grants, granted in ((own, other), (other, own)):
        if grants <= _GRANTS and granted <= _IS_GRANTED:
            return frozenset(), frozenset()
    return own, other


def _narrows(a: Statement, b: Statement, own: frozenset[str]) -> bool:
    """Check if a word only `a` has narrows it to a part of what `b` speaks of: an exception."""
    if any(pair & own and pair & b.subject for pair in a.beside):
        return True
    return bool(own & a.narrowed) and not b.without_exception


def _numbers(a: Statement, b: Statement) -> Clash | None:
    """One amount differs and all others agree: a scale has several."""
    first, second = ({q.unit: q for q in s.quantities} for s in (a, b))
    single = len(first) == len(a.quantities) and len(second) == len(b.quantities)
    if not single or first.keys() != second.keys() or len({a.force, b.force} - {""}) > 1:
        return None
    apart = [unit for unit in sorted(first) if first[unit].differs(second[unit])]
    if len(apart) != 1 or not all(_comparable(a, first[u], b, second[u]) for u in first):
        return None
    return Clash("number", f"{first[apart[0]].text} or {second[apart[0]].text}")


def _comparable(a: Statement, x: Quantity, b: Statement, y: Quantity) -> bool:
    """Check that both give an amount in the same sense: its size, or how far it may go.

    A fact is no bound: `at most 200 guests` is not against `150 guests`.
    """
    if a.is_floor != b.is_floor or "about" in (x.bound, y.bound):
        return False
    if x.bound == y.bound:
        return x.bound in ("", "most") or a.force == b.force == _BINDING.get(x.bound)
    if {x.bound, y.bound} != {"", "most"}:
        return False
    exact, most, statement = (x, y, a) if not x.bound else (y, x, b)
    return statement.is_ceiling or exact.exceeds(most)


def _polarity(a: Statement, b: Statement, opposed: list[tuple[str, str]]) -> Clash | None:
    """One denies what the other affirms; beside words that deny each other that is agreement."""
    units = [{quantity.unit for quantity in statement.quantities} for statement in (a, b)]
    if units[0] != units[1] or not _amounts_agree(a, b):
        return None
    denied = a.denies != b.denies
    if clash(a.force, b.force):
        return None if denied or opposed else Clash("polarity", f"{a.force} or {b.force}")
    if a.force != b.force or a.force not in ("", "required") or denied == bool(opposed):
        return None
    apart = [f"{a.said[one]} or {b.said[two]}" for one, two in opposed]
    return Clash("polarity", apart[0] if apart else "affirmed or denied")


def _amounts_agree(a: Statement, b: Statement) -> bool:
    return not any(
        x.unit == y.unit and x.bound == y.bound == "" and x.differs(y)
        for x in a.quantities
        for y in b.quantities
    )


Kind = Literal["polarity", "number", "repealed"]

MIN_WORDS = 4  # shorter lines are headings
MAX_WORDS = 60  # longer sentences say several things
SHARE_ASKED = 1 / 3  # of the question's words, for a superseded source and its successor
_WHOLE = re.compile(rf"^[`*\"“‘']*(?!{any_of(AUXILIARIES)})(?:[A-Z]|\d)[\s\S]*[.!;][\"”’')\]]*$")
_CLAUSE = re.compile(r"[^;]+;?")
_YEAR = re.compile(r"(?<!\d)(?:1[5-9]|20)\d\d(?!\d)")
_DRAFT = re.compile(
    r"\b(?:draft|proposed|proposal|bill|withdrawn|rejected|repealed|dissent(?:ing)?)\b",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class Contradiction:
    """Two places that contradict each other, the better ranked passage first.

    `detail` says in words what differs. `stated` if an answer cites both places.
    """

    kind: Kind
    first: Citation
    second: Citation
    detail: str
    stated: bool = False


MOST_COMPARED = 500
"""Sentences, those of the best passages: 100 corpora together have 10,000, and each is compared
with all that speak of the same."""


def conflicts_between(
    question: str, passages: Sequence[CheckedPassage]
) -> tuple[Contradiction, ...]:
    """The contradictions between passages of different documents, best ranked first.

    Only sentences that speak to the question count. What two corpora say is a conflict only if
    both name the same thing: the law of one country does not contradict that of another. What a
    superseded document says contradicts nothing but what took its place (`repealed`). Rather few
    are found than false ones; sentences in other languages than English are not compared, nor more
    than MOST_COMPARED. Each pair of places is listed once, in order of rank, then of place.
    """
    by_places = {
        _places(conflict): conflict
        for conflict in (*_find_repealed(question, passages), *_find_opposed(question, passages))
    }
    rank = {item.passage.id: number for number, item in reversed(list(enumerate(passages)))}
    return tuple(
        sorted(
            by_places.values(),
            key=lambda c: (rank[c.first.passage.id], rank[c.second.passage.id], *_places(c)),
        )
    )


def to_list(
    conflicts: Sequence[Contradiction], verification: Verification
) -> tuple[Contradiction, ...]:
    """Select the contradictions to list beside an answer, `stated` if it cites both places.

    One with a superseded source is listed only if the answer cites that source or its successor.
    """
    cited = verification.citations
    documents = {citation.passage.document_id for citation in cited}
    return tuple(
        replace(c, stated=_is_cited(c.first, cited) and _is_cited(c.second, cited))
        for c in conflicts
        if c.kind != "repealed"
        or documents & {c.first.passage.document_id, c.second.passage.document_id}
    )


def find_concealed(
    conflicts: Sequence[Contradiction], verification: Verification
) -> tuple[Contradiction, ...]:
    """Return the conflicts of which the answer cites one place and leaves out the other.

    A source that took the place of another need not be cited beside it, nor the other way round
    where a question is about the past; so a `repealed` conflict is never concealed.
    """
    cited = verification.citations
    return tuple(
        conflict
        for conflict in conflicts
        if conflict.kind != "repealed"
        and _is_cited(conflict.first, cited) != _is_cited(conflict.second, cited)
    )


def _is_cited(side: Citation, citations: Iterable[Citation]) -> bool:
    return any(
        citation.passage.document_id == side.passage.document_id
        and citation.start < side.end
        and side.start < citation.end
        for citation in citations
    )


def _places(conflict: Contradiction) -> tuple[tuple[str, int, int], tuple[str, int, int]]:
    return _place(conflict.first), _place(conflict.second)


def _place(side: Citation) -> tuple[str, int, int]:
    return side.passage.document_id, side.start, side.end


def _find_opposed(question: str, passages: Sequence[CheckedPassage]) -> list[Contradiction]:
    """Sentences on one matter whose numbers differ, or one of which denies the other."""
    terms = content_terms(question)
    sides: dict[tuple[str, int, int], Citation] = {}
    for item in passages:
        for side in _speaking_sides(item.passage, terms):
            sides.setdefault(_place(side), side)
    pairs = (_contradiction(a, b) for a, b in _on_one_matter(list(sides.values())[:MOST_COMPARED]))
    return [conflict for conflict in pairs if conflict]


def _on_one_matter(sides: Sequence[Citation]) -> Iterator[tuple[Citation, Citation]]:
    """The pairs that `_contradiction` could find opposed, looked up by what both must speak of."""
    alike: dict[Hashable, list[int]] = defaultdict(list)
    for number, side in enumerate(sides):
        said = _read(side)
        nouns = {amount.noun for amount in said.quantities} - {""}
        own = ((side.passage.corpus, stem) for stem in specific(said.subject | nouns))
        for matter in (*own, *said.names) if said.free else ():
            alike[matter, said.labels, said.past].append(number)
    pairs = {pair for numbers in alike.values() for pair in combinations(numbers, 2)}
    return ((sides[one], sides[other]) for one, other in sorted(pairs))


def _contradiction(a: Citation, b: Citation) -> Contradiction | None:
    one, other = a.passage, b.passage
    if one.document_id == other.document_id:
        return None
    first, second = _read(a), _read(b)
    if one.corpus != other.corpus and not first.names & second.names:
        return None
    titles = _title_terms(f"{one.title} {other.title}")
    contrast = difference(first, second, titles)
    if not contrast or _are_apart(one, other):
        return None
    return Contradiction(contrast.kind, a, b, contrast.detail)


_title_terms = lru_cache(maxsize=4096)(content_terms)


def _are_apart(one: Passage, other: Passage) -> bool:
    """Check if one took the place of the other, or if their titles name different years."""
    years = [frozenset(_YEAR.findall(passage.title)) for passage in (one, other)]
    in_different_years = all(years) and years[0] != years[1]
    return in_different_years or took_over(one, other) or took_over(other, one)


def _is_draft(passage: Passage) -> bool:
    """Check for a document that is not in force, or not yet, or one judge's opinion only."""
    status = str(passage.metadata.get("status", ""))
    return bool(_DRAFT.search(f"{passage.title} {passage.section} {status}"))


def _speaking_sides(passage: Passage, terms: frozenset[str]) -> list[Citation]:
    """The sentences of a passage that still holds which share a word with the question."""
    if passage.language != DEFAULT_LANGUAGE or is_superseded(passage) or _is_draft(passage):
        return []
    titled = content_terms(passage.title)
    clauses = (
        trim(passage.text, *clause.span())
        for span in sentences(passage.text)
        for clause in _CLAUSE.finditer(passage.text, span.start, span.end)
    )
    return [
        passage.cite(start, end)
        for start, end in clauses
        if is_sentence(quote := passage.text[start:end])
        and terms & (read(unwrap(quote)).terms | titled)
    ]


def is_sentence(quote: str) -> bool:
    """Check that the quote can state something alone: no heading, no list item, no long period."""
    return MIN_WORDS <= len(quote.split()) <= MAX_WORDS and bool(_WHOLE.search(quote))


def _read(side: Citation) -> Statement:
    return read(unwrap(side.quote))


def _find_repealed(question: str, passages: Sequence[CheckedPassage]) -> list[Contradiction]:
    """Set a superseded document against its successor, once for each pair of documents.

    Both must be evidence: a successor that merely turned up too is not asked about.
    """
    by_pair: dict[frozenset[str], Contradiction] = {}
    for one, other in combinations([item.passage for item in passages if item.valid], 2):
        pair = frozenset({one.document_id, other.document_id})
        if len(pair) < 2 or pair in by_pair:
            continue
        old, new = (one, other) if took_over(other, one) else (other, one)
        if not took_over(new, old):
            continue
        first, second = _speaking(question, one), _speaking(question, other)
        if first and second:
            detail = f"{old.title} was superseded by {new.title}"
            by_pair[pair] = Contradiction("repealed", first, second, detail)
    return list(by_pair.values())


def _speaking(question: str, passage: Passage) -> Citation | None:
    """The sentence of a passage that shares most words with the question; the first of several.

    None if they are too few to speak to it.
    """
    terms = content_terms(question, passage.language)
    spans = [
        span
        for span in sentences(passage.text, passage.language)
        if len(passage.text[span.start : span.end].split()) >= MIN_WORDS
    ]
    shared = [
        len(terms & content_terms(passage.text[span.start : span.end], passage.language))
        for span in spans
    ]
    best = max(shared, default=0)
    if not best or best < SHARE_ASKED * len(terms):
        return None
    return passage.cite(*spans[shared.index(best)])
