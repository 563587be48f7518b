"""The files that a mapping names: only those below its folder or the source's are read, and none that never ends."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.cli.conftest import MAPPING, FrontDoor, Served, candidate, write_csv

Serve = Callable[..., Served]
_JOBS = """\
  education:
    education:
      file: {name: "%s", key: Person, equals: E-mail}
      school_name: Salary
"""
_ELSEWHERE = "move it there, or add its folder to the setting IMPORTER_MAPPING_FOLDERS"
_RUN = ("run", "people.csv", "--mapping", "people.yaml", "--sandbox")


def _folder(door: FrontDoor, mapping: str) -> Path:
    write_csv(door.folder / "people.csv", [candidate(1)])
    (door.folder / "people.yaml").write_text(mapping, encoding="utf-8")
    private = door.folder.parent / "private"
    private.mkdir(exist_ok=True)
    (private / "salaries.csv").write_text("Person,Salary\nperson1@example.com,90000\n", encoding="utf-8")
    (private / "levels.csv").write_text("cell,value\nyes,no\n", encoding="utf-8")
    (private / "shared.yaml").write_text(MAPPING, encoding="utf-8")
    return private


def _messages(door: FrontDoor, *flags: str) -> tuple[int, str]:
    """The exit code, and the only problem in one line."""
    ran = door(*_RUN, *flags)
    assert "Traceback" not in ran.err
    lines = [line.strip() for line in ran.err.splitlines() if " | " not in line and "^" not in line]
    return ran.code, " ".join(line for line in lines if line)


CASES = [
    pytest.param(
        MAPPING + _JOBS % "../private/salaries.csv",
        "people.yaml:14:13: '../private/salaries.csv' is neither in the folder of the source nor in the "
        "folder of this mapping [file-outside-folder]",
        id="file",
    ),
    pytest.param(
        MAPPING + _JOBS % "link.csv",
        "people.yaml:14:13: 'link.csv' is neither in the folder of the source nor in the "
        "folder of this mapping [file-outside-folder]",
        id="file by a link",
    ),
    pytest.param(
        MAPPING.replace("Permit", "{column: Permit, values: ../private/levels.csv}"),
        "people.yaml:10:41: '../private/levels.csv' is not in the folder of this mapping [file-outside-folder]",
        id="values",
    ),
    pytest.param(
        "extends: ../private/shared.yaml\n",
        "people.yaml:1:10: '../private/shared.yaml' is not in the folder of this mapping [file-outside-folder]",
        id="extends",
    ),
    pytest.param(
        'extends: "/"\n',
        "people.yaml:1:10: '/' is not in the folder of this mapping [file-outside-folder]",
        id="absolute",
    ),
]


@pytest.mark.parametrize(("mapping", "expected"), CASES)
def test_a_file_elsewhere_is_not_read(front_door: FrontDoor, mapping: str, expected: str) -> None:
    """A mapping reaches no file outside its folder and the source's, by no dots and by no link."""
    private = _folder(front_door, mapping)
    (front_door.folder / "link.csv").symlink_to(private / "salaries.csv")
    assert _messages(front_door) == (3, f"importer: 1 problem found; nothing was sent. {expected} -> {_ELSEWHERE}")


def test_a_folder_that_the_person_names_is_read(serve: Serve) -> None:
    """IMPORTER_MAPPING_FOLDERS lists more folders: all three kinds of files can be in them, and runs can resume."""
    served = serve({"kind": "403", "emails": ["person1@example.com"], "operation": "apply"})
    own = "target: {job_post: 4f2c9a}\nanswers:\n  work_permit: {column: Permit, values: ../private/levels.csv}\n"
    private = _folder(served.door, f"extends: ../private/shared.yaml\n{own}{_JOBS % '../private/salaries.csv'}")
    folders = os.pathsep.join(["/nowhere", str(private)])
    first = served("run", "people.csv", "--mapping", "people.yaml", "--json", IMPORTER_MAPPING_FOLDERS=folders)
    assert first.counts == {"failed": 1}
    again = served("resume", first.summary["run"], "--json")
    assert again.counts == {"created": 1}
    (sent,) = served.sandbox.memory.accepted()
    answers = {item["job_post_question"]["question_key"]: item["answer"] for item in sent["answers"]}
    assert (answers["work_permit"], answers["education"]) == ("no", '[{"school_name": "90000"}]')


