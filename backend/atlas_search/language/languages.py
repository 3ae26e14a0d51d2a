"""The languages in which words can be compared: their stemmers and function words."""

import re
import unicodedata
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from operator import itemgetter

import Stemmer
import tantivy

DEFAULT_LANGUAGE = "en"
LANGUAGES: Mapping[str, str] = {
    "ar": "arabic",
    "ca": "catalan",
    "cs": "czech",
    "da": "danish",
    "de": "german",
    "el": "greek",
    "en": "english",
    "eo": "esperanto",
    "es": "spanish",
    "et": "estonian",
    "eu": "basque",
    "fa": "persian",
    "fi": "finnish",
    "fr": "french",
    "ga": "irish",
    "hi": "hindi",
    "hu": "hungarian",
    "hy": "armenian",
    "id": "indonesian",
    "it": "italian",
    "lt": "lithuanian",
    "nb": "norwegian",
    "ne": "nepali",
    "nl": "dutch",
    "nn": "norwegian",
    "no": "norwegian",
    "pl": "polish",
    "pt": "portuguese",
    "ro": "romanian",
    "ru": "russian",
    "sr": "serbian",
    "st": "sesotho",
    "sv": "swedish",
    "ta": "tamil",
    "tr": "turkish",
    "yi": "yiddish",
} | dict.fromkeys(
    "bg bn fo gl he hr is ja ka km ko la lo lv mk ms my pa sa sk sl sq th uk ur vi zh".split(), ""
)
"""ISO 639-1 codes and the names of Snowball's stemmers; empty where it has none."""

FUNCTION_WORDS = frozenset(
    """
    a about after all also an and any are as at be because been before being between both but by can
    could describe did do does done during each either every explain for from get give gives had has
    have having he her hers him his how i if in into is it its itself just let may me might more
    most much must my no not of on once only or other our out over own please s shall she should
    show so some such t tell than that the their them then there these they this those through to
    under until up upon us very was we were what when where whether which while who whom whose why
    will with would you your
    """.split()
)
"""English words that say how a question is asked, not what it is about; the index keeps them."""

# Snowball's own lists, as tantivy has them: short, and none that is made of frequent words, which
# drops `droit`, `Recht` and `trabajo`
_LISTED = frozenset(
    "danish dutch finnish french german hungarian italian norwegian portuguese russian spanish "
    "swedish".split()
)
_LISTED_CODES = [code for code, name in LANGUAGES.items() if name in _LISTED - {"norwegian"}]
# what they lack: the words that begin a question, and some auxiliaries
_ASKING = {
    "catalan": "com on per perquè quan quant quants qui quin quina quines quins què",
    "czech": "co jak jaká jaké jaký kde kdo kdy kolik která které který odkud proč čí",
    "danish": "hvem hvilke hvilken hvilket hvordan hvorfor hvornår hvorledes hvorvidt",
    "dutch": "hoeveel waar waarom wanneer welk welke wiens",
    "finnish": "kuinka milloin miten montako onko",
    "french": "a combien comment doit donc dont est laquelle lequel lesquelles lesquels où peut "
    "pourquoi quand quoi si être",
    "german": "darf dürfen hätte hätten konnte konnten sei seien wann warum wem wen wer wessen "
    "weshalb weswegen wieso wieviel wieviele wodurch woher wohin womit woran worauf woraus worin "
    "worüber wovon wozu wurde wurden wäre wären",
    "greek": "γιατί ποια ποιες ποιο ποιοι ποιος πού πόσα πόσο πόσοι πότε πώς τι",
    "hungarian": "hol honnan hová hány melyik mennyi",
    "italian": "cosa deve possono può quali quando",
    "norwegian": "hvilket hvorvidt",
    "polish": "co czyj dlaczego gdzie ile jak jaka jaki jakie kiedy kto która które który skąd",
    "portuguese": "deve onde pode porque quais quanta quantas quanto quantos",
    "romanian": "care ce cine cum câte când cât câți unde",
    "russian": "какие каково откуда почему сколько чей чья",
    "spanish": "cuál cuáles cuándo cuánta cuántas cuánto cuántos cómo debe dónde puede pueden "
    "quién quiénes",
    "swedish": "hurdan hurudan vems",
    "turkish": "hangi kaç kim nasıl ne neden nerede niçin",
}
# what they have and a question can be about: dignity, an article, life, man, the State
_SUBJECTS = {
    "german": "weg würde",
    "hungarian": "cikk cikkek cikkeket",
    "russian": "жизнь человек",
    "spanish": "estado estados",
}
_CAPITALS_OF_TURKISH = str.maketrans({"I": "ı", "İ": "i"})


@dataclass(frozen=True)
class Language:
    """Reading of the words of a language; every function takes one word with its accents.

    `lower` gives it in small letters, which `stem` and `is_function` expect. `elides` says that
    an apostrophe ends a word: the French `l'état` is two.
    """

    lower: Callable[[str], str]
    stem: Callable[[str], str]
    is_function: Callable[[str], bool]
    elides: bool


