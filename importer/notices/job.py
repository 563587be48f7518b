"""How a run of a scheduled job ended, and the words for it, without personal data."""

from __future__ import annotations

import re
import socket
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from datetime import datetime
from pathlib import Path
from typing import Final, Literal, Self

from importer.problems import Busy, ImporterError, StoppedEarly, UnusableInput
from importer.report.next_steps import Step
from importer.report.problem_codes import GeneralTexts
from importer.report.summary import Summary
from importer.report.text import subject_line, summary_lines
from importer.text.terminal import on_one_line

_SHOWN: Final = ("column-not-found", "inbox-file-repeated", "inbox-run-stopped")  # names of files, of columns; no cells
_NUMBERED: Final = re.compile(r"\w*\d[\w-]*")
_MEANINGS: Final = {
    0: "what kept it from starting is over",
    1: "an error in importer itself; please report it",
    2: "the command is not valid",
    3: "the file, the mapping or the settings cannot be used; nothing was sent",
    5: "stopped early; safe to run again",
    75: "another run for the same target is running",
}


@dataclass(frozen=True, slots=True)
class Cause:
    """Why a person is needed. code: "" if it has none. text: without personal data; "": that of its code is shown."""

    code: str
    text: str = ""

    @classmethod
    def of(cls, code: str, message: str) -> Self:
        """The cause that a problem is; its message is kept only if it never has a cell."""
        return cls(code, message if code in _SHOWN else "")


def causes_of(error: ImporterError) -> tuple[Cause, ...]:
    """Why an error kept a run from starting."""
    if isinstance(error, StoppedEarly | Busy):
        return (Cause("", str(error)),)  # of service, ledger or disk: it has no cells
    problems = error.problems if isinstance(error, UnusableInput) else ()
    return tuple(Cause.of(problem.code, str(replace(problem, hint=""))) for problem in problems)


def event_of(causes: Iterable[Cause]) -> str:
    """What makes two events the same: their causes, without what is another one each time, such as the run."""
    return _NUMBERED.sub("", " ".join(cause.text or cause.code for cause in causes))


@dataclass(frozen=True, slots=True)
class JobEnded:
    """A run of a scheduled job, or what kept it from starting.

    job: its name, the same each night. file: the name of the file. summary, folder: of the run, if it began. causes:
    why a person is needed, beside those in the report. place: where the file is now, if it was moved. event: what
    is reported once, however often it happens; "" if each run is another event. The texts have counts, codes and names
    of files and columns, never a cell.
    """

    job: str
    file: str
    exit_code: int
    started_at: datetime
    ended_at: datetime
    summary: Summary | None = None
    folder: Path | None = None
    causes: tuple[Cause, ...] = ()
    place: str = ""
    event: str = ""

    @property
    def is_ok(self) -> bool:
        """Whether nobody has to do anything."""
        return self.exit_code == 0

    @property
    def kind(self) -> Literal["success", "warning", "failure"]:
        """How serious it is, for services that show that."""
        return "success" if self.is_ok else "warning" if self.exit_code == 4 else "failure"

    def subject(self) -> str:
        """One line: `importer: needs attention: acme.csv: 300 rows read, 226 created, ...`."""
        if self.summary is not None:
            line = subject_line(self.summary)
            return line.replace("importer:", "importer: sandbox:", 1) if self.summary.sandbox else line
        return f"importer: {'works again' if self.is_ok else 'not imported'}: {self.file}"

    def body(self) -> str:
        """What happened, the largest causes with what to do, and where the report is."""
        return "".join(f"{on_one_line(line)}\n" for line in self._lines())

    def _lines(self) -> Iterator[str]:
        texts = GeneralTexts()
        yield from (f"Job: {self.job}", f"File: {self.file}")
        if self.place:
            yield f"It is now here: {Path(self.place).absolute()}"
        yield ""
        if self.summary is not None and self.folder is not None:
            yield f"On {socket.gethostname()}:"
            steps = (Step("What to do is in a file beside it"),) if self.place else None
            yield from summary_lines(texts.summary(self.summary), self.folder.absolute(), steps=steps)
        else:
            yield f"Result: {_MEANINGS.get(self.exit_code, 'interrupted; safe to run again')} (code {self.exit_code})"
        for cause in dict.fromkeys(self.causes):
            if cause.code:
                text, action = texts.of(cause.code)
                yield from ("", f"[{cause.code}] {cause.text or text}", f"  What to do: {action}")
            else:
                yield from ("", cause.text)
