"""Names of countries, which no rule could tell from the names of persons."""

import re

_NAMES = """
    afghanistan; albania; algeria; andorra; angola; argentina; armenia; australia; austria;
    azerbaijan; bahamas; bahrain; bangladesh; barbados; belarus; belgium; belize; benin; bhutan;
    bolivia; bosnia; botswana; brazil; britain; brunei; bulgaria; burkina faso; burma; burundi;
    cambodia; cameroon; canada; chad; chile; china; colombia; congo; costa rica; croatia; cuba;
    cyprus; czechia; czech republic; czechoslovakia; denmark; djibouti; dominica; dominican
    republic; east germany; east timor; ecuador; egypt; el salvador; england; eritrea; estonia;
    eswatini; ethiopia; european union; eu; fiji; finland; france; gabon; gambia; georgia; germany;
    ghana; great britain; greece; grenada; guatemala; guinea; guyana; haiti; holland; honduras;
    hong kong; hungary; iceland; india; indonesia; iran; iraq; ireland; israel; italy; ivory coast;
    jamaica; japan; jordan; kazakhstan; kenya; kiribati; kosovo; kuwait; kyrgyzstan; laos; latvia;
    lebanon; lesotho; liberia; libya; liechtenstein; lithuania; luxembourg; madagascar; malawi;
    malaysia; maldives; mali; malta; mauritania; mauritius; mexico; moldova; monaco; mongolia;
    montenegro; morocco; mozambique; myanmar; namibia; nauru; nepal; netherlands; new zealand;
    nicaragua; niger; nigeria; north korea; north macedonia; northern ireland; norway; oman;
    pakistan; palau; palestine; panama; papua new guinea; paraguay; peru; philippines; poland;
    portugal; prussia; qatar; romania; russia; rwanda; samoa; san marino; saudi arabia; scotland;
    senegal; serbia; seychelles; sierra leone; singapore; slovakia; slovenia; solomon islands;
    somalia; south africa; south korea; south sudan; soviet union; spain; sri lanka; sudan;
    suriname; sweden; switzerland; syria; taiwan; tajikistan; tanzania; thailand; tibet; togo;
    tonga; trinidad; tunisia; turkey; turkmenistan; tuvalu; uganda; uk; ukraine; united arab
    emirates; united kingdom; united states; united states of america; uruguay; us; usa; uzbekistan;
    vanuatu; vatican; venezuela; vietnam; wales; west germany; western samoa; yemen; yugoslavia;
    zambia; zimbabwe
"""
_COUNTRIES = frozenset(" ".join(name.split()) for name in _NAMES.split(";"))

_ALIKE = {
    "uk": "uk; gb; united kingdom; great britain; britain; england; scotland; wales; northern "
    "ireland; british; english; scottish; scots; welsh",
    "us": "us; usa; united states; united states of america; america; american",
    "nz": "nz; new zealand",
    "au": "au; australia; australian",
    "ie": "ie; ireland; irish",
    "eu": "eu; european union; european",
}
"""Words for one country, by its code; the first ones stand in the names of corpora. What holds in
one part of the United Kingdom is looked for in the sources of all of it."""
_CODES = {
    word: code for code, listed in _ALIKE.items() for word in (w.strip() for w in listed.split(";"))
}
_ADJECTIVES = {
    "belgium": "belgian",
    "brazil": "brazilian",
    "canada": "canadian",
    "china": "chinese",
    "denmark": "danish",
    "finland": "finnish",
    "france": "french",
    "germany": "german",
    "greece": "greek",
    "holland": "dutch",
    "hungary": "hungarian",
    "israel": "israeli",
    "italy": "italian",
    "japan": "japanese",
    "netherlands": "dutch",
    "norway": "norwegian",
    "poland": "polish",
    "portugal": "portuguese",
    "spain": "spanish",
    "sweden": "swedish",
    "switzerland": "swiss",
    "turkey": "turkish",
}
_WORD = re.compile(r"[^\W_]+")


def is_country(name: str) -> bool:
    """Whether a name without its article is that of a country, as it is usually written."""
    return _plain(name) in _COUNTRIES


def words_for(country: str) -> tuple[str, ...]:
    """What a text calls a country by, its adjective among it, as it is written but for capitals."""
    name = _plain(country)
    code = _CODES.get(name)
    if code:
        return tuple(word for word, of in _CODES.items() if of == code)
    return name, _ADJECTIVES.get(name, f"{name.removesuffix('a')}an")


def country_of(named: str) -> str:
    """The country in the name of a corpus: the code of `legal_uk`, or a name; empty without one."""
    found = _WORD.findall(named.casefold())
    for length in (3, 2, 1):
        for first in range(len(found) - length + 1):
            name = " ".join(found[first : first + length])
            if name in _CODES or name in _COUNTRIES:
                return _CODES.get(name, name)
    return ""


def _plain(name: str) -> str:
    return " ".join(name.split()).casefold()
