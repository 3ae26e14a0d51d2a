"""A passage with its text, and answers that cite it."""

from hypothesis import strategies as st

from atlas_search.answer.check.citations import Verification, verify
from atlas_search.core.domain import Passage

TEXT = "A preface. Grass is green. The sky is blue. Roses are red in 1932. Snow is white."

MARKER = "[uk.case p1]"


def passage(
    text: str, start: int, end: int, *, document: str = "uk.case", page: int = 1
) -> Passage:
    """The passage of `text` from `start` to `end`."""
    return Passage(
        row=start,
        id=f"{document}:{start}-{end}",
        document_id=document,
        corpus="uk",
        title="Case",
        text=text[start:end],
        start=start,
        end=end,
        page=page,
        line=1,
        section="",
        speaker="",
        date="",
        url="",
        metadata={},
    )


GIVEN = [passage(TEXT, len("A preface. "), len(TEXT))]


def check(answer: str, citation_limit: int = 5) -> Verification:
    return verify(answer, GIVEN, citation_limit)


def quotes(verification: Verification) -> list[list[str]]:
    """The quotes of each sentence."""
    return [[c.quote for c in sentence.citations] for sentence in verification.sentences]


PIECES = st.sampled_from(
    [
        *[
            MARKER,
            "[us.case p3]",
            "[us.case s10(1)]",
            "[us.case s1",
            "[uk.no p1]",
            "[uk.case p1",
            "p1]",
            "[",
            "]",
            "(",
            ")",
            "【",
            "】",
        ],
        *[
            "The sky is blue",
            "Snow",
            "snow",
            "v",
            "No",
            "The passages do not say",
            "1,932",
            "\u0663",
        ],
        *[
            ".",
            "!",
            "…",
            ",",
            ";",
            ":",
            " ",
            "\n",
            "-\n",
            "- ",
            "1. ",
            "## ",
            "**",
            *["*", "\u00a0", "\x0b", "\u3000", "。", "([uk.case p1])"],
            '"',
            "“",
            "”",
            "'",
        ],
    ]
)

ANSWERS = st.lists(PIECES | st.text(max_size=3), max_size=30).map("".join)
