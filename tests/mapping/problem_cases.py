"""The cases of problems.txt. `python -m tests.mapping.problem_cases` writes their messages again."""

from __future__ import annotations

import contextlib
import tempfile
from dataclasses import dataclass, field
from pathlib import Path

from ruamel.yaml import YAML

from importer.models import Question
from tests.mapping.mapping_files import HEAD, HEADER, question, reading_problems, resolving_problems

_FILE = Path(__file__).with_name("problems.txt")
_WHOLE = "whole file: "


@dataclass
class ProblemCase:
    """A mapping with one problem, and its message."""

    name: str
    lines: list[str] = field(default_factory=list)
    columns: list[str] = field(default_factory=list)
    questions: list[Question] = field(default_factory=list)
    message: str = ""

    @property
    def problems(self) -> list[str]:
        text = "".join(f"{line}\n" for line in self.lines)
        if self.name.startswith(_WHOLE):
            return reading_problems(text)
        if not self.questions:
            return reading_problems(HEAD + text)
        return resolving_problems(HEAD + text, (*HEADER, *self.columns), self.questions)


def problem_cases() -> list[ProblemCase]:
    cases: list[ProblemCase] = []
    for line in _FILE.read_text("utf-8").splitlines():
        match line[:1], line[1:].strip():
            case "[", name:
                cases.append(ProblemCase(name.removesuffix("]")))
            case (("" | "#"), _):
                pass
            case "+", columns:
                cases[-1].columns = columns.split(", ")
            case "?", asked:
                cases[-1].questions.append(question(**YAML(typ="safe").load(asked)))
            case ">", message:
                cases[-1].message = message
            case _:
                cases[-1].lines.append(line)
    return cases


def main() -> None:
    """Write the message of each case again."""
    lines = _FILE.read_text("utf-8").splitlines()
    with tempfile.TemporaryDirectory() as folder, contextlib.chdir(folder):
        messages = iter([message for case in problem_cases() for message in case.problems])
    lines = [f"> {next(messages)}" if line.startswith("> ") else line for line in lines]
    _FILE.write_text("\n".join(lines) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
