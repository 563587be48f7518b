"""Classifies the rows of a source: each candidate is to be sent, or already has its outcome.

All rows are checked before the first one is sent:

1. each candidate by itself, by other processes if there are many, and kept in the table of the run;
2. when all are there, what compares them: e-mail addresses that are there twice.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import replace
from itertools import islice
from typing import Final, Literal

from importer.app.orders import Forecast
from importer.app.prepare_rows import prepared
from importer.ledger import Ledger
from importer.mapping import DuplicatePolicy, ResolvedMapping
from importer.models import ROUTE_UNKNOWN, Outcome, OutcomeKind, ReadyCandidate, Row
from importer.problems import Origin, Problem
from importer.report.accounting import ReportedRow, SummaryCounter
from importer.runs.finalize import was_sent
from importer.runs.known_rows import CandidateEmail, KnownRows
from importer.runs.table import Classified, RunTable
from importer.sending import Earlier, LoadOptions, not_sent_again
from importer.transform import Filtered, Invalid, LikelyErrors, candidate_rows, place_of_address, same_address

ReadRows = Callable[[], Iterator[Row]]
_AT_ONCE: Final = 1_000  # kept, and looked up in the ledger


def check_rows(
    table: RunTable,
    read: ReadRows,
    mapping: ResolvedMapping,
    *,
    strict: bool = False,
    on_checked: Callable[[int], None] = lambda _: None,
) -> tuple[Problem, ...]:
    """Classify all candidates of a source, and keep them in the table; the warnings about the file as a whole.

    strict: a row with a warning is invalid. on_checked: called with how many candidates are checked.

    Raises UnusableInput: the source cannot be read to its end.
    """
    likely, count = LikelyErrors(mapping), 0
    candidates = each_by_itself(read, mapping, likely, strict=strict)
    while block := list(islice(candidates, _AT_ONCE)):
        table.keep(block)
        count += len(block)
        if len(block) == _AT_ONCE:  # a short file is checked in no time
            on_checked(count)
    _hold_back_duplicates(table, mapping)
    return likely.of_file()


def each_by_itself(
    read: ReadRows, mapping: ResolvedMapping, likely: LikelyErrors, *, strict: bool = False
) -> Iterator[Classified]:
    """The candidates in the order of the file, none of them compared with another one."""
    for row, (result, seen) in prepared(candidate_rows(read, mapping), mapping):
        if isinstance(result, Filtered):
            outcome = Outcome(result.row, OutcomeKind.FILTERED, problems=(result.problem,))
            yield Classified((result.row,), outcome)
            continue
        assert isinstance(row, Row)
        numbers = tuple(member.number for member in row.members) if row.members else (row.number,)
        if isinstance(result, Invalid):
            # It has its e-mail address too: whether it or another row is right, only a person knows. But a row that no
            # mapping of a folder takes yet may be for another target.
            is_routed = all(problem.code != ROUTE_UNKNOWN for problem in result.problems)
            outcome = Outcome(row.number, OutcomeKind.INVALID, problems=result.problems)
            yield Classified(numbers, outcome, email=result.email if is_routed else "")
        else:
            assert seen is not None
            warnings = likely.of_row(row, seen)
            if strict and warnings:
                errors = tuple(replace(warning, severity="error") for warning in warnings)
                yield Classified(numbers, Outcome(row.number, OutcomeKind.INVALID, problems=errors), email=result.email)
            else:
                yield Classified(numbers, result, warnings)


# --- what compares candidates -------------------------------------------------------------------------


def _hold_back_duplicates(table: RunTable, mapping: ResolvedMapping) -> None:
    pairs = iter(table.same_addresses())
    while block := list(islice(pairs, _AT_ONCE)):
        found = table.candidates({row for pair in block for row in pair})
        rows = table.rows_with({row for one in found.values() for row in one.rows})
        table.keep(list(_held_back(block, found, rows, mapping)))


def without_duplicates(
    candidates: Iterable[Classified], rows: Mapping[int, Row], mapping: ResolvedMapping
) -> list[Classified]:
    """Some candidates, where those that have the same e-mail address as others are held back. rows: of all of them."""
    found = {one.rows[0]: one for one in candidates}
    rows_of: dict[str, list[int]] = {}
    for row, one in found.items():
        if one.address:
            rows_of.setdefault(one.address.casefold(), []).append(row)
    pairs = ((row, same[row == same[0]]) for same in rows_of.values() if len(same) > 1 for row in same)
    return [*(found | {one.rows[0]: one for one in _held_back(pairs, found, rows, mapping)}).values()]


def _held_back(
    pairs: Iterable[tuple[int, int]],
    candidates: Mapping[int, Classified],
    rows: Mapping[int, Row],
    mapping: ResolvedMapping,
) -> Iterator[Classified]:
    """Of those with one e-mail address all but the first, or with `duplicates: error` all.

    The service accepts one application per person and job post, and one candidate per e-mail address and pool (service
    description, part 8). The first one may have problems of its own: once fixed, it is the one to import.
    """
    email, are_all = mapping.candidate["email"], mapping.duplicate_policy is DuplicatePolicy.ERROR
    columns = () if email.lookup else email.columns  # there it is a key of another table
    places = {
        row: place_of_address([rows[each] for each in one.rows if each in rows], columns, one.address)
        for row, one in candidates.items()
    }
    for row, other in pairs:
        if are_all or row > other:
            one, is_valid = candidates[row], isinstance(candidates[other].result, ReadyCandidate)
            becomes: Literal["valid", "invalid", "neither"] = "valid" if is_valid else "invalid"
            problem = same_address(places[row], places[other], "neither" if are_all else becomes)
            own = one.result.problems if isinstance(one.result, Outcome) else ()
            yield Classified(one.rows, Outcome(row, OutcomeKind.INVALID, problems=(*own, problem)))


# --- what will become of all rows ---------------------------------------------------------------------


LookUpKnown = Callable[[list[Classified]], dict[int, Outcome]]
"""The outcomes of candidates that are not sent by what became of them before, by first row, as the ledger knows."""


_HELD_BACK: Final = (OutcomeKind.INVALID, OutcomeKind.REJECTED, OutcomeKind.UNCONFIRMED)
_OTHERS: Final = (OutcomeKind.NOT_SENT, OutcomeKind.FILTERED, OutcomeKind.ALREADY_IMPORTED)


def not_sent(known: KnownRows, ledger: Ledger, block: list[Classified], mark: bytes = b"") -> dict[int, Outcome]:
    """The outcomes of candidates that are not sent by what became of them in another form; or of their e-mail address,
    if they are not valid now, or have this mark in their body. By first row.
    """
    forms: dict[tuple[int, ...], CandidateEmail | None] = {}
    emails = {one.rows[0]: one.email for one in block if one.email}
    for one in block:
        if isinstance(one.result, ReadyCandidate):
            forms[one.rows] = CandidateEmail(one.result.email)
            if mark and mark in one.result.body:
                emails[one.rows[0]] = one.result.email
        elif one.result.kind is OutcomeKind.INVALID:
            forms[one.rows] = CandidateEmail(one.email, is_ready=False) if one.email else None
    others, by_row = known.other_forms(ledger, forms), {one.rows[0]: one for one in block}
    return {
        **{row: _as_imported(by_row[row].result) for row in known.imported(ledger, emails)},
        **{row: _with_reasons(outcome, by_row[row]) for row, outcome in others.items()},
    }


def _as_imported(result: ReadyCandidate | Outcome) -> Outcome:
    """Of a candidate who is in the service by the e-mail address, whatever the row or its document has now."""
    problems = result.problems if isinstance(result, Outcome) else ()
    return Outcome(result.row, OutcomeKind.ALREADY_IMPORTED, problems=problems)


def _with_reasons(outcome: Outcome, one: Classified) -> Outcome:
    """The outcome of a candidate by what became of another form; an unconfirmed one that is not valid now says why."""
    if outcome.kind is not OutcomeKind.UNCONFIRMED or not isinstance(one.result, Outcome):
        return outcome
    return replace(outcome, problems=(*outcome.problems, *one.result.problems))


def settled(
    known: KnownRows, ledger: Ledger, block: list[Classified], again: LoadOptions, earlier: Earlier, mark: bytes
) -> dict[int, Outcome]:
    """The outcomes of candidates that are not sent by what became of them before, by first row."""
    ready = [one.result for one in block if isinstance(one.result, ReadyCandidate)]
    return {**not_sent_again(ready, ledger, known.scope, again, earlier), **not_sent(known, ledger, block, mark)}


def forecast_of(
    candidates: Iterator[Classified],
    origin: Origin,
    known: LookUpKnown = lambda _: {},
    record: Callable[[list[Outcome]], None] = lambda _: None,
) -> Forecast:
    """What will become of these candidates. origin: of their rows. record: gets it for each row: that of a check."""
    last_row, groups, counter = 0, list[tuple[int, ...]](), SummaryCounter()
    while block := list(islice(candidates, _AT_ONCE)):
        outcomes, found = known(block), list[Outcome]()
        for one in block:
            last_row = max(last_row, one.rows[-1])
            if len(one.rows) > 1:
                groups.append(one.rows)
            known_outcome = outcomes.get(one.rows[0])
            outcome = known_outcome or one.if_not_sent
            if known_outcome and one.warnings and was_sent(known_outcome):
                outcome = replace(known_outcome, problems=(*known_outcome.problems, *one.warnings))
            found += (outcome if row == outcome.row else replace(outcome, row=row, attempts=0) for row in one.rows)
        for outcome in found:
            counter.add(ReportedRow(Row(origin, outcome.row, ()), outcome))
        record(found)
    held_back = sum(counter.outcomes[kind] for kind in _HELD_BACK)
    ready, filtered, done = (counter.outcomes[kind] for kind in _OTHERS)
    reasons = tuple(group for group in counter.groups() if group.outcome in _HELD_BACK)
    warned_of = tuple(group for group in counter.groups() if group.is_warning)
    total = ready + held_back + filtered + done
    return Forecast(total, ready, last_row, tuple(groups), done, held_back, filtered, reasons, warned_of)
