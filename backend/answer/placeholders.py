"""Sentences that no source can support: templates not filled in, and the model about itself."""

import re

_MODEL = (
    r"(?:ai|a\.i\.|artificial intelligence|language model|llm|chatbot|virtual assistant|ai model"
    r"|ai assistant|large language model|gpt)"
)
_SELF = re.compile(
    rf"\bas an? (?:\w+[ -]){{0,3}}?{_MODEL}\b[^.,]{{0,60}}, ?(?:i|my|we)\b"
    rf"|\bi(?:'m| am) (?:\w+ )?an? (?:\w+[ -]){{0,3}}?{_MODEL}\b"
    rf"|\b(?:i|we), (?:being )?an? (?:\w+[ -]){{0,3}}?{_MODEL}\b"
    r"|\bmy (?:training(?: data)?|knowledge) (?:cut-?off|only|does not|doesn't|ends|goes)\b"
    r"|\bals (?:ein )?(?:ki\b|(?:\w+ )?sprachmodell|ai-taalmodel|taalmodel)[^.]{0,60}\b(?:ich|ik)\b"
    r"|\ben tant qu(?:'|e )(?:ia|intelligence artificielle|modèle de langage|assistant)\b"
    r"|\bcomo (?:una? )?(?:ia|inteligencia artificial|modelo de lenguaje|asistente virtual)\b"
)
_TEMPLATE = re.compile(
    r"(?:please )?(?:insert|enter|add|put|write|type|place) (?:\w+ ){0,3}?"
    r"(?:answer|text|response|citation|content|summary)s?(?: goes)? (?:here|below|above)\W*$"
    r"|(?:(?:your|the|my|an?) )?(?:answer|response|text|summary|citation) (?:goes |text )?here\W*$"
    r"|(?:your|placeholder|sample|dummy) (?:answer|response|text|sentence)\W*$"
    r"|(?:this is an? )?placeholder\b(?: (?:text|answer|sentence|for .{1,60}))?\W*$"
    r"|lorem ipsum\b|to be (?:added|completed|filled in|written|determined|confirmed)\W*$"
)
_FORM = re.compile(
    r"[*_ ]*[\[<{(]+\s*(?:insert|enter|add|your|placeholder|the answer|answer|response|summary"
    r"|text|citation needed|source needed)\b[^\]>})]{0,60}[\]>})]+\W*$",
    re.IGNORECASE,
)
# in capitals only: `todo` is a Spanish word
_NOTE = re.compile(r"\W*(?:TODO|FIXME|TBD|TBC|TBA)\b(?: ?:|\W*$)")
_QUOTED = re.compile(r"\"[^\"]{1,400}\"|“[^“”]{1,400}”|«[^«»]{1,400}»")
_READ = 500  # characters


def is_placeholder(sentence: str) -> bool:
    """Whether it is a template not filled in, or says what the writer is; quotations may."""
    read = sentence[:_READ]
    if _NOTE.match(read) or _FORM.match(read):
        return True
    said = " ".join(_QUOTED.sub("…", read).casefold().replace("’", "'").split())
    return bool(_TEMPLATE.match(said.lstrip("*_\"'`([{<#>-–•: ")) or _SELF.search(said))
