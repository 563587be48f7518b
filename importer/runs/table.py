"""The table of a run, in its folder: each row as it was read, each candidate as it was checked, and the outcomes."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, ExitStack, contextmanager, suppress
from dataclasses import replace
from functools import cache, cached_property, partial
from itertools import chain, islice
from pathlib import Path
from types import TracebackType
from typing import Any, Final, NamedTuple

from importer import __version__
from importer.models import NEEDS_ATTENTION, CorrectedCell, Outcome, OutcomeKind, ReadyCandidate, Row
from importer.problems import DamagedRun, DatabaseError, Problem, StoppedEarly, not_writable, unusable_file
from importer.runs.corrections import by_row, over, refuse_missing, refusing_other_texts, with_texts
from importer.runs.manifest import read_manifest
from importer.runs.row_selection import Selection
from importer.runs.stored import (
    problems_from_json,
    problems_to_json,
    row_from_stored,
    row_to_stored,
    sheet_from_stored,
    sheet_to_stored,
)
from importer.sources import Sheet
from importer.store.sqlite import (
    FREE_IT,
    IntegrityError,
    SqliteConnection,
    connect,
    create_private,
    errors_translated,
    inode_of,
    not_a_database,
)

TABLE: Final = "run.sqlite"
RESTORE: Final = "restore it from a backup, or run the same import again; the ledger knows what was sent"

# A change needs another manifest.VERSION: a table is opened only if the manifest of its run can be read.
# rows: as they are in the file. candidates.row: the first one; rows: of a candidate with several, else ""; kind: of an
# outcome, NULL if it is to be sent.
_SCHEMA: Final = """
CREATE TABLE sheet (
    facts VARCHAR NOT NULL,
    version VARCHAR NOT NULL
);
CREATE TABLE rows (
    row INTEGER NOT NULL PRIMARY KEY,
    cells VARCHAR NOT NULL,
    more VARCHAR NOT NULL
);
CREATE TABLE corrections (
    row INTEGER NOT NULL,
    "index" INTEGER NOT NULL,
    old VARCHAR NOT NULL,
    new VARCHAR NOT NULL,
    is_value INTEGER NOT NULL,
    PRIMARY KEY (row, "index")
);
CREATE TABLE candidates (
    row INTEGER NOT NULL PRIMARY KEY,
    rows VARCHAR NOT NULL,
    email VARCHAR,
    body BLOB,
    kind VARCHAR,
    problems VARCHAR NOT NULL,
    warnings VARCHAR NOT NULL
);
CREATE TABLE outcomes (
    row INTEGER NOT NULL PRIMARY KEY,
    kind VARCHAR NOT NULL,
    status INTEGER,
    attempts INTEGER NOT NULL,
    problems VARCHAR NOT NULL,
    candidate_id INTEGER
);
"""
_PAGE: Final = 500  # rows that are read or written at once
_ROWS: Final = f"SELECT row, cells, more FROM rows WHERE row > ? ORDER BY row LIMIT {_PAGE}"
_KEEP: Final = """INSERT OR REPLACE INTO candidates (row, rows, email, body, kind, problems, warnings)
    VALUES (?, ?, ?, ?, ?, ?, ?)"""
_KEPT: Final = "SELECT row, rows, email, body, kind, problems, warnings FROM candidates"
# Each candidate whose e-mail address another one has, with the first of the others.
_SAME_ADDRESSES: Final = """SELECT row, CASE first WHEN row THEN second ELSE first END FROM (
        SELECT row, min(row) OVER same AS first, nth_value(row, 2) OVER same AS second
        FROM candidates WHERE email <> ''
        WINDOW same AS (PARTITION BY casefold(email) ORDER BY row ROWS BETWEEN UNBOUNDED PRECEDING
            AND UNBOUNDED FOLLOWING)
    ) WHERE second IS NOT NULL ORDER BY row"""
_COLUMNS: Final = ("row", "kind", "status", "attempts", "problems", "candidate_id")
_OUTCOMES: Final = f"SELECT {', '.join(_COLUMNS)} FROM outcomes"
_BLANK_ROW: Final = "UPDATE rows SET cells = ?, more = ? WHERE row = ?"
_BLANK_CANDIDATE: Final = """UPDATE candidates SET email = substr(email, 1, 0), body = substr(body, 1, 0),
    problems = '', warnings = '' WHERE row = ?"""
_BLANK_OUTCOME: Final = "UPDATE outcomes SET problems = ?, candidate_id = NULL WHERE row = ?"
_FORGOTTEN: Final = Problem("forgotten", "a person was removed from this row by importer forget")
_INSERT: Final = f"INSERT INTO outcomes ({', '.join(_COLUMNS)}) VALUES (?, ?, ?, ?, ?, ?)"


class Classified(NamedTuple):
    """A candidate to send, or its outcome; the numbers of its rows, in order; the warnings about one to send.

    email: of one that is not valid, if its address is: who is in the service already has nothing to fix.
    """

    rows: tuple[int, ...]
    result: ReadyCandidate | Outcome
    warnings: tuple[Problem, ...] = ()
    email: str = ""

    @property
    def if_not_sent(self) -> Outcome:
        """Its outcome while it is not sent."""
        ready = Outcome(self.rows[0], OutcomeKind.NOT_SENT, problems=self.warnings)
        return self.result if isinstance(self.result, Outcome) else ready

    @property
    def address(self) -> str:
        """The e-mail address, "" if there is none that is valid."""
        return self.result.email if isinstance(self.result, ReadyCandidate) else self.email


class TableUnwritable(StoppedEarly):
    """Outcomes cannot be written, so no more rows are sent. The ledger knows what was sent."""

    def __init__(self, path: Path, reason: str, remedy: str = f"{FREE_IT}, then ") -> None:
        super().__init__(
            f"{path}: the rows of this run cannot be written ({reason}), so nothing more is sent. "
            f"The ledger knows what was sent, if anything: {remedy}run the same command again"
        )


class TableUnreadable(StoppedEarly):
    """Outcomes cannot be read at the moment. The ledger knows what was sent."""

    def __init__(self, path: Path, reason: str) -> None:
        super().__init__(
            f"{path}: the outcomes of run {path.parent.name} cannot be read ({reason}). The ledger knows "
            "what was sent: close the program that has the file open, or fix the disk, then run the same command again"
        )


class RunTable(AbstractContextManager["RunTable"]):
    """The rows of a run in `<folder>/run.sqlite` (0600), and what became of them. An existing table is continued.

    Raises (reading methods, too):
        UnusableInput: the folder is missing or cannot be written, or the file is not a database or is damaged.
        TableUnwritable, TableUnreadable: an existing table cannot be written or read.
    """

    def __init__(self, folder: Path) -> None:
        self.path = folder / TABLE
        self._is_new = not self.path.exists()
        create_private(self.path)
        self._inode = inode_of(self.path)
        self._connection: SqliteConnection | None = None
        try:
            self._initialize()
        except BaseException:
            self.close()
            raise
        self._is_new = False

    def _initialize(self) -> None:
        with self._transaction() as connection:
            if connection.execute("SELECT 1 FROM sqlite_master").fetchone():
                return
        with self._transaction(writes=True) as connection:
            for statement in _SCHEMA.split(";"):
                connection.execute(statement)

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, _: TracebackType | None) -> None:
        self.close()

    def begin(self) -> None:
        """Rows may be sent from now on. Until then the run has only checked its file."""
        with self._transaction(writes=True) as connection:
            connection.execute("PRAGMA user_version = 1")

    @property
    def has_begun(self) -> bool:
        """Whether rows may have been sent."""
        with self._transaction() as connection:
            (version,) = connection.execute("PRAGMA user_version").fetchone()
        return bool(version)

    # --- the rows as they were read ---

    def store(
        self,
        sheet: Sheet,
        selection: Selection,
        corrections: Sequence[CorrectedCell] = (),
        of_part: frozenset[int] | None = None,
        on_read: Callable[[int], None] = lambda _: None,
    ) -> None:
        """Keep the selected rows of a sheet, with their corrections. All are read here, once. of_part: the numbers of
        the rows of the selected part; on_read: called with how many rows are kept.

        Raises:
            UnusableInput: the sheet cannot be read to its end, or a correction is for another text.
            TableUnwritable: they cannot be written.
        """
        left, count = by_row(corrections), 0
        rows = selection.of(refusing_other_texts(sheet.rows(), left), of_part)
        while block := list(islice(rows, _PAGE)):
            with self._transaction(writes=True) as connection:
                connection.executemany("INSERT INTO rows VALUES (?, ?, ?)", map(row_to_stored, block))
            count += len(block)
            if len(block) == _PAGE:  # a short file is read in no time
                on_read(count)
        refuse_missing(left, sheet.origin.file)
        listed = [(one.row, one.column.index, one.old, one.new, one.is_value) for one in corrections]
        with self._transaction(writes=True) as connection:
            connection.executemany("INSERT INTO corrections VALUES (?, ?, ?, ?, ?)", listed)
            connection.execute("INSERT INTO sheet VALUES (?, ?)", (sheet_to_stored(sheet), __version__))

    @cached_property
    def sheet(self) -> Sheet:
        """The sheet that was stored, with its corrections. Each call of its `rows` reads them from here.

        Raises UnusableInput: none was stored.
        """
        with self._transaction() as connection:
            found = connection.execute("SELECT facts FROM sheet").fetchone()
            (count,) = connection.execute("SELECT count(*) FROM corrections").fetchone()
        if found is None:
            raise unusable_file("source-copy-changed", "the rows of the run are missing", RESTORE, self.path)
        sheet = sheet_from_stored(found[0], partial(_rows_in, self.path.parent))
        cells = f", {count:,} cell{'' if count == 1 else 's'} corrected" if count else ""
        return replace(sheet, reading=sheet.reading + cells)

    @property
    def file_sheet(self) -> Sheet | None:
        """The sheet as it is in the file, without corrections; None if another version of importer has read it."""
        with self._transaction() as connection:
            facts, version = connection.execute("SELECT facts, version FROM sheet").fetchone() or ("", "")
        return sheet_from_stored(facts, partial(_rows_in, self.path.parent, True)) if version == __version__ else None

    @cached_property
    def corrections(self) -> dict[tuple[int, int], CorrectedCell]:
        """The corrected cells, by row number and index of the column."""
        columns = self.sheet.columns
        with self._transaction() as connection:
            found = connection.execute('SELECT * FROM corrections ORDER BY row, "index"').fetchall()
        return {
            (row, index): CorrectedCell(row, columns[index], old, new, bool(is_value))
            for row, index, old, new, is_value in found
        }

    def rows(self, *, of_file: bool = False) -> Iterator[Row]:
        """The rows, corrected, in their order; of_file: as they are in the file."""
        origin = self.sheet.origin
        return over((row_from_stored(one, origin) for one in self._pages(_ROWS)), {} if of_file else self._by_row)

    @cached_property
    def _by_row(self) -> dict[int, list[CorrectedCell]]:
        return by_row(self.corrections.values())

    def rows_with(self, numbers: Iterable[int]) -> dict[int, Row]:
        """The rows with these numbers, corrected, as far as there are any."""
        return {row.number: row for row in over(self.originals(numbers).values(), self._by_row)}

    def originals(self, numbers: Iterable[int]) -> dict[int, Row]:
        """The rows with these numbers as they are in the file."""
        query, origin = "SELECT row, cells, more FROM rows WHERE row = ?", self.sheet.origin
        with self._transaction() as connection:
            rows = [connection.execute(query, (number,)).fetchone() for number in numbers]
        return {row[0]: row_from_stored(row, origin) for row in rows if row is not None}

    def numbers_with(self, index: int, text: str) -> list[int]:
        """The numbers of the rows whose cell at this index has this text in the file."""
        query = f"SELECT row FROM rows WHERE json_extract(cells, '$[{int(index)}]') = ?"
        with self._transaction() as connection:
            return [row for (row,) in connection.execute(query, (text,))]

    # --- the outcomes ---

    def record(self, outcomes: Sequence[Outcome]) -> None:
        """Record outcomes; they are on disk when this returns.

        Raises:
            ValueError: a row already has an outcome: a bug, as every row has exactly one.
            TableUnwritable: they cannot be written.
        """
        with self._transaction(writes=True) as connection:
            try:
                connection.executemany(_INSERT, map(_outcome_row, outcomes))
            except IntegrityError:
                raise ValueError(f"a row got a second outcome; one of {[one.row for one in outcomes[:5]]}") from None
        if inode_of(self.path) != self._inode:
            raise TableUnwritable(self.path, "the file was moved or deleted", "")

    def take(self, folder: Path) -> None:
        """Add the rows of another run of the same sheet, with all that is known of them.

        Raises TableUnwritable: they cannot be written.
        """
        with self._transaction() as connection:
            connection.execute("ATTACH DATABASE ? AS other", (str(folder / TABLE),))
        with self._transaction(writes=True) as connection:
            for name in ("rows", "corrections", "candidates", "outcomes"):
                connection.execute(f"INSERT INTO main.{name} SELECT * FROM other.{name}")
            if not connection.execute("SELECT 1 FROM main.sheet").fetchone():
                connection.execute("INSERT INTO main.sheet SELECT * FROM other.sheet")
        with self._transaction() as connection:
            connection.execute("DETACH DATABASE other")

    def keep(self, candidates: Sequence[Classified]) -> None:
        """Keep candidates as they were checked, in place of those with the same first rows.

        Raises TableUnwritable: they cannot be written.
        """
        with self._transaction(writes=True) as connection:
            connection.executemany(_KEEP, map(_kept_row, candidates))

    def kept(self) -> Iterator[Classified]:
        """The candidates as they were checked, in the order of the source."""
        return map(_classified, self._pages(f"{_KEPT} WHERE row > ? ORDER BY row LIMIT {_PAGE}"))

    def _pages(self, query: str) -> Iterator[Any]:
        """What a query gives by the rows from one on, in their order; so that none is open while others run."""
        last = 0
        while True:
            with self._transaction() as connection:
                page = connection.execute(query, (last,)).fetchall()
            if not page:
                return
            yield from page
            last = page[-1][0]

    def candidates(self, rows: Iterable[int]) -> dict[int, Classified]:
        """The candidates with these first rows, as they were checked, as far as there are any."""
        with self._transaction() as connection:
            found = [connection.execute(f"{_KEPT} WHERE row = ?", (row,)).fetchone() for row in rows]
        return {one[0]: _classified(one) for one in found if one is not None}

    def same_addresses(self) -> list[tuple[int, int]]:
        """The first row of each candidate whose e-mail address another one has, and the first row of the other."""
        with self._transaction() as connection:
            connection.create_function("casefold", 1, str.casefold, deterministic=True)
            return connection.execute(_SAME_ADDRESSES).fetchall()

    def replace(self, outcome: Outcome) -> None:
        """Replace the outcome of a row. Raises TableUnwritable: it cannot be written."""
        row, *values = _outcome_row(outcome)
        change = f"UPDATE outcomes SET {', '.join(f'{name} = ?' for name in _COLUMNS[1:])} WHERE row = ?"
        with self._transaction(writes=True) as connection:
            connection.execute(change, (*values, row))

    def blank_person(self, own: Collection[int], is_in: Callable[[str], bool]) -> set[int]:
        """Blank a person's own rows, and elsewhere the cells and texts that `is_in` finds; returns the changed rows.

        Outcomes stay.
        """
        cells: dict[int, set[int]] = {}
        for row in self._all_rows():
            found = {index for index, text in chain(enumerate(row.cells), row.links) if is_in(text)}
            if found:
                cells.setdefault(row.number, set()).update(found)
        changed = self.rows_with({*own, *cells})
        forgotten = problems_to_json([_FORGOTTEN])
        with self._transaction(writes=True) as connection:
            for number, row in changed.items():
                found = set(range(len(row.cells))) if number in own else cells[number]
                blank = [one for one in self.sheet.columns if one.index in found]
                _, texts, more = row_to_stored(with_texts(row, dict.fromkeys(blank, "")))
                connection.execute(_BLANK_ROW, (texts, more, number))
                connection.execute("DELETE FROM corrections WHERE row = ?", (number,))
            candidates = "SELECT row, body, problems, warnings FROM candidates"
            for row_number, *texts in connection.execute(candidates).fetchall():
                if row_number in own or any(map(is_in, map(_as_text, texts))):
                    connection.execute(_BLANK_CANDIDATE, (row_number,))
            for row_number, problems in connection.execute("SELECT row, problems FROM outcomes").fetchall():
                if row_number in own or is_in(_as_text(problems)):
                    connection.execute(_BLANK_OUTCOME, (forgotten, row_number))
            facts = json.loads(connection.execute("SELECT facts FROM sheet").fetchone()[0])
            warnings = "" if is_in(_as_text(facts["warnings"])) else facts["warnings"]
            # Without a version: these are not the rows of the file any more, and no run takes them over.
            stored = json.dumps(facts | {"warnings": warnings})
            connection.execute("UPDATE sheet SET facts = ?, version = ''", (stored,))
        with self._transaction() as connection:
            connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")  # else the log still has what was overwritten
        return set(changed)

    def rows_of_person(self, is_in: Callable[[str], bool], columns: Collection[int]) -> set[int]:
        """All rows of each candidate who has a text that `is_in` finds in one of these columns (their indexes)."""
        found = set[int]()
        for row in self._all_rows():
            texts = [text for index, text in chain(enumerate(row.cells), row.links) if index in columns]
            if any(map(is_in, texts)):
                found.add(row.number)
        with self._transaction() as connection:
            for first, rows, email in connection.execute("SELECT row, rows, email FROM candidates"):
                members = set(json.loads(rows)) if rows else {first}
                if (email and is_in(email)) or members & found:
                    found |= members
        return found

    def _all_rows(self) -> Iterator[Row]:
        """All rows, and of those with corrections also as they are in the file."""
        return chain(self.rows(), self.originals({number for number, _ in self.corrections}).values())

    def close(self) -> None:
        """Close the file."""
        if self._connection is not None:
            self._connection.close()

    def __contains__(self, row: int) -> bool:
        """Whether the row has an outcome."""
        return self.outcome(row) is not None

    @contextmanager
    def _transaction(self, *, writes: bool = False) -> Iterator[SqliteConnection]:
        """The connection, in a transaction if it writes; raises the errors of this class."""
        try:
            with errors_translated():
                self._connection = connection = self._connection or connect(self.path)
                if not writes:
                    yield connection
                    return
                with connection:  # commits, or rolls back
                    # Immediate: one that reads before it writes can fail at the write, whatever the timeout.
                    connection.execute("BEGIN IMMEDIATE")
                    yield connection
        except DatabaseError as error:
            if error.is_damaged:
                raise not_a_database(self.path, str(error)) from None
            if not writes:
                raise TableUnreadable(self.path, str(error)) from None
            raise (not_writable if self._is_new else TableUnwritable)(self.path, str(error)) from None

    def outcome(self, row: int) -> Outcome | None:
        """The outcome of one row, None where it has none."""
        with self._transaction() as connection:
            found = connection.execute(f"{_OUTCOMES} WHERE row = ?", (row,)).fetchone()
        return _outcome(found) if found is not None else None

    def outcomes(self) -> Iterator[Outcome]:
        """All outcomes in the order of their rows."""
        return map(_outcome, self._pages(f"{_OUTCOMES} WHERE row > ? ORDER BY row LIMIT {_PAGE}"))

    def page(self, first: int, count: int, *, cause: tuple[str, str | None] | None, all_rows: bool) -> list[Outcome]:
        """Some outcomes, from the `first` (from 0): those with problems, which hold rows back before warnings; or all.

        cause: only those that have a problem with this code, in the column with this name.
        """
        code, column = cause or ("", None)
        known = "problems <> '' AND kind <> 'filtered'"
        if cause is not None:
            each = "SELECT 1 FROM json_each(problems) WHERE json_extract(value, '$.code') = ?"
            named = "coalesce(nullif(json_extract(value, '$.place.column.name'), ''), "
            named += "'=' || json_extract(value, '$.place.column.letter'), '') = ?"
            known += f" AND EXISTS ({each} AND {named})"
        which = "" if all_rows else f"WHERE {known} "
        values = (code, column or "") if cause is not None and not all_rows else ()
        kinds = ", ".join(f"'{kind}'" for kind in NEEDS_ATTENTION)
        order = "row" if all_rows else f"kind NOT IN ({kinds}), row"
        query = f"{_OUTCOMES} {which}ORDER BY {order} LIMIT ? OFFSET ?"
        with self._transaction() as connection:
            return list(map(_outcome, connection.execute(query, (*values, count, first))))

    def counts(self, *, of_candidates: bool = False) -> dict[OutcomeKind, int]:
        """How many rows, or candidates, have each outcome; every kind is there, in the report's order."""
        which = "WHERE row IN (SELECT row FROM candidates)" if of_candidates else ""
        with self._transaction() as connection:
            found = dict(connection.execute(f"SELECT kind, count(*) FROM outcomes {which} GROUP BY kind").fetchall())
        return {kind: found.get(kind.value, 0) for kind in OutcomeKind}


