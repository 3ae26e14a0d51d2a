"""Lines that are no prose: items, rows, headings, verse, addresses and code keep their ends."""

import pytest

from atlas_search.language.lines import unwrap
from atlas_search.language.text import sentences


def split(text: str) -> list[str]:
    return [unwrap(text[start:end]) for start, end in sentences(text)]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        pytest.param(
            "Where the accused had nets of a small mesh\n"
            "(4) Where a person is prosecuted for having sold small herring, and it is shown that "
            "the person had nets of a small mesh, the onus lies on the accused.",
            [
                "Where the accused had nets of a small mesh",
                "(4) Where a person is prosecuted for having sold small herring, and it is shown "
                "that the person had nets of a small mesh, the onus lies on the accused.",
            ],
            id="a heading above a line that nobody wrapped",
        ),
        pytest.param(
            "- The first thing to do is to go down to the quay and to ask for\n"
            "  the harbour master.\n"
            "- The second is to wait.",
            [
                "- The first thing to do is to go down to the quay and to ask for "
                "the harbour master.",
                "- The second is to wait.",
            ],
            id="an item goes on",
        ),
        pytest.param(
            "* Boats with a keel of more than two metres use the outer basin and\n"
            "Pier Nine\n"
            "* Boats without one",
            [
                "* Boats with a keel of more than two metres use the outer basin and Pier Nine",
                "* Boats without one",
            ],
            id="an item goes on without indentation",
        ),
        pytest.param(
            "- Boats\n  - with a keel of more than two metres in the outer basin, and there\n"
            "    only by day\n  - without one\n- Rafts",
            [
                "- Boats",
                "- with a keel of more than two metres in the outer basin, and there only by day",
                "- without one",
                "- Rafts",
            ],
            id="nested items",
        ),
        pytest.param(
            "10 (1) No vessel may enter the inner basin between sunset and sunrise\n"
            "unless—\n"
            "(a) a pilot is on board who holds a licence under section 4 and whose\n"
            "licence is in force; or\n"
            "(b) the harbour master consents.\n"
            "(2) Subsection (1) does not apply to lifeboats.",
            [
                "10 (1) No vessel may enter the inner basin between sunset and sunrise unless—",
                "(a) a pilot is on board who holds a licence under section 4 and whose "
                "licence is in force; or",
                "(b) the harbour master consents.",
                "(2) Subsection (1) does not apply to lifeboats.",
            ],
            id="a statute",
        ),
        pytest.param(
            "Three things are asked of everyone who wants to become a pilot here:\n"
            "1. a good eye\n2. a strong arm\n10. patience",
            [
                "Three things are asked of everyone who wants to become a pilot here:",
                "1. a good eye",
                "2. a strong arm",
                "10. patience",
            ],
            id="numbered items",
        ),
        pytest.param(
            "Port | Depth of the basin at low water | Pilots\n"
            "---- | ---- | ----\n"
            "Northport | nine metres, but only seven in the fairway | three\n"
            "Ostby | four metres | none",
            [
                "Port | Depth of the basin at low water | Pilots",
                "---- | ---- | ----",
                "Northport | nine metres, but only seven in the fairway | three",
                "Ostby | four metres | none",
            ],
            id="rows of a table with bars",
        ),
        pytest.param(
            "| Northport | nine metres |\n| Ostby | four |",
            ["| Northport | nine metres |", "| Ostby | four |"],
            id="rows between bars",
        ),
        pytest.param(
            "Northport      nine metres at low water      three pilots\n"
            "ostby          four metres at low water      no pilots",
            [
                "Northport      nine metres at low water      three pilots",
                "ostby          four metres at low water      no pilots",
            ],
            id="columns of blanks",
        ),
        pytest.param(
            "Northport\tnine metres at low water in the outer basin\tthree\n"
            "ostby\tfour metres at low water in the only basin\tnone",
            [
                "Northport\tnine metres at low water in the outer basin\tthree",
                "ostby\tfour metres at low water in the only basin\tnone",
            ],
            id="columns of tabs",
        ),
        pytest.param(
            "Of the duties of pilots and masters ............. 12\n"
            "Of the dues and how they are paid by them ....... 30",
            [
                "Of the duties of pilots and masters ............. 12",
                "Of the dues and how they are paid by them ....... 30",
            ],
            id="a table of contents",
        ),
        pytest.param(
            "# On pilots\nThe board licenses them.",
            ["# On pilots", "The board licenses them."],
            id="a heading with a mark",
        ),
        pytest.param(
            "OF THE PILOTS OF THE NORTHERN HARBOURS AND THEIR MANY DUTIES\n"
            "The board licenses whoever has served for seven years on a boat that\n"
            "was registered there.",
            [
                "OF THE PILOTS OF THE NORTHERN HARBOURS AND THEIR MANY DUTIES",
                "The board licenses whoever has served for seven years on a boat that "
                "was registered there.",
            ],
            id="a heading in capitals",
        ),
        pytest.param(
            "On pilots\n=========\nThey steer.",
            ["On pilots", "=========", "They steer."],
            id="a heading that is underlined",
        ),
        pytest.param(
            "The tide has turned, the lamps are low,\n"
            "And nobody is there to row;\n"
            "The gulls have left the pier of stone,\n"
            "And he must cross the bar alone",
            [
                "The tide has turned, the lamps are low,",
                "And nobody is there to row;",
                "The gulls have left the pier of stone,",
                "And he must cross the bar alone",
            ],
            id="verse",
        ),
        pytest.param(
            "Northport Harbour Board\n12 Customs Quay\nNorthport NP1 4AA",
            ["Northport Harbour Board", "12 Customs Quay", "Northport NP1 4AA"],
            id="an address",
        ),
        pytest.param(
            "Department of Pilotage and Navigation Marks\nSecond Floor, The Old Customs House\n"
            "Northport NP1 4AA",
            [
                "Department of Pilotage and Navigation Marks",
                "Second Floor, The Old Customs House",
                "Northport NP1 4AA",
            ],
            id="an address of long lines",
        ),
        pytest.param(
            "Run this:\n\n```\nlight the lamp at the end of the northern pier\n"
            "and wait for it\n```",
            [
                "Run this:",
                "```",
                "light the lamp at the end of the northern pier",
                "and wait for it",
                "```",
            ],
            id="code between fences",
        ),
        pytest.param(
            "    lamp = open_lamp(pier=9)\n    lamp.light(); lamp.wait_for(keeper)\n"
            "    print(lamp.state_of_oil)",
            [
                "lamp = open_lamp(pier=9)",
                "lamp.light(); lamp.wait_for(keeper)",
                "print(lamp.state_of_oil)",
            ],
            id="code that is indented",
        ),
    ],
)  # fmt: skip
def test_lists_tables_headings_and_verse_keep_their_lines(text: str, expected: list[str]) -> None:
    assert split(text) == expected
