"""Exact counts in scripts without blanks between words, and in those with marks and joiners."""

import random
import re
import unicodedata
from collections.abc import Iterator
from pathlib import Path

import pytest

from atlas_search.atlas import Atlas
from atlas_search.core.errors import InvalidQuery
from atlas_search.providers.embedding import Embedder
from tests.hash_embedder import HashEmbedder
from tests.tiny import build_tiny, write_sources

TEXTS = {
    "ja": "すべての人間は、生まれながらにして自由であり、かつ、尊厳と権利とについて平等である。"
    "人間は、理性と良心とを授けられており、"
    "互いに同胞の精神をもって行動しなければならない。ガラスとカラス。",
    "zh": "人人生而自由，在尊严和权利上一律平等。他们赋有理性和良心，并应以兄弟关系的精神相对待。",
    "th": "มนุษย์ทั้งหลายเกิดมามีอิสระและเสมอภาคกันในเกียรติศักดิ์และสิทธิ ต่างมีเหตุผลและมโนธรรม",
    "lo": "ມະນຸດທຸກຄົນເກີດມາມີກຽດສັກສີ, ສິດທິ, ເສລີພາບ ແລະ ຄວາມສະເໝີພາບເທົ່າທຽມກັນ.",
    "km": "មនុស្សទាំងអស់កើតមកមានសេរីភាព និងភាពស្មើៗគ្នា ក្នុងសេចក្ដីថ្លៃថ្នូរ និងសិទ្ធិ។",
    "my": "လူတိုင်းသည် တူညီ လွတ်လပ်သော ဂုဏ်သိက္ခာဖြင့် လည်းကောင်း၊ တူညီလွတ်လပ်သော အခွင့်အရေးများဖြင့်",
    "ko": "모든 인간은 태어날 때부터 자유로우며 그 존엄과 권리에 있어 동등하다.",
    "ar": "يولد جميع الناس أحرارًا متساوين في الكرامة والحقوق.",
    "he": "כל בני אדם נולדו בני חורין ושווים בערכם ובזכויותיהם.",
    "fa": "تمام افراد بشر آزاد به دنیا می‌آیند و از لحاظ حیثیت و حقوق با هم برابرند.",
    "hi": "सभी मनुष्यों को गौरव और अधिकारों के मामले में जन्मजात स्वतन्त्रता और समानता प्राप्त है।",
    "ru": "Все люди рождаются свободными и равными в своём достоинстве и правах. "
    "Мой дом, мои дома.",
}
"""Article 1 of the Universal Declaration of Human Rights, and some words more."""

UNSPACED = ("ja", "zh", "th", "lo", "km", "my")
ACCOUNTS = "1,250,000 crowns, 1.250.000 crowns, 1 250 000 and 1250000; 1’250’000. 250 and 1,250."
PORTS = {
    "ja": "灯台守の会議は一九四七年に東京で開かれた。山田太郎は新しい灯火の必要を述べた。",
    "zh": "港务局于1998年通过了新的港口条例。李明局长说，费用将提高百分之五。",
}
WRAPPED = "灯台の光は東\n京の港に届く。灯台守は京都にいた。東。京"


@pytest.fixture(scope="module")
def atlas(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Atlas]:
    root = tmp_path_factory.mktemp("scripts")
    texts = {f"rights/{code}.txt": f"{text}\n" for code, text in TEXTS.items()}
    source = write_sources(
        root / "source", texts | {"rights/wrapped.txt": WRAPPED, "rights/zz.txt": ACCOUNTS}
    )
    build_tiny(source, root / "c", HashEmbedder())
    with Atlas.open(root / "c", embedder=HashEmbedder()) as opened:
        yield opened


def clusters(text: str) -> list[str]:
    """Letters with their marks."""
    result: list[str] = []
    for character in text:
        if result and unicodedata.category(character).startswith("M"):
            result[-1] += character
        else:
            result.append(character)
    return result


@pytest.mark.parametrize("code", UNSPACED)
def test_whatever_is_written_without_blanks_is_counted_exactly(atlas: Atlas, code: str) -> None:
    chance = random.Random(code)
    for _ in range(60):
        runs = re.split(r"[\s、。，,.។၊]+", TEXTS[code])
        run = clusters(chance.choice([run for run in runs if run]))
        start = chance.randrange(len(run))
        part = "".join(run[start : start + chance.randint(1, 5)])
        places = clusters(TEXTS[code])
        length = len(clusters(part))
        expected = sum(
            "".join(places[at : at + length]) == part for at in range(len(places) - length + 1)
        )
        found = atlas.concordance(part, limit=50)
        own = [line for line in found.lines if line.document_id == f"rights.{code}"]
        assert len(own) == expected > 0, part
        assert {line.hit for line in own} == {part}


@pytest.mark.parametrize("code", sorted(TEXTS.keys() - UNSPACED))
def test_every_word_of_a_language_is_counted(atlas: Atlas, code: str) -> None:
    for word in re.findall(r"[^\s.,।]+", TEXTS[code]):
        found = atlas.concordance(word)
        assert f"rights.{code}" in {line.document_id for line in found.lines}, word


@pytest.mark.parametrize(
    ("query", "hits"),
    [
        ("東京", 1),  # over the end of a line, but over no full stop
        ("東 京", 2),
        ("灯台", 2),
        ("灯台*", 2),
        ("*灯台", 2),
        ("灯?守", 1),
        ("ガラス", 1),
        ("カラス", 1),
        ("мой", 1),
        ("мои", 1),
        ("своем", 1),
        ("میآیند", 1),
        ("می‌آیند", 1),
        ("احرارا", 1),
        ("أحرارًا", 1),
        ("स्वतन्त्रता", 1),
        ("सवतनतरता", 0),
        ("灯台 NEAR/9 東京", 2),
    ],
)
def test_signs_of_a_script_are_read_by_its_rules(atlas: Atlas, query: str, hits: int) -> None:
    assert atlas.concordance(query).hits == hits


