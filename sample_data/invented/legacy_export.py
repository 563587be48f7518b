"""The migration workbook: about 300 candidates as an old recruiting system exports them, messy on purpose."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import date, timedelta

from invented.careers import education, experience
from invented.cells import Cell, Record
from invented.chance import Chance
from invented.faulty_rows import FLAWS
from invented.people import Person, people
from invented.phones import phone

SEED = 20250530
CANDIDATES = 300
TITLE = "Candidate export (all pipelines)"
SUBTITLE = "created 30.05.2025 02:15 by the old system; dates as entered by the recruiters"
HEADER = (
    "Candidate ID", "Full name", "E-mail", "Mobile", "Phone", "Street", "City", "Country", "Status", "Source",
    "CV document", "Photo", "Certificate", "LinkedIn", "GitHub", "Portfolio", "Behance", "Dribbble", "Languages",
    "Level", "Skills", "Work permit", "Expected salary", "Notice (weeks)", "Available from", "Cover letter", "Consent",
    *(f"{name} {group}" for group in (1, 2, 3) for name in ("School", "Degree", "Major", "From", "To")),
    *(f"{name} {group}" for group in (1, 2, 3) for name in ("Company", "Title", "Type", "Start", "End", "Current")),
    "Recruiter", "Last change",
)  # fmt: skip

# Two people who already applied in the sandbox, and four whom the faults of the demo refuse with a 400.
KNOWN = {
    40: Person("Deniz", "Yalçın", "deniz.yalcin@example.com", "TR"),
    181: Person("Ömer", "Öz", "omer.oz@example.org", "TR"),
}
REFUSED = {
    58: Person("Rana", "Özgün", "rana.ozgun@example.net", "TR"),
    119: Person("Tilda", "Brückner", "tilda.brueckner@example.org", "DE"),
    203: Person("Kaan", "Sezer", "kaan.sezer@example.com", "TR"),
    266: Person("Wanda", "Żurek", "wanda.zurek@example.net", "PL"),
}
# Rows that repeat the e-mail of an earlier row, as copies with different case or spaces.
COPIES = {97: 62, 161: 22, 244: 205}
BLANK_AFTER = {36, 37, 112, 190, 191, 192, 251}
FIRST_FLAW, FLAW_STEP = 17, 11

CITIES = {
    "TR": ("İstanbul", "Ankara", "İzmir", "Eskişehir", "Muğla"), "DE": ("Berlin", "Köln", "München"),
    "PL": ("Łódź", "Kraków", "Gdańsk"), "GB": ("London", "Leeds"), "GR": ("Αθήνα", "Θεσσαλονίκη"),
    "RU": ("Казань", "Тверь"), "AE": ("دبي", "Dubai"),
}  # fmt: skip
STREETS = {"TR": "Örnek Mah. Deneme Sok. No:", "DE": "Beispielstraße ", "PL": "ul. Przykładowa ", "GB": "Sample Lane "}
COUNTRIES = {
    "TR": "Türkiye", "DE": "Deutschland", "PL": "Polska", "GB": "United Kingdom", "GR": "Ελλάδα", "RU": "Россия",
    "AE": "UAE",
}  # fmt: skip
SKILLS = ("Python", "Java", "Go", "SQL", "Docker", "Kubernetes", "React", "TypeScript")
LETTERS = (
    "Merhaba,\n\nbackend ekibinizde çalışmak isterim; referanslarım CV'mde.\n\nSaygılarımla",
    "Sehr geehrte Damen und Herren,\nich bewerbe mich hiermit als Backend-Entwickler.",
    "I built payment services for six years; \"boring\" technology, on time.",
    "=) hep birlikte daha iyi",
    "Dzień dobry, szukam pracy zdalnej — najchętniej od zaraz.",
)  # fmt: skip


def rows() -> Iterator[Record]:
    """The rows below the header in order; an empty record is a blank row."""
    chance = Chance(SEED)
    crowd = people(chance)
    flaws = {FIRST_FLAW + FLAW_STEP * place: flaw for place, flaw in enumerate(FLAWS)}
    written: dict[int, Record] = {}
    for number in range(1, CANDIDATES + 1):
        person = KNOWN.get(number) or REFUSED.get(number) or next(crowd)
        record = _candidate(number, person, chance)
        chosen = (
            number in KNOWN or number in REFUSED or number in COPIES or number in COPIES.values() or number in flaws
        )
        if chosen:
            record["Status"] = "Active"  # or the filter would hide what this row shows
        if number in COPIES:
            record["E-mail"] = f" {str(written[COPIES[number]]['E-mail']).title()}\u00a0"
        if number in flaws:
            record |= flaws[number].cells
        written[number] = record
        yield record
        if number in BLANK_AFTER:
            yield {}


def _candidate(number: int, person: Person, chance: Chance) -> Record:
    return {
        "Candidate ID": f"{number:06d}",
        "Full name": _full_name(person, chance),
        "E-mail": chance.pick((person.email, person.email, f" {person.email}", person.email.capitalize())),
        **_phones(person.home, chance),
        **_address(person.home, chance),
        "Status": chance.pick(("Active",) * 8 + ("Interview",) * 5 + ("Rejected", "Archived", "interview ")),
        "Source": chance.pick(("LinkedIn", "Referral", "Kariyer günü", "Website", "", "Arkadaş tavsiyesi", "N/A")),
        **_documents(number, chance),
        **_links(person, chance),
        "Languages": chance.pick(("Türkçe, English (C1)", "Deutsch, English", "polski; English", "Türkçe", "")),
        "Level": chance.pick(("Sr", "Sr.", "Jr", "Mid", "Lead", "senior", "Junior", "Kıdemli", "-")),
        "Skills": _skills(chance),
        "Work permit": chance.pick(("Evet", "Hayır", "yes", "No", "evet", "Ja", "TRUE")),
        "Expected salary": chance.pick((45000, 62500, "45.000", "1.250", "120.000", " 85.500", None, "-", 38000.0)),
        "Notice (weeks)": chance.pick((4, 8, 2.5, "2,5", "0", "1,5", None, "N/A", 12)),
        "Available from": _available(chance),
        "Cover letter": chance.pick((None, None, None, *LETTERS)),
        "Consent": chance.pick(("Evet", "Evet", "yes", "Hayır")),
        **education(person.home, chance),
        **experience(chance),
        "Recruiter": chance.pick(("hr-team-1", "hr-team-2")),
        "Last change": date(2024, 1, 1) + timedelta(days=chance.between(0, 500)),
    }


def _full_name(person: Person, chance: Chance) -> str:
    plain = person.name
    return chance.pick(
        (
            plain,
            plain,
            plain,
            f"  {plain}",
            plain.replace(" ", "  "),
            f"{plain}\u00a0",
            f"{person.last}, {person.first}",
        )
    )


def _phones(home: str, chance: Chance) -> Record:
    number = phone(home, chance)
    if chance.odds(0.15):
        return {"Mobile": chance.pick((None, "-", "yok", "123")), "Phone": number}
    return {"Mobile": number, "Phone": phone(home, chance) if chance.odds(0.2) else None}


def _address(home: str, chance: Chance) -> Record:
    street = f"{STREETS[home]}{chance.between(1, 99)}" if home in STREETS and chance.odds(0.8) else None
    return {"Street": street, "City": chance.pick(CITIES[home]), "Country": COUNTRIES[home]}


def _documents(number: int, chance: Chance) -> Record:
    document: Cell = 70000 + number
    return {
        "CV document": document if chance.odds(0.6) else f"{document}",
        "Photo": 90000 + number if chance.odds(0.3) else None,
        "Certificate": f"{80000 + number}" if chance.odds(0.15) else None,
    }


def _links(person: Person, chance: Chance) -> Record:
    handle = person.email.partition("@")[0].replace(".", "-")
    return {
        "LinkedIn": chance.pick(
            (f"https://linkedin.example.com/in/{handle}", f"linkedin.example.com/in/{handle}", None)
        ),
        "GitHub": f"https://github.example.org/{handle}" if chance.odds(0.4) else None,
        "Portfolio": f"https://{handle}.example.net/işler?dil=tr" if chance.odds(0.12) else None,
        "Behance": f"http://behance.example.com/{handle}" if chance.odds(0.05) else None,
        "Dribbble": f"https://dribbble.example.com/{handle}" if chance.odds(0.05) else None,
    }


def _skills(chance: Chance) -> str:
    known = chance.some(SKILLS, chance.between(0, 4))
    return chance.pick(("; ", ";", " ; ")).join(known if chance.odds(0.7) else [skill.lower() for skill in known])


def _available(chance: Chance) -> Cell:
    day = date(2025, 7, 1) + timedelta(days=chance.between(0, 180))
    return chance.pick((day, day, f"{day:%d.%m.%Y}", f"{day:%Y-%m-%d}", None, "-"))
