"""What bulk-post needs: a body with placeholders, and a CSV whose column names are single words."""

from __future__ import annotations

import csv
import json
import re
from pathlib import Path

from benchmarks.candidates import GROUPS


def word(column: str) -> str:
    """The name of a column as a placeholder can name it."""
    return re.sub(r"\W", "_", column)


def template() -> str:
    """The application with a placeholder for each cell. It cannot convert dates or degrees."""
    education = [
        _entry({"school_name": "School", "degree": "Degree", "major": "Major"}, "Since", "Until", n) for n in GROUPS
    ]
    experience = [
        _entry({"company_name": "Company", "position_title": "Title", "employment_type": "Kind"}, "Start", "End", n)
        for n in GROUPS
    ]
    plain = {"phone": "Phone", "permit": "Permit", "salary": "Salary", "available_from": "From", "skills": "Skills"}
    texts = {key: _place(column) for key, column in {**plain, "letter": "Letter"}.items()}
    texts |= {"education": json.dumps(education), "experience": json.dumps(experience)}
    answers = [
        {"job_post_question": {"id": number, "question_key": key}, "answer": text}
        for number, (key, text) in enumerate(texts.items(), start=1)
    ]
    person = {"email": "E-mail", "first_name": "First", "last_name": "Last", "cv": "CV"}
    return json.dumps({**{key: _place(column) for key, column in person.items()}, "answers": answers})


def write_renamed(source: Path, copy: Path) -> Path:
    """A copy of the CSV with columns that a placeholder can name."""
    with source.open(newline="", encoding="utf-8") as file, copy.open("w", newline="", encoding="utf-8") as new:
        rows = csv.reader(file)
        writer = csv.writer(new)
        writer.writerow(word(column) for column in next(rows))
        writer.writerows(rows)
    return copy


def _place(column: str) -> str:
    return "{{" + word(column) + "}}"


def _entry(texts: dict[str, str], start: str, end: str, n: int) -> dict[str, str]:
    dated = {**texts, "start_date": start, "end_date": end}
    return {key: _place(f"{column} {n}") for key, column in dated.items()}
