"""The loop through a spreadsheet program: rows are fixed in it, saved and imported.

LibreOffice opens report.xlsx, or the CSV files, in its own locale and saves it, as a person would. A file that nobody
fixed must correct nothing. Then the cells to fix are fixed, it is saved again, and imported. What is sent is compared
with what the source sends without the wrong cells: each value is sent true, refused with a problem, or sent false; the
last must never happen.
"""

from __future__ import annotations

import csv
import json
import re
import shutil
import subprocess
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import date, datetime
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from openpyxl import Workbook, load_workbook

from benchmarks.progress import show
from importer.sandbox import RunningSandbox, SandboxOptions, running
from tests.cli.conftest import FrontDoor, Ran, front_door_in

PROGRAM = shutil.which("soffice")
LOCALES = {"US": ("en-US", ",", "1"), "German": ("de-DE", ";", "1"), "Turkish": ("tr-TR", ";", "36")}
"""By name: the locale, its delimiter, and LibreOffice's number of its Windows encoding (cp1252, cp1254)."""

SOURCES = ("us.csv", "british.csv", "german.csv", "values.xlsx")
HEAD = f"{'locale':<8}  {'way':<42}  {'true':>5}  {'refused':>7}  {'false':>5}"
_UTF8 = "76"
_QUESTIONS = {
    "text": "short_text",
    "number": "decimal",
    "whole": "integer",
    "day": "date",
    "permit": "yes_no",
    "phone": "short_text",
    "wrong": "integer",
}
_KINDS = ("invalid", "rejected")
_FILES = ("invalid.csv", "400_rejected.csv")
_HEADER = ["E-mail", "First", "Last", "CV", "Kind", "Text", "Number", "Whole", "Day", "Permit", "Phone", "Wrong"]
_CANDIDATE = """\
version: 1
target: {job_post: p}
candidate: {email: E-mail, first_name: First, last_name: Last, cv: CV}
answers:
  text: Text
  number: Number
  whole: Whole
  day: Day
  permit: Permit
  phone: {column: Phone, region: TR}
"""
_US = "source: {%s}\ndefaults: {decimal: '.', thousands: ',', dates: ['%%m/%%d/%%Y'], unused_columns: ignore}\n"
_BRITISH = "source: {%s}\ndefaults: {decimal: '.', thousands: ',', dates: ['%%d/%%m/%%Y'], unused_columns: ignore}\n"
_GERMAN = "source: {%s}\ndefaults: {decimal: ',', thousands: '.', dates: ['%%d.%%m.%%Y'], unused_columns: ignore}\n"

TEXTS = (
    *("0012", "00", "007.5", "1e5", "1E3", "12345678901234567890", "1234567890123456", "901234567890", "1.5", "1,5"),
    *("234.567", "234,567", "1.234.567", "-5", "+905550000001", "(5)", "12.5%", "1-2", "3/4", "1/2", "1.2.", "3-4-5"),
    *(
        "2026-03-04",
        "04.03.2026",
        "03/04/2026",
        "3/15/2026",
        "4.3.26",
        "Mar 2021",
        "3 Mar 2026",
        "4 Mart 2026",
        "12:30",
    ),
    *("26:30:00", "2026-03-04 14:30", "TRUE", "false", "WAHR", "DOĞRU", "$5", "5 €", "=1+1", "=A1", "@x", "'quoted"),
    *("'=1", "#5", "a;b,c", 'say "x"', "two\nlines", "İstanbul ışık", "N/A", "1 234", "5,", ".5", "-0", "1E", "٣"),
)
_NUMBERS = {
    _US: ("1234.5", "1,234.5", "1,234", "234.567", "0.50", "007", "-2.5", "1000"),
    _BRITISH: ("1234.5", "1,234.5", "1,234", "2.5", "12.10", "1000"),
    _GERMAN: ("1234,5", "1.234,5", "45.000", "1.234", "2,5", "12,10", "1000"),
}
_DAYS = {
    _US: ("03/04/2026", "3/15/2026", "2026-03-04", "12/31/1968"),
    _BRITISH: ("03/04/2026", "15/03/2026", "2026-03-04", "2026-03-15", "1/2/2020"),
    _GERMAN: ("03.04.2026", "15.03.2026", "2026-03-04", "1.2.2020"),
}
_PERMITS = ("yes", "no", "TRUE", "FALSE", "1", "0", "evet", "x", "wahr")
_PHONES = ("05550000001", "0555 000 00 01", "+905550000001", "00905550000001", "905550000001", "5550000001")


