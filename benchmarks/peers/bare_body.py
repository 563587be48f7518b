"""Makes the same application from a row as importer, without checks. Standard library only."""

from __future__ import annotations

import json

_GROUPS = (1, 2, 3)
_DEGREES = {"Lisans": "bachelors_degree", "Master": "masters_degree"}
_KINDS = {"Full": "full_time", "Part": "part_time"}


def _iso(date: str) -> str:
    day, month, year = date.split(".")
    return f"{year}-{month}-{day}"


def _answer(number: int, key: str, text: str) -> dict[str, object]:
    return {"job_post_question": {"id": number, "question_key": key}, "answer": text}


def _education(row: dict[str, str], n: int) -> dict[str, object]:
    return {
        "school_name": row[f"School {n}"],
        "degree": _DEGREES[row[f"Degree {n}"]],
        "major": row[f"Major {n}"],
        "start_date": _iso(row[f"Since {n}"]),
        "end_date": _iso(row[f"Until {n}"]),
    }


def _experience(row: dict[str, str], n: int) -> dict[str, object]:
    return {
        "company_name": row[f"Company {n}"],
        "position_title": row[f"Title {n}"],
        "employment_type": _KINDS[row[f"Kind {n}"]],
        "start_date": _iso(row[f"Start {n}"]),
        "end_date": _iso(row[f"End {n}"]),
    }


def bare_body(row: dict[str, str]) -> bytes:
    """The JSON body for one row of csv.DictReader."""
    answers = [
        _answer(1, "phone", row["Phone"]),
        _answer(2, "permit", row["Permit"]),
        _answer(3, "salary", row["Salary"]),
        _answer(4, "available_from", _iso(row["From"])),
        _answer(5, "skills", json.dumps([skill.strip() for skill in row["Skills"].split(";")])),
        _answer(6, "letter", row["Letter"]),
        _answer(7, "education", json.dumps([_education(row, n) for n in _GROUPS])),
        _answer(8, "experience", json.dumps([_experience(row, n) for n in _GROUPS])),
    ]
    body = {
        "email": row["E-mail"],
        "first_name": row["First"],
        "last_name": row["Last"],
        "cv": row["CV"],
        "answers": answers,
    }
    return json.dumps(body).encode()
