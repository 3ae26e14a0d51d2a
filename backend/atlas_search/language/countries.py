"""Names of countries, which no rule could tell from the names of persons."""

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


def is_country(name: str) -> bool:
    """Whether a name without its article is that of a country, as it is usually written."""
    return " ".join(name.split()).casefold() in _COUNTRIES