@dataclass(frozen=True, slots=True)
class Source:
    """A source: its name, the rows (of texts, or the values of a workbook), and the mapping of its forms."""

    name: str
    mapping: str
    rows: list[list[Any]]

    def write(self, folder: Path) -> Path:
        path = folder / self.name
        if path.suffix == ".csv":
            with path.open("w", encoding="utf-8", newline="") as file:
                csv.writer(file).writerows([_HEADER, *self.rows])
            return path
        book = Workbook()
        sheet = book.worksheets[0]
        for number, row in enumerate([_HEADER, *self.rows], start=1):
            for index, value in enumerate(row, start=1):
                cell = sheet.cell(number, index)
                cell.value = value
                if isinstance(value, str):
                    cell.data_type, cell.number_format = "s", "@"
        book.save(path)
        return path


def _rows(values: Sequence[tuple[str, Any]]) -> list[list[Any]]:
    """Rows that are invalid and rejected, each with one of the values in its column; the others are blank.

    The first row is accepted: a run whose first ten rows are all rejected would stop.
    """
    first = {"E-mail": "first@example.com", "First": "Ada", "Last": "Öz", "CV": "7001"}
    rows = [list((dict.fromkeys(_HEADER, "") | first).values())]
    for kind in _KINDS:
        for number, (column, value) in enumerate(values):
            row = dict.fromkeys(_HEADER, "") | {column: value}
            row |= {"E-mail": f"{kind}{number}@example.com", "First": "Ada", "Last": "Öz", "CV": "7001", "Kind": kind}
            rows.append(list((row | {"Wrong": "a lot" if kind == "invalid" else ""}).values()))
    return rows


def sources(names: Sequence[str]) -> Iterator[Source]:
    """The sources with these names: CSVs of three forms, and a workbook whose cells are values."""
    for name, mapping in (("us.csv", _US), ("british.csv", _BRITISH), ("german.csv", _GERMAN)):
        if name in names:
            texts = [("Text", text) for text in TEXTS] + [("Number", text) for text in _NUMBERS[mapping]]
            texts += [("Day", text) for text in _DAYS[mapping]] + [("Whole", text) for text in ("1000", "0012", "7")]
            texts += [("Permit", text) for text in _PERMITS] + [("Phone", text) for text in _PHONES]
            yield Source(name, mapping, _rows(texts))
    if "values.xlsx" in names:
        values: list[tuple[str, Any]] = [("Text", text) for text in TEXTS]
        days = date(2026, 3, 4), date(2026, 3, 15), datetime(2026, 4, 5, 14, 30), date(1968, 12, 31)
        values += [("Day", day) for day in days] + [("Text", day) for day in days]
        numbers = 1234.5, 2.5, 234.567, 45000, 0.1, -7.25, 901234567890
        values += [("Number", number) for number in numbers] + [("Text", number) for number in numbers]
        values += [("Whole", 12), ("Permit", True), ("Permit", False), ("Text", True), ("Phone", 905550000001)]
        yield Source("values.xlsx", _BRITISH, _rows(values))


# --- a person at a spreadsheet program --------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Way:
    """How a person opens and saves a file. `infilter`, `to`: of LibreOffice, with the delimiter and the encoding."""

    name: str
    opens: str
    infilter: str
    to: str


_CSV_IN, _CSV_OUT = (
    "CSV:{read},34,76,1,,0,false,{detect}",
    "csv:Text - txt - csv (StarCalc):{write},34,{codec},1,,0,false,true,false",
)
WAYS = (
    Way("CSV to CSV, dates and numbers recognized", ".csv", _CSV_IN.replace("{detect}", "true"), _CSV_OUT),
    Way("CSV to CSV, numbers recognized", ".csv", _CSV_IN.replace("{detect}", "false"), _CSV_OUT),
    Way("CSV to CSV in the Windows encoding", ".csv", _CSV_IN.replace("{detect}", "true"), _CSV_OUT),
    Way("report.xlsx", ".xlsx", "", "xlsx"),
)