def test_the_working_folder_does_not_name_more_folders(front_door: FrontDoor) -> None:
    """A .env that came with the mapping does not open the person's other folders to it."""
    _folder(front_door, MAPPING + _JOBS % "../private/salaries.csv")
    (front_door.folder / ".env").write_text("IMPORTER_MAPPING_FOLDERS=/\n", encoding="utf-8")
    code, expected = _messages(front_door)
    assert (code, "; nothing was sent. IMPORTER_MAPPING_FOLDERS: this setting is ignored" in expected) == (3, True)


ENDLESS = [
    pytest.param("extends: pipe\n", "people.yaml:1:10: the file 'pipe' does not exist", id="extends"),
    pytest.param(
        MAPPING.replace("Permit", "{column: Permit, values: pipe}"),
        "people.yaml:10:41: the value table 'pipe' cannot be read: it is a pipe or a device, not a regular file",
        id="values",
    ),
    pytest.param(
        MAPPING + _JOBS % "pipe", "people.yaml:14:13: 'pipe': this is a pipe or a device, not a regular file", id="file"
    ),
    pytest.param(
        MAPPING + _JOBS % "sparse.csv",
        "people.yaml:14:13: 'sparse.csv' is larger than 1,073,741,824 bytes, the limit for files with entries",
        id="a sparse file",
    ),
    pytest.param(
        MAPPING + _JOBS % "a\\0b.csv",
        "people.yaml:14:20: name contains a NUL character, which file names cannot have"
        " [mapping-value-invalid] -> remove it",
        id="a NUL",
    ),
]


@pytest.mark.parametrize(("mapping", "expected"), ENDLESS)
def test_pipes_and_huge_files_are_refused(front_door: FrontDoor, mapping: str, expected: str) -> None:
    """A pipe, a huge file and an impossible name are reported at the mapping's line, without waiting."""
    _folder(front_door, mapping)
    os.mkfifo(front_door.folder / "pipe")
    with (front_door.folder / "sparse.csv").open("wb") as sparse:
        sparse.truncate(8 << 30)
    code, output = _messages(front_door)
    assert (code, expected in output) == (3, True), output


def test_a_mapping_and_questions_that_are_pipes(front_door: FrontDoor) -> None:
    """The files in the command itself are refused too."""
    _folder(front_door, MAPPING)
    os.mkfifo(front_door.folder / "pipe")
    mapping = front_door("run", "people.csv", "--mapping", "pipe", "--sandbox")
    assert (mapping.code, "pipe: the mapping file cannot be read: it is a pipe or a device" in mapping.err) == (3, True)
    questions = front_door(*_RUN, "--questions", "pipe")
    assert (questions.code, "pipe: this is a pipe or a device; use a regular file" in questions.err) == (3, True)


def test_a_chain_of_mappings_is_short(front_door: FrontDoor) -> None:
    """A chain of 1,500 files that extend each other is refused, with its line."""
    _folder(front_door, "extends: m1.yaml\n")
    for number in range(1, 1_500):
        (front_door.folder / f"m{number}.yaml").write_text(f"extends: m{number + 1}.yaml\n", encoding="utf-8")
    code, output = _messages(front_door)
    expected = "m19.yaml:1:10: more than 20 files extend one another [extends-invalid] -> merge some of them"
    assert (code, output.endswith(expected)) == (3, True), output


def test_options_of_brackets_alone(front_door: FrontDoor) -> None:
    """Nested brackets are not a list: they are one option, like any other text."""
    _folder(front_door, MAPPING.partition("answers:")[0] + "answers: {level: {column: Permit, default: yes}}\n")
    brackets = "[" * 500_000
    question = {"id": 1, "question_text": "Level?", "is_required": False, "answer_type": "single_choice"}
    listing = {"job_post": "4f2c9a", "questions": [question | {"options": brackets, "question_key": "level"}]}
    (front_door.folder / "q.json").write_text(json.dumps(listing), encoding="utf-8")
    code, output = _messages(front_door, "--questions", "q.json")
    assert code == 3
    assert "people.yaml:8:44: 'yes' is not an option of level [constant-invalid] -> use one of [[[[" in output
