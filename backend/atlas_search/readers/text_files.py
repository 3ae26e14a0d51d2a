"""Plain text: its encoding, its line ends and its pages."""

import codecs
from collections.abc import Iterator
from contextlib import contextmanager
from io import BytesIO, TextIOWrapper
from pathlib import Path
from typing import BinaryIO, TextIO

BLOCK = 1 << 20
SAMPLE = 1 << 15
"""Bytes on either side of an unreadable one from which its encoding is guessed."""

# UTF-32 first: its little-endian mark begins with that of UTF-16
_MARKS = {
    codecs.BOM_UTF8: "utf-8",
    codecs.BOM_UTF32_LE: "utf-32-le",
    codecs.BOM_UTF32_BE: "utf-32-be",
    codecs.BOM_UTF16_LE: "utf-16-le",
    codecs.BOM_UTF16_BE: "utf-16-be",
}
# from a few bytes charset-normalizer would also guess EBCDIC and the like
_USUAL = (
    "cp1252 cp1250 cp1251 cp1253 cp1254 cp1255 cp1256 cp1257 iso8859_2 iso8859_5 iso8859_7 "
    "iso8859_15 koi8_r koi8_u mac_roman cp437 cp850 cp852 cp866 cp932 euc_jp gb18030 big5 cp949"
).split()
_BLANKS = " \t\n"


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
        mark, name = _encoding(file.read(4), encoding)
        _check(file, len(mark), name, assumed=not (mark or encoding))
        file.seek(len(mark))
        with TextIOWrapper(file, encoding=name, newline="") as text:
            yield text


def clean(text: str) -> str:
    """`text` with `\\n` at the end of each line, and without blank lines around it."""
    return text.replace("\r\n", "\n").replace("\r", "\n").strip(_BLANKS)


def pages(text: str) -> tuple[int, ...]:
    """Where pages begin: at the start, and after each form feed."""
    found = [0]
    while at := text.find("\f", found[-1]) + 1:
        found.append(at)
    return tuple(found)


def _encoding(head: bytes, encoding: str) -> tuple[bytes, str]:
    for mark, name in _MARKS.items():
        if head.startswith(mark):
            return mark, name
    return b"", encoding or "utf-8"


def _check(file: BinaryIO, start: int, name: str, *, assumed: bool) -> None:
    decoder = _decoder(name)
    file.seek(start)
    block = file.read(BLOCK)
    if assumed:
        _refuse_utf16(block)
    while block:
        before = file.tell() - len(block) - len(decoder.getstate()[0])
        _decode(decoder, block, file, before, name)
        block = file.read(BLOCK)
    _decode(decoder, b"", file, file.tell() - len(decoder.getstate()[0]), name)


def _decoder(name: str) -> codecs.IncrementalDecoder:
    try:
        TextIOWrapper(BytesIO(), encoding=name)
    except LookupError:
        raise Undecodable(
            f"there is no encoding `{name}`; `--encoding` takes names such as cp1252, latin-1 "
            "or shift_jis"
        ) from None
    return codecs.getincrementaldecoder(name)()


def _decode(
    decoder: codecs.IncrementalDecoder, block: bytes, file: BinaryIO, before: int, name: str
) -> None:
    try:
        decoder.decode(block, final=not block)
    except UnicodeDecodeError as error:
        byte = before + error.start
        what = f"not {name.upper() if name.startswith('utf') else name} at byte {byte}"
        raise Undecodable(what, _advice(file, byte, name)) from None
    except UnicodeError as error:
        raise Undecodable(f"not {name}: {error}") from None


def _refuse_utf16(block: bytes) -> None:
    """Half the bytes of Western text in UTF-16 are NUL, which UTF-8 would let pass."""
    even, odd = block[:SAMPLE:2], block[1:SAMPLE:2]
    for name, nuls, letters in (("utf-16-le", odd, even), ("utf-16-be", even, odd)):
        if 2 * nuls.count(0) > len(nuls) and 4 * letters.count(0) < len(letters):
            raise Undecodable(
                "it looks like UTF-16 without a byte order mark",
                f": pass `--encoding {name}` if that is right, or convert it to UTF-8",
            )


def _advice(file: BinaryIO, byte: int, name: str) -> str:
    file.seek(max(0, byte - SAMPLE))
    sample = file.read(2 * SAMPLE)
    if _is_mostly_utf8(sample):
        if name == "utf-8":
            return ", though the text around it is: the file is damaged there; mend it"
        return "; it looks like UTF-8: pass no `--encoding` for it"
    guess = _guess(sample)
    if not guess:
        return ": name its encoding with `--encoding`, or convert it to UTF-8"
    return (
        f"; it looks like {guess} (charset-normalizer's best guess): pass `--encoding {guess}` "
        "if that is right, or convert it to UTF-8"
    )


def _is_mostly_utf8(sample: bytes) -> bool:
    text = sample.decode("utf-8", errors="replace")
    beyond_ascii = sum(character > "\x7f" for character in text)
    return beyond_ascii > 2 * text.count("\ufffd")


def _guess(sample: bytes) -> str:
    from charset_normalizer import from_bytes

    whole_lines = sample[: sample.rfind(b"\n") + 1] or sample
    matches = from_bytes(whole_lines, cp_isolation=_USUAL)
    best = matches.best()
    if best is None:
        return ""
    # by far the commonest, so it need not fit the language quite as well
    common = any(
        "cp1252" in match.could_be_from_charset
        and match.chaos == best.chaos
        and match.coherence > best.coherence - 0.08
        for match in matches
    )
    return "cp1252" if common else best.encoding
