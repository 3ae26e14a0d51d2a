"""The text of a TEI document: what of its markup is text, and how it stands on the page."""

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import islice

from lxml import etree

from atlas_search.readers.xml.draft import text_of
from atlas_search.readers.xml.parse import INCLUDE
from atlas_search.readers.xml.tei_names import are_known, resolve_pointers
from atlas_search.readers.xml.walk import Layout, names, walk
from atlas_search.readers.xml.writer import Writer

DIVISIONS = names("div div0 div1 div2 div3 div4 div5 div6 div7")
_PARTS = names("text front body back group floatingtext titlepage listbibl")
_SPEECHES = names("u sp")
_ASIDES = names("note vocal kinesic incident event writing")
_BLOCKS = names(
    "p ab head lg list table speaker opener closer salute signed dateline byline trailer argument "
    "epigraph postscript titlepage doctitle titlepart docimprint imprimatur "
    "address figure castlist set entry entryfree person place org listperson listplace listorg"
)
_LINES = names("l item label row addrline castitem")
_MIXED = names("seg q quote cit stage bibl biblstruct said gap docauthor docdate")
"""Paragraphs of their own where they stand beside paragraphs, inline where they stand in one."""

_FLOW = DIVISIONS | _PARTS | _SPEECHES | names("lg list castlist argument epigraph sourcedoc")
_BREAKS = names("pb cb lb")
_TOKENS = names("w pc")
_BETWEEN = 5
"""Elements between the printed name of a speaker and the speech, such as other notes."""

_LABELS = {"note": "Note: ", "figdesc": "Figure: "}
_ALTERNATIVES = names("choice app rdggrp")
_PRINTED, _NORMALISED = ("orig", "sic", "abbr"), ("reg", "corr", "expan")
_LAYOUT = Layout(
    blocks=_BLOCKS | DIVISIONS | _PARTS | _SPEECHES,
    lines=_LINES,
    cells=names("cell"),
    breaks=names("space"),
    left_out=names(
        "teiheader standoff facsimile sourcedoc fw index interp interpgrp span spangrp link "
        f"linkgrp certainty precision respons alt altgrp join joingrp timeline graphic {INCLUDE}"
    ),
)


@dataclass(frozen=True)
class Wording:
    """How a document is read: whose names its pointers mean, and which of two readings counts."""

    known: Mapping[str, str]
    normalised: bool
    is_spoken: bool
    has_joins: bool
    page_element: str


def wording_of(text: etree._Element, known: Mapping[str, str], *, normalised: bool) -> Wording:
    """What of a document has to be known before its text is read."""
    joined = (token for token in text.iter("w", "pc") if token.get("join"))
    return Wording(
        known,
        normalised,
        next(text.iter("u"), None) is not None,
        next(joined, None) is not None,
        "cb" if text.find(".//pb") is None else "pb",
    )


def plain_text(element: etree._Element, wording: Wording) -> str:
    """The text of one element on one line, without the notes on it."""
    writer = Writer()
    walk(element, TeiText(writer, wording, alone=element))
    return " ".join(writer.finish().text.split())


