"""Text files in the encoding that they are in: stated, or UTF-8, and never guessed silently."""

import codecs
import re
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from io import BytesIO, TextIOWrapper
from pathlib import Path
from typing import BinaryIO, TextIO

BLOCK = 1 << 20
SAMPLE = 1 << 15
"""Bytes on either side of an unreadable one that say if the rest of a file is UTF-8."""
_GUESSED = 3000  # bytes around it from which its encoding is guessed

# UTF-32 first: its little-endian mark begins with that of UTF-16
_MARKS = {
    codecs.BOM_UTF8: "utf-8",
    codecs.BOM_UTF32_LE: "utf-32-le",
    codecs.BOM_UTF32_BE: "utf-32-be",
    codecs.BOM_UTF16_LE: "utf-16-le",
    codecs.BOM_UTF16_BE: "utf-16-be",
}

_WESTERN = "äöüß àâçéèêëîôœù|æïûü áéíñóúü ãâáàçéêíóôõú àèéìòù åäöæøé áéíóúýæö|ðþ".split()
_CENTRAL = "äöüß áčďéěíňóřšťúůýž áäčďéľĺňóôŕšťúýž ąćęłńóśźż áéíóöőúüű čćđšž ăâîşţ".split()
_CYRILLIC = ["оеаинтсрвлкмдпуяыьгзбчй|хжшюцщэфёъіїєґ", "оеаинтсрвлкмдпујгзбчі|љњхжцшфђћџїєь"]
_GREEK = ["αοιετσνηυρπκλμςωάίόέή|δγθφχβψξζώύϊϋΐΰ"]
_BALTIC = "ąčęėįšųūž āčēģīķļņšūž äõöüšž".split()
_JAPANESE = [
    "のにはをたがでてとしれさいるあかなこんもりらまうすきつくけせそどだよわえば人日年大一国|ごめみちやげろじぶへほべ"
    "ぎずぜぞゆねむぬおゃゅょっアイウエオカキクケコサシスセソタチツテトナニヌネノハヒフヘホマミムメモヤユヨラリルレロワンッャュョー"
    "ガギグゲゴザジズゼゾダデドバビブベボパピプペポ"
]
_SIMPLIFIED = ["的一是不了人我在有他这为之大来以个中上们到说国和地也子时道出而要于就下得可你年生"]
_TRADITIONAL = ["的一是不了人我在有他這為之大來以個中上們到說國和地也子時道出而要於就下得可你年生"]
_KOREAN = ["이다는의에을를가고은한로하지도인사시기어자서나리아대수해여전정주그구부일들있"]
_ARABIC = ["الميونرتبةعدسفكهقح|جخزشصضطغىءأإثذظآؤئپچژگیکًٌٍَُِّْ"]
_WIDE = [*_JAPANESE, *_SIMPLIFIED, *_KOREAN, *_CYRILLIC, *_GREEK, *_ARABIC, *_WESTERN]
_ENCODINGS = (
    ("cp1252 iso8859_15", 0, _WESTERN),
    ("cp1251", 0, _CYRILLIC),
    ("cp932", 0, _JAPANESE),
    ("gb18030", 0, _SIMPLIFIED),
    ("cp1250 iso8859_2", 0.03, _CENTRAL),
    ("koi8_r koi8_u", 0.03, _CYRILLIC),
    ("mac_roman", 0.03, _WESTERN),
    ("big5", 0.03, _TRADITIONAL),
    ("cp949", 0.03, _KOREAN),
    ("cp1253 iso8859_7", 0.03, _GREEK),
    ("cp1254", 0.03, ["çğıöşüâîû"]),
    ("cp1255", 0, ["יוהלאמתרבשםנדגחטכסעפצקזןףךץ"]),
    ("cp1256", 0.03, _ARABIC),
    ("euc_jp iso2022_jp", 0.03, _JAPANESE),
    ("utf-16-le utf-16-be utf-32-le utf-32-be", 0.03, _WIDE),
    ("cp1257", 0.06, _BALTIC),
    ("iso8859_5 cp866", 0.06, _CYRILLIC),
    ("cp850 cp437", 0.06, _WESTERN),
    ("cp852", 0.06, _CENTRAL),
)
"""Encodings with how much rarer they are, and the letters of each language, rare ones behind `|`.

Of 121 texts of a word to a sentence, in 27 encodings, 99 are guessed alone, and of 18 others the
right encoding is among those that are named; charset-normalizer was right on 69.
"""
_LEVELS = {
    "gb18030": ("gb2312", range(0xB0, 0xD8)),
    "big5": ("big5", range(0xA4, 0xC7)),
    "cp949": ("euc_kr", range(0xB0, 0xC9)),
}
"""The first bytes of common signs, by codecs; of the others those of Japanese."""
_CLEAR = 0.06
"""The difference from which the better of two guesses is given alone."""
_WORD = re.compile(r"[^\W\d_ªº½¼¾¹²³]+")
_SIGN = re.compile(rf"(?!{_WORD.pattern})[^\s -~]")
_CONTROL = re.compile(rb"[\x00-\x08\x0e-\x19\x1c-\x1f]")
_ESCAPE = re.compile(rb"\x1b\$[@B]")


