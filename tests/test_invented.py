"""What a rewriting may not bring: names, numbers, addresses and citations that nobody said."""

import pytest

from atlas_search.answer.write.condense import invention
from atlas_search.core.domain import ChatTurn

HISTORY = (
    ChatTurn("user", "Who was Harold Holt, and when did the Privacy Act 1993 of Canada apply?"),
    ChatTurn(
        "assistant",
        "Holt led 1,200 men and twenty-one women of the wool-growers' league, "
        "see https://example.org/holt. [aus.holt p1]",
    ),
)
QUESTION = "When was he killed, and who are the Menzieses?"


@pytest.mark.parametrize(
    "written",
    [
        "When was Harold Holt killed?",
        "When was harold holt killed?",
        "When was HOLT killed?",
        "When was Harold Holt’s brother killed?",
        "When were the Holts killed?",
        "When was Menzies killed?",
        "Menzies' death: when was it?",
        "Was the Canadian Privacy Act of 1993 repealed?",
        "Regarding Harold Holt, when was he killed?",
        "Who were the 1200 men and the 21 women?",
        "Who were the Wool-Growers?",
        "What does https://example.org/holt say?",
        "When did I ask about Holt?",
        "Who was killed? Please tell me about Holt.",
    ],
)
def test_what_was_said_may_be_said_in_other_forms(written: str) -> None:
    assert invention(written, QUESTION, HISTORY) == ""


@pytest.mark.parametrize(
    ("written", "why"),
    [
        ("When was Robert Curtin killed?", "names “Robert Curtin”, which nobody mentioned"),
        ("When was Holt killed by Curtin's men?", "names “Curtin”, which nobody mentioned"),
        ("Curtin's death: when was it?", "names “Curtin”, which nobody mentioned"),
        ("When was Holt killed? In March?", "names “March”, which nobody mentioned"),
        ("UNESCO and Holt: when did they meet?", "names “UNESCO”, which nobody mentioned"),
        ("Was Holt killed in 1967?", "gives the number “1967”, which nobody mentioned"),
        ("What does www.example.com say of Holt?",
         "holds the address “www.example.com”, which nobody mentioned"),
        ("What does https://example.org/curtin say?",
         "holds the address “https://example.org/curtin”, which nobody mentioned"),
        ("What does [aus.holt p1] say?",
         "holds the citation “[aus.holt p1]”, and a question cites nothing"),
        ("What does [p. 12] say?", "holds the citation “[p. 12]”, and a question cites nothing"),
    ],
)  # fmt: skip
def test_what_nobody_said_is_told(written: str, why: str) -> None:
    assert invention(written, QUESTION, HISTORY) == why
