"""What a person does after a run: the steps, and the command of each."""

from __future__ import annotations

import shlex
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from importer.models import OutcomeKind
from importer.report.names import CSV_FILES
from importer.report.summary import Summary

_MENDED_BY_A_PERSON = (OutcomeKind.INVALID, OutcomeKind.REJECTED)
_DEFAULT_OUT = Path("results")
_MENDED_BY_TIME = (OutcomeKind.FAILED, OutcomeKind.UNCLEAR, OutcomeKind.NOT_SENT)


@dataclass(frozen=True, slots=True)
class Step:
    """What to do, and the commands that do it, ready to be copied."""

    text: str
    commands: tuple[str, ...] = ()


def next_steps(summary: Summary, folder: Path) -> tuple[Step, ...]:
    """The steps that lead to every row being in place, in their order; `folder` is the results folder of the run."""
    steps = tuple(_steps(summary, folder))
    return steps or (Step("nothing is left to do: every row is in place"),)


def _steps(summary: Summary, folder: Path) -> Iterator[Step]:
    again = _command(summary.source.file, summary, folder)
    if summary.stopped:
        # A stop says itself how to go on.
        yield Step(summary.stopped.hint, (again,))
    elif not summary.finished:
        yield Step("run the same command again: rows that are done are skipped", (again,))
        return
    to_mend = [kind for kind in _MENDED_BY_A_PERSON if summary.outcomes[kind]]
    if to_mend:
        files = [CSV_FILES[kind] for kind in to_mend]
        commands = tuple(_command(str(folder / name), summary, folder) for name in files)
        yield Step(f"mend the rows in {' and '.join(files)}, then run what you mended", commands)
    if any(group.is_warning for group in summary.problems):
        yield Step(f"look at the rows in {CSV_FILES[OutcomeKind.CREATED]} that have a warning")
    if summary.dry_run:
        if summary.outcomes[OutcomeKind.NOT_SENT]:
            sends = "rehearse sending" if summary.sandbox else "send"
            yield Step(f"{sends} the rows that are ready; those that are invalid are left out", (again,))
    elif summary.rows_of(*_MENDED_BY_TIME) and not summary.stopped:
        yield Step("run the same command again: rows that are done are skipped", (again,))
    if summary.sandbox:
        yield Step("this was a rehearsal: when it looks right, run it without --sandbox")


def _command(file: str, summary: Summary, folder: Path) -> str:
    parts = ["importer run", shlex.quote(file), "--mapping", shlex.quote(summary.mapping)]
    if folder.parent != _DEFAULT_OUT:
        # In another results folder lies another ledger, and that would not know what is done.
        parts += ["--out", shlex.quote(str(folder.parent))]
    if summary.sandbox:
        parts.append("--sandbox")
    return " ".join(parts)
