"""Names and figures of a question that no passage holds: nothing is asserted of them."""

import re
from collections.abc import Sequence

from atlas_search.answer.check.citations import Verification
from atlas_search.answer.decide import TextFault
from atlas_search.language.text import all_terms

_ADMITS = re.compile(
    r"\b(?:no|none of the|neither) (?:\w+ )?(?:passage|source|document|text|record|extract)s?\b|"
    r"(?:\bnot|n['’]t|\bnever|\bnowhere) (?:\w+ )?(?:name|mention|speak|say|refer|contain|hold|"
    r"give|include|cover)\w*|\b(?:is|are|was|were) (?:not|nowhere) (?:named|mentioned|found)\b",
    re.IGNORECASE,
)


def asserts_of_absent(absent: Sequence[str], checked: Verification) -> TextFault | None:
    """What is wrong with a text that states something of a name or figure no passage holds.

    A sentence that says so itself is left alone.
    """
    for name in absent:
        wanted = all_terms(name)
        for sentence in checked.sentences:
            if wanted <= all_terms(sentence.text) and not _ADMITS.search(sentence.text):
                return TextFault(
                    "unknown_name",
                    f"The answer states something of {name}, which no passage speaks of.",
                )
    return None
