"""Titles of documents where its source says so badly, or not at all."""

import pytest

from atlas_search.readers.titles import LONGEST, clean_title, closed, title_from, title_of_file


@pytest.mark.parametrize(
    ("label", "ends"),
    [
        ("On sheep", ""),
        ("On \u202epeehs", "\u202c"),
        ("\u2067On \u202asheep", "\u202c\u2069"),
        ("\u202eOn \u2066sheep", "\u2069\u202c"),
        ("\u2066On \u202esheep\u2069 \u202bof", "\u202c"),
        ("\u202c\u2069On \u202dsheep", "\u202c"),
        ("\u202eOn\u202c \u2068sheep\u2069", ""),
        ("\u202a\u2069" * 100_000, "\u202c" * 100_000),
    ],
)
def test_a_label_ends_each_change_of_direction(label: str, ends: str) -> None:
    assert closed(label) == label + ends
    assert closed(label + ends) == label + ends


@pytest.mark.parametrize(
    ("title", "cleaned"),
    [
        ("On sheep", "On sheep"),
        ("{{ page.title }}", ""),
        ("{{ page.title }} | Northport", "Northport"),
        ("{% block title %}On sheep{% endblock %}", "On sheep"),
        ("<% title %>", ""),
        ("<?php the_title(); ?>", ""),
        ("<title>On sheep</title>", "On sheep"),
        ('<h1 class="big">On <i>sheep</i></h1>', "On sheep"),
        ("<!-- layout -->", ""),
        ("---", ""),
        ("Vec<T> and { sets }", "Vec<T> and { sets }"),
        ("a < b > c", "a < b > c"),
        ("第一条", "第一条"),
        ("Microsoft Word - On sheep, draft", "On sheep, draft"),
        ("Microsoft Word - On sheep, v2.docx", "On sheep, v2"),
        ("COM%282020%29842%20final.pdf", ""),
        ("tmp8a2f.tmp", ""),
        ("harbours.md", ""),
        ("On sheep.txt and other files", "On sheep.txt and other files"),
    ],
)
def test_a_title_has_no_template_tags_and_no_markup(title: str, cleaned: str) -> None:
    assert clean_title(title) == cleaned


@pytest.mark.parametrize(
    ("text", "title"),
    [
        ("# On sheep\n\nThey give wool.", "On sheep"),
        ("## On sheep ##\n", "On sheep"),
        ("On sheep\n========\n", "On sheep"),
        ("title: On sheep\ndate: 1901\n\nThey give wool.", "On sheep"),
        ("layout: post\nTitle: 'On sheep'\n\nThey give wool.", "On sheep"),
        ("---\nlayout: post\ntitle: On sheep\n\nThe front matter never ends.", "On sheep"),
        ("---\nlayout: post\n---\nOn sheep\n", "On sheep"),
        ('+++\ntitle = "On sheep"\n+++\n\nText.', "On sheep"),
        ("---\ntitle: {{ page.title }}\n---\n\n# On sheep", "On sheep"),
        ("They give wool.\n\ntitle: On sheep", "They give wool."),
        ("{% include head.html %}\n{{ page.title }}\n\nOn sheep\n", "On sheep"),
        ("<!DOCTYPE html>\n<title>On sheep</title>\n", "On sheep"),
        ("<meta charset='utf-8' />\n\n##On sheep\n", "On sheep"),
        ("---\n***\n", "---"),
        ("\n\n  On sheep  \n", "On sheep"),
        ("C# and F#\n", "C# and F#"),
        ("#hashtag\n", "#hashtag"),
        ("The Printed Sheep Project\n\nTitle: On sheep\n\nAuthor: A. Shepherd\n", "On sheep"),
        ("From: a@x.example\nSubject: Of sheep\nDate: 2 May 1901\n\nSir,\n", "Of sheep"),
        ("From: a@x.example\nSubject: =?ISO-8859-1?Q?P=E4n?=\n\nSir,\n", "Pän"),
        ("From: a@x.example\nSubject: =?klingon?Q?P=E4n?=\n\nSir,\n", "=?klingon?Q?P=E4n?="),
        ("Subject: a letter\nTitle: On sheep\n\nSir,\n", "On sheep"),
        ("1\n[7]\nOn sheep\n", "On sheep"),
        ("42\n", "42"),
        ("Working Group       A. Shepherd\nNote 12        May 1901\n\n   On sheep\n", "On sheep"),
        ("- On sheep\n- On goats\n", "On sheep"),
        ("[![built][b]][x] ![](c.svg)\n\n# On sheep\n", "On sheep"),
        ("[![built](b.svg)](x.example)\n\n# On sheep\n", "On sheep"),
    ],
)
def test_a_title_is_what_the_text_begins_with(text: str, title: str) -> None:
    assert title_from(text) == title


LINE = "The harbour board of Northport has resolved, after long debate, that pilots "
FITS = "a" * 59 + " " + "b" * 59


@pytest.mark.parametrize(
    ("text", "title"),
    [
        # a long first line ends behind a word, unless it has no blanks
        (LINE * 3, f"{LINE}The harbour board of Northport has…"),
        (f"{FITS} c", f"{FITS}…"),
        (f"{FITS}c", f"{FITS}c"),
        ("港" * 200, "港" * (LONGEST - 1) + "…"),
        # one broken by hand is read with the next
        ("The harbour board has resolved that no one may moor at the northern\npier.\n\nSo it is.",
         "The harbour board has resolved that no one may moor at the northern pier."),
    ],
)  # fmt: skip
def test_a_long_first_line_is_cut_to_the_longest_title(text: str, title: str) -> None:
    assert title_from(text) == title
    assert len(title) <= LONGEST


@pytest.mark.parametrize(
    ("stated", "title"),
    [
        ("High Court Judgment Template", ""),
        ("Blank Page", ""),
        ("Document1", ""),
        ("Template for harbours", "Template for harbours"),
        ("On documents", "On documents"),
    ],
)
def test_a_template_does_not_name_what_is_made_with_it(stated: str, title: str) -> None:
    assert title_of_file(stated) == title
