"""Printed lines: which are prose, run on from page to page, or bear numbers of lines and pages."""

import re
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import islice, pairwise
from math import log2
from statistics import fmean, mode
from typing import Literal, NamedTuple, TypeVar

BROKEN = "\x02"
"""Stands at the end of a line whose last word goes on in the next one; so pdfium marks it."""

BREAK = re.compile(r"[^\W\d_]-\Z")
LEAST_LINE = 25  # characters; where all lines are shorter they are cells
LEAST_RISE = 1.5  # points from the base of a line to that of its raised numbers
SAME = 2.5  # points between the left ends of lines that stand below each other

_LINE_END = re.compile(r"([\n\f])")
_LEADING = re.compile(r"[ \t]{0,40}(\d{1,3})(?=[ \t]|$)")
_TRAILING = re.compile(r"[ \t]{2}(\d{1,3})$")
_ENDED = re.compile(r"[.:;!?…][\"'”’)\]]{0,3}$")
_STEP = 5
_NEAR = range(4, 8)
"""Lines with words from one of every fifth to the next: a title's line is not always counted."""
_FEWEST_STEPS = 3  # 5, 10, 15
_FEWEST_LINES = 10  # of a page on which each has a number
_USUAL_PAGE = 20  # lines of a page of a transcript
_GOING_ON = 0.2
"""Share of lines that go on with the one before: hardly any of a list does, most of prose do."""

_FULL, _MOST_FULL = 0.75, 0.7
"""A line of prose that goes on in the next reaches as far as the others; of items in small letters
few do. The share of the width from which a line is full, and of such lines that are."""

_LEAST_WIDTH = 24  # characters of a column of prose; items and cells are shorter
_SOME = 0.05  # share of lines that go on, of the short questions and answers of a transcript

Item = TypeVar("Item")
_Side = Literal["left", "right", "alone"]
_SIDES: tuple[_Side, ...] = ("left", "right", "alone")


class _Number(NamedTuple):
    """A number at the edge of `line`, from its character `start` to `end`.

    `row` counts the lines with words before it; one that is `alone` has a line of its own.
    """

    line: int
    row: int
    value: int
    start: int
    end: int
    side: _Side


def without_line_numbers(text: str) -> str:
    """`text` without a column of line numbers, whether each line has one or every fifth.

    Blanks take their places, so that the words stand as they did. One of every fifth that has a
    line of its own goes with it; where each line is numbered, those without words are empty, and
    those between are left out. Items of a list keep their numbers.
    """
    lines, ends = (pieces := _LINE_END.split(text))[::2], [*pieces[1::2], ""]
    numbers = list(_numbers(lines))
    whole, fifths = _of_every_line(lines, numbers), _of_every_fifth(lines, numbers)
    gone = {number.line for number in fifths if number.side == "alone"} | _between(whole)
    by_line = {number.line: number for number in [*fifths, *whole]}
    return "".join(
        f"{_blank(line, by_line[at]) if at in by_line else line}{end}"
        for at, (line, end) in enumerate(zip(lines, ends, strict=True))
        if at not in gone or end != "\n"
    )


def _numbers(lines: Sequence[str]) -> Iterator[_Number]:
    row = 0
    for at, line in enumerate(map(str.rstrip, lines)):
        left, right = _LEADING.match(line), _TRAILING.search(line)
        is_alone = left is not None and left.end() == len(line)
        if left:
            yield _Number(at, row, int(left[1]), *left.span(1), "alone" if is_alone else "left")
        elif right:
            yield _Number(at, row, int(right[1]), *right.span(1), "right")
        row += bool(line) and not is_alone


def _blank(line: str, number: _Number) -> str:
    blanks = " " * (number.end - number.start)
    return f"{line[: number.start]}{blanks}{line[number.end :]}".rstrip(" \t")


def _of_every_line(lines: Sequence[str], numbers: Sequence[_Number]) -> list[_Number]:
    """Runs of lines that count up one by one, if what stands beside them is prose."""
    left = [number for number in numbers if number.side != "right"]
    blank = {at for at, line in enumerate(lines) if not line.strip()}

    def follows(before: _Number, after: _Number) -> bool:
        between = range(before.line + 1, after.line)
        return after.value == before.value + 1 and all(at in blank for at in between)

    runs = [run for run in runs_of(left, follows) if len(run) >= _FEWEST_LINES]
    beside = [[lines[number.line][number.end :].rstrip() for number in run] for run in runs]
    is_counted = _is_prose(beside) or _are_pages(beside, runs)
    return [number for run in runs for number in run] if is_counted else []


