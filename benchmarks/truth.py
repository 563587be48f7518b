"""What is sent for cells whose meaning is known: true, refused, or false, for each reader.

    python -m benchmarks truth [--cells 50000] [--seed 1] [--show 3]

Each cell is written from a value, in the forms of 25 locales and with what real files add to it (see `truth_cells`). It
goes the way of every import: a file, the mapping, transform, the request body. Ends with 1 if anything false is sent,
or if more than 1 % of the well-formed cells are refused.
"""

from __future__ import annotations

import csv
import json
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from decimal import Decimal, InvalidOperation
from pathlib import Path
from random import Random
from typing import Any

from openpyxl import Workbook

from benchmarks.truth_cells import UNKNOWN, Cell, Form, choices, dates, numbers, without_locale, yes_no
from benchmarks.truth_locales import LOCALES
from benchmarks.truth_people import entries, names, phones, ranges, texts
from importer.mapping import read_mapping, resolve
from importer.models import Question, SourceOptions
from importer.settings import WireFormat
from importer.sources import ReadingLimits, open_sheet
from importer.transform import Filtered, Invalid, candidate_rows, encode, transform_row

_PERSON = ("E-mail", "First", "Last", "CV")
_SPLIT = "  first_name: {column: Cell, part: first}\n  last_name: {column: Cell, part: last}\n"
_PLAIN = "  first_name: First\n  last_name: Last\n"
_REFUSED_SHARE = 0.01


@dataclass(frozen=True, slots=True)
class Sent:
    """What was sent for a cell, None if it was refused, and why it was refused."""

    form: Form
    cell: Cell
    sent: Any
    problem: str = ""

    @property
    def is_true(self) -> bool:
        return self.sent is not None and _same(self.sent, self.cell.meaning)

    @property
    def is_false(self) -> bool:
        return self.sent is not None and not _same(self.sent, self.cell.meaning)


@dataclass(slots=True)
class Truth:
    """The figures by reader, and examples of what was sent false and of well-formed cells that were refused."""

    counts: dict[str, Counter[str]] = field(default_factory=lambda: defaultdict(Counter))
    false: dict[tuple[str, str, str], list[Sent]] = field(default_factory=lambda: defaultdict(list))
    refused: dict[tuple[str, str, str], list[Sent]] = field(default_factory=lambda: defaultdict(list))

    def add(self, one: Sent) -> None:
        well_formed = not one.cell.kind
        for reader in (one.form.reader, "total"):
            count = self.counts[reader]
            count["cells"] += 1
            count["well-formed"] += well_formed
            count["true" if one.is_true else "false" if one.is_false else "refused"] += 1
            count["well-formed refused"] += well_formed and one.sent is None
        key = (one.form.reader, one.form.locale, one.cell.kind)
        if one.is_false:
            self.false[key].append(one)
        elif well_formed and one.sent is None:
            self.refused[key].append(one)

    @property
    def broken(self) -> list[str]:
        """The promises that were not kept."""
        total = self.counts["total"]
        broken = [f"{total['false']:,} of {total['cells']:,} cells were sent false"] if total["false"] else []
        if total["well-formed refused"] > _REFUSED_SHARE * total["well-formed"]:
            broken.append(
                f"{total['well-formed refused']:,} of {total['well-formed']:,} well-formed cells were refused"
            )
        return broken

    def lines(self, show: int) -> Iterator[str]:
        """The table, then `show` examples of each kind that was sent false or refused though well-formed."""
        yield f"{'reader':24}{'cells':>8}{'true':>8}{'refused':>9}{'false':>7}{'well-formed refused':>22}"
        for reader in sorted(self.counts, key=lambda name: (name == "total", name)):
            count = self.counts[reader]
            share = count["well-formed refused"] / max(count["well-formed"], 1)
            figures = f"{count['cells']:8,}{count['true']:8,}{count['refused']:9,}{count['false']:7,}{share:21.2%}"
            yield f"{reader:24}{figures}"
        for title, kinds in (("sent false", self.false), ("well-formed, but refused", self.refused)):
            if kinds:
                yield f"\n{title}"
            for (reader, locale, kind), found in sorted(kinds.items()):
                yield f"  {reader}, {locale}, {kind or 'well-formed'}: {len(found)}"
                for one in found[:show]:
                    meant = "nobody can know" if one.cell.meaning is UNKNOWN else repr(one.cell.meaning)
                    happened = f"sent {one.sent!r}" if one.sent is not None else one.problem
                    yield f"    {one.cell.cells or one.cell.more} means {meant}; {happened}"


def forms() -> Iterator[Form]:
    """Every form of every locale."""
    for locale in LOCALES:
        for make in (dates, numbers, yes_no, choices, phones, names, texts, ranges, entries):
            yield from make(locale)
    yield from without_locale()


