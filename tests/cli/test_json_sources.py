"""JSON and JSON Lines are sources like a CSV: inspected, mapped, checked, run, fixed and fed back."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.cli.conftest import HEADER, MAPPING, Served, candidate, read_csv

Serve = Callable[..., Served]
MAPPING_WITH_JOBS = MAPPING + "  experience:\n    experience: {json: jobs, company_name: company.name}\n"
MAPPING_WITH_JOBS += "  skills: {column: skills, split: json}\n"


def person(number: int, **changed: Any) -> dict[str, Any]:
    """An invented candidate, with a list of jobs, a salary that is a number, and a permit that is a boolean."""
    cells = dict(zip(HEADER, candidate(number), strict=True))
    jobs = [{"company": {"name": "Example Ltd"}}, {"company": {"name": "Example GmbH"}}]
    return (
        cells
        | {"Permit": True, "Salary": 1000 + number, "CV": 123456789012345678, "jobs": jobs, "skills": ["Python", "SQL"]}
        | changed
    )


def write(path: Path, people: list[dict[str, Any]]) -> None:
    """A list of objects, or one on each line where the name says so."""
    lines = [json.dumps(each, ensure_ascii=False) for each in people]
    text = "\n".join(lines) if path.suffix == ".jsonl" else "[\n" + ",\n".join(lines) + "\n]"
    path.write_text(text, encoding="utf-8")


@pytest.mark.parametrize("name", ["people.json", "people.jsonl"])
def test_a_json_source_from_file_to_fixed_row(serve: Serve, name: str) -> None:
    """Numbers, booleans and nested lists are sent as they are; a row that is fixed in its results file is accepted."""
    served = serve()
    (served.door.folder / "mapping.yaml").write_text(MAPPING_WITH_JOBS, encoding="utf-8")
    write(served.door.folder / name, [person(1), person(2, Salary="a lot"), person(3, Phone=None), person(4, extra=1)])
    run = ("run", name, "--mapping", "mapping.yaml", "--json")
    ran = served(*run)
    assert (ran.code, ran.counts) == (4, {"created": 2, "invalid": 2}), ran.err
    bodies = {body["email"]: body for body in served.sandbox.memory.accepted()}
    sent = bodies["person4@example.com"]
    answers = {answer["job_post_question"]["question_key"]: answer["answer"] for answer in sent["answers"]}
    assert sent["cv"] == "123456789012345678"
    assert (answers["work_permit"], answers["salary"]) == ("yes", "1004")
    assert json.loads(answers["skills"]) == ["Python", "SQL"]
    assert json.loads(answers["experience"]) == [{"company_name": "Example Ltd"}, {"company_name": "Example GmbH"}]
    folder = served.door.folder / "results" / ran.summary["run"]
    held_back = read_csv(folder / "invalid.csv")
    assert [row["import_row"] for row in held_back] == ["2", "3"]
    fixed = folder / "invalid.csv"
    text = (
        fixed.read_text(encoding="utf-8")
        .replace("a lot", "900")
        .replace("Nr3,123456789012345678,", "Nr3,7001,+905550000003")
    )
    fixed.write_text(text, encoding="utf-8")
    again = served("run", str(fixed), "--mapping", "mapping.yaml", "--json")
    assert (again.code, again.counts) == (0, {"created": 2}), again.err
    assert served(*run).counts == {"already_imported": 4}


@pytest.mark.parametrize("name", ["people.json", "people.jsonl"])
def test_a_mapping_is_proposed_for_a_json_source(serve: Serve, name: str) -> None:
    """The file is inspected, and the proposed mapping is checked with it as it stands."""
    served = serve()
    write(served.door.folder / name, [person(number) for number in range(1, 20)])
    inspected = json.loads(served("inspect", name, "--json").out)
    assert [column["name"] for column in inspected["columns"]] == [*HEADER, "jobs", "skills"]
    assert served("mapping", "new", name, "--job-post", "4f2c9a").code == 0
    ran = served("check", name, "--mapping", "people.yaml", "--json")
    assert (ran.code, ran.counts) == (0, {"not_sent": 19}), ran.err


def test_resume_reads_the_private_copy(serve: Serve) -> None:
    """A run that the service stopped is resumed from the run's own copy, although the source is gone."""
    served = serve({"kind": "401", "emails": ["person3@example.com"], "times": 1})
    source = served.door.folder / "people.json"
    write(source, [person(number) for number in range(1, 6)])
    ran = served("run", "people.json", "--mapping", "mapping.yaml", "--json", "--concurrency", "1")
    assert ran.code == 5, ran.err
    source.unlink()
    resumed = served("resume", ran.summary["run"], "--json")
    assert (resumed.code, resumed.counts) == (0, {"created": 3, "already_imported": 2}), resumed.err


def test_a_broken_line_is_held_back_alone(serve: Serve) -> None:
    """In JSON Lines a line that is not JSON is one row, with its place; all other rows are sent."""
    served = serve()
    source = served.door.folder / "people.jsonl"
    write(source, [person(1), person(2), person(3)])
    lines = source.read_text(encoding="utf-8").splitlines()
    source.write_text("\n".join([lines[0], lines[1][:-1], lines[2]]), encoding="utf-8")
    ran = served("run", "people.jsonl", "--mapping", "mapping.yaml", "--json")
    assert (ran.code, ran.counts) == (4, {"created": 2, "invalid": 1}), ran.err
    (row,) = read_csv(served.door.folder / "results" / ran.summary["run"] / "invalid.csv")
    assert (row["import_row"], row["E-mail"]) == ("2", lines[1][:-1])
    assert row["import_problem"] == (
        f"the JSON is not valid: expecting ',' delimiter (line 2, column {len(lines[1]) + 1})"
    )