def _is_prose(blocks: Sequence[Sequence[str]], least: float = _GOING_ON) -> bool:
    """Say if such a share of lines goes on with the one before, and with one that is full."""
    pairs = [pair for block in blocks for pair in pairwise(block) if all(map(str.strip, pair))]
    width = nearly_widest(len(line) for block in blocks for line in block if line.strip())
    open_ = [len(before) for before, after in pairs if goes_on(before, after)]
    return width >= _LEAST_WIDTH and are_prose(open_, len(pairs), width, least)


def goes_on(before: str, after: str) -> bool:
    """Say if a sentence goes on from a line to the next one."""
    return after.lstrip()[0].islower() and not _ENDED.search(before)


def are_prose(open_: Sequence[float], pairs: int, width: float, least: float = _GOING_ON) -> bool:
    """Say if enough lines go on in the next one, of as many pairs, and most of those are full.

    `open_` are the widths of the lines that go on, `width` is that of a full one.
    """
    full = sum(own >= _FULL * width for own in open_)
    return len(open_) > least * pairs and full >= _MOST_FULL * len(open_)


def nearly_widest(widths: Iterable[float]) -> float:
    """The width of lines but for the widest tenth of them; 0 without any."""
    ordered = sorted(widths)
    return ordered[len(ordered) * 9 // 10] if ordered else 0


def _are_pages(blocks: Sequence[Sequence[str]], runs: Sequence[Sequence[_Number]]) -> bool:
    """Say if the runs are pages of as many lines each, with some prose, as of a transcript.

    The paragraphs of several judgments, verses of chapters and ranks in tables begin anew, too.
    """
    lengths = Counter(len(run) for run in runs if run[0].value == 1 and len(run) >= _USUAL_PAGE)
    pages = max(lengths.values(), default=0)
    return pages > 1 and 2 * pages >= lengths.total() and _is_prose(blocks, _SOME)


def _between(whole: Sequence[_Number]) -> set[int]:
    """The empty lines between numbered ones, where all stand apart: they part nothing."""
    return {
        line
        for before, after in pairwise(whole)
        if after.value == before.value + 1
        for line in range(before.line + 1, after.line)
    }


def _of_every_fifth(lines: Sequence[str], numbers: Sequence[_Number]) -> list[_Number]:
    """Runs 5, 10, 15 on one side that stand five lines of prose apart; with two of them, shorter
    ones.

    Lines between them begin with no numbers, as those of a list do; one may by chance.
    """
    place = {each.line: at for side in _SIDES for at, each in enumerate(_on(side, numbers))}

    def follows(before: _Number, after: _Number) -> bool:
        is_next = after.value == before.value + _STEP and after.row - before.row in _NEAR
        return is_next and place[after.line] - place[before.line] <= 2

    result: list[_Number] = []
    for side in _SIDES:
        fifths = [n for n in _on(side, numbers) if n.value and n.value % _STEP == 0]
        runs = runs_of(fifths, follows)
        whole = [run for run in runs if len(run) >= _FEWEST_STEPS and run[0].value <= 2 * _STEP]
        if _is_prose([_beside(lines, run) for run in whole]):
            fewest = 1 if len(whole) > 1 else _FEWEST_STEPS
            runs = [run for run in runs if run[0].value == _STEP and len(run) >= fewest]
            result += [number for run in runs for number in run]
    return result


def _beside(lines: Sequence[str], run: Sequence[_Number]) -> list[str]:
    """The lines with words from the first number of a run to the last, without the numbers."""
    bare = dict(enumerate(lines[run[0].line : run[-1].line + 1], start=run[0].line))
    bare |= {number.line: _blank(lines[number.line], number) for number in run}
    return [line.rstrip() for line in bare.values() if line.strip()]


def _on(side: _Side, numbers: Sequence[_Number]) -> list[_Number]:
    return [number for number in numbers if number.side == side]


def runs_of(items: Iterable[Item], follows: Callable[[Item, Item], bool]) -> list[list[Item]]:
    """Group items so that each follows the one before it in its run."""
    runs: list[list[Item]] = []
    for item in items:
        if runs and follows(runs[-1][-1], item):
            runs[-1].append(item)
        else:
            runs.append([item])
    return runs


RAISED_NUMBER = re.compile(r"[\[(]?([-−]?\d{1,3}|\d{1,3}(?:\s?[,;–-]\s?\d{1,3})+)[\])]?")
_POWER_OF_TEN = re.compile(r"(?<![\d.,])10$")
_UNIT = re.compile(
    r"(?:(?<![^\W\d_])(?:[kcdmкдс]?[mм]|мм|ft|yd)|\d\s?(?:in|mi|s)|(?<!\w)[A-Za-z])$"
)
"""What a 2 or a 3 raises: `km`, `40 in`, `x`."""

_RAISED = str.maketrans("-−0123456789", "⁻⁻⁰¹²³⁴⁵⁶⁷⁸⁹")


def raised(number: str, before: str) -> str:
    """A raised number as it is read behind a text: `²` behind a unit, else the note `[2]`.

    At the beginning, and behind a blank or a bracket, it stays as it is.
    """
    match = RAISED_NUMBER.fullmatch(number.strip())
    if match is None or not before or before[-1].isspace() or before[-1] in "([{":
        return number
    is_power = _POWER_OF_TEN.search(before) or not match[1][0].isdigit()
    if is_power or (match[1] in ("2", "3") and _UNIT.search(before)):
        return match[1].translate(_RAISED)
    return f"[{match[1]}]"


_ROMAN = (
    *((1000, "m"), (900, "cm"), (500, "d"), (400, "cd"), (100, "c"), (90, "xc"), (50, "l")),
    *((40, "xl"), (10, "x"), (9, "ix"), (5, "v"), (4, "iv"), (1, "i")),
)


def letters(place: int) -> str:
    """a to z, aa to zz, and so on: the letter again for each round. `place` counts from 1."""
    rounds, letter = divmod(place - 1, 26)
    return chr(ord("a") + letter) * (rounds + 1)


def roman(place: int) -> str:
    """i, ii, iii, iv and so on. `place` counts from 1."""
    text = ""
    for value, sign in _ROMAN:
        text += sign * (place // value)
        place %= value
    return text


_WORDED = re.compile(r"(?:page|pg|pp|p)\b\.?[\s:]*(?=\w)", re.IGNORECASE)
_WRAPPING = " \t\n[](){}|.,:–—"


def labels_of_pages(labels: Sequence[str]) -> tuple[str, ...]:
    """The labels of pages 1, 2, ...; none where they say no more than that: 1, 2, ..."""
    are_numbers = all(label in ("", str(number)) for number, label in enumerate(labels, start=1))
    return () if are_numbers else tuple(labels)


def page_label(written: str) -> str:
    """The number itself: `12` of `Page 12.` or `[p. 12]`."""
    bare = " ".join(written.split()).strip(_WRAPPING)
    bare = _WORDED.sub("", bare, count=1).strip(_WRAPPING) if _WORDED.match(bare) else bare
    return f"{bare}]" if bare.count("[") > bare.count("]") else bare


_FEWEST, _WITHIN = 3, 6
"""A line runs if it stands on three of six pages in a row: left and right pages may differ."""

_DEPTH = 4
"""Lines at either end of a page that may run."""

_NUMBER = re.compile(r"\d{1,6}")
_PAGE = "\0"  # stands for a number that counts the pages
_LONGEST_HEAD = 300  # characters of a line that bears the number of its page
_MOST_NUMBERS = 20
"""In a line that may hold that of its page. With more it is a row of figures, and a copy of it for
each of them would take memory that grows with the square of its length."""

Form = tuple[str, int]
"""A line with its page number put as a distance from the number of the page."""


def running_lines(pages: Sequence[Sequence[str]]) -> list[frozenset[int]]:
    """The numbers, from 0, of the lines of each page that run; the lines are from top to bottom.

    Lines are the same if nothing but the number of the page differs. Its first page keeps one,
    unless it holds numbers only, and no page loses all it has. A line further in runs only if
    those outside of it do.
    """
    edges = [
        _at_top(pages, [range(len(page))[:_DEPTH] for page in pages]),
        _at_top(pages, [range(len(page))[::-1][:_DEPTH] for page in pages]),
    ]
    both = (top | bottom for top, bottom in zip(*edges, strict=True))
    return [
        lines if len(lines) < len(page) else frozenset()
        for page, lines in zip(pages, both, strict=True)
    ]


class _Hit(NamedTuple):
    """A number at the edge of a page: the letters beside it, the place of its line, as it is
    written, and its line without it."""

    beside: int
    place: int
    written: str
    form: str


def printed_numbers(pages: Sequence[Sequence[str]]) -> list[str]:
    """The numbers that heads or feet bear, one for each page; empty where none is.

    The lines are from top to bottom. A number is that of its page if it goes up with the pages: at
    least _FEWEST close to each other have one of its style at the same distance, in one place.
    Several such runs may follow each other, as a front matter (`xii`) and a text do. Of two for one
    page, that on more pages and with fewer words beside it counts. A page between two of a run has
    the number that is due there, and so has a first page that is as full of text as the next ones.
    """
    found = [
        ((style, value - page), page, hit)
        for page, lines in enumerate(pages)
        for place in (*range(_DEPTH), *range(-_DEPTH, 0))
        if -len(lines) <= place < len(lines) and len(lines[place]) <= _LONGEST_HEAD
        for style, value, hit in _page_numbers(lines[place], place)
    ]
    forms = Counter((key, form) for key, _, form in {(*each, hit.form) for *each, hit in found})
    hits: defaultdict[tuple[str, int], dict[int, _Hit]] = defaultdict(dict)
    for key, page, hit in found:
        if _is_at_end(hit) or forms[key, hit.form] > 1:
            hits[key][page] = min(hit, hits[key].get(page, hit))
    weights = {
        (key, tuple(run)): len(run) / log2(2 + fmean(of[page].beside for page in run))
        for key, of in hits.items()
        for run in runs_of(sorted(of), lambda before, page: page - before <= _WITHIN)
        if _are_in_one_place([of[page] for page in run], run[-1] - run[0], len(pages))
    }
    numbers = [""] * len(pages)
    for (key, run), _ in sorted(weights.items(), key=lambda each: (-each[1], each[0])):
        own = [page for page in run if not numbers[page]]
        if len(own) >= _FEWEST:
            usual = sorted(len(pages[page]) for page in own)[len(own) // 2]
            is_due = own[0] == 1 and 2 * len(pages[0]) > usual
            for page in range(own[0] - is_due, own[-1] + 1):
                own_hit = hits[key].get(page)
                written = own_hit.written if own_hit else _written(*key, page)
                numbers[page] = numbers[page] or written
    return numbers


def _are_in_one_place(hits: Sequence[_Hit], span: int, pages: int) -> bool:
    """Say if enough of the hits on a span of pages stand in the same line from the edge.

    With words beside them that are few for the document they may count examples or steps.
    """
    places = Counter(hit.place for hit in hits)
    is_bare = any(hit.form == _PAGE for hit in hits)
    return max(places.values()) >= max(_FEWEST, span / 2) and (is_bare or 10 * len(hits) >= pages)


_ROMANS = {roman(number): number for number in range(1, 1000)}
_PAGE_NUMBER = re.compile(
    r"(?<![\w.,/#])(?:(?:[A-Z]{1,2}|\d{1,2})[-–])?((?!0)\d{1,5})(?![\w%]|/\d+/)"
)
_ROMAN_NUMBER = re.compile(r"(?:^|(?<=\s))([ivxlcdm]{1,9}|[IVXLCDM]{1,9})(?=\s|$)")


def _page_numbers(line: str, place: int) -> Iterator[tuple[str, int, _Hit]]:
    """The numbers of a line that may be that of its page: their style, value and place."""
    words = " ".join(line.split()).strip(_WRAPPING)
    for pattern in (_PAGE_NUMBER, _ROMAN_NUMBER):
        matches = list(islice(pattern.finditer(words), _MOST_NUMBERS + 1))
        for match in matches if len(matches) <= _MOST_NUMBERS else ():
            form = f"{words[: match.start()]}{_PAGE}{words[match.end() :]}".casefold()
            style, value = words[match.start() : match.start(1)], match[1]
            if not value.isdecimal():
                style = "i" if value.islower() else "I"
            number = int(value) if value.isdecimal() else _ROMANS.get(value.lower(), 0)
            if number:
                yield style, number, _Hit(len(form) - 1, place, match[0], form)


def _is_at_end(hit: _Hit) -> bool:
    """Say if a number stands at either end of the outermost line of a page, or alone."""
    is_outside = hit.place in (0, -1)
    is_at_end = hit.form.startswith(f"{_PAGE} ") or hit.form.endswith(f" {_PAGE}")
    return hit.form == _PAGE or (is_outside and is_at_end)


def _written(style: str, distance: int, page: int) -> str:
    value = page + distance
    if style in ("i", "I"):
        return roman(value) if style == "i" else roman(value).upper()
    return f"{style}{value}" if value > 0 else ""


def _at_top(
    pages: Sequence[Sequence[str]], edges: Sequence[Sequence[int]]
) -> Iterator[frozenset[int]]:
    """The running lines of each page among those of its edge, the outermost first."""
    forms = [
        [set(_forms(page[line], number)) for line in edge]
        for number, (page, edge) in enumerate(zip(pages, edges, strict=True))
    ]
    first = _first_pages(forms)
    for number, (page, edge) in enumerate(zip(pages, edges, strict=True)):
        running = set()
        for line, own in zip(edge, forms[number], strict=True):
            if not (own & first.keys()):
                break
            has_letter = any(letter.isalpha() for letter in page[line])
            if not (has_letter and all(first.get(form, number) == number for form in own)):
                running.add(line)
        yield frozenset(running)


def _forms(line: str, page: int) -> Iterator[Form]:
    """The line as it is, and with each of its numbers in turn as that of the page.

    Of more than _MOST_NUMBERS none is.
    """
    words = " ".join(line.casefold().split())
    if any(letter.isalpha() for letter in words):
        yield words, 0
    numbers = list(islice(_NUMBER.finditer(words), _MOST_NUMBERS + 1))
    for number in numbers if len(numbers) <= _MOST_NUMBERS else ():
        yield f"{words[: number.start()]}{_PAGE}{words[number.end() :]}", int(number[0]) - page
    if roman_number := _ROMANS.get(words.strip(_WRAPPING)):
        yield _PAGE, roman_number - page


def _first_pages(pages: Sequence[Sequence[set[Form]]]) -> Mapping[Form, int]:
    """The forms that run, and the first page of each."""
    pages_of: defaultdict[Form, list[int]] = defaultdict(list)
    for number, page in enumerate(pages):
        for form in set().union(*page):
            pages_of[form].append(number)
    return {form: on[0] for form, on in pages_of.items() if _line_runs(on)}


def _line_runs(pages: Sequence[int]) -> bool:
    spans = zip(pages, pages[_FEWEST - 1 :], strict=False)
    return any(last - first < _WITHIN for first, last in spans)


@dataclass(frozen=True, slots=True)
class PrintedLine:
    """A printed line: the height of its base, and how far it reaches from left to right.

    One without text is a blank line. `words_left` and `words_right` are the ends of what stands
    between a number at its beginning and one at its end. `turn` is not 0 where it is turned against
    most lines of the page, by which angle in degrees; its places are those of the page so turned.
    `size` is that of its type in points. The `row` of a table is how its cells are written.
    """

    text: str
    height: float
    left: float
    right: float
    broken: bool
    words_left: float = 0.0
    words_right: float = 0.0
    turn: int = 0
    size: float = 0.0
    row: str = ""


def whole(parts: Sequence[PrintedLine]) -> PrintedLine:
    """A line of these parts, of which one may be the raised number of a note."""
    texts = [parts[0].text]
    for before, part in pairwise(parts):
        is_call = part.height - before.height > LEAST_RISE and part.text.isdecimal()
        texts.append(raised(part.text, before.text) if is_call else f" {part.text}")
    right = parts[-1].right
    return replace(
        parts[0], text="".join(texts), right=right, words_right=right, broken=parts[-1].broken
    )


def is_prose(lines: Sequence[PrintedLine]) -> bool:
    """Say if sentences go on from line to line, and from full ones."""
    if max((len(line.text) for line in lines), default=0) < LEAST_LINE:
        return False
    first = min(line.left for line in lines)
    usual = mode(line.size for line in lines)  # a note in smaller type may be wider than its column
    width = nearly_widest(line.right - first for line in lines if line.size == usual)
    pairs = pairwise(lines)
    open_ = [before.right - first for before, after in pairs if goes_on(before.text, after.text)]
    return are_prose(open_, len(lines) - 1, width)
