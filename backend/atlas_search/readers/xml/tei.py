"""Reading TEI, https://tei-c.org: P5, ParlaMint and Parla-CLARIN, and in the main P4."""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from itertools import islice

from lxml import etree

from atlas_search.readers import Read, Skipped
from atlas_search.readers.markup import LONGEST_SPAN, header_of, span
from atlas_search.readers.print import raised
from atlas_search.readers.xml.parse import INCLUDE
from atlas_search.readers.xml.tree import (
    COLUMNS,
    LONGEST,
    NO_TEXT,
    PAGES,
    Layout,
    TextWriter,
    distinct,
    draft,
    first_address,
    names,
    text_of,
    unique_keys,
    walk,
)

_LISTED_NAMES = ("person", "persongrp", "org", "place")
_NAMES = ("persname", "orgname", "placename", "geogname", "name")
_ID_OF_NAMES = re.compile(r"(?:[^\W\d_]|[-'’._])+?(?:[._]\d+)?")
_UNKNOWN = frozenset({"", "unknown", "unk", "none"})
_PARTICLES = ("Mc", "Mac")


def listed_names(root: etree._Element) -> dict[str, str]:
    """The first name of everyone and everything that `root` lists with an id."""
    by_id: dict[str, str] = {}
    for element in root.iter(*_LISTED_NAMES):
        name = next(element.iterchildren(*_NAMES), None)
        if name is not None and (id_ := element.get("id")) and (text := name_of(name)):
            by_id.setdefault(id_, text[:LONGEST])
    return by_id


def name_of(element: etree._Element) -> str:
    """A name in the order in which it is spoken: forenames, then surnames."""
    parts = (*element.iter("forename"), *element.iter("surname", "namelink"))
    return " ".join(filter(None, map(text_of, parts))) or text_of(element)


def resolve_pointers(pointers: str, known: Mapping[str, str]) -> str:
    """Whom `#a #b` point at, by the names in `known`, joined by commas.

    An id that is not listed here, as in ParlaMint where the persons stand in a file of their own,
    is taken apart if it is made of names (`#AbbottDiane`: Abbott Diane), else shown as it is.
    """
    names = (_name(pointer, known) for pointer in pointers.split())
    return ", ".join(dict.fromkeys(filter(None, names)))


def are_known(pointers: str, known: Mapping[str, str]) -> bool:
    """Say if all of `pointers` are in `known`, and there is one."""
    ids = [_name_id(pointer) for pointer in pointers.split()]
    return bool(ids) and all(id_ in known for id_ in ids)


def _name(pointer: str, known: Mapping[str, str]) -> str:
    id_ = _name_id(pointer)
    if id_.casefold() in _UNKNOWN:
        return ""
    return known.get(id_) or _take_apart(id_)


def _name_id(pointer: str) -> str:
    return pointer.rpartition("#")[2]


def _take_apart(id_: str) -> str:
    if not _ID_OF_NAMES.fullmatch(id_):
        return id_
    words = re.split(r"[._]+", re.sub(r"[._]\d+$", "", id_))
    return " ".join(_space(word) for word in words if word)


def _space(word: str) -> str:
    """`AbbottDiane` as two words, `McDonald` as one."""
    spaced = ""
    begin = 0
    for at in range(1, len(word)):
        is_start = word[at].isupper() and word[at - 1].islower()
        if is_start and word[begin:at] not in _PARTICLES:
            spaced += f"{word[begin:at]} "
            begin = at
    return spaced + word[begin:]


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

_DATA = names(
    "author editor title biblscope pubplace publisher date idno imprint monogr analytic persname "
    "forename surname rolename addname genname orgname placename settlement region country form "
    "orth pron gramgrp pos gen number subc sense def usg etym xr cit quote lbl"
)
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
    """The reading of a document: the names its pointers mean, and which of two readings counts."""

    known: Mapping[str, str]
    normalised: bool
    is_spoken: bool
    has_joins: bool
    page_element: str


