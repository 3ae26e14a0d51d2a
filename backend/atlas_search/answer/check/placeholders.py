"""Sentences that no source can support: templates not filled in, and the model about itself."""

import re

_MODEL = r"(?:ai|artificial intelligence|(?:large )?language model|llm|chatbot|virtual assistant)"
_SELF = re.compile(rf"\bas an? {_MODEL}\b[^.]{{0,60}}, ?(?:i|my|we)\b|\bi(?:'m| am) an? {_MODEL}\b")
_TEMPLATE = re.compile(
    r"(?:(?:please )?(?:insert|enter|add|put|write|type|place) )?(?:(?:your|the|my|an?) )?"
    r"(?:answer|text|response|citation|content|summary)s?(?: goes)? (?:here|below|above)\W*$"
    r"|(?:your|placeholder|sample|dummy) (?:answer|response|text|sentence)\W*$"
    r"|(?:this is an? )?placeholder\b|lorem ipsum\b|to be (?:added|completed|filled in|written)\W*$"
    r"|[\w ]{0,30}(?:citation|source) needed\W*$"
)
# in capitals only: `todo` is a Spanish word
_NOTE = re.compile(r"\W*(?:TODO|FIXME|TBD|TBC|TBA)\b(?: ?:|\W*$)")
_QUOTED = re.compile(r"\"[^\"]{1,400}\"|“[^“”]{1,400}”|«[^«»]{1,400}»")
_READ = 500  # characters


def is_placeholder(sentence: str) -> bool:
    """Whether it is a template not filled in, or says what the writer is; quotations may."""
    if _NOTE.match(sentence):
        return True
    said = " ".join(_QUOTED.sub("…", sentence[:_READ]).casefold().replace("’", "'").split())
    return bool(_TEMPLATE.match(said.strip("*_\"'`([{<#>-–•: )]}")) or _SELF.search(said))
