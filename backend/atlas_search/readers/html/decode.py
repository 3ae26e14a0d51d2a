"""The text of a page's bytes, in the encoding that is stated for them."""

import re
from pathlib import Path

from atlas_search.readers.text_files import Undecodable, open_text

_HEAD = 4096  # browsers look for the encoding in the first 1024 bytes
_STATED = (
    re.compile(rb"<\?xml[^>]*?\sencoding\s*=\s*[\"']([\w.:-]+)"),
    re.compile(rb"<meta[^>]*?charset\s*=\s*[\"']?\s*([\w.:-]+)", re.IGNORECASE),
)
_COMMENT = re.compile(rb"<!--.*?-->", re.DOTALL)
# what browsers take these names for: https://encoding.spec.whatwg.org/#names-and-labels
_MEANT = (
    dict.fromkeys(("iso-8859-1", "iso8859-1", "latin1", "latin-1", "us-ascii", "ascii"), "cp1252")
    | dict.fromkeys(("iso-8859-9", "latin5"), "cp1254")
    | dict.fromkeys(("shift_jis", "shift-jis", "sjis", "x-sjis"), "cp932")
    | dict.fromkeys(("gb2312", "gbk", "x-gbk"), "gb18030")
    | {"x-cp1252": "cp1252", "iso-8859-8-i": "iso-8859-8", "tis-620": "cp874", "euc-kr": "cp949"}
)


def decode(page: Path, charset: str, encoding: str) -> tuple[str, str]:
    """The text of a page, and a remark if what is stated about its encoding is wrong.

    A byte order mark decides, then `charset`, which its server states, then the page itself, then
    `encoding`, empty for UTF-8. Where the page is not in the encoding that is stated, `encoding`
    is tried, or UTF-8, which hardly any other text is by chance. Raises Undecodable.
    """
    label = charset.lower() or _stated_encoding(page)
    try:
        return _text(page, _MEANT.get(label, label) or encoding), ""
    except Undecodable as error:
        other = encoding or "utf-8"
        if label in ("", other):
            raise
        try:
            text = _text(page, other)
        except Undecodable:
            raise error from None
    return text, f"read as {other}: it is not {label}, which it states to be"


def _text(page: Path, encoding: str) -> str:
    with open_text(page, encoding) as file:
        return file.read().replace("\0", "")


def _stated_encoding(page: Path) -> str:
    with page.open("rb") as file:
        head = _COMMENT.sub(b"", file.read(_HEAD))
    found = next((match for pattern in _STATED if (match := pattern.search(head))), None)
    label = found[1].decode("ascii", "replace").lower() if found else ""
    # were it UTF-16, its statement could not have been read
    return "utf-8" if label.startswith(("utf-16", "utf-32")) else label
