"""Five exports of other shapes than the samples, each with what a careful person would send for every row.

Written from the help pages of the programs that they are named after; all people are invented.
"""

from __future__ import annotations

import csv
import json
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from openpyxl import Workbook

Truth = dict[str, dict[str, Any]]  # by e-mail address: fields and answers; entries as lists of dictionaries

_FIRST = ("Ada", "Bora", "Ceyda", "Deniz", "Elif", "Fatih", "Gül", "Hakan", "İrem", "Jan")
_LAST = ("Nur", "Öztürk", "Şahin", "Kaya", "Yıldız", "Wójcik", "Müller", "Łoś", "Çelik", "Groß")
_SCHOOLS = ("Ege Üniversitesi", "TU München", "Politechnika Łódzka", "Universität Köln")
_COMPANIES = ("Acme GmbH", "Kuzey Veri A.Ş.", "Białe Morze Sp. z o.o.", "Müller & Söhne")
_TITLES = ("Engineer", "Team Lead", "Analyst", "Designer")
_LANGUAGES = ("Deutsch", "Englisch", "Französisch", "Türkisch", "Polnisch")


@dataclass(frozen=True)
class Export:
    """The files of an export in a folder, and the truth.

    faulty: how many rows have a fault, so that they must be held back. complete: what is required and in no file, such
    as the document of a CV. options: what `mapping new` needs to be told.
    """

    file: str
    truth: Truth
    faulty: int = 0
    complete: dict[str, str] = field(default_factory=dict)
    options: tuple[str, ...] = ()


_ONE_DOCUMENT = {"cv": '{value: "4711"}'}