def wording_of(text: etree._Element, known: Mapping[str, str], *, normalised: bool) -> Wording:
    """Gather what must be known of a document before its text is read."""
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
    writer = TextWriter()
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
        self, writer: TextWriter, wording: Wording, alone: etree._Element | None = None
    ) -> None:
        self.writer = writer
        self._wording = wording
        self._alone = alone
        self._voices: list[str] = []
        self._labelled: etree._Element | None = None
        self._read: dict[etree._Element, etree._Element] = {}

    def enter(self, element: etree._Element) -> bool:
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
        return not (_is_raised(element) and self._raise(text_of(element)))

    def leave(self, element: etree._Element) -> None:
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
        """Say if an element belongs to the text that is read, among its alternatives."""
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
        """Name the speaker: by the document's list, or else the printed label, or else the id."""
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
        """Join or part words as their markup says; white space only helps the reader of the XML."""
        if element.get("join") in ("left", "both"):
            self.writer.glue()
        elif self._wording.has_joins:
            self.writer.blank()

    def _raise(self, number: str) -> bool:
        """Write a number apart from the word before it, if there is one."""
        mark = raised(number, self.writer.before)
        if mark == number:
            return False
        self.writer.add(mark)
        return True

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
            if self.writer.before[-1:].isalpha() and (element.tail or "")[:1].isalpha():
                self.writer.blank()

    def _apart(self, text: str) -> None:
        speaker = self.writer.speaker
        self.writer.block()
        self.writer.voice("")
        self.writer.add(text)
        self.writer.block()
        self.writer.voice(speaker)


def _is_raised(element: etree._Element) -> bool:
    """Say if it is printed above the line, or leads to a note."""
    if element.tag == "hi":
        return "sup" in str(element.get("rend", "")).lower()
    return element.tag == "ref" and str(element.get("target", "")).startswith("#")


def _choose(choice: etree._Element, *, normalised: bool) -> etree._Element:
    of_choice = _NORMALISED if normalised else _PRINTED
    tags = of_choice if choice.tag == "choice" else ("lem",)
    return next(choice.iterchildren(*tags), choice[0])


_DAY = re.compile(r"-?[0-9]{4}(?:-[0-9]{2}(?:-[0-9]{2})?)?(?=$|T)")
_BOUNDS = (("from", "to"), ("notbefore", "notafter"), ("from-iso", "to-iso"))
_ROUGH = ("low", "medium")
_AT = ("when", "when-iso", "value")


def date_of(element: etree._Element) -> str:
    """Return the date in the attributes of an element, or else its text if that has a number."""
    text = " ".join("".join(element.itertext()).split())
    return attributed_date(element) or (text if re.search(r"[0-9]", text) else "")


def attributed_date(element: etree._Element) -> str:
    """The date in the attributes of an element, empty if there is none.

    `from` and `to`, or `notBefore` and `notAfter`, become an interval, open where one is missing.
    A `~` follows what is of low certainty or precision, or printed with c. or ca. before it.
    `value` is the attribute of TEI P4.
    """
    mark = "~" if _is_rough(element) else ""
    for name in _AT:
        if day := iso_day(element.get(name, "")):
            return f"{day}{mark}"
    for first, last in _BOUNDS:
        begin, end = iso_day(element.get(first, "")), iso_day(element.get(last, ""))
        if begin and end:
            return f"{begin}{mark}/{end}{mark}"
        if begin or end:
            return f"{begin}{mark}/.." if begin else f"../{end}{mark}"
    return ""


def iso_day(text: str) -> str:
    """The ISO date at the start of `text`, without a time of day; empty if there is none."""
    match = _DAY.match(text.strip())
    return match[0] if match else ""


def _is_rough(element: etree._Element) -> bool:
    if element.get("cert") in _ROUGH or element.get("precision") in _ROUGH:
        return True
    text = "".join(element.itertext()).strip().casefold()
    return re.match(r"(?:c|ca|circa)\b\.?\s*[0-9\[]", text) is not None


