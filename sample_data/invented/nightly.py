"""The nightly CSV: about 40 form answers for a talent pool, as a Turkish form tool sends them."""

from __future__ import annotations

from collections.abc import Iterator

from invented.chance import Chance
from invented.people import Person, turkish_people
from invented.phones import phone

SEED = 20250601
CANDIDATES = 40
ENCODING = "cp1254"  # what a Turkish Windows calls ANSI
HEADER = (
    "Zaman damgası", "Başvuru No", "Ad", "Soyad", "E-posta", "E-posta (2)", "Cep Telefonu", "Departman", "CV No",
    "Eklemek istedikleriniz",
)  # fmt: skip
DEPARTMENT, POOL_DEPARTMENTS = "Departman", ("Yazılım", "Veri", "yazılım ")

KNOWN = {12: Person("Elif", "Şahin", "elif.sahin@example.com", "TR")}
COPIES = {31: 8}
FLAWS = {
    5: {"E-posta": "yok", "E-posta (2)": "-"},
    15: {"CV No": ""},
    21: {"Soyad": ""},
    26: {"E-posta": "gul.ay@example..com"},
    35: {"CV No": "özgeçmiş son.pdf"},
}
REMARKS = (
    "",
    "Hafta içi 18:00'den sonra arayın.",
    "Referans: Ayşe Hanım\nDahili: 0012",
    'Bana "Memo" derler; e-posta yeterli',
    "Uzaktan çalışmak isterim;\nŞişli'de oturuyorum.",
)


def rows() -> Iterator[dict[str, str]]:
    """The records below the header in order, all of them text; an empty one is a blank line."""
    chance = Chance(SEED)
    crowd = turkish_people(chance)
    written: dict[int, dict[str, str]] = {}
    for number in range(1, CANDIDATES + 1):
        record = _answer(number, KNOWN.get(number) or next(crowd), chance)
        if number in KNOWN or number in COPIES or number in COPIES.values() or number in FLAWS:
            record[DEPARTMENT] = POOL_DEPARTMENTS[0]  # or the filter would hide what this row shows
        if number in COPIES:
            record |= {"E-posta": written[COPIES[number]]["E-posta"].upper(), "E-posta (2)": ""}
        record |= FLAWS.get(number, {})
        written[number] = record
        yield record
        if number == 18:
            yield {}


def _answer(number: int, person: Person, chance: Chance) -> dict[str, str]:
    second = chance.odds(0.15)
    return {
        "Zaman damgası": f"{chance.between(1, 30):02d}.06.2025 {chance.between(0, 23):02d}:{chance.between(0, 59):02d}",
        "Başvuru No": f"{number:05d}",
        "Ad": chance.pick((person.first, person.first, f" {person.first}")),
        "Soyad": chance.pick((person.last, person.last, f"{person.last}\u00a0")),
        "E-posta": "-" if second else person.email,
        "E-posta (2)": person.email if second else "",
        "Cep Telefonu": str(phone("TR", chance)),
        "Departman": chance.pick(POOL_DEPARTMENTS * 2 + ("Muhasebe",)),
        "CV No": f"{4700 + number:07d}",
        "Eklemek istedikleriniz": chance.pick(REMARKS),
    }
