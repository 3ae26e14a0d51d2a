"""The languages in which words can be compared: their stemmers and function words."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache

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
}
"""ISO 639-1 codes and the names of Snowball's stemmers."""

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
    """How the words of a language are read; every function takes one word with its accents.

    `lower` gives it in small letters, which `stem` and `is_function` expect. `elides` says that
    an apostrophe ends a word: the French `l'état` is two.
    """

    code: str
    lower: Callable[[str], str]
    stem: Callable[[str], str]
    is_function: Callable[[str], bool]
    elides: bool


@cache
def language_of(code: str) -> Language:
    """The language with this code. Raises KeyError for one that is not in LANGUAGES."""
    name = LANGUAGES[code]
    stemmer = Stemmer.Stemmer(name, 0)  # its own cache is not thread-safe; `text` has one
    return Language(
        code=code,
        lower=_lower_turkish if name == "turkish" else str.casefold,
        stem=stemmer.stemWord,
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