_FILE = "filedesc"
_PROFILE = "profiledesc"
_SOURCE = f"{_FILE}/sourcedesc"
_PUBLICATION = f"{_FILE}/publicationstmt"
# the day of the event, then of the writing; the printed source comes last
_DATES = (
    f"{_PROFILE}/settingdesc//setting/date",
    f"{_PROFILE}/settingdesc//date",
    f"{_PROFILE}/correspdesc/correspaction[@type='sent']/date",
    f"{_PROFILE}/creation//date",
)
_LISTED_IN_HEADER = "standoff/listevent/event"
_EVENTS = ("written", "print", "premiere")
_SOURCE_DATES = (f"{_SOURCE}//origdate", f"{_SOURCE}//bibl/date", f"{_SOURCE}//date")
_DESCRIBED = ("bibl", "biblstruct", "biblfull", "msdesc", "recordingstmt")


def title_of(header: etree._Element) -> str:
    """The main title, the first where there are several, as in several languages."""
    titles = header.findall(f"{_FILE}/titlestmt/title")
    main = [title for title in titles if title.get("type") == "main"]
    return next(filter(None, map(text_of, [*main, *titles])), "")


def metadata_of(document: etree._Element, header: etree._Element) -> dict[str, object]:
    """The fields of a header; one that it lacks may be empty.

    `date` is that of the sitting, or else of the writing or of the printed source. `published` is
    that of the electronic edition, which counts as `date` only if there is no earlier source.
    """
    published = _first_date(header, f"{_PUBLICATION}//date")
    return {
        "author": _names_at(header, f"{_FILE}/titlestmt/author"),
        "editor": _names_at(header, f"{_FILE}/titlestmt/editor"),
        "date": _date(document, header) or ("" if _has_source(header) else published),
        "published": published,
        "publisher": "; ".join(_names_at(header, f"{_PUBLICATION}/publisher")),
        "publication_place": _first(header, f"{_SOURCE}//pubplace"),
        "source": _citation(header),
        "doi": _first(header, ".//idno[@type='DOI']"),
        "container_title": _first(header, f"{_SOURCE}//title[@level='j']"),
        "volume": _first(header, f"{_SOURCE}//biblscope[@unit='volume']"),
        "issue": _first(header, f"{_SOURCE}//biblscope[@unit='issue']"),
        "pages": _first(header, f"{_SOURCE}//biblscope[@unit='page']"),
        "archive": _first(header, f"{_SOURCE}//msidentifier/repository"),
        "shelf_mark": _first(header, f"{_SOURCE}//msidentifier/idno"),
        "url": _url(header),
        "language": _language(document, header),
        "tags": distinct(_tags(header)),
        "abstract": _first(header, f"{_PROFILE}/abstract"),
    }


def _names_at(header: etree._Element, path: str) -> list[str]:
    result: list[str] = []
    for element in header.iterfind(path):
        names = list(element.iterchildren("persname", "orgname", "name"))
        result += map(name_of, names or [element])
    return distinct(result)


def _date(document: etree._Element, header: etree._Element) -> str:
    events = (
        event
        for kind in _EVENTS
        for event in document.iterfind(f"{_LISTED_IN_HEADER}[@type='{kind}']")
    )
    dates = (
        *(_first_date(header, path) for path in _DATES),
        *map(attributed_date, events),
        *(_first_date(header, path) for path in _SOURCE_DATES),
        # which ParlaMint states as its number
        *(iso_day(each.get("when") or each.get("n", "")) for each in header.iter("meeting")),
    )
    return next(filter(None, dates), "")


def _first_date(header: etree._Element, path: str) -> str:
    return next(filter(None, map(date_of, header.iterfind(path))), "")


def _has_source(header: etree._Element) -> bool:
    source = header.find(_SOURCE)
    return source is not None and next(source.iter(*_DESCRIBED), None) is not None


def _first(header: etree._Element, path: str) -> str:
    return next(filter(None, map(text_of, header.iterfind(path))), "")


def _citation(header: etree._Element) -> str:
    """The first source as it is cited, or its title if it only lists its parts."""
    source = header.find(f"{_SOURCE}//bibl")
    if source is None:
        return _first(header, f"{_SOURCE}//title")
    is_prose = any(piece and piece.strip() for piece in (source.text, *(e.tail for e in source)))
    return text_of(source) if is_prose else text_of(source.find("title")) or text_of(source)


