"""The outcome of each row of one run, in the run's own folder, where personal data may be."""

from __future__ import annotations

import json
from collections.abc import Collection, Iterator
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from sqlalchemy import CTE, Integer, MetaData, String, Table, func, insert, select, update
from sqlalchemy import Column as TableColumn
from sqlalchemy.exc import DBAPIError
from sqlalchemy.sql.expression import Executable

from importer.errors import StoppedEarly
from importer.ledger.groups import GroupWriter, Waiting
from importer.ledger.problem_json import problem_from_json, problem_to_json
from importer.ledger.row_set import RowSet
from importer.ledger.sqlite_file import create_private, is_no_database, no_database, open_engine, unwritable
from importer.ledger.statements import PreparedRows
from importer.models import Outcome, OutcomeKind

JOURNAL = "outcomes.sqlite"
_LINGER = 0.2  # seconds that an outcome may lie in memory only; the ledger holds the truth

_metadata = MetaData()
_outcomes = Table(
    "outcomes",
    _metadata,
    TableColumn("row", Integer, primary_key=True),
    TableColumn("kind", String, nullable=False),
    TableColumn("status", Integer),
    TableColumn("attempts", Integer, nullable=False),
    TableColumn("problems", String, nullable=False),
)


_COLUMNS = [column.name for column in _outcomes.columns]


def _insert(given: CTE) -> Executable:
    return insert(_outcomes).from_select(_COLUMNS, select(given).distinct())


class JournalUnwritable(StoppedEarly):
    """Outcomes cannot be kept any more, so no more rows are sent. The ledger knows what became of those that were."""

    def __init__(self, path: Path, reason: str) -> None:
        super().__init__(
            f"{path}: the outcomes of this run cannot be written ({reason}), so nothing more is sent; what was sent is"
            " known to the ledger: make room or mend the disk, then run the same command again"
        )


