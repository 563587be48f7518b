"""What transforming a row costs, beside json.dumps of the same body, in one run.

    python benchmarks/transform.py

Rows of 40 columns with three education and three experience entries, each row another person. The two are measured in
turn, several times, so that a machine whose speed drifts does not favour one; CPU time of this process, not the clock.
"""

from __future__ import annotations

import json
import statistics
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

from importer.mapping import ResolvedMapping, read_mapping, resolve
from importer.models import Application, Column, Origin, Question, Row, WireFormat
from importer.transform import transform_row

ROWS = 4000
TURNS = 9
GROUPS = (1, 2, 3)
SINGLE = ["E-mail", "First", "Last", "CV", "Phone", "Permit", "Salary", "From", "Skills", "Letter"]
SCHOOL = ["School", "Degree", "Major", "Since", "Until"]
JOB = ["Company", "Title", "Kind", "Start", "End"]
HEADER = [
    *SINGLE,
    *(f"{name} {n}" for n in GROUPS for name in SCHOOL),
    *(f"{name} {n}" for n in GROUPS for name in JOB),
]
QUESTIONS = [
    Question(1, "Phone", True, "short_text", key="phone", type="phone"),
    Question(2, "Permit", True, "yes_no", key="permit"),
    Question(3, "Salary", False, "integer", key="salary"),
    Question(4, "From", False, "date", key="available_from"),
    Question(5, "Skills", False, "multiple_choice", ("Python", "Go", "SQL"), "skills"),
    Question(6, "Letter", False, "long_text", key="letter"),
    Question(7, "Education", False, "long_text", key="education"),
    Question(8, "Experience", False, "long_text", key="experience"),
]
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


def rows() -> list[Row]:
    """Invented people; names, e-mails, phones and letters are all different, dates and degrees repeat as they do."""
    origin = Origin("people.csv")
    found = []
    for number in range(ROWS):
        cells = [f"person{number}@example.com", "Ada", f"Nr{number}", str(7000 + number), f"+90555{number:07d}", "yes"]
        cells += [str(1000 + number), "01.09.2026", "Python; SQL", f"I am number {number}, and I would like to apply."]
        for group in GROUPS:
            year = 1995 + (number + group) % 20
            cells += [f"School {number % 300}", "Lisans", "Mathematics", f"01.09.{year}", f"30.06.{year + 4}"]
        for group in GROUPS:
            year = 2000 + (number + group) % 20
            cells += [f"Company {number % 500}", "Engineer", "Full", f"0{group}.02.{year}", f"28.11.{year + 2}"]
        found.append(Row(origin, number + 2, tuple(cells)))
    return found


def resolved() -> ResolvedMapping:
    columns = [Column(index, f"C{index}", name) for index, name in enumerate(HEADER)]
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "mapping.yaml"
        path.write_text(MAPPING, encoding="utf-8")
        return resolve(read_mapping(path), columns, QUESTIONS, WireFormat())


def microseconds(work: Callable[[], object]) -> float:
    """CPU time of one call for each row."""
    began = time.process_time()
    work()
    return (time.process_time() - began) / ROWS * 1e6


def main() -> None:
    mapping, source = resolved(), rows()
    results = [transform_row(row, mapping) for row in source]
    bodies = [result.payload() for result in results if isinstance(result, Application)]
    if len(bodies) != ROWS:
        raise SystemExit(f"only {len(bodies)} of {ROWS} rows are good: {next(r for r in results if r not in bodies)}")
    transforms, dumps = [], []
    for _ in range(TURNS):
        fresh = resolved()  # nothing is remembered from the turn before
        transforms.append(microseconds(lambda fresh=fresh: [transform_row(row, fresh) for row in source]))
        dumps.append(microseconds(lambda: [json.dumps(body) for body in bodies]))
    ratios = [transform / dump for transform, dump in zip(transforms, dumps, strict=True)]
    print(f"{ROWS:,} rows of {len(HEADER)} columns, {TURNS} turns, CPU time; median (least to most)")  # noqa: T201
    for name, values, unit in (("transform", transforms, "us"), ("json.dumps", dumps, "us"), ("ratio", ratios, "x")):
        print(f"{name:<11}{statistics.median(values):7.1f} {unit}  ({min(values):.1f} to {max(values):.1f})")  # noqa: T201


if __name__ == "__main__":
    main()
