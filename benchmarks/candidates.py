"""Invented candidates as a legacy system exports them: 40 columns, 3 KB each as an application."""

from __future__ import annotations

import csv
from pathlib import Path

JOB_POST = "4f2c9a"
GROUPS = (1, 2, 3)
_SINGLE = ["E-mail", "First", "Last", "CV", "Phone", "Permit", "Salary", "From", "Skills", "Letter"]
_SCHOOL = ["School", "Degree", "Major", "Since", "Until"]
_JOB = ["Company", "Title", "Kind", "Start", "End"]
HEADER = [
    *_SINGLE,
    *(f"{name} {n}" for n in GROUPS for name in _SCHOOL),
    *(f"{name} {n}" for n in GROUPS for name in _JOB),
]
_LETTER = " ".join(["I have led small teams through large changes, and I would like to go on doing so with you."] * 14)


def _question(
    number: int, key: str, answer_type: str, *, required: bool = False, options: str | None = None
) -> dict[str, object]:
    return {
        "id": number,
        "question_text": key.replace("_", " ").capitalize(),
        "is_required": required,
        "answer_type": answer_type,
        "options": options,
        "question_key": key,
        "question_type": "phone" if key == "phone" else None,
    }


QUESTIONS = [
    _question(1, "phone", "short_text", required=True),
    _question(2, "permit", "yes_no", required=True),
    _question(3, "salary", "integer"),
    _question(4, "available_from", "date"),
    _question(5, "skills", "multiple_choice", options='["Python", "Go", "SQL"]'),
    _question(6, "letter", "long_text"),
    _question(7, "education", "long_text"),
    _question(8, "experience", "long_text"),
]
"""What the sink's job post asks, as the service's question list shows it."""

MAPPING = """\
version: 1
target: {job_post: 4f2c9a}
defaults: {dates: ["%d.%m.%Y"], region: TR}
candidate: {email: E-mail, first_name: First, last_name: Last, cv: CV}
answers:
  phone: Phone
  permit: Permit
  salary: Salary
  available_from: From
  skills: {column: Skills, split: ";"}
  letter: Letter
  education:
    education:
      repeat: "{n}"
      school_name: "School {n}"
      degree: {column: "Degree {n}", values: {Lisans: bachelors_degree, Master: masters_degree}}
      major: "Major {n}"
      start_date: "Since {n}"
      end_date: {column: "Until {n}", present: [Present]}
  experience:
    experience:
      repeat: "{n}"
      company_name: "Company {n}"
      position_title: "Title {n}"
      employment_type: {column: "Kind {n}", values: {Full: full_time, Part: part_time}}
      start_date: "Start {n}"
      end_date: {column: "End {n}", present: [Present]}
"""


def cells(number: int, letter: str = _LETTER) -> list[str]:
    """The row of one person: names, e-mails, phones and letters all differ, dates and degrees repeat as they do."""
    found = [f"person{number}@example.com", "Ada", f"Nr{number}", str(7000 + number), f"+90555{number:07d}", "yes"]
    found += [str(1000 + number), "01.09.2026", "Python; SQL", f"I am number {number}. {letter}"]
    for group in GROUPS:
        year = 1995 + (number + group) % 20
        degree = "Master" if group == 3 else "Lisans"
        found += [f"School {number % 300}", degree, "Mathematics", f"01.09.{year}", f"30.06.{year + 4}"]
    for group in GROUPS:
        year = 2000 + (number + group) % 20
        found += [f"Company {number % 500}", "Engineer", "Full", f"0{group}.02.{year}", f"28.11.{year + 2}"]
    return found


def write_source(path: Path, rows: int, letter: str = _LETTER) -> Path:
    """A CSV of so many people, each with a letter that ends in this."""
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file)
        writer.writerow(HEADER)
        writer.writerows(cells(number, letter) for number in range(rows))
    return path


def write_mapping(path: Path) -> Path:
    """The mapping file that takes the CSV to the sink's job post."""
    path.write_text(MAPPING, encoding="utf-8")
    return path
