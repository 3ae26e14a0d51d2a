"""The Hansards of several parliaments, and Akoma Ntoso."""

from tests.xml.xml_drafts import drafts, page, paragraphs, speeches


def test_a_bound_volume_gives_one_document_a_sitting_and_a_column_sequence() -> None:
    commons, written, lords = drafts("historic.xml")
    assert (commons.key, written.key, lords.key) == (
        "housecommons-1936-03-09",
        "writtenanswers-1936-03-09",
        "houselords-1936-03-10",
    )
    assert commons.title == "HOUSE OF COMMONS, Monday, 9th March, 1936."
    assert commons.remark == "left out of the volume: titlepage, index"
    assert lords.remark == "its date is given as 1936-03-10 and as Tuesday, 10th March, 1935."
    assert lords.metadata == {"date": "1936-03-10", "house": "House of Lords"}


def test_a_bound_volume_is_cited_by_its_columns() -> None:
    commons, written, _ = drafts("historic.xml")
    assert len(commons.pages) == 346
    assert page(commons, 345).startswith("HOUSE OF COMMONS.")
    assert page(commons, 346).startswith("steps he is taking.")
    assert commons.metadata["pages_are"] == "columns"
    assert page(written, 2) == "Every year."


def test_a_bound_volume_is_read_speech_by_speech() -> None:
    commons, written, _ = drafts("historic.xml")
    oral = "ORAL ANSWERS TO QUESTIONS."
    mines = f"{oral} > SCOTTISH MINES"
    assert speeches(commons) == [
        (oral, "", oral),
        (mines, "", "SCOTTISH MINES"),
        (mines, "Mr. Brown",
         "1. Mr. Brown asked the Secretary for Mines what steps he is taking."),
        (mines, "Captain Crook",
         'Captain Crook : None "at present".\n\nThere is nothing to add.'),
        (mines, "", "The House divided: Ayes, 2; Noes, 1.\n\nAYES. | NOES.\nBrown, J. | Crook, C."),
    ]  # fmt: skip
    assert speeches(written) == [
        ("Herrings", "", "Herrings\n\nMr. Green asked about herrings."),
        ("Herrings", "Mr. Black", "Mr. Black: They are counted.\n\nEvery year."),
    ]


def test_theyworkforyou_is_read_speech_by_speech() -> None:
    (draft,) = drafts("twfy.xml")
    assert speeches(draft) == [
        ("Oral Answers to Questions", "", "Oral Answers to Questions"),
        ("ENERGY", "", "ENERGY"),
        ("ENERGY > Coal", "", "Coal"),
        ("ENERGY > Coal", "Anne Example",
         "What is the cost, £1 my hon. Friend asks?\n\nA second paragraph."),
        ("ENERGY > Coal", "",
         "Question put.\n\n[Division 7]\n\n[ayes 2, noes 1]\n\n[aye]\nA. Able\nB. Baker\n\n"
         "[no]\nC. Carr"),
        ("Adjournment", "", "Adjournment"),
        ("Adjournment", "Bob Sample", "Good night.\n\none\ntwo"),
    ]  # fmt: skip


def test_theyworkforyou_says_which_day_of_which_house_it_is() -> None:
    (draft,) = drafts("twfy.xml")
    assert draft.title == "House of Commons debates, 2003-06-26"
    assert draft.metadata == {
        "date": "2003-06-26",
        "series": "House of Commons debates",
        "url": "https://example.org/1",
        "speakers": ["Anne Example", "Bob Sample"],
        "pages_are": "columns where speeches begin",
    }
    assert page(draft, 1221).startswith("Question put.")
    assert page(draft, 1222).startswith("Adjournment")


def test_the_australian_hansard_is_read_with_the_printed_names() -> None:
    (draft,) = drafts("australia-1901.xml")
    reading = "TARIFF BILL > Second Reading"
    assert draft.title == "House of Representatives, 1901-06-04"
    assert paragraphs(draft)[:2] == ["House of Representatives.", "Mr. Speaker took the chair."]
    assert speeches(draft) == [
        ("TARIFF BILL", "", "TARIFF BILL"),
        (reading, "", "Second Reading\n\nDebate resumed."),
        (reading, "Lyne, William", "Sir WILLIAM LYNE - I move -\n\nThat the Bill be read."),
        (reading, "Reid, George", "Mr REID - Sir John Quick knows better."),
        (reading, "Lyne, William", "I go on."),
        (reading, "", "The House divided.\n\n2\n\nAYES\n\nLyne, W.J.\nReid, G.H. (teller)"),
    ]
    assert draft.remark == "1 missing blanks after marked words were put in"