class RunJournal:
    """Outcomes by row in `<folder>/outcomes.sqlite` (0600). A journal that is there already is gone on with.

    Raises:
        UnusableInput: the folder cannot be written, or the file is no database.
        JournalUnwritable: there is a journal, and it cannot be gone on with.
    """

    def __init__(self, folder: Path) -> None:
        self.path = folder / JOURNAL
        is_new = not self.path.exists()
        create_private(self.path)
        # NORMAL: a power cut may cost the last outcomes here, and the ledger still knows them.
        self._engine = open_engine(self.path, "NORMAL")
        self._insert = PreparedRows(_insert, _COLUMNS, self._engine)
        self._seen = RowSet()
        self._error: DBAPIError | None = None
        try:
            with self._engine.execution_options(writes=True).begin() as connection:
                _metadata.create_all(connection)
                for row in connection.execute(select(_outcomes.c.row)).scalars():
                    self._seen.add(row)
        except DBAPIError as error:
            self._engine.dispose()
            if is_no_database(error):
                raise no_database(self.path, str(error.orig)) from None
            raise (unwritable if is_new else JournalUnwritable)(self.path, str(error.orig)) from None
        self._writer: GroupWriter[Outcome] = GroupWriter(self._commit, linger=_LINGER, name="journal")

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, _: TracebackType | None) -> None:
        self.close()

    def record(self, outcome: Outcome) -> None:
        """Keep an outcome. It is on disk a moment later, and at the latest after `close`.

        Raises:
            ValueError: the row has an outcome already: a bug of ours, every row lands in exactly one.
            JournalUnwritable: an earlier outcome could not be written.
        """
        self._raise_error()
        if outcome.row in self._seen:
            raise ValueError(f"row {outcome.row} has an outcome already and was given a second one: {outcome}")
        self._seen.add(outcome.row)
        self._writer.put(outcome)

    def replace(self, outcome: Outcome) -> None:
        """Put another outcome in the place of the one that its row has.

        Raises:
            JournalUnwritable: it cannot be written.
        """
        self.flush()
        values = _outcome_row(outcome)
        try:
            with self._engine.execution_options(writes=True).begin() as connection:
                connection.execute(update(_outcomes).where(_outcomes.c.row == outcome.row).values(**values))
        except DBAPIError as error:
            raise JournalUnwritable(self.path, str(error.orig)) from None

    def flush(self) -> None:
        """Return when everything recorded is written. Raises JournalUnwritable if something could not be."""
        self._writer.flush()
        self._raise_error()

    def close(self) -> None:
        """Write what is left and let the file go. Raises JournalUnwritable if something could not be written."""
        try:
            self._writer.close()
        finally:
            self._engine.dispose()
        self._raise_error()

    def __contains__(self, row: int) -> bool:
        """Whether the row has an outcome."""
        return row in self._seen

    def outcome(self, row: int) -> Outcome | None:
        """The outcome of one row, None where it has none."""
        self.flush()
        with self._engine.begin() as connection:
            found = connection.execute(select(_outcomes).where(_outcomes.c.row == row)).first()
        return _outcome(found) if found is not None else None

    def outcomes(self) -> Iterator[Outcome]:
        """All outcomes in the order of their rows. Streams."""
        self.flush()
        with self._engine.begin() as connection:
            found = connection.execution_options(yield_per=1000).execute(select(_outcomes).order_by(_outcomes.c.row))
            for row in found:
                yield _outcome(row)

    def outcomes_from(self, row: int, most: int) -> tuple[Outcome, ...]:
        """The outcomes on disk from that row on, in the order of their rows; those of rows between may still come."""
        query = select(_outcomes).where(_outcomes.c.row >= row).order_by(_outcomes.c.row).limit(most)
        with self._engine.begin() as connection:
            return tuple(_outcome(found) for found in connection.execute(query))

    def rows_that_are(self, kind: OutcomeKind) -> Iterator[int]:
        """The rows with that outcome and nothing more to say of them."""
        query = select(_outcomes.c.row).where(_outcomes.c.kind == kind.value, _outcomes.c.problems == "")
        with self._engine.begin() as connection:
            for (row,) in connection.execution_options(yield_per=10_000).execute(query):
                yield row

    def outcomes_that_are(self, kinds: Collection[OutcomeKind], or_say_more: OutcomeKind) -> Iterator[Outcome]:
        """The outcomes of those kinds, and those of another that say more than their kind; in row order, streamed."""
        columns = _outcomes.c
        query = select(_outcomes).where(
            columns.kind.in_([kind.value for kind in kinds])
            | ((columns.kind == or_say_more.value) & (columns.problems != ""))
        )
        with self._engine.begin() as connection:
            found = connection.execution_options(yield_per=1000).execute(query.order_by(columns.row))
            for row in found:
                yield _outcome(row)

    def count(self) -> int:
        """How many rows have an outcome on disk."""
        with self._engine.begin() as connection:
            return connection.execute(select(func.count()).select_from(_outcomes)).scalar_one()

    def counts(self) -> dict[OutcomeKind, int]:
        """How many rows have each outcome; every kind is there, in the report's order."""
        self.flush()
        query = select(_outcomes.c.kind, func.count()).group_by(_outcomes.c.kind)
        with self._engine.begin() as connection:
            found = {row[0]: row[1] for row in connection.execute(query)}
        return {kind: found.get(kind.value, 0) for kind in OutcomeKind}

    def _commit(self, group: list[Waiting[Outcome]]) -> None:
        try:
            with self._engine.execution_options(writes=True).begin() as connection:
                self._insert.execute(connection, [_outcome_row(waiting.write) for waiting in group])
        except DBAPIError as error:
            self._error = error
        for waiting in group:
            waiting.settle()

    def _raise_error(self) -> None:
        if self._error is not None:
            raise JournalUnwritable(self.path, str(self._error.orig)) from None


def _outcome_row(outcome: Outcome) -> dict[str, Any]:
    return {
        "row": outcome.row,
        "kind": outcome.kind.value,
        "status": outcome.status,
        "attempts": outcome.attempts,
        "problems": json.dumps([problem_to_json(problem) for problem in outcome.problems]) if outcome.problems else "",
    }


def _outcome(row: Any) -> Outcome:
    problems = tuple(problem_from_json(shown) for shown in json.loads(row.problems)) if row.problems else ()
    return Outcome(row.row, OutcomeKind(row.kind), row.status, row.attempts, problems)
