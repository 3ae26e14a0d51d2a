"""BibTeX, in UTF-8, for LaTeX and reference managers."""

import re
from collections.abc import Sequence
from urllib.parse import quote

from bibtexparser.entrypoint import write_string
from bibtexparser.library import Library
from bibtexparser.model import Entry, Field

from atlas_search.output.dating import Dating, Parts
from atlas_search.output.references import Reference

# BibTeX counts braces even after a backslash, so a brace in a text is never written as one
_SPECIAL = str.maketrans(
    {
        "\\": r"{\textbackslash}",
        "{": r"\ensuremath{\lbrace}",
        "}": r"\ensuremath{\rbrace}",
        "<": r"\ensuremath{<}",
        ">": r"\ensuremath{>}",
        "|": r"\ensuremath{|}",
        "~": r"{\textasciitilde}",
        "^": r"{\textasciicircum}",
        "`": r"{\textasciigrave}",
    }
    | {character: f"\\{character}" for character in "$&%#_"}
)
_LIGATURE = re.compile(r"([-',])(?=\1)")  # which LaTeX would set as one dash or quotation mark
_SAFE_IN_URL = "%/:?#[]@!$&'()*+,;=~"


def bibtex(references: Sequence[Reference]) -> str:
    """One entry for each cited document; its `annote` holds the quotes."""
    library = Library([_entry(reference) for reference in references])
    return write_string(library)


def _entry(reference: Reference) -> Entry:
    # programs discard types they do not know, such as biblatex's @jurisdiction; @misc they all read
    is_book = reference.kind == "book"
    fields = {
        # the inner braces keep capitals, and names from being taken apart
        "title": f"{{{_latex(reference.title)}}}",
        "author": " and ".join(f"{{{_latex(name)}}}" for name in reference.authors),
        "publisher" if is_book else "organization": _latex(reference.body),
        "year": _year(reference.dating),
        "date": _edtf(reference.dating),
        "howpublished": _latex(reference.source),
        "url": quote(reference.url, safe=_SAFE_IN_URL),
        "annote": _latex(" ".join(reference.quotes)),
    }
    return Entry(
        "book" if is_book else "misc",
        reference.key,
        [Field(name, value) for name, value in fields.items() if value],
    )


def _latex(text: str) -> str:
    """`text` in LaTeX, every other character kept: encoders of libraries would normalise it."""
    return _LIGATURE.sub(r"\g<0>{}", text.translate(_SPECIAL))


def _year(dating: Dating) -> str:
    return f"{dating.parts[0][0]:04}" if dating.parts else _latex(dating.written)


def _edtf(dating: Dating) -> str:
    """The date as biblatex reads it: `1954-05-17`, `1957~`, `1901/1903`."""
    return "/".join(_point(parts) + "~" * dating.circa for parts in dating.parts)


def _point(parts: Parts) -> str:
    return "-".join((f"{parts[0]:04}", *(f"{part:02}" for part in parts[1:])))
