"""Imports the inputs of this folder: each is a situation that people who import spreadsheets complain about."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from tests.cli.conftest import Ran, Served, front_door, read_csv, serve

__all__ = ["front_door", "import_case", "serve"]

CASES = Path(__file__).parent
_ANSWERS = ("city", "phone", "about", "years", "level", "skills", "available_from", "birth_date", "salary")


@dataclass(frozen=True)
class Imported:
    """What the service received, by the name in the e-mail address: first name, last name, answers; and the results."""

    ran: Ran
    sent: dict[str, tuple[str, ...]]
    rows: dict[str, list[dict[str, str]]]  # of each results file

    @property
    def codes(self) -> list[str]:
        """The codes of the problems of rows, each with what becomes of them."""
        return sorted(f"{one['outcome']}: {one['code']}" for one in self.ran.summary["problems"])

    @property
    def warnings(self) -> list[str]:
        """The warnings about the file, each without the file's name."""
        return [text.partition(", ")[2] for text in self.ran.summary["warnings"]]


ImportCase = Callable[..., Imported]


@pytest.fixture
def import_case(serve: Callable[..., Served], tmp_path: Path) -> ImportCase:
    """Import one input of a case, as it is or with `text` instead, into a sandbox that asks its questions.

    mapping: more lines of the mapping.
    """

    def run(case: str, file: str, text: str | None = None, mapping: str = "") -> Imported:
        name = file.replace(".", "-")
        written = (CASES / case / f"{name}.mapping.yaml").read_text(encoding="utf-8")
        (tmp_path / "m.yaml").write_text(f"{written}{mapping}\n", encoding="utf-8")
        questions = CASES / case / f"{name}.questions.json"
        if text is None:
            shutil.copy(CASES / case / file, tmp_path / file)
        else:
            (tmp_path / file).write_text(text, encoding="utf-8", newline="")
        served = serve(questions=questions if questions.exists() else CASES / "questions.json")
        ran = served("run", file, "--mapping", "m.yaml", "--json", "--out", "out")
        results = [path for path in tmp_path.glob("out/*/*.csv") if path.stem != "source"]
        sent = {body["email"].partition("@")[0]: _shown(body) for body in served.sandbox.memory.accepted()}
        return Imported(ran, sent, {path.stem: read_csv(path) for path in results})

    return run


def _shown(body: dict[str, Any]) -> tuple[str, ...]:
    answers = {one["job_post_question"]["question_key"]: one["answer"] for one in body["answers"]}
    return body["first_name"], body["last_name"], *(answers[key] for key in _ANSWERS if key in answers)