def save_again(files: Sequence[Path], way: Way, locale: str, folder: Path) -> list[Path]:
    """The files as LibreOffice of this locale saves them, in `folder`.

    Its profile is thrown away; the locale is set in it.
    """
    assert PROGRAM is not None
    name, delimiter, windows = LOCALES[locale]
    profile = folder / "profile"
    (profile / "user").mkdir(parents=True, exist_ok=True)
    (profile / "user" / "registrymodifications.xcu").write_text(_PROFILE.format(name), "utf-8")
    out = folder / "saved"
    shutil.rmtree(out, ignore_errors=True)
    codec = windows if "Windows" in way.name else _UTF8
    to = way.to.format(write=ord(delimiter), codec=codec)
    infilter = [f"--infilter={way.infilter.format(read=44)}"] if way.infilter else []
    command = [PROGRAM, f"-env:UserInstallation={profile.as_uri()}", "--headless", *infilter, "--convert-to", to]
    subprocess.run([*command, "--outdir", str(out), *map(str, files)], check=True, capture_output=True, timeout=120)
    return sorted(out.iterdir())


_PROFILE = """\
<?xml version="1.0" encoding="UTF-8"?>
<oor:items xmlns:oor="http://openoffice.org/2001/registry" xmlns:xs="http://www.w3.org/2001/XMLSchema">
<item oor:path="/org.openoffice.Setup/L10N"><prop oor:name="ooSetupSystemLocale" oor:op="fuse"><value>{}</value></prop>
</item></oor:items>
"""


# --- what is sent -------------------------------------------------------------------------------


Sent = dict[str, dict[str, Any]]
"""By e-mail: the answers that the service accepted, by question."""


@dataclass(slots=True)
class Told:
    """How the values of one way ended. `false`: the value that was sent and the true one."""

    true: int = 0
    refused: int = 0
    false: list[str] = field(default_factory=list)
    codes: Counter[str] = field(default_factory=Counter)


@dataclass(frozen=True, slots=True)
class Service:
    """Runs commands in a folder, with a service that refuses some people once."""

    door: FrontDoor
    sandbox: RunningSandbox

    def __call__(self, *command: str) -> Ran:
        settings = {"IMPORTER_BASE_URL": self.sandbox.base_url, "IMPORTER_TOKEN": self.sandbox.token}
        return self.door(*command, "--json", **settings)

    @property
    def sent(self) -> Sent:
        return {body["email"]: _answers(body) for body in self.sandbox.memory.accepted()}


@contextmanager
def _service(folder: Path, refused: Sequence[str] = ()) -> Iterator[Service]:
    (folder / "company.json").write_text(json.dumps(_company()), "utf-8")
    fault = {"kind": "refuse", "emails": list(refused), "times": 1, "message": "no"}
    (folder / "faults.json").write_text(json.dumps({"faults": [fault] if refused else []}), "utf-8")
    options = SandboxOptions("t0ken", questions=folder / "company.json", faults=folder / "faults.json")
    with running(options) as sandbox:
        yield Service(front_door_in(folder), sandbox)


def _company() -> dict[str, Any]:
    questions = [
        {"id": number, "question_text": key, "is_required": False, "answer_type": kind, "options": None}
        | {"question_key": key, "question_type": "phone" if key == "phone" else None}
        for number, (key, kind) in enumerate(_QUESTIONS.items(), start=1)
    ]
    return {"company": "Example", "job_posts": {"p": {"title": "P", "questions": questions}}, "talent_pools": {}}


def _answers(body: dict[str, Any]) -> dict[str, Any]:
    found = {item["job_post_question"]["question_key"]: item["answer"] for item in body["answers"]}
    return {key: answer for key, answer in found.items() if key != "wrong"}


def measure_spreadsheets(names: Sequence[str], locales: Sequence[str]) -> list[str]:
    """The values that were sent false, after a table of all; says so if LibreOffice is not installed."""
    if PROGRAM is None:
        show("LibreOffice (soffice) is not installed; nothing was measured")
        return []
    show(HEAD)
    found = [measure_source(source, locales, WAYS) for source in sources(names)]
    false = [
        f"{way}, {locale}: {text}" for each in found for (locale, way), told in each.items() for text in told.false
    ]
    total = [told for each in found for told in each.values()]
    true, refused = sum(told.true for told in total), sum(told.refused for told in total)
    show(f"{'all':<8}  {'':<42}  {true:>5}  {refused:>7}  {len(false):>5}")
    return false


