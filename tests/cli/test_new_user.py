"""A person who has only the README and a new messy workbook: three commands and one edit to a mapping that fits."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from pathlib import Path

import openpyxl
import pytest

from tests.cli.conftest import FrontDoor

Cell = str | int | date | None
Sheets = Mapping[str, Sequence[Sequence[Cell]]]


@dataclass(frozen=True)
class Newcomer:
    """A workbook, the one edit that a person makes to the proposal, and what `check` finds wrong in the rows then."""

    sheets: Sheets
    edit: tuple[str, str]
    invalid: tuple[str, ...]  # codes
    ready: int


TURKISH = Newcomer(
    {
        "Başvurular": [
            ["2024 Başvuru Listesi"],
            ["Hazırlayan: İK"],
            [],
            [
                "Sıra",
                "Ad Soyad",
                "E-posta Adresi",
                "Cep Telefonu",
                "Açık Adres",
                "Çalışma İzni",
                "Kıdem",
                "Bildiği Programlama Dilleri",
                "Ücret Beklentisi (net)",
                "İşe Başlama Tarihi",
                "CV Belge No",
                "Okul 1",
                "Derece 1",
                "Mezuniyet 1",
                "Okul 2",
                "Derece 2",
                "Mezuniyet 2",
                "Firma 1",
                "Görev 1",
                "Başlama 1",
                "Ayrılma 1",
                "Firma 2",
                "Görev 2",
                "Başlama 2",
                "Ayrılma 2",
            ],
            [
                1,
                "YILMAZ Ayşe",
                "ayse.y@example.com",
                "0555 000 20 01",
                "Gül Sok. 3",
                "Var",
                "Kıdemli",
                "Python, SQL",
                "45.000",
                "3 Eylül 2024",
                99601,
                "Ege Üniversitesi",
                "Lisans",
                "2014",
                "Example Üniversitesi",
                "Y. Lisans",
                "2016",
                "Örnek A.Ş.",
                "Uzman",
                "01.03.2016",
                "Halen",
                "Example Ltd",
                "Stajyer",
                "Haz 2013",
                "Ağu 2013",
            ],
            [],
            [
                2,
                "DEMİR ÇELİK Can",
                "can.d@example.com",
                "555 000 20 02",
                "",
                "Yok",
                "Uzman",
                "Java",
                "52.500",
                date(2024, 10, 1),
                99602,
                "Example Lisesi",
                "Lise",
                "2010",
            ],
            [
                3,
                "YILMAZ Ayşe",
                "AYSE.Y@example.com",
                "0555 000 20 01",
                "",
                "Var",
                "Kıdemli",
                "Go",
                "45.000",
                "1 Ekim 2024",
                99604,
            ],
        ]
    },
    ("# Uzman: ...   # in 1 cell; choose an option", "Uzman: Mid"),
    ("email-duplicate",),
    2,
)
ENGLISH = Newcomer(
    {
        "Cover": [["Candidates of the old ATS"], ["confidential"]],
        "Export": [
            ["Old ATS export"],
            [],
            [
                "Candidate ID",
                "Full Name",
                "Email",
                "Alt. Email",
                "Mobile Phone",
                "City",
                "Country",
                "Right to work?",
                "Seniority",
                "Skills",
                "Expected Salary",
                "Available From",
                "Resume Document ID",
                "School",
                "Degree",
                "School 2",
                "Degree 2",
                "Company",
                "Job Title",
                "Employment Dates",
                "Company 2",
                "Job Title 2",
                "Employment Dates 2",
                "How did you hear?",
            ],
            [
                "C-1",
                "Ada van der Berg",
                "ada.b@example.com",
                "",
                "(202) 555-0143",
                "Springfield",
                "USA",
                "Y",
                "Sr.",
                "Python;SQL",
                "65,000",
                "03/15/2025",
                99701,
                "Example University",
                "B.Sc.",
                "Example College",
                "MSc",
                "Example Inc",
                "Engineer",
                "Jan 2020 - Present",
                "Sample LLC",
                "Intern",
                "Jun 2018 - Dec 2019",
                "LinkedIn",
            ],
            [
                "C-2",
                "Bob Stone",
                "bob@example",
                "bob.stone@example.org",
                "202-555-0156",
                "Shelbyville",
                "USA",
                "N",
                "Junior",
                "Java",
                "70,000",
                "04/30/2025",
                99702,
                "",
                "",
                "",
                "",
                "Sample LLC",
                "Clerk",
                "Mar 2015 - Feb 2021",
                "",
                "",
                "",
                "Friend",
            ],
            [],
            [
                "C-3",
                "Cher",
                "cher@example.com",
                "",
                "+1 202 555 0187",
                "",
                "",
                "Y",
                "Principal",
                "Go;Docker",
                "",
                "04/01/2025",
                99703,
            ],
        ],
    },
    ("# Principal: ...   # in 1 cell; choose an option", "Principal: Lead"),
    ("name-split-failed",),
    2,
)
GERMAN = Newcomer(
    {
        "Bewerber": [
            ["Bewerberliste"],
            [],
            [
                "Lfd. Nr.", "Name, Vorname", "E-Mail", "Telefon mobil", "Festnetz", "Straße", "PLZ", "Ort",
                "Arbeitserlaubnis", "Karrierestufe", "EDV-Kenntnisse", "Gehaltsvorstellung p.a.", "Verfügbar ab",
                "Lebenslauf-Nr.", "Datenschutz akzeptiert",
            ],
            [
                1, "Muster, Max", "max.muster@example.com", "0171 0000001", "", "Beispielweg 7", "10115", "Berlin",
                "ja", "Berufseinsteiger", "Python, SQL", "52.000", "01.07.2025", 99801, "ja",
            ],
            [
                2, "Beispiel, Erika", "erika.b@example.org", "", "+49 30 00000000", "", "20095", "Hamburg",
                "ja", "erfahren", "Java", "61.500", "sofort", 99802, "ja",
            ],
            [],
            [
                3, "Probe, Jörg", "joerg.probe@example.net", "0171 0000003", "", "", "", "München",
                "nein", "Teamleiter", "Docker", "k.A.", "1. September 2025", 99803, "ja",
            ],
        ],
        "Schulen": [
            ["Nr", "Schule", "Abschluss", "von", "bis"],
            [1, "Example Gymnasium", "Abitur", "2005", "2013"],
            [1, "Example Universität", "Bachelor", "10/2013", "09/2017"],
            [2, "Example Hochschule", "Diplom", "10/2001", "03/2006"],
        ],
        "Berufe": [
            ["Nr", "Arbeitgeber", "Position", "Beginn", "Ende"],
            [1, "Muster AG", "Entwickler", date(2017, 10, 1), "heute"],
            [3, "Example KG", "Leiter", date(2006, 1, 1), date(2019, 6, 30)],
        ],
    },
    ("{column: Verfügbar ab,", "{column: Verfügbar ab, missing: [sofort],"),
    (),
    3,
)  # fmt: skip


@pytest.mark.parametrize("newcomer", [TURKISH, ENGLISH, GERMAN], ids=["Turkish", "English", "German"])
def test_a_new_user_needs_three_commands_and_one_edit(newcomer: Newcomer, front_door: FrontDoor) -> None:
    """After `mapping new`, one edit and `mapping check`, `check` only reports problems of single rows."""
    write_workbook(front_door.folder / "list.xlsx", newcomer.sheets)
    assert front_door("mapping", "new", "list.xlsx", "--job-post", "4f2c9a", "--sandbox").code == 0
    mapping = front_door.folder / "list.yaml"
    text = mapping.read_text("utf-8")
    assert text.count(newcomer.edit[0]) == 1
    mapping.write_text(text.replace(*newcomer.edit), "utf-8")
    assert front_door("mapping", "check", "list.yaml", "list.xlsx", "--sandbox").code == 0
    checked = front_door("check", "list.xlsx", "--mapping", "list.yaml", "--sandbox", "--json")
    faults = {"invalid": len(newcomer.invalid)} if newcomer.invalid else {}
    assert checked.counts == {"not_sent": newcomer.ready, **faults}
    assert tuple(problem["code"] for problem in checked.summary["problems"]) == newcomer.invalid


def test_a_cover_sheet_is_skipped_and_words_without_an_option_are_reported(front_door: FrontDoor) -> None:
    """The output names the sheet that is used and why, and what the value tables still lack."""
    write_workbook(front_door.folder / "list.xlsx", ENGLISH.sheets)
    messages = front_door("mapping", "new", "list.xlsx", "--job-post", "4f2c9a", "--sandbox").err.splitlines()
    assert messages[1] == "Using the sheet 'Export': 'Cover' contains no candidates."
    assert messages[-4] == '1 value matches no option: complete the comments under "values:".'


def write_workbook(path: Path, sheets: Sheets) -> None:
    workbook = openpyxl.Workbook()
    workbook.remove(workbook.worksheets[0])
    for title, lines in sheets.items():
        sheet = workbook.create_sheet(title)
        for line in lines:
            sheet.append(list(line))
    workbook.save(path)
