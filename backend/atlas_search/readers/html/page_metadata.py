"""What a page says about itself: in its `meta` elements, in JSON-LD, in microdata and markup.

Nothing is inferred: a date in an address or in the text is not one of publication.
"""

import json
from collections.abc import Iterator, Mapping, Sequence
from urllib.parse import urljoin, urlsplit

from lxml.etree import XPath
from lxml.html import HtmlElement

from atlas_search.language.dates import bounds
from atlas_search.readers.html.page_title import page_title
from atlas_search.readers.markup import plain

_TITLE = "citation_title dc.title dcterms.title og:title".split()
_DATE = (
    "citation_publication_date citation_date citation_online_date dcterms.issued dc.date.issued "
    "article:published_time og:article:published_time dcterms.date dc.date parsely-pub-date "
    "sailthru.date pubdate publishdate date"
).split()
_CREATED = "dcterms.created dc.date.created".split()
_MODIFIED = "dcterms.modified dc.date.modified article:modified_time og:updated_time".split()
_AUTHOR = "citation_author dc.creator dcterms.creator author article:author parsely-author".split()
_PUBLISHER = "citation_publisher dc.publisher dcterms.publisher og:site_name".split()
_SOURCE = "citation_journal_title dc.source dcterms.source".split()
_LANGUAGE = "dc.language dcterms.language citation_language content-language".split()
_TAGS = "citation_keywords keywords article:tag dc.subject dcterms.subject parsely-tags".split()
_AUTHOR_NAMES = XPath(
    "//*[@itemprop='author'][not(.//*[@itemprop='name'])][not(ancestor::*[@itemprop='comment'])] | "
    "//*[@itemprop='author'][not(ancestor::*[@itemprop='comment'])]//*[@itemprop='name']"
)
# of these https://schema.org types the page is the thing described, not a part of it
_DESCRIBED = ("Article", "Posting", "Report", "Book", "Thesis", "Legislation", "CreativeWork")


def stated_metadata(page: HtmlElement, address: str) -> dict[str, object]:
    """The metadata that a page states; `address` is where it was read, empty if unknown.

    Of several statements that of an archive or a publisher goes before that for a search engine.
    """
    meta, described = _meta(page), _find_description(page)
    published = [
        *_of(meta, _DATE),
        *_texts(described.get("datePublished")),
        *_publication_marks(page),
    ]
    found: dict[str, object] = {
        "title": page_title(
            page,
            [*_of(meta, _TITLE), *_texts(described.get("headline"))],
            [*_of(meta, _PUBLISHER), *_names(described.get("publisher"))],
        ),
        "date": _first(_dates(published), published),
        "created": _first(_dates(_of(meta, _CREATED))),
        "modified": _first(_dates([*_of(meta, _MODIFIED), *_texts(described.get("dateModified"))])),
        "author": _authors(page, meta, described),
        "publisher": _first(_of(meta, _PUBLISHER), _names(described.get("publisher"))),
        "source": _first(_of(meta, _SOURCE)),
        "language": _first(
            _values(page.get("lang") or page.get("{http://www.w3.org/XML/1998/namespace}lang")),
            _of(meta, _LANGUAGE),
            _texts(described.get("inLanguage")),
        ),
        "tags": _one_or_all(_all_of_first(meta, _TAGS) or _texts(described.get("keywords"))),
        "url": address or _canonical(page, meta),
    }
    return {name: value for name, value in found.items() if value}


def _meta(page: HtmlElement) -> dict[str, list[str]]:
    """The contents of all `meta` elements by name, in their order."""
    found: dict[str, list[str]] = {}
    for element in page.iter("meta"):
        # of the HTTP headers only Content-Language: Date is when the page was sent
        language = {"content-language"} & {(element.get("http-equiv") or "").lower()}
        names = f"{element.get('name') or ''} {element.get('property') or ''}".lower().split()
        for name in (*names, *language):
            found.setdefault(name, []).extend(_values(element.get("content")))
    return found