def measure_source(source: Source, locales: Sequence[str], ways: Sequence[Way]) -> dict[tuple[str, str], Told]:
    """Import a source whose rows are all to be fixed, then fix them in every way."""
    found: dict[tuple[str, str], Told] = {}
    show(f"{source.name}: {len(source.rows)} rows")
    with TemporaryDirectory(prefix="importer-spreadsheets-") as name:
        folder = Path(name)
        file = source.write(folder)
        (folder / "plain.yaml").write_text(_CANDIDATE + source.mapping % "", "utf-8")
        (folder / "mapping.yaml").write_text(_CANDIDATE + "  wrong: Wrong\n" + source.mapping % "", "utf-8")
        with _service(folder) as service:
            service("run", file.name, "--mapping", "plain.yaml", "--out", "truth")
            truth = service.sent
        refused = [row[0] for row in source.rows if row[4] == "rejected"]
        for locale in locales:
            for way in ways:
                out = f"out-{len(found)}"
                with _service(folder, refused) as service:
                    first = service("run", file.name, "--mapping", "mapping.yaml", "--out", out)
                    run = folder / out / str(first.summary["run"])
                    told = found[locale, way.name] = Told()
                    _loop(service, run, way, locale, truth, told)
                show(f"{locale:<8}  {way.name:<42}  {told.true:>5}  {told.refused:>7}  {len(told.false):>5}")
                for text, count in told.codes.most_common():
                    show(f"      {count} refused: {text}")
                for text in dict.fromkeys(told.false):
                    show(f"      false: {text}")
    return found


def _loop(service: Service, run: Path, way: Way, locale: str, truth: Sent, told: Told) -> None:
    """Save the files of a run untouched, then fixed, and import them; compare what is sent with the truth."""
    for name in ("report.xlsx",) if way.opens == ".xlsx" else _FILES:
        path = run / name
        fix = _fix_workbook if way.opens == ".xlsx" else _fix_csv
        people = truth.keys() if way.opens == ".xlsx" else _emails_in(path)
        _save_in_place(path, way, locale)
        untouched = service("run", str(path), "--out", str(run.parent))
        if untouched.code == 0 or (way.opens == ".xlsx" and "[nothing-corrected]" not in untouched.err):
            told.false.append(f"{name}, saved untouched: {untouched.err or untouched.out}")
        fix(path)
        if way.opens == ".xlsx":
            _save_in_place(path, way, locale)
        before = service.sent
        ran = service("run", str(path), "--out", str(run.parent))
        sent = {email: answers for email, answers in service.sent.items() if email not in before}
        told.false += [f"{sent[email]}, which is refused in the source" for email in sorted(sent.keys() - truth.keys())]
        for email in (truth.keys() & people) - before.keys():
            if email not in sent:
                told.refused += 1
                told.codes[" ".join(re.findall(r"\[([a-z-]+)\]", ran.err)) or str(ran.counts)] += 1
            elif sent[email] == truth[email]:
                told.true += 1
            else:
                told.false.append(f"{sent[email]} for {truth[email]}")


def _save_in_place(path: Path, way: Way, locale: str) -> None:
    with TemporaryDirectory(prefix="importer-spreadsheets-") as name:
        (saved,) = save_again([path], way, locale, Path(name))
        shutil.copy(saved, path)


def _fix_workbook(path: Path) -> None:
    book = load_workbook(path)
    for title, column, text in (("invalid", "Wrong", "900"), ("400 rejected", "First", "Eda")):
        at = [cell.value for cell in book[title][1]].index(column)
        for row in book[title].iter_rows(min_row=2):
            row[at].value = text
    book.save(path)


def _fix_csv(path: Path) -> None:
    """As with a text editor, or a program that changes nothing else."""
    content = path.read_bytes()
    old, new = (b"a lot", b"900") if path.name == "invalid.csv" else (b"Ada", b"Eda")
    path.write_bytes(content.replace(old, new))


def _emails_in(path: Path) -> set[str]:
    with path.open(encoding="utf-8-sig", newline="") as file:
        return {row["E-mail"] for row in csv.DictReader(file)}