def _person(number: int) -> tuple[str, str, str]:
    first, last = _FIRST[number % 10], _LAST[(number * 3 + number // 10) % 10]
    return first, last, f"p{number:02}@example.com"


def _write(path: Path, rows: list[list[str]], encoding: str = "utf-8", delimiter: str = ",") -> None:
    with path.open("w", encoding=encoding, newline="") as file:
        csv.writer(file, delimiter=delimiter).writerows(rows)


# --- Linked Helper: numbered groups; months as 2024.05, of which a spreadsheet made 2024.1 ------------


def linked_helper(folder: Path) -> Export:
    """Numbered groups of jobs and schools, dates such as 2024.05, a blank end of the newest job."""
    groups = [f"{name}_{n}" for n in (1, 2, 3) for name in ("organization", "organization_title", "organization_start",
              "organization_end", "organization_location")]  # fmt: skip
    schools = [f"{name}_{n}" for n in (1, 2) for name in ("education", "education_degree", "education_fos",
               "education_start", "education_end")]  # fmt: skip
    head = ["id", "profile_url", "email", "full_name", "first_name", "last_name", "headline", "location_name", *groups,
            *schools, "phone_1", "phone_type_1"]  # fmt: skip
    rows, truth = [head], Truth()
    for number in range(60):
        first, last, email = _person(number)
        url = f"https://www.linkedin.com/in/p{number:02}"
        jobs = [
            (_COMPANIES[(number + n) % 4], _TITLES[n], f"{2020 - 3 * n}.{1 + (number + n) % 9:02}",
             "" if n == 0 else f"{2022 - 3 * n}.{10 + number % 3}")
            for n in range(1 + number % 3)
        ]  # fmt: skip
        cells = [part for job in jobs for part in (*job, "Köln, Germany · On-site")] + [""] * 5 * (3 - len(jobs))
        school = (_SCHOOLS[number % 4], ("Bachelor of Science - BS", "MBA", "Ph.D.")[number % 3], "Informatics", "2008",
                  "2012")  # fmt: skip
        rows.append([str(900 + number), url, email, f"{first} {last}", first, last, "Engineer at Acme", "Köln", *cells,
                     *school, *[""] * 5, "+49 221 4710 000", "work"])  # fmt: skip
        truth[email] = {
            "first_name": first,
            "last_name": last,
            "linkedin": url,
            "about": "Engineer at Acme",
            "phone": "+492214710000",
            "city": "Köln",
            "experience": [
                {
                    "company_name": company,
                    "position_title": title,
                    "start_date": f"{start.replace('.', '-')}-01",
                    **({"end_date": _last_day(end)} if end else {"currently_employed": True}),
                }
                for company, title, start, end in jobs
            ],
            "education": [
                {
                    "school_name": school[0],
                    "degree": ("bachelors_degree", "masters_degree", "doctorate_degree")[number % 3],
                    "major": "Informatics",
                    "start_date": "2008-01-01",
                    "end_date": "2012-12-31",
                }
            ],
        }
    _write(folder / "linked_helper.csv", rows)
    return Export("linked_helper.csv", truth, complete=_ONE_DOCUMENT)


def _last_day(month: str) -> str:
    year, number = month.split(".")
    return f"{year}-{number}-{'30' if number == '11' else '31'}"


# --- Workable: a template with instruction rows that a person forgot to delete ------------------------


def workable(folder: Path) -> Export:
    """The address of an administrator in row 1, the header in row 2, instructions in rows 3 to 5."""
    book = Workbook()
    sheet = book.active
    assert sheet is not None
    sheet.append(["", "", "", "", "", "admin@example.com"])
    sheet.append(["name", "email", "job title", "phone", "address", "summary", "salary", "start date"])
    sheet.append(["Required", "Required", "Optional", "Optional", "Optional", "Optional", "Optional", "Optional"])
    sheet.append(["Full name of the candidate", "Must be unique", "", "With country code", "Any format",
                  "Up to 500 characters", "Whole number", "dd/mm/yyyy"])  # fmt: skip
    sheet.append(["Jane Sample", "jane@example.com", "Engineer", "+49 221 4710 111", "Köln", "A sample row", "1000",
                  "31/12/2026"])  # fmt: skip
    truth = Truth()
    for number in range(60):
        first, last, email = _person(number)
        sheet.append([f"{first} {last}", email, _TITLES[number % 4], "+49 221 4710 000", "Köln", f"Text {number}",
                      3000 + number, f"{1 + number % 28:02}/{1 + number % 12:02}/2026"])  # fmt: skip
        truth[email] = {
            "first_name": first,
            "last_name": last,
            "phone": "+492214710000",
            "about": f"Text {number}",
            "salary": str(3000 + number),
            "available_from": f"2026-{1 + number % 12:02}-{1 + number % 28:02}",
        }
    book.save(folder / "workable.xlsx")
    return Export("workable.xlsx", truth, complete=_ONE_DOCUMENT)


# --- a Polish workbook with currencies, and a child file of another encoding ---------------------------


def polish(folder: Path) -> Export:
    """Salaries whose formats show zł, some €; jobs in a cp1250 file beside it, joined by ID."""
    book = Workbook()
    sheet = book.active
    assert sheet is not None
    sheet.title = "Kandydaci"
    sheet.append(["ID", "Imię", "Nazwisko", "E-mail", "Telefon", "Miasto", "Oczekiwane wynagrodzenie", "Dostępny od"])
    jobs = [["ID kandydata", "Firma", "Stanowisko", "Od", "Do"]]
    truth = Truth()
    for number in range(60):
        first, last, email = _person(number)
        row = 2 + number
        sheet.append([f"K-{number:03}", first, last, email, "+48 58 000 00 00", "Łódź", 8000 + 10 * number,
                      f"{1 + number % 28:02}.{1 + number % 12:02}.2026"])  # fmt: skip
        is_euro = number % 20 == 7
        sheet.cell(row, 7).number_format = '#,##0 "€"' if is_euro else '#,##0 "zł"'
        company, title = _COMPANIES[number % 4], _TITLES[number % 4]
        jobs.append([f"K-{number:03}", company, title, f"{1 + number % 12:02}.2019", "obecnie" if number % 2 else
                     "12.2022"])  # fmt: skip
        truth[email] = {
            "first_name": first,
            "last_name": last,
            "phone": "+48580000000",
            "city": "Łódź",
            "available_from": f"2026-{1 + number % 12:02}-{1 + number % 28:02}",
            **({} if is_euro else {"salary": str(8000 + 10 * number)}),
            "experience": [
                {
                    "company_name": company,
                    "position_title": title,
                    "start_date": f"2019-{1 + number % 12:02}-01",
                    **({"currently_employed": True} if number % 2 else {"end_date": "2022-12-31"}),
                }
            ],
        }
    book.save(folder / "kandydaci.xlsx")
    _write(folder / "doswiadczenie.csv", jobs, "cp1250", ";")
    return Export("kandydaci.xlsx", truth, faulty=3, complete=_ONE_DOCUMENT)


# --- Greenhouse: lists with their positions, and CVs by e-mail in another file --------------------------


def greenhouse(folder: Path) -> Export:
    """Jobs as lists `Engineer[0], Lead[1]`, of which blanks are dropped; the documents of CVs in a second file."""
    head = ["first_name", "last_name", "email", "phone", "website", "source", "employment_titles",
            "employment_companies", "employment_start_dates", "school_names", "resume_filenames"]  # fmt: skip
    rows, documents, truth = [head], [["email", "document_id"]], Truth()
    for number in range(60):
        first, last, email = _person(number)
        jobs = [(_TITLES[n], _COMPANIES[(number + n) % 4].replace(",", ""), f"20{18 - n}-0{1 + n}-01") for n in
                range(1 + number % 3)]  # fmt: skip
        has_titles = number % 6 != 5
        rows.append([first, last, email, "+49 221 4710 000", f"https://p{number}.example.com", "Agency",
                     ", ".join(f"{job[0]}[{at}]" for at, job in enumerate(jobs) if has_titles or at),
                     ", ".join(f"{job[1]}[{at}]" for at, job in enumerate(jobs)),
                     ", ".join(f"{job[2]}[{at}]" for at, job in enumerate(jobs)),
                     f"{_SCHOOLS[number % 4]}[0]", f"cv_{number}.pdf"])  # fmt: skip
        documents.append([email, str(70000 + number)])
        truth[email] = {
            "first_name": first,
            "last_name": last,
            "cv": str(70000 + number),
            "phone": "+492214710000",
            "portfolio": f"https://p{number}.example.com",
            "experience": [
                {
                    **({"position_title": title} if has_titles or at else {}),
                    "company_name": company,
                    "start_date": start,
                }
                for at, (title, company, start) in enumerate(jobs)
            ],
            "education": [{"school_name": _SCHOOLS[number % 4]}],
        }
    _write(folder / "greenhouse.csv", rows)
    _write(folder / "documents.csv", [documents[0], *documents[:0:-1]])
    return Export("greenhouse.csv", truth)


# --- a German form export in cp1252, with languages and their levels in brackets ------------------------


def german(folder: Path) -> Export:
    """A CSV in cp1252 with semicolons; several languages in one cell, each with its level in brackets."""
    head = ["Vorname", "Nachname", "E-Mail-Adresse", "Telefonnummer", "Wohnort", "Geburtsdatum", "Sprachen",
            "Gehaltsvorstellung", "Verfügbar ab", "Arbeitserlaubnis", "Bemerkung"]  # fmt: skip
    rows, truth = [head], Truth()
    levels = ("C1", "Muttersprache", "Grundkenntnisse, A2")
    for number in range(60):
        first = _FIRST[number % 10].replace("İ", "I")
        last = _LAST[(number * 3 + number // 10) % 10].replace("Ş", "S").replace("ı", "i").replace("Ł", "L")
        last = last.replace("ś", "s")
        email = f"p{number:02}@example.com"
        spoken = [_LANGUAGES[(number + n) % 5] for n in range(1 + number % 3)]
        salary = 3000 + 10 * number
        rows.append([first, last, email, "0221 4710000", "Köln", f"{1 + number % 28}.{1 + number % 12}.1990",
                     ", ".join(f"{one} ({levels[(number + n) % 3]})" for n, one in enumerate(spoken)),
                     f"{salary // 1000}.{salary % 1000:03},00 €", "sofort" if number % 20 == 3 else
                     f"{1 + number % 28:02}.{1 + number % 12:02}.2026", "ja" if number % 4 else "nein",
                     "k. A." if number % 9 == 0 else ""])  # fmt: skip
        truth[email] = {
            "first_name": first,
            "last_name": last,
            "phone": "+492214710000",
            "city": "Köln",
            "languages": spoken,
            "salary": str(salary),
            "birth_date": f"1990-{1 + number % 12:02}-{1 + number % 28:02}",
            "work_permit": "yes" if number % 4 else "no",
            **({} if number % 20 == 3 else {"available_from": f"2026-{1 + number % 12:02}-{1 + number % 28:02}"}),
        }
    _write(folder / "bewerber.csv", rows, "cp1252", ";")
    return Export("bewerber.csv", truth, faulty=3, complete=_ONE_DOCUMENT, options=("--encoding", "cp1252"))


EXPORTS: dict[str, Callable[[Path], Export]] = {
    one.__name__: one for one in (linked_helper, workable, polish, greenhouse, german)
}

# --- what the job post asks -----------------------------------------------------------------------------

_ASKED = (
    ("phone", "Phone number", "short_text", "phone"),
    ("linkedin", "LinkedIn profile", "url", "linkedin_url"),
    ("portfolio", "Website or portfolio", "url", None),
    ("city", "City", "short_text", None),
    ("birth_date", "Date of birth", "date", None),
    ("salary", "Expected salary", "integer", "salary"),
    ("available_from", "Available from", "date", None),
    ("work_permit", "Do you have a work permit?", "yes_no", None),
    ("languages", "Which languages do you speak?", "multiple_choice", None),
    ("about", "About you", "long_text", None),
    ("education", "Education", "long_text", None),
    ("experience", "Work experience", "long_text", None),
)
JOB_POST = "4f2c9a"


def questions() -> str:
    """The questions of the job post, as the sandbox reads them."""
    asked = [
        {
            "id": number,
            "question_text": text,
            "is_required": False,
            "answer_type": answer_type,
            "options": json.dumps(_LANGUAGES, ensure_ascii=False) if answer_type == "multiple_choice" else None,
            "question_key": key,
            "question_type": kind,
        }
        for number, (key, text, answer_type, kind) in enumerate(_ASKED, start=1)
    ]
    return json.dumps({"company": "Example", "job_posts": {JOB_POST: {"title": "Engineer", "questions": asked}}})
