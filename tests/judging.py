"""A language model that writes what its sources do not say, and judges it: told by the tests."""

import re
from collections.abc import Callable

from tests.chat_server import ChatServer, Request, Says
from tests.slow_model import TOKEN

TRUE = "The council lost its claim for libel"
FALSE = "The council was founded by a baker"
REASON = "does not find all of it in what it cites."

_CLAIM = re.compile(r"^Sentence: (.*)$", re.MULTILINE)


def is_judge(request: Request) -> bool:
    """Tell if a request asks for a judgement."""
    return request.prompt.startswith("You check whether")


def tokens(request: Request) -> list[str]:
    """The tokens of the passages in a prompt, in order, each once."""
    return list(dict.fromkeys(TOKEN.findall(request.prompt)))


def claim_in(request: Request) -> str:
    """The sentence that a judge is asked about."""
    return _CLAIM.findall(request.prompt)[-1]


def judges_baker(request: Request) -> str:
    """A fair judge: what speaks of a baker is not supported, all else is."""
    return "No." if "baker" in claim_in(request) else "yes"


def writes(
    server: ChatServer,
    *drafts: Callable[[Request], str],
    judge: Callable[[Request], str | Says] = judges_baker,
) -> None:
    """Let the server write each draft in turn, the last for ever, and judge with `judge`."""
    left = list(drafts)

    def answered(request: Request) -> str | Says:
        if is_judge(request):
            return judge(request)
        return (left.pop(0) if len(left) > 1 else left[0])(request)

    server.says(answered)


def both_said(request: Request) -> str:
    """A true sentence and a false one, each with the token of the best passage."""
    token = tokens(request)[0]
    return f"{TRUE}. {token}\n{FALSE}. {token}"


def truth(request: Request) -> str:
    """The true sentence alone."""
    return f"{TRUE}. {tokens(request)[0]}"


def falsehood(request: Request) -> str:
    """The false sentence alone."""
    return f"{FALSE}. {tokens(request)[0]}"
