"""One readable form for the name of a person, whatever form a Hansard prints it in."""

import re
from collections import Counter
from collections.abc import Iterable

_TITLES = frozenset(
    "mr mrs ms miss dr sir dame lady prof professor senator senators sen hon honourable rt right "
    "the madam mp am ao mc qc".split()
)
_OFFICE = frozenset(
    "speaker president chairman chair chairwoman clerk acting deputy temporary assistant second "
    "of committees committee".split()
)
_INSIDE = re.compile(r"\(([^()]*)\)?")
_HONORIFIC = re.compile(
    r"(?:(?:(?:the|le|la)\s++)?(?:right|rt|très)?\.?(?:(?<!\s)\s++)?(?:hon|honou?rable|l['’]hon)\.?"
    r"\s++|(?:mr|mrs|ms|miss|dr|m|mme|mlle|sen|senator|sir|madam)\.?\s++)+",
    re.IGNORECASE,
)
# a run of blanks is taken as a whole, from its first one on
_DIGIT = re.compile(r"\d")


class Persons:
    """The speakers of a file, each by the fullest form that it has for an id or a surname.

    The form is `Surname, Given names`, without titles and offices, so that it is the same in every
    file of a source that files its members in this way.
    """

    def __init__(self, forms: Iterable[tuple[str, str]], *, nobody: frozenset[str]) -> None:
        """`forms` are pairs of an id and a form, `nobody` the ids that several people share."""
        self._nobody = nobody | {""}
        counts: dict[tuple[str, str], Counter[str]] = {}
        for id_, form in forms:
            if name := filed(form):
                counts.setdefault((self._own(id_, name), _surname(name)), Counter())[name] += 1
        self._names = {key: names.most_common(1)[0][0] for key, names in counts.items()}
        self._all = sorted(set(self._names.values()))

    def name(self, id_: str, form: str) -> str:
        """The one name of whoever is printed as `form`: a person, else an office, else `form`."""
        if name := filed(form):
            return self._names.get((self._own(id_, name), _surname(name)), name)
        outside = _INSIDE.sub("", form)
        inside = _INSIDE.search(form)
        if (holder := office(outside)) and inside and _HONORIFIC.match(inside[1]):
            return self.name("", inside[1])
        return self._match_printed(id_, outside) or holder or spoken(outside)

    def of_id(self, id_: str) -> str:
        """The only person with that id; empty if there is none, or several."""
        names = [name for key, name in self._names.items() if key[0] == id_]
        return names[0] if len(names) == 1 else ""

    def _own(self, id_: str, name: str) -> str:
        """The id if it is that of one person, else the name: `Adams, Dick` in the chair."""
        return name if id_ in self._nobody else id_

    def _match_printed(self, id_: str, form: str) -> str:
        """Whom `Senator HILL` means: the person with that id, or the only one of that name."""
        words = _words(form)
        if office(form):
            return self.of_id(id_)
        own = [name for key, name in self._names.items() if key[0] == id_ and _fits(words, name)]
        names = own or [name for name in self._all if _fits(words, name)]
        return names[0] if len(set(names)) == 1 else ""


def filed(form: str) -> str:
    """`HOWARD, John, MP` and `Howard, Sen John` as `Howard, John`; empty for any other form.

    `Howard The Hon J.W.` gives `Howard, J.W.`.
    """
    surname, comma, given = _INSIDE.sub("", form).partition(",")
    words = surname.split()
    if not comma:
        titles = [at for at, word in enumerate(words) if _is_title(word)]
        at = titles[0] if titles else 0
        words, given = words[:at], " ".join(words[at:])
    names = [word for word in given.replace(",", " ").split() if _is_given(word)]
    if not words or not names or any(_is_title(word) for word in words) or office(surname):
        return ""
    return f"{calm(' '.join(words))}, {calm(' '.join(names))}"


def office(form: str) -> str:
    """`SPEAKER, Mr` and `Mr SPEAKER` as `The Speaker`; empty for what is none."""
    words = [word for word in re.findall(r"[^\W_]+", form.casefold()) if word not in _TITLES]
    is_one = bool(words) and all(word in _OFFICE for word in words)
    return f"The {' '.join(words).title().replace(' Of ', ' of ')}" if is_one else ""


def spoken(form: str) -> str:
    """`Mr HOWARD,MP:` as `Mr Howard`: no capitals throughout, no constituency."""
    name = re.sub(r",\s*MP\b", "", _INSIDE.sub("", form))
    return calm(re.sub(r"(?<!\s)\s+interjecting\b.*$", "", name).strip(" :-—–,"))


def is_name(name: str) -> bool:
    """Say if it is filed, an office, or begins with a title; else it can be any words."""
    return "," in name or bool(office(name)) or _HONORIFIC.match(name) is not None


def printed(form: str) -> str:
    """`spoken`, and of `The PRIME MINISTER (Mr. Example)` the person."""
    inside = _INSIDE.search(form)
    return spoken(inside[1] if inside and _HONORIFIC.match(inside[1]) else form)


def without_title(name: str) -> str:
    """`Right Hon. Ann Example` as `Ann Example`; `Mr. Example`, without a given name, stays."""
    bare = _HONORIFIC.sub("", name)
    return bare if " " in bare else name


def _surname(name: str) -> str:
    return name.partition(",")[0].casefold()


def _words(form: str) -> list[str]:
    words = re.findall(r"[^\W_][\w'.’-]*", spoken(form))
    return [calm(word).casefold() for word in words if not _is_title(word)]


def _fits(words: list[str], name: str) -> bool:
    """Say if words end in the surname of `name` and begin with one of its given names."""
    surname, _, given = name.casefold().partition(", ")
    last = surname.split()
    before = words[: len(words) - len(last)]
    begins = [part[0] for part in re.findall(r"[^\W_]+", given)]
    return words[len(before) :] == last and all(word[0] in begins for word in before)


def _is_given(word: str) -> bool:
    return word[0].isalpha() and not _is_title(word) and not _DIGIT.search(word)


def _is_title(word: str) -> bool:
    return word.casefold().strip(".,") in _TITLES


def calm(text: str) -> str:
    """Words in capitals as names are written: `MCDONALD` as `McDonald`, `O’BRIEN` as `O'Brien`."""
    text = text.replace("’", "'")
    return " ".join(_calm_word(word) for word in text.split())


def _calm_word(word: str) -> str:
    mixed = re.fullmatch(r"(Mc|Mac)([^\W\d_a-z]{2,})(.*)", word)
    if mixed:
        return f"{mixed[1]}{mixed[2].capitalize()}{mixed[3]}"
    if not word.isupper() or "." in word or sum(map(str.isalpha, word)) < 2:
        return word
    calm = re.sub(r"[^\W\d_]+", lambda part: part[0].capitalize(), word)
    calm = re.sub(r"'S\b", "'s", calm)
    return re.sub(r"^Mc(\w{2,})", lambda part: f"Mc{part[1].capitalize()}", calm)
