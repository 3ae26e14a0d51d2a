"""Questions that no passage answers: how many documents say some words, which is counted, and what
the collection holds, which its manifest says.

A few clear forms of two languages, and no more: a question that is missed is answered as ever. Of
the 184 labelled questions about the bundled corpora none is taken for one.
"""

import re
from collections.abc import Sequence
from dataclasses import fields

from atlas_search.answer.decide import Counted
from atlas_search.answer.run import AnswerRun
from atlas_search.core.domain import ChatTurn
from atlas_search.core.errors import InvalidQuery
from atlas_search.search.request import ScopePlan
from atlas_search.words.counts import tabulate
from atlas_search.words.flow import look_up
from atlas_search.words.query import parse
from atlas_search.words.request import CountsRequest, WordsPlan
from atlas_search.words.run import WordsRun

_TEXTS = (
    "documents|texts|sources|articles|cases|judgments|acts|speeches|letters|reports|papers|files|"
    "passages"
)
_TEXTES = (
    "documents|textes|sources|articles|affaires|arrêts|lois|discours|lettres|rapports|fichiers|"
    "passages"
)
_MOTS = "(?:les? mots?|l[’']expression)"
_APPEAR = "(?:apparaît|apparaissent|figure|figurent|trouve-t-on)"
_FORMS = [
    re.compile(f"{form} ?\\?*", re.IGNORECASE)
    for form in (
        f"how many (?:of the )?(?:{_TEXTS}) (?:say|mention|contain|use|name)"
        "(?: the (?:words?|phrase))? (.+?)",
        f"in how many (?:of the )?(?:{_TEXTS}) (?:is|are|does|do) (?:the (?:words?|phrase) )?(.+?) "
        "(?:appear|occur|used|mentioned|named)",
        "how (?:often|many times) (?:is|are|does|do) the (?:words?|phrase) (.+?) "
        "(?:appear|occur|used|mentioned)",
        f"combien de (?:{_TEXTES}) (?:disent|mentionnent|contiennent|emploient|citent|nomment)"
        f"(?: {_MOTS})? (.+?)",
        f"dans combien de (?:{_TEXTES}) {_APPEAR}(?: {_MOTS})? (.+?)",
        f"combien de fois {_APPEAR} {_MOTS} (.+?)",
    )
]
_IT = "(?:this|the|your) (?:collection|archive|library|corpus|corpora|database)"
_CELA = "(?:cette|la) (?:collection|bibliothèque)|(?:ce|le) corpus"
_ABOUT_COLLECTION = [
    re.compile(f"{form}[ ?.!]*", re.IGNORECASE)
    for form in (
        f"what (?:is|are) (?:there )?in {_IT}",
        f"what does {_IT} (?:hold|contain|cover)",
        f"describe {_IT}",
        f"(?:which|what) (?:{_TEXTS}|corpora) (?:are (?:there )?in {_IT}|do you have|does {_IT} "
        "(?:hold|contain|have))",
        f"(?:which|what) (?:years?|period|time span|dates) (?:does|do) (?:(?P<it>it)|{_IT}) cover",
        f"how (?:big|large) is {_IT}",
        f"how many (?:{_TEXTS}|corpora) (?:are (?:there )?in {_IT}|"
        f"does {_IT} (?:hold|contain|have))",
        f"que (?:contient|contiennent) (?:{_CELA})",
        f"qu[’']y a-t-il dans (?:{_CELA})",
        f"quelles années couvre (?:{_CELA})",
        f"combien de (?:{_TEXTES}) (?:y a-t-il dans|contient) (?:{_CELA})",
    )
]
_QUOTED = re.compile(r"[\"“«‹'‘]\s*([^\"“”«»‹›]+?)\s*[\"”»›'’]")
_ARTICLE = re.compile(r"(?:the|an?|les?|la|un|une|des) |l[’']", re.IGNORECASE)
_PLAIN = re.compile(r"(?:[\w\s'’-](?<!_))+")
# with these the words describe what is said, and are not what is said
_DESCRIBES = re.compile(
    r"(?<!\w)(?:that|which|who|whom|whose|what|how|why|when|where|any|anything|something|someone|"
    r"it|this|these|those|about|both|either|more|than|and|or|que|qui|quoi|dont|où|comment|pourquoi|"
    r"quand|cela|quelque|toute?s?|plus|et|ou)(?!\w)",
    re.IGNORECASE,
)
MOST_WORDS = 4  # without quotation marks; more are no phrase that stands anywhere


def asks_about_collection(question: str, history: Sequence[ChatTurn] = ()) -> bool:
    """Return True if a question asks what the collection holds, or which years it covers.

    In a conversation `it` is the collection only if the question before was about that.
    """
    text = " ".join(question.split())
    match = next(filter(None, (form.fullmatch(text) for form in _ABOUT_COLLECTION)), None)
    if match is None:
        return False
    before = [turn.content for turn in history if turn.role == "user"]
    return not (before and match.groupdict().get("it")) or asks_about_collection(before[-1])


def words_asked_for(question: str) -> str:
    """Return the words that a question asks to be counted, as in how many documents; else empty."""
    text = " ".join(question.split())
    phrase = next((match[1] for form in _FORMS if (match := form.fullmatch(text))), None)
    if phrase is None:
        return ""
    if quoted := _QUOTED.fullmatch(phrase.strip()):
        return quoted[1]
    words = _ARTICLE.sub("", phrase.strip(), count=1) if _ARTICLE.match(phrase.strip()) else phrase
    is_plain = _PLAIN.fullmatch(words) and not _DESCRIBES.search(words)
    return words if is_plain and len(words.split()) <= MOST_WORDS else ""


def count_asked_for(run: AnswerRun) -> Counted | None:
    """The count that a question asks for, where it is asked.

    None if it asks for none, or for what no query can look for (`How many documents say "..."?`).
    """
    words = words_asked_for(run.question)
    if not words:
        return None
    query, searcher = f'"{words}"', run.answerer.searcher
    try:
        node = parse(query)
    except InvalidQuery:
        return None
    scope = {part.name: getattr(run.request.search, part.name) for part in fields(ScopePlan)}
    plan = WordsPlan(**scope, text=query, query=node)
    counting = WordsRun(searcher.store, searcher.tracer, plan, run.stop)
    total = look_up(counting, tabulate, CountsRequest(query=query)).total
    return Counted(words, query, total.hits or 0, total.documents, total.of_documents)