def test_the_australian_hansard_has_pages_where_speeches_begin() -> None:
    (draft,) = drafts("australia-1901.xml")
    assert draft.metadata == {
        "date": "1901-06-04",
        "house": "House of Representatives",
        "parliament": "1",
        "session": "1",
        "speakers": ["Lyne, William", "Reid, George"],
        "members": ["Lyne, William (Hume)"],
        "electorates": ["Hume"],
        "pages_are": "pages where speeches begin",
    }
    assert page(draft, 17).startswith("Sir WILLIAM LYNE")
    assert page(draft, 18).startswith("Mr REID")


def test_the_australian_hansard_of_1990_is_read_though_its_doctype_is_broken() -> None:
    (draft,) = drafts("australia-1990.xml")
    assert speeches(draft) == [
        ("SWEARING-IN", "", "SWEARING-IN"),
        ("SWEARING-IN", "The President",
         "The PRESIDENT —I inform the Senate.\n\nA second paragraph."),
        ("SWEARING-IN", "", "Sitting suspended."),
        ("SWEARING-IN", "Hill, R.",
         "The document read as follows-\n\n"
         "Senator HILL (South Australia-Leader of the Opposition) —by leave."),
    ]  # fmt: skip
    assert draft.metadata["date"] == "1990-05-08"
    assert draft.metadata["edition"] == "proof"
    assert draft.remark == (
        "its incomplete DOCTYPE was passed over; "
        "undeclared character entities were read as in HTML: mdash"
    )


def test_the_australian_hansard_since_2011_names_speakers_in_its_paragraphs() -> None:
    (draft,) = drafts("australia-2013.xml")
    pricing = "QUESTIONS WITHOUT NOTICE > Pricing"
    assert paragraphs(draft)[0] == "Wednesday, 26 June 2013"
    assert speeches(draft) == [
        ("QUESTIONS WITHOUT NOTICE", "", "QUESTIONS WITHOUT NOTICE"),
        (pricing, "", "Pricing"),
        (pricing, "Example, Ann", "Ms EXAMPLE (Lalor) (14:09): Back to our favourite."),
        (pricing, "The Speaker", "The SPEAKER: Order!"),
        (pricing, "", "Mr Sample interjecting—"),
        (pricing, "Example, Ann", "Ms EXAMPLE: I continue."),
    ]


def test_the_canadian_hansard_is_read_with_interjections() -> None:
    (draft,) = drafts("canada.xml")
    housing = "Oral Questions > Housing"
    assert draft.text.startswith("The House met at 10 a.m.\n\nOral Questions")
    assert speeches(draft) == [
        ("Oral Questions", "", "Oral Questions"),
        (housing, "", "(1415)\n\n[Translation]\n\nHousing"),
        (housing, "Ann Example",
         "Ms. Ann Example (North Sample, CPC): Mr. Speaker, what of Bill C-11?"),
        (housing, "Some hon. members", "Some hon. members: Oh, oh!"),
        (housing, "Ann Example", "I ask again."),
        (housing, "Bob Sample",
         "Hon. Bob Sample (Minister of Housing, Lib.): It is built.\n\n(Motion agreed to)"),
        (housing, "Ann Example", "Ann Example: Thank you."),
        (housing, "", "The House adjourned."),
    ]  # fmt: skip


def test_the_canadian_hansard_states_its_day() -> None:
    (draft,) = drafts("canada.xml")
    assert draft.title == "House of Commons Debates, Tuesday, February 7, 2023"
    assert draft.metadata == {
        "date": "2023-02-07",
        "series": "House of Commons Debates",
        "parliament": "44",
        "session": "1",
        "volume": "Volume 151",
        "language": "en",
        "speakers": ["Ann Example", "Some hon. members", "Bob Sample"],
    }


def test_akoma_ntoso_debates_are_read_speech_by_speech() -> None:
    (draft,) = drafts("akoma.xml")
    assert draft.title == "Sample Debates"
    assert draft.metadata["date"] == "2019-05-08"
    assert speeches(draft) == [
        ("Housing Bill", "", "Housing Bill"),
        ("Housing Bill", "Ann Example", "Ms Example (14:00): I support it.\n\nSo does he."),
        ("Housing Bill", "", "Bill read a first time."),
    ]