@cache
def language_of(code: str) -> Language:
    """Return the language with this code. Raises KeyError for one that is not in LANGUAGES."""
    name = LANGUAGES[code]
    # its own cache is not thread-safe; `text` has one
    stem = Stemmer.Stemmer(name, 0).stemWord if name else str
    return Language(
        lower=_lower_turkish if name == "turkish" else str.casefold,
        stem=stem,
        is_function=_function_words(name),
        elides=name in {"catalan", "french", "italian"},
    )


def _lower_turkish(word: str) -> str:
    return word.translate(_CAPITALS_OF_TURKISH).casefold()


def _function_words(name: str) -> Callable[[str], bool]:
    if name == "english":
        return FUNCTION_WORDS.__contains__
    asking = frozenset(_ASKING.get(name, "").casefold().split())
    if name not in _LISTED:
        return asking.__contains__
    listed = tantivy.TextAnalyzerBuilder(tantivy.Tokenizer.raw())
    analyser = listed.filter(tantivy.Filter.stopword(name)).build()
    subjects = frozenset(_SUBJECTS.get(name, "").split())
    return lambda word: word in asking or (word not in subjects and not analyser.analyze(word))


# by the first word of the names of their letters
_OF_SCRIPT = {
    "ARABIC": "ar",
    "ARMENIAN": "hy",
    "BENGALI": "bn",
    "CJK": "zh",
    "CYRILLIC": "bg",
    "DEVANAGARI": "",
    "GEORGIAN": "ka",
    "GREEK": "el",
    "GURMUKHI": "pa",
    "HANGUL": "ko",
    "HEBREW": "he",
    "HIRAGANA": "ja",
    "KHMER": "km",
    "LAO": "lo",
    "MYANMAR": "my",
    "TAMIL": "ta",
    "THAI": "th",
}
# what no other language of the script writes, of languages that have one; the first that fits
_MARKED = [
    ("CYRILLIC", re.compile("[їЇ]"), "uk"),
    ("CYRILLIC", re.compile("[ўЎӘәӨөҮүҢңҚқҒғҖҗӐӑӖӗӁӂӦӧ]"), ""),
    ("CYRILLIC", re.compile("[ѓЃќЌ]"), "mk"),
    ("CYRILLIC", re.compile("[ђЂћЋ]"), "sr"),
    ("CYRILLIC", re.compile("[ыЫэЭ]"), "ru"),
    ("ARABIC", re.compile("[ےٹڈ]"), "ur"),
    ("ARABIC", re.compile("[ېښڼڭېۆۇڀ]"), ""),
    ("ARABIC", re.compile("[پچگ]"), "fa"),
    ("DEVANAGARI", re.compile(r"(?<!\w)है(?!\w)"), "hi"),
    ("DEVANAGARI", re.compile("ने?छ|हुनेछ"), "ne"),
]
SAMPLE = 20_000
"""Characters of a text that are looked at to tell its language."""

_KANA = 0.1  # of the letters of a text; Chinese has none
_FUNCTION_WORDS = 0.24
"""The share of function words from which a text is in a language: .26 to .50 in the declarations of
human rights in these languages."""

_LEAD = 1.6
"""The lead over all others but for Danish over Norwegian: 1.9 or more there, 1.5 in what resembles
two of them, as Catalan does."""


def likely_language(text: str) -> str:
    """The language that a text reads like, by its letters and function words; empty if unsure."""
    letters = [letter for letter in text[:SAMPLE] if letter.isalpha()]
    scripts = Counter(unicodedata.name(letter, "").partition(" ")[0] for letter in letters)
    if scripts["HIRAGANA"] > _KANA * len(letters):
        return "ja"
    script, count = max(scripts.items(), key=itemgetter(1), default=("", 0))
    if script != "LATIN":
        marked = (code for of, mark, code in _MARKED if of == script and mark.search(text))
        return next(marked, _OF_SCRIPT.get(script, "")) if count > len(letters) / 2 else ""
    words = re.findall(r"[^\W\d_]{2,}", text[:SAMPLE].replace("’", "'"))
    shares = {code: _share(words, language_of(code)) for code in ("en", "nb", *_LISTED_CODES)}
    code = max(shares, key=shares.__getitem__)
    others = shares.keys() - ({"da", "nb"} if code in ("da", "nb") else {code})
    least = max(_FUNCTION_WORDS, _LEAD * max(shares[other] for other in others))
    return code if shares[code] > least else ""


def _share(words: Sequence[str], language: Language) -> float:
    return sum(language.is_function(language.lower(word)) for word in words) / max(1, len(words))


_CHARACTERS = [chr(code) for code in range(0x80, 0x10000)]
MARKS = "".join(c for c in _CHARACTERS if unicodedata.category(c).startswith("M"))
"""Accents in decomposed form, and vowels of scripts that write them as marks."""

