"""Invented people: names in several scripts, e-mail addresses in the domains reserved for examples."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from invented.chance import Chance

DOMAINS = ("example.com", "example.org", "example.net")

_LATIN = str.maketrans(
    {
        "ç": "c", "ğ": "g", "ı": "i", "ö": "o", "ş": "s", "ü": "u", "â": "a", "ä": "ae", "ß": "ss", "ą": "a",
        "ć": "c", "ę": "e", "ł": "l", "ń": "n", "ó": "o", "ś": "s", "ź": "z", "ż": "z", "é": "e", "è": "e", " ": "",
        "-": "", "'": "",
    }
)  # fmt: skip


@dataclass(frozen=True)
class Person:
    """One invented person. `home` is the country that the address and the phone number are from."""

    first: str
    last: str
    email: str
    home: str

    @property
    def name(self) -> str:
        return f"{self.first} {self.last}"


@dataclass(frozen=True)
class Culture:
    """Names that match. `latin` gives the letters for an e-mail address where the script is not Latin."""

    home: str
    share: float
    first: tuple[str, ...]
    last: tuple[str, ...]
    latin: tuple[tuple[str, str], ...] = ()


CULTURES = (
    Culture(
        "TR",
        0.50,
        ("Ayşe", "Mehmet", "Elif", "Çağlar", "İrem", "Işıl", "Gökçe", "Ömer Faruk", "Şule", "Ülkü", "Burak",
         "Zeynep Nur", "Doğukan", "Hülya", "Tuğba", "Cem", "Nazlı", "Oğuzhan", "Sıla", "Yiğit"),
        ("Yılmaz", "Öztürk", "Çelik", "Şimşek", "Gündoğdu", "Aydın", "Kılıç", "Işık", "Ünal", "Koçyiğit", "Demirtaş",
         "Özgür", "İnce", "Bağcı", "Türkmen", "Güneş"),
    ),
    Culture(
        "DE",
        0.15,
        ("Jörg", "Käthe", "Lukas", "Anneliese", "Günther", "Sophie", "Heinz-Peter", "Mareike", "Björn", "Ute"),
        ("Müller", "Schröder", "Weiß", "Großmann", "Köhler", "Bäcker", "Straßer", "Lindner", "Hübner"),
    ),
    Culture(
        "PL",
        0.11,
        ("Łukasz", "Małgorzata", "Wojciech", "Agnieszka", "Zbigniew", "Żaneta", "Paweł", "Kinga"),
        ("Wiśniewski", "Kowalczyk", "Wójcik", "Zieliński", "Dąbrowska", "Głowacka", "Źrebiec", "Nowak"),
    ),
    Culture(
        "GB",
        0.08,
        ("Olivia", "Siobhán", "Harry", "Noah", "Freya", "Zoë"),
        ("O'Rourke", "Whitfield", "Ashdown", "Penhaligon", "Carrow"),
        (("Siobhán", "siobhan"), ("Zoë", "zoe")),
    ),
    Culture(
        "GR",
        0.05,
        ("Γιώργος", "Ελένη", "Νίκος", "Σοφία"),
        ("Παπαδάκης", "Αλεξίου", "Οικονόμου", "Ζαφειρίου"),
        (("Γιώργος", "giorgos"), ("Ελένη", "eleni"), ("Νίκος", "nikos"), ("Σοφία", "sofia"), ("Παπαδάκης", "papadakis"),
         ("Αλεξίου", "alexiou"), ("Οικονόμου", "oikonomou"), ("Ζαφειρίου", "zafeiriou")),
    ),
    Culture(
        "RU",
        0.06,
        ("Юлия", "Дмитрий", "Фёдор", "Екатерина"),
        ("Соколова", "Журавлёв", "Щербаков", "Яковлева"),
        (("Юлия", "yulia"), ("Дмитрий", "dmitriy"), ("Фёдор", "fyodor"), ("Екатерина", "ekaterina"),
         ("Соколова", "sokolova"), ("Журавлёв", "zhuravlyov"), ("Щербаков", "shcherbakov"), ("Яковлева", "yakovleva")),
    ),
    Culture(
        "AE",
        0.05,
        ("أحمد", "ليلى", "يوسف", "نور"),
        ("منصور", "الخطيب", "حداد", "النجار"),
        (("أحمد", "ahmad"), ("ليلى", "layla"), ("يوسف", "yousef"), ("نور", "nour"), ("منصور", "mansour"),
         ("الخطيب", "alkhatib"), ("حداد", "haddad"), ("النجار", "alnajjar")),
    ),
)  # fmt: skip


def people(chance: Chance) -> Iterator[Person]:
    """Invented people without end, no two with the same name."""
    seen: set[str] = set()
    while True:
        person = _person(_culture(chance), chance)
        if person.name not in seen:
            seen.add(person.name)
            yield person


def turkish_people(chance: Chance) -> Iterator[Person]:
    """The same, for a file whose encoding has only the Turkish alphabet."""
    return (person for person in people(chance) if person.home == "TR")


def latin(name: str) -> str:
    """A name in the letters of an e-mail address."""
    return name.replace("İ", "i").replace("I", "i").lower().translate(_LATIN)


def _culture(chance: Chance) -> Culture:
    mark = chance.between(1, 100) / 100
    for culture in CULTURES:
        mark -= culture.share
        if mark <= 0.001:
            return culture
    return CULTURES[0]


def _person(culture: Culture, chance: Chance) -> Person:
    first, last = chance.pick(culture.first), chance.pick(culture.last)
    letters = dict(culture.latin)
    mailbox = f"{letters.get(first, latin(first))}.{letters.get(last, latin(last))}"
    return Person(first, last, f"{mailbox}@{chance.pick(DOMAINS)}", culture.home)
