"""Names and figures of a question that no passage speaks of: said, and nothing asserted of them."""

import re
from collections.abc import Mapping, Sequence

from atlas_search.answer.check.citations import Verification
from atlas_search.answer.decide import TextFault
from atlas_search.answer.quotes.mismatch import figures_missing
from atlas_search.answer.quotes.names import absent_names
from atlas_search.core.domain import Passage
from atlas_search.language.languages import DEFAULT_LANGUAGE
from atlas_search.language.text import all_terms

_ADMITS = re.compile(
    r"\b(?:no|none of the|neither) (?:\w+ )?(?:passage|source|document|text|record|extract)s?\b|"
    r"(?:\bnot|n['’]t|\bnever|\bnowhere) (?:\w+ )?(?:name|mention|speak|say|refer|contain|hold|"
    r"give|include|cover)\w*|\b(?:is|are|was|were) (?:not|nowhere) (?:named|mentioned|found)\b",
    re.IGNORECASE,
)


def absent_from(
    question: str, passages: Sequence[Passage], weights: Mapping[str, float]
) -> tuple[str, ...]:
    """The names, years and other figures of a question that none of the passages holds.

    None if a passage is in another language than English, which the rules are for.
    """
    if any(passage.language != DEFAULT_LANGUAGE for passage in passages):
        return ()
    names, _ = absent_names(question, passages, weights)
    evidence = "\n".join(f"{p.title}\n{p.date}\n{p.text}" for p in passages)
    return (*names, *figures_missing(question, evidence))


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