class TeiText:
    """Writes a TEI text, or the one element that stands `alone`, then without notes and pages.

    Of `choice` one side is read, as printed or normalised; of `app` the lemma. `del` and running
    heads are left out, a `gap` is `[...]`. Notes become paragraphs in brackets: footnotes after
    their paragraph, what happened during a speech at its place and without a speaker.
    """

    layout = _LAYOUT

    def __init__(
        self, writer: Writer, wording: Wording, alone: etree._Element | None = None
    ) -> None:
        self.writer = writer
        self._wording = wording
        self._alone = alone
        self._voices: list[str] = []
        self._labelled: etree._Element | None = None
        self._read: dict[etree._Element, etree._Element] = {}

    def enter(self, element: etree._Element) -> bool:
        """Opens sections and speeches; not into what is left out or written already."""
        tag = element.tag
        if element is self._alone:
            return True
        if not self._is_read(element):
            return False
        if tag in _ASIDES or tag == "figdesc":
            return self._aside(element)
        if tag in DIVISIONS:
            head = element.find("head")
            self.writer.open_section("" if head is None else plain_text(head, self._wording))
        elif tag in _SPEECHES:
            self._speech(element)
        elif tag in _BREAKS:
            self._break(element)
        elif tag in _TOKENS:
            self._token(element)
        elif tag in _MIXED:
            self._check_mixed(element)
        if tag == "gap":
            self.writer.add("[...]")
            self._check_mixed(element)
            return False
        return True

    def leave(self, element: etree._Element) -> None:
        """Closes what `enter` opened."""
        tag = element.tag
        if tag in DIVISIONS:
            self.writer.close_section()
        elif tag in _SPEECHES:
            self.writer.block()
            self.writer.voice(self._voices.pop())
        elif tag in _MIXED:
            self._check_mixed(element)
        elif tag in _TOKENS and element.get("join") in ("right", "both"):
            self.writer.glue()
        elif tag == "label" and text_of(element) and element.getparent().tag == "list":
            self.writer.run_in()

    def _is_read(self, element: etree._Element) -> bool:
        """Whether an element belongs to the text that is read, among its alternatives."""
        parent = element.getparent()
        above = "" if parent is None else parent.tag
        if element.tag == "del":
            return above == "restore"
        if above in _ALTERNATIVES:
            if parent not in self._read:  # to look for it once for each of many takes too long
                self._read[parent] = _choose(parent, normalised=self._wording.normalised)
            return element is self._read[parent]
        return True

    def _speech(self, element: etree._Element) -> None:
        if element is not self._labelled:
            self._voices.append(self.writer.speaker)
            self.writer.speech(self._speaker(element))

    def _speaker(self, element: etree._Element) -> str:
        """Who speaks: whom the document names, or else the label as printed, or else the id."""
        pointers, label = element.get("who", ""), element.find("speaker")
        if label is not None and not are_known(pointers, self._wording.known):
            return plain_text(label, self._wording).rstrip(" .:,")
        return resolve_pointers(pointers, self._wording.known)

    def _break(self, element: etree._Element) -> None:
        if element.tag == self._wording.page_element and self._alone is None:
            self.writer.page(element.get("n", ""))
        if element.get("break") == "no":
            self.writer.rejoin()
        elif element.tag == "lb":
            self.writer.blank()

    def _token(self, element: etree._Element) -> None:
        """Where words are marked up, white space between them is only for the reader of the XML."""
        if element.get("join") in ("left", "both"):
            self.writer.glue()
        elif self._wording.has_joins:
            self.writer.blank()

    def _check_mixed(self, element: etree._Element) -> None:
        parent = element.getparent()
        above = "" if parent is None else parent.tag
        if (element.tag == "seg") == (above == "u") and above in _FLOW:
            self.writer.block()

    def _aside(self, element: etree._Element) -> bool:
        """Writes an aside; whether to read it as running text instead, being a note in a note."""
        if self._alone is not None:
            self.writer.blank()
            return self._alone.tag in _ASIDES
        if element.tag == "note" and element.get("type") == "speaker":
            self._label(element)
        elif self._wording.is_spoken and element.tag == "note":
            self._bracket(element, "")
        else:
            self._bracket(element, _LABELS.get(element.tag, ""))
        return False

    def _label(self, note: etree._Element) -> None:
        """The printed name of who speaks next stands at the head of that speech."""
        between = islice(note.itersiblings(), _BETWEEN)
        after = next((e for e in between if e.tag not in ("note", "pb")), None)
        if after is not None and after.tag == "u" and after is not self._labelled:
            self._speech(after)
            self._labelled = after
        self.writer.block()
        self.writer.add(plain_text(note, self._wording))
        self.writer.block()

    def _bracket(self, element: etree._Element, label: str) -> None:
        text = plain_text(element, self._wording)
        if not text:
            return
        is_bracketed = text[0] + text[-1] in ("()", "[]")
        text = text if is_bracketed else f"[{label}{text}]"
        for page in element.iter(self._wording.page_element):
            self.writer.page(page.get("n", ""))
        if element.getparent().tag in _FLOW:
            self._apart(text)
        elif self._wording.is_spoken or element.tag != "note":
            self.writer.add(f" {text} ")
        else:
            self.writer.note(text)

    def _apart(self, text: str) -> None:
        speaker = self.writer.speaker
        self.writer.block()
        self.writer.voice("")
        self.writer.add(text)
        self.writer.block()
        self.writer.voice(speaker)


def _choose(choice: etree._Element, *, normalised: bool) -> etree._Element:
    of_choice = _NORMALISED if normalised else _PRINTED
    wanted = of_choice if choice.tag == "choice" else ("lem",)
    return next(choice.iterchildren(*wanted), choice[0])
