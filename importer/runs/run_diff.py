"""What changed between two runs of one file, or of two versions of it, for `importer diff`."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final, NamedTuple

from importer.extract import Sheet
from importer.models import CREATED_EMAILS, OutcomeKind
from importer.problems import UsageError
from importer.report import ReportedRow, outcome_text, pair, place_in_list
from importer.runs.manifest import RunManifest, part_folders, read_manifest
from importer.runs.private_copies import rows_of, sheet_of
from importer.runs.related_runs import RelatedRuns, identity_of
from importer.runs.run_report import outcomes_of, refuse_changed
from importer.settings import Settings
from importer.text.commands import command_line
from importer.text.wrapping import wrapped

Run = tuple[Path, RunManifest]
_MOST_PLACES: Final = 5
_PAIRED_BY: Final = {
    "row": "Rows are paired by their numbers, as both runs read the same file.",
    "import_row": "Rows are paired by the row of the first run that they correct.",
    "candidate": "Rows are paired by the candidate: the same e-mail address, or else the same name.",
}
_CHANGES: Final = {
    "gone": "Problems that are gone (rows of the first run)",
    "stayed": "Problems that stayed (rows of the second run)",
    "new": "New problems (rows of the second run)",
}
_NO_PROBLEMS: Final = frozenset(
    {"created-by-earlier-request", "imported-corrected", "resolved-created", CREATED_EMAILS}
)
_SAME_CAUSE: Final = {"rejected-earlier": "rejected"}  # what a later run says of the same row


class _Row(NamedTuple):
    """A row of a run: the label of its outcome, and each code and column of its problems with the first place.

    keys: those by which it is paired with a row of the other run, the surest first; a blank one pairs nothing.
    """

    number: int
    outcome: str
    causes: dict[tuple[str, str | None], str]
    keys: Sequence[tuple[object, ...]]


@dataclass(slots=True)
class _Cause:
    """How many rows have a cause no more, still, or newly; with some of their places."""

    counts: Counter[str] = field(default_factory=Counter)
    places: defaultdict[str, list[str]] = field(default_factory=lambda: defaultdict(list))

    def add(self, change: str, place: str) -> None:
        self.counts[change] += 1
        if len(self.places[change]) < _MOST_PLACES:
            self.places[change].append(place)


class RunDiff:
    """The changes between two runs, counted. paired_by: a key of `_PAIRED_BY`.

    outcomes: how many rows had which outcome in the first run and have which in the second; None: no such row. A
    problem is gone only if its row is in the second run too.
    """

    def __init__(self, paired_by: str, pairs: Iterable[tuple[_Row | None, _Row | None]]) -> None:
        self.paired_by = paired_by
        self.outcomes: Counter[tuple[str | None, str | None]] = Counter()
        self._causes: defaultdict[tuple[str, str | None], _Cause] = defaultdict(_Cause)
        for before, after in pairs:
            self.outcomes[before and before.outcome, after and after.outcome] += 1
            if after is None:
                continue
            old, new = before.causes if before else {}, after.causes
            for cause in old | new:
                change = "new" if cause not in old else "stayed" if cause in new else "gone"
                self._causes[cause].add(change, new.get(cause) or old[cause])

    def lines(self) -> Iterator[str]:
        """The changes as text for a terminal: first the outcomes that changed."""
        yield from wrapped(_PAIRED_BY[self.paired_by])
        yield ""
        for (before, after), count in sorted(self.outcomes.items(), key=lambda one: (one[0][0] == one[0][1], -one[1])):
            if before is None or after is None:
                change = f"only in the {'first' if after is None else 'second'} run: {before or after}"
            else:
                change = f"{before} -> {after}" if before != after else f"{before}, as before"
            yield f"{count:8,} {'row: ' if count == 1 else 'rows:'} {change}"
        for change, title in _CHANGES.items():
            found = [(cause, one) for cause, one in self._causes.items() if one.counts[change]]
            if found:
                yield from ("", title)
            for (code, column), one in sorted(found, key=lambda each: -each[1].counts[change]):
                more = ", ..." if one.counts[change] > len(one.places[change]) else ""
                text = f"{f'{column} ' if column else ''}[{code}]: {', '.join(one.places[change])}{more}"
                yield from wrapped(text, f"{one.counts[change]:8,}  ", " " * 10)

    def to_json(self) -> dict[str, Any]:
        """The changes as JSON values; places: the first few."""
        outcomes = [{"before": one, "after": other, "count": count} for (one, other), count in self.outcomes.items()]
        problems = [
            {"code": code, "column": column}
            | {change: one.counts[change] for change in _CHANGES}
            | {"places": {change: one.places[change] for change in _CHANGES}}
            for (code, column), one in self._causes.items()
        ]
        return {"paired_by": self.paired_by, "outcomes": outcomes, "problems": problems}


def diff_runs(first: Run, second: Run, settings: Settings) -> RunDiff:
    """What changed from the first run to the second. Changes nothing.

    Raises:
        UsageError: a run has not ended, or nothing shows which of its rows is which.
        UnusableInput: the files of a run are missing or were changed.
    """
    for folder, manifest in (first, second):
        if manifest.ending is None:
            report = command_line("report", manifest.run, flags={"--out": str(folder.parent)})
            raise UsageError(f"run {manifest.run} has not ended; if it was killed, complete it with: {report}")
        refuse_changed(folder, manifest)
    runs = RelatedRuns(settings)
    sheets = [sheet_of(folder, manifest, runs.limits) for folder, manifest in (first, second)]
    with ExitStack() as stack:
        if first[1].sha256 == second[1].sha256 and sheets[0].origin.sheet == sheets[1].origin.sheet:
            one, other = (_rows(run, sheet, stack) for run, sheet in zip((first, second), sheets, strict=True))
            return RunDiff("row", _merged(one, other))
        line = runs.line(second[1].run, [first[1].run]) if second[1].run in runs.all else []
        if first[1].run in line[1:]:
            numbers = runs.numbers(second[1], sheets[1], line[1:])
            one = (row._replace(keys=[(row.number,)]) for row in _rows(first, sheets[0], stack))
            own = ((row, numbers.get(row.number)) for row in _rows(second, sheets[1], stack))
            other = (row._replace(keys=[(number,) if number else ()]) for row, number in own)
            return RunDiff("import_row", _matched(one, other))
        named = [_rows(run, sheet, stack, _identity(run)) for run, sheet in zip((first, second), sheets, strict=True)]
        return RunDiff("candidate", _matched(*named))


def _identity(run: Run) -> tuple[tuple[int, ...], ...]:
    """The columns of the e-mail, and those of the name; of a run with several targets those of the first."""
    folder, manifest = run
    known = (manifest.identity, *(read_manifest(part).identity for part in part_folders(folder, manifest)))
    found = next(filter(any, known), None)
    if found is None:
        raise UsageError(f"run {manifest.run} has no column with an e-mail address or a name to compare its rows by")
    return found


def _rows(run: Run, sheet: Sheet, stack: ExitStack, identity: Sequence[Sequence[int]] = ()) -> Iterator[_Row]:
    folder, manifest = run
    for reported in pair(rows_of(manifest, sheet), outcomes_of(folder, manifest, sheet, stack)):
        keys = [key if any(key) else () for key in (identity_of(reported.row.cells, one) for one in identity)]
        label = outcome_text(reported.outcome.kind, dry_run=manifest.dry_run).label
        yield _Row(reported.row.number, label, _causes(reported), keys)


def _causes(reported: ReportedRow) -> dict[tuple[str, str | None], str]:
    found: dict[tuple[str, str | None], str] = {}
    for problem in () if reported.outcome.kind is OutcomeKind.FILTERED else reported.outcome.problems:
        if problem.code in _NO_PROBLEMS:
            continue
        cause = _SAME_CAUSE.get(problem.code, problem.code), problem.column
        found.setdefault(cause, place_in_list(problem.place, reported.row))
    return found


def _merged(first: Iterator[_Row], second: Iterator[_Row]) -> Iterator[tuple[_Row | None, _Row | None]]:
    """Rows with the same number, both in its order; memory stays flat."""
    one, other = next(first, None), next(second, None)
    while one or other:
        is_first = one is not None and (other is None or one.number <= other.number)
        is_second = other is not None and (one is None or other.number <= one.number)
        yield (one if is_first else None), (other if is_second else None)
        one, other = next(first, None) if is_first else one, next(second, None) if is_second else other


def _matched(first: Iterable[_Row], second: Iterable[_Row]) -> list[tuple[_Row | None, _Row | None]]:
    """Rows with the same key, in their order; by a key that is not the surest only if no other row has it."""
    left, right = list(first), list(second)
    pairs: list[tuple[_Row | None, _Row | None]] = []
    for level in range(len((left or right or [_Row(0, "", {}, ())])[0].keys)):
        by_key: dict[tuple[object, ...], tuple[list[_Row], list[_Row]]] = {}
        for side, rows in enumerate((left, right)):
            for row in rows:
                by_key.setdefault(row.keys[level], ([], []))[side].append(row)
        left, right = [], []
        for key, (ones, others) in by_key.items():
            is_known = key and (level == 0 or len(ones) == len(others) == 1)
            count = min(len(ones), len(others)) if is_known else 0
            pairs += zip(ones[:count], others[:count], strict=True)
            left += ones[count:]
            right += others[count:]
    pairs += [*((row, None) for row in left), *((None, row) for row in right)]
    return sorted(pairs, key=lambda pair: max(row.number for row in pair if row))