_ESCAPED: Final = re.compile(r"\\+u([0-9a-fA-F]{4})")  # of JSON, also in a text that is JSON itself


def _as_text(value: str | bytes | None) -> str:
    text = value.decode("utf-8", "replace") if isinstance(value, bytes) else value or ""
    return _ESCAPED.sub(lambda found: chr(int(found[1], 16)), text)


def _kept_row(one: Classified) -> tuple[Any, ...]:
    """The values of _KEEP."""
    result, rows = one.result, json.dumps(one.rows) if len(one.rows) > 1 else ""
    if isinstance(result, Outcome):
        return one.rows[0], rows, one.email, None, result.kind.value, problems_to_json(result.problems), ""
    return one.rows[0], rows, result.email, result.body, None, "", problems_to_json(one.warnings)


def _classified(found: tuple[Any, ...]) -> Classified:
    row, listed, email, body, kind, problems, warnings = found
    rows = tuple(json.loads(listed)) if listed else (row,)
    if kind is not None:
        outcome = Outcome(row, OutcomeKind(kind), problems=problems_from_json(problems))
        return Classified(rows, outcome, email=email or "")
    return Classified(rows, ReadyCandidate(row, email, body), problems_from_json(warnings))


def _outcome_row(outcome: Outcome) -> tuple[Any, ...]:
    """The values of _COLUMNS."""
    problems = problems_to_json(outcome.problems)
    return outcome.row, outcome.kind.value, outcome.status, outcome.attempts, problems, outcome.candidate_id


def _outcome(found: tuple[Any, ...]) -> Outcome:
    row, kind, status, attempts, problems, candidate_id = found
    return Outcome(row, OutcomeKind(kind), status, attempts, problems_from_json(problems), candidate_id)


def _rows_in(folder: Path, of_file: bool = False) -> Iterator[Row]:
    with RunTable(folder) as table:
        yield from table.rows(of_file=of_file)


@contextmanager
def earlier_outcomes(out: Path) -> Iterator[Callable[[str, int], Outcome | None]]:
    """The outcome of a row in a run of a results folder; None if the run's folder is missing, the run was killed
    before, or another version of importer made it. Each table is opened once, when it is first needed.

    Raises UnusableInput: the table of that run is damaged.
    """
    with ExitStack() as tables:

        @cache
        def table_of(run: str) -> RunTable | None:
            with suppress(DamagedRun):
                read_manifest(out / run)
                return tables.enter_context(RunTable(out / run)) if (out / run / TABLE).is_file() else None
            return None

        yield lambda run, row: table.outcome(row) if (table := table_of(run)) is not None else None