class Undecodable(ValueError):
    """The bytes of a file are not text in its encoding; says where and what to do.

    `what` is the same without what to do, which is an option of `atlas create`.
    """

    def __init__(self, what: str, advice: str = ""):
        super().__init__(what + advice)
        self.what = what


@contextmanager
def open_text(path: Path, encoding: str) -> Iterator[TextIO]:
    """The file as text, with the line ends it has and without its byte order mark.

    Such a mark states the encoding; otherwise it is `encoding`, or UTF-8 if that is empty. The
    whole file is decoded once before any of it is handed out, so that a file is read in full or
    not at all: raises Undecodable.
    """
    with path.open("rb") as file:
        head = file.read(4)
        mark = next((each for each in _MARKS if head.startswith(each)), b"")
        name = _MARKS.get(mark, encoding or "utf-8")
        _check(file, len(mark), name, assumed=not (mark or encoding))
        file.seek(len(mark))
        with TextIOWrapper(file, encoding=name, newline="") as text:
            yield text


def _check(file: BinaryIO, start: int, name: str, *, assumed: bool) -> None:
    try:
        TextIOWrapper(BytesIO(), encoding=name)
    except LookupError:
        raise Undecodable(
            f"there is no encoding `{name}`; `--encoding` takes names such as cp1252, latin-1 "
            "or shift_jis"
        ) from None
    file.seek(start)
    if assumed:
        _refuse_wide(file.read(_GUESSED))
        file.seek(start)
    decoder = codecs.getincrementaldecoder(name)()
    block = b"any"
    while block:
        pending = len(decoder.getstate()[0])
        block = file.read(BLOCK)
        try:
            decoder.decode(block, final=not block)
        except UnicodeDecodeError as error:
            byte = file.tell() - len(block) - pending + error.start
            what = f"not {name.upper() if name.startswith('utf') else name} at byte {byte}"
            raise Undecodable(what, _advice(file, byte, name)) from None
        except UnicodeError as error:
            raise Undecodable(f"not {name}: {error}") from None


def _refuse_wide(head: bytes) -> None:
    """UTF-8 would let the control characters pass that the bytes of UTF-16 and the like are."""
    if 20 * len(_CONTROL.findall(head)) > len(head) or _ESCAPE.search(head):
        wide = [name for name in _guesses(head) if name.startswith(("utf", "iso2022"))]
        if wide:
            is_wide = wide[0].startswith("utf")  # `utf-16-le`
            what = f"{wide[0][:6].upper()} without a byte order mark" if is_wide else wide[0]
            raise Undecodable(f"it looks like {what}", _way(wide))


