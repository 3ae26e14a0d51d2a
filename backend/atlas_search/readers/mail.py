"""Reading mail: a file of one message (.eml), or many in one file (.mbox)."""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from email import message_from_bytes
from email.message import Message
from email.utils import getaddresses, parsedate_to_datetime
from pathlib import Path
from typing import BinaryIO, ClassVar

from atlas_search.readers import Draft, Read, Skipped
from atlas_search.readers.markup import flatten, plain
from atlas_search.readers.text import clean
from atlas_search.readers.titles import header_text

LONGEST = 50_000_000
"""Bytes of a message that are read: what is beyond belongs to attachments."""

_HEADER = 20_000  # characters of a header that are read: more take time by their square
_MOST = 100  # addresses that are kept
_NAMED = 10  # attachments that are named
_FROM = re.compile(rb"From .*\d\d?:\d\d.*\d{4}")
_QUOTED = re.compile(rb">+From ")
_FLOWED = re.compile(r"(?<!\n--)(?<=\S) \n(?=[^>\s])")
_PLAIN = "text/plain"
_SHOWN = ("From", "Date", "Subject")
_NOT_MAIL = "it is not a mail file, whatever its name says"


@dataclass(frozen=True)
class MailReader:
    """Build a collection from mail (.eml and .mbox): a document a message."""

    suffixes: ClassVar[frozenset[str]] = frozenset({".eml", ".mbox"})
    options: ClassVar[Mapping[str, object]] = {"version": 1}

    def read(self, path: Path, encoding: str) -> Iterator[Read]:
        """Read each message: its key is its `Message-ID`, its title the subject.

        Of a text that is there in two forms the plain one is read. Attachments are named in a
        remark. `encoding` counts where a message does not state its own.
        """
        if not path.stat().st_size:
            yield Skipped("the file is empty")
            return
        with path.open("rb") as file:
            if path.suffix.lower() == ".eml":
                yield _read(file.read(LONGEST), "", encoding)
                return
            number = 0
            for number, data in enumerate(_messages(file), start=1):
                yield _read(data, f"message-{number}", encoding)
        if not number:
            yield Skipped(_NOT_MAIL)


def _messages(file: BinaryIO) -> Iterator[bytes]:
    """The messages of a mailbox: each begins behind a blank line with `From`, and a time.

    Source: RFC 4155. `mailbox` of the standard library takes every such line for a message.
    """
    lines: list[bytes] | None = None
    is_blank, size = True, 0
    for line in file:
        if is_blank and _FROM.match(line):
            if lines:
                yield b"".join(lines)
            lines, size = [], 0
        elif lines is not None and size < LONGEST:
            lines.append(line[1:] if _QUOTED.match(line) else line)
            size += len(line)
        is_blank = not line.strip()
    if lines:
        yield b"".join(lines)


def _read(data: bytes, place: str, encoding: str) -> Read:
    texts, attached = list[str](), list[str]()
    try:
        message = message_from_bytes(data)
        headers = _headers(message)
        _add(message, texts, attached, encoding)
    except Exception:  # of many messages in a file one may be such as no parser expects
        return Skipped("its parts cannot be told apart; export the message again", place)
    if not headers:
        return Skipped(_NOT_MAIL, place)
    key = " ".join(headers.get("message-id", "").split()).strip("<>") or place
    named = attached[:_NAMED] + [f"{len(attached) - _NAMED} more"] * (len(attached) > _NAMED)
    remark = f"attachments, which are not read: {', '.join(named)}" if named else ""
    text = clean(re.sub(r"\n{3,}", "\n\n", "\n\n".join(filter(None, map(clean, texts)))))
    if not text:
        return Skipped("; ".join(filter(None, ["it holds no text", remark])), key)
    return Draft(
        text,
        _header(headers.get("subject", "")),
        key,
        _metadata(headers),
        remark=remark,
        speeches_known=True,
    )


def _headers(message: Message) -> dict[str, str]:
    """The headers by their names in small letters; of several the first."""
    return {name.lower(): str(value)[:_HEADER] for name, value in reversed([*message.raw_items()])}


def _add(part: Message, texts: list[str], attached: list[str], encoding: str) -> None:
    """Add the texts of a part, and the names of what is attached to it."""
    kind = part.get_content_type()
    if part.get_content_disposition() == "attachment" or part.get_filename():
        attached.append(_header(part.get_filename() or kind))
    elif part.is_multipart():
        parts = [each for each in part.get_payload() if isinstance(each, Message)]
        if kind == "multipart/alternative":
            plain_ones = [p for p in parts if any(e.get_content_type() == _PLAIN for e in p.walk())]
            parts = plain_ones[:1] or parts[-1:]
        for each in parts:
            if kind == "message/rfc822":  # a message that is passed on
                own = _headers(each)
                lines = [f"{n}: {_header(own[n.lower()])}" for n in _SHOWN if n.lower() in own]
                texts.append("\n".join(lines))
            _add(each, texts, attached, encoding)
    elif kind == "text/html":
        texts.append(_of_html(_decode(part, encoding)))
    elif kind == _PLAIN or kind.startswith("multipart/"):  # whose parts are not marked as stated
        text = plain(_decode(part, encoding))
        is_flowed = str(part.get_param("format", "")).lower() == "flowed"
        text = _FLOWED.sub(" ", text) if is_flowed else text
        texts.append("\n".join(line.rstrip() for line in text.split("\n")))
    else:
        attached.append(kind)


def _of_html(page: str) -> str:
    from atlas_search.readers.html import UnreadablePage, parse
    from atlas_search.readers.raised import write_raised

    try:
        tree = parse(page, xml=False)
    except UnreadablePage:
        return ""
    write_raised(tree)
    return flatten(tree).text


def _decode(part: Message, encoding: str) -> str:
    payload = part.get_payload(decode=True)
    return _text(
        payload if isinstance(payload, bytes) else b"", part.get_content_charset() or encoding
    )


def _text(data: bytes, charset: str) -> str:
    for attempt in (charset, "utf-8"):
        try:
            return data.decode(attempt)
        except (LookupError, UnicodeError):
            continue
    return data.decode("cp1252", "replace")


def _header(raw: str) -> str:
    line = " ".join(_text(raw.encode("utf-8", "surrogateescape"), "").split())
    return " ".join(header_text(line).split())


def _metadata(headers: Mapping[str, str]) -> dict[str, object]:
    fields: dict[str, object] = {
        name: [_header(person) or address for person, address in people if person or address]
        for name, header in (("author", "from"), ("to", "to"), ("cc", "cc"))
        if (people := getaddresses([headers.get(header, "")])[:_MOST])
    }
    try:
        fields["date"] = parsedate_to_datetime(headers.get("date", "")).date().isoformat()
    except (ValueError, TypeError, IndexError, OverflowError):
        fields["date"] = _header(headers.get("date", ""))
    return {name: value for name, value in fields.items() if value}
