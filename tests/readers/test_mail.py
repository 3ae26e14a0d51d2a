"""Messages written as programs of mail write them, one a file or many in one."""

from collections.abc import Callable
from email.message import EmailMessage
from email.policy import SMTP

import pytest

from atlas_search.readers import Draft, Skipped
from atlas_search.readers.mail import LONGEST
from tests.readers.conftest import Reads
from tests.readers.drafts import check, only_draft, only_reason

LINE = "From anna@example.org Mon May  3 10:00:00 1999\n"

Write = Callable[[EmailMessage], object]


@pytest.fixture
def message(reads: Reads) -> Callable[[Write], Draft]:
    """A function that reads a message, which is written first."""

    def read(write: Write) -> Draft:
        message = EmailMessage(policy=SMTP)
        write(message)
        return only_draft(reads(message.as_bytes(), "letter.eml"))

    return read


def test_a_message_says_who_wrote_it_when_and_to_whom(message: Callable[[Write], Draft]) -> None:
    def write(message: EmailMessage) -> None:
        message["From"] = '"Rœ, Anna" <anna@example.org>'
        message["To"] = "Bob <bob@example.org>, eve@example.org"
        message["Subject"] = "Über die Häfen"
        message["Date"] = "Mon, 3 May 1999 23:30:00 -0500"
        message["Message-ID"] = "<1@town>"
        message.set_content("Zwölf Schiffe – und keines zahlt.\n", cte="quoted-printable")
        message.add_alternative("<p>Never read</p>", subtype="html")
        message.add_attachment(b"x", maintype="image", subtype="png", filename="häfen.png")

    draft = message(write)
    assert (draft.text, draft.title) == ("Zwölf Schiffe – und keines zahlt.", "Über die Häfen")
    assert draft.key == "1@town"
    assert draft.metadata == {
        "author": ["Rœ, Anna"],
        "to": ["Bob", "eve@example.org"],
        "date": "1999-05-03",
    }
    assert draft.remark == "attachments, which are not read: häfen.png"


def test_a_message_in_html_alone_is_read_as_a_page(message: Callable[[Write], Draft]) -> None:
    def write(message: EmailMessage) -> None:
        message.set_content(
            "<style>p {}</style><p>Dues<sup>1</sup></p><ul><li>oak</ul>", subtype="html"
        )

    assert message(write).text == "Dues[1]\n\noak"


def test_a_message_that_is_passed_on_is_read_with_its_head(
    message: Callable[[Write], Draft],
) -> None:
    def write(message: EmailMessage) -> None:
        message.set_content("See below.")
        inner = EmailMessage()
        inner["From"], inner["Subject"] = "Bob <bob@example.org>", "Walls"
        inner.set_content("The wall is old.")
        message.make_mixed()
        message.attach(EmailMessage())
        message.get_payload()[-1].set_type("message/rfc822")
        message.get_payload()[-1].set_payload([inner])

    lines = ["See below.", "From: Bob <bob@example.org>\nSubject: Walls", "The wall is old."]
    assert message(write).text == "\n\n".join(lines)


@pytest.mark.parametrize(
    ("content", "text"),
    [
        (b"Subject: x\n\nCaf\xe9", "Café"),  # says nothing, and is Windows-1252
        ("Subject: x\n\nCafé".encode(), "Café"),
        (b"Content-Type: text/plain; charset=koi8-r\n\n\xe4\xcf\xcd", "Дом"),
        (b"Content-Type: text/plain; charset=unheard\n\nCaf\xc3\xa9", "Café"),
        (b"Content-Transfer-Encoding: base64\n\nQ2Fmw6k=", "Café"),
        (b"Content-Type: text/plain; format=flowed\n\nThe wall \nis old.\n-- \nBob",
         "The wall is old.\n--\nBob"),
        (b"Content-Type: multipart/mixed; boundary=a\n\nnot marked", "not marked"),
    ],
)  # fmt: skip
def test_the_text_of_a_message_is_decoded(reads: Reads, content: bytes, text: str) -> None:
    assert only_draft(reads(content, "letter.eml")).text == text


def test_a_mailbox_is_parted_where_a_message_begins(reads: Reads) -> None:
    box = (
        f"{LINE}Subject: one\nMessage-ID: <1@town>\n\nHe came.\n>From there he went.\n"
        f"From here, too.\n\nFrom there on all was well.\n\n{LINE}Subject: two\n\nEnd.\n\n"
        f"{LINE}Subject: three\n\n"
    )
    one, two, three = reads(box, "letters.mbox")
    assert isinstance(one, Draft)
    assert isinstance(two, Draft)
    check(one)
    assert one.text == (
        "He came.\nFrom there he went.\nFrom here, too.\n\nFrom there on all was well."
    )
    assert (one.key, two.key, two.text) == ("1@town", "message-2", "End.")
    assert three == Skipped("it holds no text", "message-3")


def test_of_a_huge_message_only_the_beginning_is_held(
    reads: Reads, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert LONGEST > 10_000_000
    monkeypatch.setattr("atlas_search.readers.mail.LONGEST", 100)
    box = f"{LINE}Subject: one\n\n" + "a line\n" * 1000 + f"\n{LINE}Subject: two\n\nEnd.\n"
    one, two = reads(box, "letters.mbox")
    assert isinstance(one, Draft)
    assert len(one.text) < 120
    assert isinstance(two, Draft)
    assert two.text == "End."
    assert only_reason(reads("no head", "a.eml")).startswith("it is not a mail file")