def _advice(file: BinaryIO, byte: int, name: str) -> str:
    file.seek(max(0, byte - SAMPLE))
    sample = file.read(2 * SAMPLE)
    text = sample.decode("utf-8", errors="replace")
    if sum(character > "\x7f" for character in text) > 2 * text.count("\ufffd"):
        if name == "utf-8":
            return ", though the text around it is: the file is damaged there; mend it"
        return "; it looks like UTF-8: pass no `--encoding` for it"
    at = min(byte, SAMPLE)
    begin = max(0, at - _GUESSED // 2)
    start = begin and (sample.find(b"\n", begin, at) + 1 or begin)
    guesses = _guesses(sample[start : start + 2 * _GUESSED])
    return f"; it looks like {' or '.join(guesses)}{_way(guesses)}" if guesses else _way([])


def _way(guesses: list[str]) -> str:
    """Say what to do with a file that may be in one of these encodings."""
    column = "the column `encoding` of a `metadata.csv`"
    if len(guesses) == 1:
        way = f"pass `--encoding {guesses[0]}`, or write it into {column}, if that is right"
    else:
        way = f"pass the right one by `--encoding`, or write it into {column}"
    return f": {way}, or convert the file to UTF-8"


def _guesses(sample: bytes) -> list[str]:
    """The encodings that a text may be in, the best first: several if they fit about as well."""
    texts: dict[str, tuple[str, float]] = {}
    for names, rare, languages in _ENCODINGS:
        for name in names.split():
            text = sample.decode(name, errors="replace")
            known, fit = texts.get(text, (name, 0.0))
            texts[text] = known, max(fit, _fit(text, name, languages) - rare)
    best = sorted(texts.values(), key=lambda each: -each[1])[:3]
    return [name for name, fit in best if fit > max(0.3, best[0][1] - _CLEAR)]


def _fit(text: str, encoding: str, languages: list[str]) -> float:
    """The share of characters beyond ASCII that stand as those of a language do, 1 at the most.

    Of rare letters, and of words in capitals, four in five count.
    """
    padded = f"  {text}  "
    letters: Counter[tuple[str, float]] = Counter()
    for match in _WORD.finditer(padded):
        if not match[0].isascii():
            weight = _weight(match)
            letters.update((letter.lower(), weight) for letter in match[0] if letter > "\x7f")
    signs = [match.start() for match in _SIGN.finditer(padded)]
    beyond = letters.total() + len(signs)
    if not beyond:
        return 1
    codec, level = _LEVELS.get(encoding, ("euc_jp", range(0xB0, 0xD0)))

    def share(language: str) -> float:
        frequent, _, rare = language.partition("|")
        own = 0.0
        for (letter, weight), count in letters.items():
            is_common = letter.encode(codec, "replace")[0] in level
            is_common |= encoding[:3] == "utf" and "가" <= letter <= "힣"
            known = 0.8 if letter in rare else 0.7 if is_common else 0.15
            own += count * weight * (1 if letter in frequent else known)
        return own

    placed = sum(_in_place(padded[at - 2 : at + 3]) for at in signs)
    return (max(map(share, languages)) + placed) / beyond


def _weight(match: re.Match[str]) -> float:
    """Rate a word: 0 if it is none by its capitals, digits beside it or letters of two scripts."""
    word, sides = match[0], match.string[match.start() - 1] + match.string[match.end()]
    if word[0] > "\u2000":
        return 1
    own = [letter for letter in word if letter > "\x7f"]
    is_latin = all(letter < "\u0250" for letter in own)
    is_alone = len(own) == len(word)
    is_cased = word.lower() != word.upper()
    if (
        (is_cased and not (word.islower() or word.isupper() or word.istitle()))
        or any(map(str.isdigit, sides))
        or (is_alone and len(word) > 2 if is_latin else not is_alone)
        or (len(word) == 1 and (word.isupper() or not sides.isspace()))
    ):
        return 0
    return 0.8 if word.isupper() else 1


def _in_place(around: str) -> float:
    """Rate the sign in the middle of five characters."""
    before, sign, after = tuple(around[1:4])
    in_word = before.isalpha() and after.isalpha()
    if sign in "“‘„‚«":
        return not before.isalnum() and (after > " " or sign == "«")
    if sign in "”’»":
        return before > " " or sign == "»"
    if sign in "€£¥":
        return any(map(str.isdigit, around))
    if sign in "–—":
        return 0.5 if in_word else 1
    return sign in "…、。「」『』（），：；？！ー・" or (
        not in_word and sign in "§¶°©®™·•†‡×½¼¾±¡¿\xa0"
    )