def _url(header: etree._Element) -> str:
    """Return the address of the source, or else of the edition itself."""
    return first_address(
        element.get("target") or text_of(element)
        for path in (_SOURCE, _PUBLICATION)
        for part in header.iterfind(path)
        for element in part.iter("idno", "ref", "ptr")
        if next(element.iterancestors("availability", "publisher"), None) is None  # a licence
    )


def _language(document: etree._Element, header: etree._Element) -> str:
    text = document.find("text")
    stated = ("" if text is None else text.get("lang", "")) or document.get("lang", "")
    used = header.find(f"{_PROFILE}/langusage/language")
    return stated or ("" if used is None else used.get("ident", ""))


def _tags(header: etree._Element) -> Iterator[str]:
    for keywords in header.iterfind(f"{_PROFILE}/textclass/keywords"):
        for element in keywords.iter("term", "item"):
            if element.find(".//term") is None:
                yield text_of(element)


ROOTS = names("tei tei.2 teicorpus teicorpus.2")
LISTS = names("listperson listorg listplace listevent taxonomy classdecl teiheader standoff")
"""Roots of the files beside the texts of a corpus such as ParlaMint."""

_TEXTS = ("tei", "tei.2")
_LISTED = names("person persongrp org place nym")
_NO_TEI = f"{NO_TEXT}: a corpus without any TEI"
_INCLUDES = (
    f"{NO_TEXT} of its own, only {{count}} xi:include: put the files that they name into the "
    "folder, each is read by itself"
)
_PERSONS = names("persname"), names("person per")
_PLACES = names("placename geogname settlement"), names("place city country region loc")


@dataclass(frozen=True)
class _Document:
    """The common part of all drafts of one TEI text."""

    wording: Wording
    title: str
    metadata: Mapping[str, object]
    remark: str


def tei_drafts(root: etree._Element, *, normalised: bool, documents_at: str) -> Iterator[Read]:
    """One draft for each TEI text of a corpus, with its id or place as key, or one for the file.

    With `documents_at`, one for every outermost element of that name in them.
    """
    texts = [root] if root.tag in _TEXTS else list(root.iter(*_TEXTS))
    if not texts:
        includes = sum(1 for _ in root.iter(INCLUDE))
        yield Skipped(_INCLUDES.format(count=includes) if includes else _NO_TEI)
    shared = {} if root in texts else listed_names(root)
    keys = unique_keys([_id(text) for text in texts])
    for tei, key in zip(texts, keys, strict=True):
        for read in _text_drafts(tei, shared, documents_at.lower(), normalised=normalised):
            both = filter(None, [key if tei is not root else "", read.key])
            yield replace(read, key="/".join(both))


def _text_drafts(
    tei: etree._Element, shared: Mapping[str, str], documents_at: str, *, normalised: bool
) -> Iterator[Read]:
    text = tei.find("text")
    if text is None:
        yield Skipped(f"{NO_TEXT}: there is no <text> beside its header")
        return
    _close_alternatives(text)
    _part_data(text)
    _spread_cells(text)
    _name_columns(text)
    header, includes = tei.find("teiheader"), sum(1 for _ in text.iter(INCLUDE))
    remark = f"{includes} xi:include were not followed: they point to other files"
    document = _Document(
        wording_of(text, {**shared, **listed_names(tei)}, normalised=normalised),
        "" if header is None else title_of(header),
        {} if header is None else metadata_of(tei, header),
        remark if includes else "",
    )
    if not documents_at:
        yield _draft(text, None, document, document.title, "")
        return
    parts = list(_parts(text, documents_at, document.wording.page_element))
    if not parts:
        yield Skipped(f"it has no <{documents_at}>, at which its documents should begin")
    keys = unique_keys([_id(part) for part, _ in parts])
    for (part, page), key in zip(parts, keys, strict=True):
        head = part.find("head")
        title = "" if head is None else plain_text(head, document.wording)
        yield _draft(part, page, document, title or document.title, key)