def measure_truth(folder: Path, cells: int, seed: int) -> Truth:
    """Send so many cells, the same for each form."""
    truth, every = Truth(), list(forms())
    for number, form in enumerate(every):
        rng = Random(f"{seed} {number}")
        count = cells * (number + 1) // len(every) - cells * number // len(every)
        for one in send(form, [form.make(rng) for _ in range(count)], folder):
            truth.add(one)
    return truth


# --- the way of a cell ----------------------------------------------------------------------------


def send(form: Form, cells: Sequence[Cell], folder: Path) -> Iterator[Sent]:
    """What is sent for each cell, read from a file with a row for each."""
    if not cells:
        return
    path = _write_source(form, cells, folder)
    mapping_file = folder / "mapping.yaml"
    mapping_file.write_text(_mapping(form), encoding="utf-8")
    kind, options, special = form.question
    asked = Question(7, "What?", False, kind, options, "q", special)
    mapping = read_mapping(mapping_file)
    delimiter = None if form.source == "workbook" else ","
    sheet = open_sheet(
        path, SourceOptions(header_row=1, encoding=delimiter and "utf-8", delimiter=delimiter), ReadingLimits()
    )
    tables = {
        child: open_sheet(
            folder / "child.csv", SourceOptions(header_row=1, encoding="utf-8", delimiter=","), ReadingLimits()
        )
        for child in mapping.child_sources
    }
    resolved = resolve(mapping, sheet.columns, (asked,) if form.answer else (), WireFormat(), tables)
    rows = list(candidate_rows(sheet.rows, resolved))
    if len(rows) != len(cells):
        raise RuntimeError(f"{form.reader} of {form.locale}: {len(rows)} candidates for {len(cells)} cells")
    for row, cell in zip(rows, cells, strict=True):
        result = row if isinstance(row, Filtered) else transform_row(row, resolved)
        if isinstance(result, Filtered):
            raise RuntimeError("no row is filtered here")
        if isinstance(result, Invalid):
            yield Sent(form, cell, None, str(result.problems[0]))
        else:
            yield Sent(form, cell, _sent(form, json.loads(encode(result).body)))


def _mapping(form: Form) -> str:
    columns = "  email: E-mail\n  cv: CV\n" + (_SPLIT if not form.answer and form.columns else _PLAIN)
    grouped = "source: {group_by: ID}\n" if form.source == "rows" else ""
    defaults = f"defaults: {{{form.defaults}}}\n" if form.defaults else ""
    answers = f"answers:\n  q: {form.answer}\n" if form.answer else ""
    return f"version: 1\ntarget: {{job_post: 4f2c9a}}\n{grouped}{defaults}candidate:\n{columns}{answers}"


def _write_source(form: Form, cells: Sequence[Cell], folder: Path) -> Path:
    header = (*_PERSON, "ID", *form.columns)
    rows: list[tuple[Any, ...]] = []
    children: list[tuple[Any, ...]] = [("Person", "Company", "Title", "From")]
    for number, cell in enumerate(cells):
        person = [f"person{number}@example.com", "Ada", "Nur", "7001", f"p{number}"]
        own = cell.cells
        if form.source in ("email", "cv"):
            person[0 if form.source == "email" else 3], own = own[0], ()
        rows.append((*person, *own))
        if form.source == "child":
            children += [(f"p{number}", *more) for more in cell.more]
        else:
            rows += [(*person, *more) for more in cell.more]
    if form.source == "workbook":
        return _write_workbook(folder / "cells.xlsx", [header, *rows])
    if form.source == "child":
        _write_csv(folder / "child.csv", children)
    return _write_csv(folder / "cells.csv", [header, *rows])


def _write_csv(path: Path, rows: Sequence[Sequence[Any]]) -> Path:
    with path.open("w", encoding="utf-8", newline="") as file:
        csv.writer(file).writerows(rows)
    return path


def _write_workbook(path: Path, rows: Sequence[Sequence[Any]]) -> Path:
    workbook = Workbook(write_only=True)
    sheet = workbook.create_sheet("Cells")
    for row in rows:
        sheet.append(row)
    workbook.save(path)
    return path


def _sent(form: Form, body: dict[str, Any]) -> Any:
    """What the body says for the cell; "" if it says nothing."""
    if form.source == "email":
        return body["email"]
    if form.source == "cv":
        return body["cv"]
    if not form.answer:
        return body["first_name"], body["last_name"]
    items = body["answers"]
    if not items:
        return ""
    answer = items[0].get("answer_file") or items[0]["answer"]
    return json.loads(answer) if form.question[0] in ("long_text", "multiple_choice") else answer


def _same(sent: Any, meant: Any) -> bool:
    if isinstance(meant, Decimal):
        try:
            return Decimal(sent) == meant
        except InvalidOperation:
            return False
    return bool(sent == meant)