UNSPACED = (
    "\u0e01-\u0e30\u0e32\u0e33\u0e40-\u0e46"  # Thai
    "\u0e81-\u0eb0\u0eb2\u0eb3\u0ebd\u0ec0-\u0ec6\u0edc-\u0edf"  # Lao
    "\u1000-\u102a\u103f\u1050-\u1055\u105a-\u105d\u1061\u1065\u1066\u106e-\u1070"  # Burmese
    "\u1075-\u1081\u108e\ua9e0-\ua9e4\ua9e7-\ua9ef\ua9fa-\ua9fe\uaa60-\uaa76\uaa7a\uaa7e\uaa7f"
    "\u1780-\u17b3\u17d7\u17dc"  # Khmer
    "\u3005-\u3007\u3021-\u3029\u3031-\u3035\u3038-\u303c"  # signs beside Han
    "\u3041-\u3096\u309d-\u309f\u30a1-\u30fa\u30fc-\u30ff"  # kana
    "\u3105-\u312f\u31a0-\u31bf\u31f0-\u31ff\uff66-\uff9d\U0001b000-\U0001b16f"
    "\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufad9\U00020000-\U0003ffff"  # Han
)
"""Letters of scripts that set no blanks between words, for the class of a pattern."""

CAPITAL = f"[A-Z{''.join(c for c in _CHARACTERS if c.isupper())}]"
INVISIBLE = "\u00ad\u200c\u200d"
"""Soft hyphens and joiners: a word is the same with them and without."""

# what printers and transcribers put where a line breaks a word
_HYPHEN = "[-\u2010\u00ad\u00ac\u2e17]"
_BLANKS = "[ \t\u00a0]*"
BREAK = (
    rf"{_HYPHEN}(?:(?<=[^\W\d_].)|(?<=[{MARKS}].)){_BLANKS}\r?\n{_BLANKS}"
    rf"(?=[^\W\d_])(?!{CAPITAL})"
)
"""A hyphen behind a letter, the end of a line, and a letter in front that is no capital."""

# from the first hyphen on, or a long run of them takes quadratic time
_JOINT = re.compile(rf"(?<!{_HYPHEN}){_HYPHEN}*+[ \t\u00a0\r]*\n\s*")
_UNSEEN = str.maketrans(dict.fromkeys(f"{INVISIBLE}\u200b", ""))
_GROUPS = re.compile(r"(?<=\d)[.,'’\u00a0\u2009\u202f ](?=\d\d)")
# letters that no decomposition makes plain, and blanks that decomposition makes
_PLAIN = _UNSEEN | str.maketrans(
    {"æ": "ae", "œ": "oe", "ø": "o", "đ": "d", "ð": "d", "ł": "l", "þ": "th", "ı": "i"}
    | {"’": "'", " ": ""}
)


def fold(word: str) -> str:
    """Return a word case-folded, without diacritics, hyphens at a line's end and what is not seen.

    Ligatures and the long s are taken apart, apostrophes are straight: `Café` and `CAFE` meet,
    `encyclopædia` and `encyclopaedia`, `conſti-` and `tution` on the next line and `constitution`.
    A number goes without the signs between its groups of digits.
    """
    whole = _JOINT.sub("", word) if "\n" in word else word
    if word[:1].isdigit():
        whole = _GROUPS.sub("", whole)
    if whole.isascii():
        return whole.casefold()
    # casefolding can bring marks back, and decomposing capitals, hence twice
    return without_marks(without_marks(whole).casefold()).translate(_PLAIN)


def as_written(word: str) -> str:
    """A word with its capitals and accents, composed, but whole and with straight apostrophes."""
    if word.isascii() and "\n" not in word:
        return word
    whole = _JOINT.sub("", word).translate(_UNSEEN).replace("’", "'")
    return unicodedata.normalize("NFC", whole)


def lower_composed(word: str, lower: Callable[[str], str]) -> str:
    """Return a word in small letters, whole like a folded one but with its accents, composed."""
    return unicodedata.normalize("NFC", lower(as_written(word)))


def halves(word: str) -> list[str]:
    """Return what stands before and after each line's end inside a word; one item without one."""
    return _JOINT.split(word) if "\n" in word else [word]


def without_marks(text: str) -> str:
    """Return a text without accents, vowel points and what is not seen, else composed.

    Marks that make another letter of it stay: those of kana, of the scripts of South and Southeast
    Asia, and that of `й`.
    """
    if text.isascii():
        return text
    apart = unicodedata.normalize("NFKD", text.translate(_UNSEEN))
    if "\u0306" in apart:
        apart = _SHORT_I.sub(lambda letter: unicodedata.normalize("NFC", letter[0]), apart)
    return unicodedata.normalize("NFC", apart.translate(_MARKS))


_SHORT_I = re.compile("[иИ]\u0306")
_POINTED = ("COMBINING ", "HEBREW ", "ARABIC ", "SYRIAC ")
"""What the names of marks begin with that words are written with or without."""
_VOICED = "\u3099\u309a"  # of kana: each makes another letter


class _Marks(dict[int, str]):
    """For `translate`: nothing for an accent or vowel point, each other character as it is."""

    def __missing__(self, code: int) -> str:
        character = chr(code)
        is_mark = unicodedata.combining(character) and character not in _VOICED
        is_accent = is_mark and unicodedata.name(character).startswith(_POINTED)
        self[code] = "" if is_accent else character
        return self[code]


_MARKS = _Marks()  # filled as characters are met: a third faster than to ask for each