def _close_alternatives(text: etree._Element) -> None:
    """Take out the white space between readings of one place, which may stand inside a word."""
    for element in text.iter(*_ALTERNATIVES, "subst"):
        if not (element.text or "").strip():
            element.text = None
        for reading in element:
            if not (reading.tail or "").strip():
                reading.tail = None


def _part_data(text: etree._Element) -> None:
    """Put a blank between the parts of an entry, a name or a reference that stand side by side."""
    for element in text.iter(*_DATA):
        after = element.getnext()
        if after is not None and after.tag in _DATA and not element.tail:
            element.tail = " "


def _name_columns(text: etree._Element) -> None:
    """Put the head of its column before each cell, below a row of labels."""
    for table in text.iter("table"):
        heads: tuple[str, ...] = ()
        for row in table.iterchildren("row"):
            cells = list(row.iterchildren("cell"))
            if row.get("role") == "label":
                heads = header_of([text_of(cell) for cell in cells])
            elif len(heads) == len(cells):
                for head, cell in zip(heads, cells, strict=True):
                    if head and text_of(cell):
                        cell.text = f"{head}: {(cell.text or '').lstrip()}"


def _spread_cells(text: etree._Element) -> None:
    """Put what a cell holds into each row that it spans, at the place of its column."""
    for table in text.iter("table"):
        above: dict[int, tuple[str, int]] = {}
        for row in table.iterchildren("row"):
            column = 0
            below: dict[int, tuple[str, int]] = {}
            for cell in [*row.iterchildren("cell"), None]:
                while column in above:
                    words, rows = above[column]
                    copy = etree.SubElement(row, "cell")
                    copy.text = words
                    if cell is not None:
                        cell.addprevious(copy)
                    below |= {column: (words, rows - 1)} if rows > 1 else {}
                    column += 1
                if cell is not None:
                    rows = span(cell, "rows")
                    words = text_of(cell)[:LONGEST_SPAN]
                    below |= {column: (words, rows - 1)} if rows > 1 else {}
                    column += span(cell, "cols")
            above = below


def _parts(
    text: etree._Element, name: str, page_element: str
) -> Iterator[tuple[etree._Element, str | None]]:
    """The elements that are drafts, with the labels of their pages; None before the first break."""
    page = None
    for element in text.iter(name, page_element):
        if element.tag == page_element:
            page = element.get("n", "")
        elif next(element.iterancestors(name), None) is None:
            yield element, page


def _draft(
    part: etree._Element, page: str | None, document: _Document, title: str, key: str
) -> Read:
    writer = TextWriter()
    if page is not None:
        writer.page(page)
    walk(part, TeiText(writer, document.wording))
    mentioned = {
        "persons": _mentions(part, document.wording, *_PERSONS),
        "places": _mentions(part, document.wording, *_PLACES),
    }
    return draft(
        writer.finish(),
        {**document.metadata, **mentioned},
        title=title,
        key=key,
        breaks=PAGES if document.wording.page_element == "pb" else COLUMNS,
        remarks=[document.remark],
    )


def _id(element: etree._Element) -> str:
    return str(element.get("id") or element.get("n") or "")


def _mentions(
    part: etree._Element, wording: Wording, tags: frozenset[str], types: frozenset[str]
) -> list[str]:
    """The persons or places that a text names, by their listed names where they have one."""
    found: list[str] = []
    for element in part.iter(*tags, "rs", "name"):
        above = element.getparent().tag
        is_one = element.tag in tags or element.get("type", "").lower() in types
        if is_one and above not in _LISTED and above != element.tag:
            pointers = element.get("ref") or element.get("key") or ""
            is_listed = are_known(pointers, wording.known)
            named = resolve_pointers(pointers, wording.known) if is_listed else ""
            found.append(named or _name_in_text(element, wording))
    return distinct(found)


def _name_in_text(name: etree._Element, wording: Wording) -> str:
    """A name as the text has it, or from its parts where it has only those."""
    has_parts = name.find("forename") is not None and name.find("surname") is not None
    return name_of(name) if has_parts else plain_text(name, wording)
