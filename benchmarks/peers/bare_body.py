"""A row of the CSV as the application that importer makes of it, with no checks at all. Standard library only."""

from __future__ import annotations

import json

_GROUPS = (1, 2, 3)
_DEGREES = {"Lisans": "bachelors_degree", "Master": "masters_degree"}
_KINDS = {"Full": "full_time", "Part": "part_time"}
_PLAIN = {1: ("phone", "Phone"), 2: ("permit", "Permit"), 3: ("salary", "Salary"), 6: ("letter", "Letter")}


def _iso(date: str) -> str:
    day, month, year = date.split(".")
    return f"{year}-{month}-{day}"


def _answer(number: int, key: str, text: str) -> dict:
    return {"job_post_question": {"id": number, "question_key": key}, "answer": text}


def _education(row: dict[str, str], n: int) -> dict:
    return {
        "school_name": row[f"School {n}"],
        "degree": _DEGREES[row[f"Degree {n}"]],
        "major": row[f"Major {n}"],
        "start_date": _iso(row[f"Since {n}"]),
        "end_date": _iso(row[f"Until {n}"]),
        "currently_pursuing": False,
    }


def _experience(row: dict[str, str], n: int) -> dict:
    return {
        "company_name": row[f"Company {n}"],
        "position_title": row[f"Title {n}"],
        "employment_type": _KINDS[row[f"Kind {n}"]],
        "start_date": _iso(row[f"Start {n}"]),
        "end_date": _iso(row[f"End {n}"]),
        "currently_employed": False,
    }


def bare_body(row: dict[str, str]) -> bytes:
    """The JSON body for one row of csv.DictReader."""
    answers = [_answer(number, key, row[column]) for number, (key, column) in _PLAIN.items()]
    answers.append(_answer(4, "available_from", _iso(row["From"])))
    answers.append(_answer(5, "skills", json.dumps([skill.strip() for skill in row["Skills"].split(";")])))
    answers.append(_answer(7, "education", json.dumps([_education(row, n) for n in _GROUPS])))
    answers.append(_answer(8, "experience", json.dumps([_experience(row, n) for n in _GROUPS])))
    body = {
        "email": row["E-mail"],
        "first_name": row["First"],
        "last_name": row["Last"],
        "cv": row["CV"],
        "answers": answers,
    }
    return json.dumps(body).encode()
