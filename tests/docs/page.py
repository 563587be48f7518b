"""The examples of docs/mapping.md: the files, the mapping, and what is sent or reported."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import date
from functools import partial
from pathlib import Path
from typing import Any

from importer.app.classify_rows import check_rows
from importer.mapping import ChildSource, read_mapping, resolve
from importer.models import Outcome, Question
from importer.runs.row_selection import ALL_ROWS
from importer.runs.table import TABLE, Classified, RunTable
from importer.settings import WireFormat
from importer.sources import open_sheet
from tests.samples.sample import ROOT

PAGE = ROOT / "docs" / "mapping.md"
_BLOCK = re.compile(r"^```(csv|yaml|json)(?: (\S+))?\n(.*?)^```$", re.MULTILINE | re.DOTALL)
_TODAY = date(2026, 11, 23)
_LEVELS = ("Junior", "Senior")
_ASKED = {
    "city": "short_text", "address": "short_text", "about": "long_text", "link": "url", "salary": "integer",
    "hours": "decimal", "start": "date", "permit": "yes_no", "level": "single_choice", "skills": "multiple_choice",
    "phone": "short_text", "education": "long_text", "work": "long_text",
}  # fmt: skip
_OPTIONS = {"level": _LEVELS, "skills": ("Python", "SQL")}
QUESTIONS = tuple(
    Question(number, key, False, kind, _OPTIONS.get(key, ()), key, "phone" if key == "phone" else None)
    for number, (key, kind) in enumerate(_ASKED.items(), start=1)
)
# What the examples omit, so that each shows one thing.
_CANDIDATE = {"email": "E-mail", "first_name": "{value: Ada}", "last_name": "{value: Nur}", "cv": '{value: "7001"}'}


@dataclass(frozen=True)
class Example:
    """One example of the page: its line, the files by name, the mapping, and what is sent or reported."""

    line: int
    files: dict[str, str]
    mapping: str
    expected: str


def examples() -> Iterator[Example]:
    """The examples in the order of the page."""
    text = PAGE.read_text(encoding="utf-8")
    files: dict[str, str] = {}
    mapping = ""
    for match in _BLOCK.finditer(text):
        kind, name, body = match.groups()
        if kind == "csv":
            files[name or "main.csv"] = body
        elif kind == "yaml" and name != "whole":
            mapping = body
        elif kind == "json":
            yield Example(text.count("\n", 0, match.start()) + 1, files, mapping, body)
            files = {}


def outcome_of(example: Example, folder: Path) -> str:
    """What is sent or reported for each candidate, one line each, in the form of the page."""
    files = dict(example.files)
    if "E-mail" not in files["main.csv"]:
        files["main.csv"] = _with_emails(files["main.csv"], example.mapping)
    for name, content in files.items():
        (folder / name).write_text(content, encoding="utf-8")
    (folder / "mapping.yaml").write_text(_whole(example.mapping), encoding="utf-8")
    mapping = read_mapping(folder / "mapping.yaml")
    sheet = open_sheet(folder / "main.csv", mapping.source)
    tables = {child: _open(child, folder) for child in mapping.child_sources}
    resolved = resolve(mapping, sheet.columns, QUESTIONS, WireFormat(), tables, _TODAY)
    with RunTable(folder) as table:
        table.store(sheet, ALL_ROWS)
        check_rows(table, table.sheet.rows, resolved)
        candidates = list(table.kept())
    shown = [name for name in ("first_name", "last_name", "cv") if f"{name}: {{column" in example.mapping]
    lines = [_line(one, shown) for one in candidates]
    return "".join(f"{json.dumps(line, ensure_ascii=False)}\n" for line in lines)


def _open(child: ChildSource, folder: Path) -> Any:
    return open_sheet(folder / str(child.file), child.options)


def _with_emails(table: str, mapping: str) -> str:
    """The table with a column E-mail at its end; continued rows have the e-mail of their candidate."""
    separator = ";" if 'delimiter: ";"' in mapping else ","
    several = "group_by" in mapping
    lines = table.splitlines()
    header = int((re.search(r"header_row: (\d+)", mapping) or ["", "1"])[1]) - 1
    return "\n".join(
        line + separator + ("E-mail" if number == header else f"row{0 if several else number}@example.com")
        for number, line in enumerate(lines)
    )


def _whole(mapping: str) -> str:
    """The example with the sections that it omits."""
    given = {name for name in _CANDIDATE if re.search(rf"^  {name}:", mapping, re.MULTILINE)}
    candidate = "".join(f"  {name}: {value}\n" for name, value in _CANDIDATE.items() if name not in given)
    head = "version: 1\ntarget: {job_post: 4f2c9a}\n"
    if "candidate:\n" in mapping:
        return head + mapping.replace("candidate:\n", f"candidate:\n{candidate}")
    return f"{head}{mapping}candidate:\n{candidate}"


def _line(one: Classified, shown: list[str]) -> Any:
    result = one.result
    if isinstance(result, Outcome):
        return "; ".join(f"{problem.message}" for problem in result.problems)
    body = json.loads(result.body)
    sent: dict[str, Any] = {name: body[name] for name in shown}
    sent |= {"left out": "; ".join(problem.message for problem in one.warnings)} if one.warnings else {}
    keys = {question.id: question.key for question in QUESTIONS}
    for item in body["answers"]:
        key = keys[item["job_post_question"]["id"]]
        sent[str(key)] = json.loads(item["answer"]) if key in ("education", "work", "skills") else item["answer"]
    return sent


def fill(folder: Path) -> None:
    """Write the results of all examples into the page. Review the diff before you commit it."""
    text, found = PAGE.read_text(encoding="utf-8"), list[str]()
    for example in examples():
        found.append(outcome_of(example, folder))
        (folder / TABLE).unlink()
    outcomes = iter(found)

    def filled(match: re.Match[str], _: None) -> str:
        return f"```json\n{next(outcomes)}```" if match[1] == "json" else match[0]

    PAGE.write_text(_BLOCK.sub(partial(filled, _=None), text), encoding="utf-8")
