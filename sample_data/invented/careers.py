"""Education and experience in numbered column groups, with gaps, in the date styles of three decades."""

from __future__ import annotations

from datetime import date

from invented.cells import Cell, Record
from invented.chance import Chance

SCHOOLS = {
    "TR": ("Kuzey Yıldızı Üniversitesi", "Boğazkent Teknik Üniversitesi", "Çınaraltı Üniversitesi", "Göksu Lisesi"),
    "DE": ("Technische Hochschule Neustadt-Süd", "Universität Grünberg am See", "Fachhochschule Öhrental"),
    "PL": ("Politechnika Żuławska", "Uniwersytet Śródmiejski", "Akademia Łąkowa"),
    "GB": ("University of Wexcombe", "Harrowmere College", "St Oswin's School"),
    "GR": ("Πανεπιστήμιο Νέας Θάλασσας", "Τεχνικό Κολλέγιο Άνω Πόλης"),
    "RU": ("Северный технический университет", "Приозёрный государственный университет"),
    "AE": ("جامعة الواحة", "معهد النخيل التقني"),
}  # fmt: skip
DEGREES = {
    "TR": ("Lisans", "Yüksek Lisans", "Ön Lisans", "Lise", "Doktora", "lisans"),
    "DE": ("Diplom", "Bachelor", "Master", "B.Sc.", "Promotion"),
    "PL": ("inżynier", "magister", "licencjat"),
    "GB": ("BSc", "MSc", "A-Levels", "PhD", "Certificate"),
    "GR": ("BSc", "MSc"),
    "RU": ("бакалавр", "магистр"),
    "AE": ("BSc", "MBA"),
}
MAJORS = (
    "Bilgisayar Mühendisliği",
    "Computer Science",
    "İşletme",
    "Informatik",
    "Matematik",
    "Elektrik-Elektronik",
    "",
)
COMPANIES = (
    "Acme Yazılım A.Ş.", "Globex GmbH", "Initech Sp. z o.o.", "Mavi Dalga Teknoloji", "Fırtına Lojistik",
    "Umbra & Söhne", "Vandelay Ltd", "Çark Makine San. Tic.", "Hooli Ankara", "Ясень Софт", "شركة الأفق", "Ηλιος Data",
    "Stark \"North\" Ltd",
)  # fmt: skip
TITLES = (
    "Yazılım Geliştirici", "Backend Engineer", "Kıdemli Yazılım Mühendisi", "Softwareentwickler", "Data Analyst",
    "Stajyer", "DevOps Engineer", "Proje Yöneticisi", "QA Engineer",
)  # fmt: skip
TYPES = ("Tam zamanlı", "Full-time", "Vollzeit", "Yarı zamanlı", "Part time", "Freelance", "Stajyer", "")
OPEN_END = ("Present", "Halen", "halen", "heute")


def education(home: str, chance: Chance) -> Record:
    """The cells of up to three schools, newest first; sometimes group 1 or 2 is blank and a later one is not."""
    cells: Record = {}
    year = chance.between(2014, 2022)
    for group in _groups(chance, odds=(0.92, 0.45, 0.12)):
        length = chance.between(2, 5)
        studying = group == 1 and chance.odds(0.1)
        cells |= {
            f"School {group}": chance.pick(SCHOOLS[home]),
            f"Degree {group}": chance.pick(DEGREES[home]),
            f"Major {group}": chance.pick(MAJORS),
            f"From {group}": written(date(year - length, chance.pick((9, 10)), 1), chance),
            f"To {group}": chance.pick(OPEN_END) if studying else written(date(year, 6, 30), chance),
        }
        year -= length + 1
    return cells


def experience(chance: Chance) -> Record:
    """The cells of up to three positions, newest first; a current one has a word as its end or a flag column."""
    cells: Record = {}
    year = chance.between(2021, 2024)
    for group in _groups(chance, odds=(0.88, 0.55, 0.3)):
        start = date(year - chance.between(1, 3), chance.between(1, 12), chance.between(1, 28))
        cells |= {
            f"Company {group}": chance.pick(COMPANIES),
            f"Title {group}": chance.pick(TITLES),
            f"Type {group}": chance.pick(TYPES),
            f"Start {group}": written(start, chance),
        }
        if group == 1 and chance.odds(0.5):
            cells |= {"Current 1": chance.pick(("x", "Evet", "1")), "End 1": chance.pick(("", "", *OPEN_END))}
        else:
            cells |= {f"End {group}": written(date(year, chance.between(1, 12), 28), chance)}
        year = start.year - 1
    return cells


def written(day: date, chance: Chance) -> Cell:
    """A day as exports have it: a real date cell, or text of one of four styles."""
    return chance.pick(
        (
            day,
            day,
            day,
            f"{day:%d.%m.%Y}",
            f"{day:%d.%m.%Y}",
            f"{day:%Y-%m}",
            f"{day:%m/%Y}",
            f"{day:%Y}",
            f" {day:%d.%m.%Y} ",
        )
    )


def _groups(chance: Chance, odds: tuple[float, ...]) -> list[int]:
    filled = [number for number, share in enumerate(odds, start=1) if chance.odds(share)]
    return [3] if filled == [1] and chance.odds(0.04) else filled