def _find_description(page: HtmlElement) -> Mapping[str, object]:
    """The first object in JSON-LD that describes the page; empty if there is none."""
    for script in page.iter("script"):
        if (script.get("type") or "").strip().lower() == "application/ld+json":
            try:
                loaded = json.loads(script.text or "", strict=False)
            except (ValueError, RecursionError):
                continue
            for item in _objects(loaded):
                if any(str(kind).endswith(_DESCRIBED) for kind in _as_list(item.get("@type"))):
                    return item
    return {}


def _objects(loaded: object) -> Iterator[Mapping[str, object]]:
    for item in _as_list(loaded):
        if isinstance(item, dict):
            yield item
            yield from (inner for inner in _as_list(item.get("@graph")) if isinstance(inner, dict))


def _dates(texts: Sequence[str]) -> list[str]:
    return [text for text in texts if bounds(text) is not None]


def _publication_marks(page: HtmlElement) -> list[str]:
    """The time marked as that of publication, by HTML, microdata or microformats.

    Empty if there are several: some are those of other pages it leads to.
    """
    found = []
    for time in page.iter("time", "meta", "span", "abbr"):
        marks = f"{time.get('itemprop') or ''} {time.get('class') or ''}".lower().split()
        if "pubdate" in time.attrib or {"datepublished", "dt-published", "published"} & {*marks}:
            found += _values(_moment(time))
    return found if len({text[:10] for text in found}) == 1 else []


def _moment(time: HtmlElement) -> str | None:
    """What a mark of time says; `<abbr title="2015-04-01">` shows it in another form."""
    hidden = time.get("title") if time.tag == "abbr" else ""
    return time.get("datetime") or time.get("content") or hidden or time.text


def _authors(
    page: HtmlElement, meta: Mapping[str, Sequence[str]], described: Mapping[str, object]
) -> str | list[str]:
    names = (
        [name for name in _all_of_first(meta, _AUTHOR) if not name.startswith("http")]
        or _names(described.get("author"))
        or [text for name in _AUTHOR_NAMES(page) for text in _values("".join(name.itertext()))]
    )
    return _one_or_all(names)


def _canonical(page: HtmlElement, meta: Mapping[str, Sequence[str]]) -> str:
    links = [
        link.get("href") or ""
        for link in page.iter("link")
        if "canonical" in (link.get("rel") or "").lower().split()
    ]
    base = _first(_of(meta, ["og:url"]))
    return next((url for link in [*links, base] if (url := _web_address(base, link.strip()))), "")


def _web_address(base: str, link: str) -> str:
    try:
        url = urljoin(base, link)
        return url if urlsplit(url).scheme in ("http", "https") else ""
    except ValueError:
        return ""


def _names(value: object) -> list[str]:
    """The names of persons or bodies in JSON-LD: texts, or objects with a `name`."""
    names = (item.get("name") if isinstance(item, dict) else item for item in _as_list(value))
    return [text for name in names for text in _texts(name)]


def _texts(value: object) -> list[str]:
    return [text for item in _as_list(value) if isinstance(item, str) for text in _values(item)]


def _as_list(value: object) -> list[object]:
    return value if isinstance(value, list) else [value]


def _of(meta: Mapping[str, Sequence[str]], names: Sequence[str]) -> list[str]:
    return [text for name in names for text in meta.get(name, ())]


def _all_of_first(meta: Mapping[str, Sequence[str]], names: Sequence[str]) -> list[str]:
    return next((list(meta[name]) for name in names if meta.get(name)), [])


def _first(*several: Sequence[str]) -> str:
    return next((text for texts in several for text in texts), "")


def _one_or_all(texts: Sequence[str]) -> str | list[str]:
    distinct = list(dict.fromkeys(texts))
    return distinct[0] if len(distinct) == 1 else distinct


def _values(text: str | None) -> list[str]:
    """`text` on one line, as a list that is empty if nothing is left."""
    line = " ".join(plain(text or "").split())
    return [line] if line else []