@pytest.mark.parametrize(
    ("query", "read"),
    [
        ("C++", {"C++": "C"}),
        ("C# OR .NET", {"C#": "C", ".NET": "NET"}),
        ('"§ 4.2(b)" NEAR/5 U.S.', {"§ 4.2(b)": "4 2 b", "U.S.": "U S"}),
        ("e-mail", {"e-mail": "e mail"}),
        ("灯台", {}),
        ("灯台 東京", {}),
        ("1,250,000", {}),
        ("the * of", {}),
        ('"general  strike*" OR don’t', {}),
    ],
)
def test_a_count_says_how_signs_were_read(atlas: Atlas, query: str, read: dict[str, str]) -> None:
    assert atlas.concordance(query).read_as == read
    assert atlas.trends(query, by="corpus").read_as == read


@pytest.mark.parametrize("query", ["1250000", "1,250,000", "1.250.000"])
def test_a_number_is_found_however_it_is_grouped(atlas: Atlas, query: str) -> None:
    hits = [line.hit for line in atlas.concordance(query).lines]
    assert hits == ["1,250,000", "1.250.000", "1 250 000", "1250000", "1’250’000"]


NEIGHBOURS = {
    "ja": "東京都は東京にある。京都と東京。東京タワーへ行った。カメラとカメラマン。"
    "ﾗｼﾞｵを聞く。ラジオ。人々、時々。ヴェネツィア。コーヒー。１９９８年と1998年。Ｔｏｋｙｏ。第3回。",
    "zh": "中华人民共和国，人民的。台灣臺灣。李明说：“好”。A股、B股。3月5日。Wi-Fi网络。",
    "th": "ประเทศไทย ไทย ภาษาไทย",
    "ko": "서울에서 서울특별시 서울. 漢字 漢字는",
    "sums": "1,250,000 and £1,250,000; 12,50,000 rupees; 1'250'000 francs; 1 250 000; "
    "1\u00a0250\u00a0000; 1\u202f250\u202f000; 1.250.000; 1250000; (1,250,000); "
    "1,250,000–1,300,000. 12,345 and 1,000,000,000; 1,250 and 1250 and 1.250; 3.5 and 3,5; "
    "in 1954, 250 men; 192.168.1.1; 2½.",
}


@pytest.fixture(scope="module")
def neighbours(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Atlas]:
    root = tmp_path_factory.mktemp("neighbours")
    source = write_sources(root / "source", {f"n/{n}.txt": t for n, t in NEIGHBOURS.items()})
    build_tiny(source, root / "c", HashEmbedder())
    with Atlas.open(root / "c", embedder=HashEmbedder()) as opened:
        yield opened


COUNTS = """
東京 4 | 京都 2 | カメラ 2 | カメラマン 1 | メラ 2 | カ 2 | ラジオ 2 | ﾗｼﾞｵ 2
時々 1 | 人々 1 | コーヒー 1 | ヴェネツィア 1 | ウェネツィア 0 | 1998年 2 | １９９８ 2
Tokyo 1 | 第3回 1 | 東京* 4 | "東京 タワー" 1 | 人民 2 | 民共 1 | 台灣 1 | 臺灣 1 | A股 1
股 2 | 3月 1
李明 1 | Wi-Fi 1 | ไทย 3 | ประเทศ 1 | 서울 1 | 서울* 3
漢字 2 | 1250000 11 | 1,250,000 11 | 1.250.000 11 | 12,50,000 11 | 1300000 1 | 12345 1 | 12,345 1
1000000000 1 | 1250 2 | 1,250 2 | 1.250 1 | 3.5 2 | 3,5 2 | 1954 1 | 250 2 | 192.168.1.1 1 | 2½ 1
"""


@pytest.mark.parametrize("count", COUNTS.strip().replace("\n", " | ").split(" | "))
def test_neighbours_are_counted_exactly(neighbours: Atlas, count: str) -> None:
    query, hits = count.rsplit(" ", 1)
    assert neighbours.concordance(query).hits == int(hits)


def test_a_wildcard_between_letters_without_blanks_is_refused(atlas: Atlas) -> None:
    with pytest.raises(InvalidQuery, match="any number of words"):
        atlas.concordance("東*京")


@pytest.mark.parametrize(
    ("question", "answer"),
    [
        ("灯台守の会議はどこで開かれた?", "灯台守の会議は一九四七年に東京で開かれた。"),
        ("港口条例什么时候通过?", "港务局于1998年通过了新的港口条例。"),
    ],
)
def test_a_question_without_blanks_is_answered(
    tmp_path: Path, embedder: Embedder, question: str, answer: str
) -> None:
    source = write_sources(tmp_path / "source", {f"port/{n}.txt": t for n, t in PORTS.items()})
    build_tiny(source, tmp_path / "c", embedder)
    with Atlas.open(tmp_path / "c", embedder=embedder) as atlas:
        given = atlas.ask(question)
    assert given.outcome.decision == "ANSWER"
    assert given.verification.sentences[0].text == answer
    assert given.result.unknown_words == ()


@pytest.mark.thorough
def test_a_search_finds_what_is_written_without_blanks(atlas: Atlas) -> None:
    assert atlas.search('"灯台守"').passages[0].passage.document_id == "rights.wrapped"
    assert atlas.search("良心とを授けられて").passages[0].passage.document_id == "rights.ja"
