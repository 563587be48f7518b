"""Nothing wrong is sent: rows with one planted fault each are held back at their cell; the others are all accepted.

The file has good rows, rows with one fault of a known kind, and mutated rows, of which nobody knows whether they are
valid. It is checked, then sent to a sandbox over HTTP: what passed the check must not be answered with 400.
"""

from __future__ import annotations

import csv
import json
import string
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from random import Random

from benchmarks.place import Place
from benchmarks.progress import show
from benchmarks.results import Results
from importer.app.import_file import check_file, import_file
from importer.app.orders import Order, SandboxSetup, Sending
from importer.models import Outcome, OutcomeKind
from importer.problems import CellPlace
from importer.runs.table import RunTable
from importer.settings import Settings

PART = "planted"
HEAD = f"{'kind':<44}{'planted':>8}{'found':>8}{'missed':>8}"
_LIMIT = 255  # characters of a short text that the sandbox accepts
_GOOD_SHARE, _MUTATED_SHARE = 0.25, 0.25  # of the planted rows
_SHOWN = 3

Cells = dict[str, str]

_SCHOOL = ("School", "Degree", "Major", "From", "To", "Studying")
HEADER = (
    *("E-mail", "First", "Last", "CV", "Terms", "Phone", "Headline", "About", "Salary", "Hours", "Start", "Permit"),
    *("Level", "Skills", "Portfolio", "Photo", "Certificate", "Address"),
    *(f"{name} {n}" for n in (1, 2) for name in _SCHOOL),
    "Jobs",
)

MAPPING = """\
version: 1
target: {job_post: 4f2c9a}
defaults: {dates: ["%d.%m.%Y"], region: TR}
candidate: {email: E-mail, first_name: First, last_name: Last, cv: CV, terms_of_use: Terms}
answers:
  phone: Phone
  headline: Headline
  about: About
  salary: Salary
  hours: Hours
  start: Start
  permit: Permit
  level: Level
  skills: {column: Skills, split: ";"}
  portfolio: Portfolio
  photo: Photo
  certificate: Certificate
  address: Address
  education:
    education:
      repeat: "{n}"
      school_name: "School {n}"
      degree: {column: "Degree {n}", values: {BSc: bachelors_degree, MSc: masters_degree}}
      major: "Major {n}"
      start_date: "From {n}"
      end_date: {column: "To {n}", present: [Present]}
      currently_pursuing: "Studying {n}"
  work:
    experience:
      json: Jobs
      company_name: company
      position_title: title
      employment_type: {column: kind, values: {Full: full_time, Part: part_time}}
      start_date: from
      end_date: {column: to, present: [Present]}
"""


def _question(number: int, key: str, answer_type: str, *, required: bool = False, **more: str) -> dict[str, object]:
    shown = {"id": number, "question_text": key, "is_required": required, "answer_type": answer_type}
    return {**shown, "options": None, "question_key": key, "question_type": None, **more}


QUESTIONS = [
    _question(1, "phone", "short_text", required=True, question_type="phone"),
    _question(2, "headline", "short_text"),
    _question(3, "about", "long_text"),
    _question(4, "salary", "integer"),
    _question(5, "hours", "decimal"),
    _question(6, "start", "date"),
    _question(7, "permit", "yes_no", required=True),
    _question(8, "level", "single_choice", options='["Junior", "Senior", "Lead"]'),
    _question(9, "skills", "multiple_choice", options='["Python", "Go", "SQL", "C, C++"]'),
    _question(10, "portfolio", "url", question_type="portfolio_url"),
    _question(11, "photo", "file_upload", question_type="photo"),
    _question(12, "certificate", "file_upload"),
    _question(13, "address", "short_text", question_type="address"),
    _question(14, "education", "long_text", entries="education"),
    _question(15, "work", "long_text", entries="experience"),
]


# --- good rows: every form that is valid --------------------------------------------------------


def good_row(random: Random, number: int) -> Cells:
    """A valid row of one invented person, in one of the many valid forms."""
    pick = random.choice
    begin, end = random.randint(1990, 2005), random.randint(2006, 2020)
    local = pick(("person{}", "Person.{}", "p+{}", "o'neil-{}", "_{}", "ünal{}", "{}", "a.b.c{}")).format(number)
    cells = dict.fromkeys(HEADER, "")
    cells |= {
        "E-mail": f"{local}@{pick(('example.com', 'Example.ORG', 'mail.example.net', 'münchen.example.com'))}",
        "First": pick(("Ada", "José María", "O'Neil", "Şule", "李", "J.", "Anne-Marie", "ada")),
        "Last": pick(("Nur", "van der Berg", "Öz", "D'Angelo", "N", "Smith (Jones)", "Иванов")),
        "CV": pick((str(7000 + number), f"doc-{number}", f"{number:08d}")),
        "Terms": pick(("yes", "no", "TRUE", "1", "")),
        "Phone": pick(("0555 00{:05d}", "+90555 00{:05d}", "0090 555 00{:05d}", "(0555) 00-{:05d}")).format(number),
        "Headline": pick(("Clerk", "Line one\nline two", "x" * _LIMIT, "=1+1", "-", "50 % off; 'a' \"b\"", "")),
        "About": pick(
            ("I like tea.", "First\n\nsecond\tthird", "x" * 5000, "emoji 👩‍💻 and e\u0301", '{"a": [1]}', "")
        ),
        "Salary": pick(("45000", "0", "-5", "+7", "007", "")),
        "Hours": pick(("37.5", "40", "-0.25", "0.10", "")),
        "Start": pick(("01.09.2026", "2026-09-01", "29.02.2024", "1.9.2026", "2026-09-01 08:30", "")),
        "Permit": pick(("yes", "no", "Evet", "JA", "0", "true")),
        "Level": pick(("Junior", "senior", " LEAD ", "")),
        "Skills": pick(("Python", "Python; SQL", "go;;python", "C, C++ ; SQL", "")),
        "Portfolio": pick(("https://example.com/a?b=c#d", "example.com", "http://example.com:8080/x", "")),
        "Photo": pick((str(number), "007", "")),
        "Certificate": pick((str(number), "")),
        "Address": pick(("1 High Street, Leeds", "İstiklal Cad. No:5\nİzmir", "")),
        "School 1": "Ege",
        "Degree 1": pick(("BSc", "masters_degree", "msc", "")),
        "Major 1": pick(("Maths", "")),
        "From 1": f"01.09.{begin}",
        "To 1": pick((f"30.06.{end}", f"01.09.{begin}", "")),
        "Studying 1": pick(("", "no")),
        "Jobs": json.dumps([_job(random, end)] * random.randint(1, 2), ensure_ascii=random.random() < 0.5),
    }
    if random.random() < 0.5:
        cells |= {"School 2": "ETH", "From 2": f"{end}-09-01", "To 2": pick(("Present", ""))}
        cells["Studying 2"] = "yes" if cells["To 2"] == "Present" else ""
    return cells


def _job(random: Random, year: int) -> dict[str, object]:
    return {
        "company": random.choice(("Example Ltd", "Örnek A.Ş.", 'Quote "Co"', "Back\\slash", "Emoji 👍")),
        "title": random.choice(("Clerk", "Müdür", None)),
        "kind": random.choice(("Full", "intern", "part_time", "")),
        "from": f"{year}-01-01",
        "to": random.choice((f"{year + 1}-01-01", "Present", "", None)),
    }


# --- faults: one cell of a good row is changed --------------------------------------------------


@dataclass(frozen=True, slots=True)
class Fault:
    """One kind of fault. `make`: the cells that change; `column`: where it must be found, as one of `codes`."""

    name: str
    column: str
    codes: tuple[str, ...]
    make: Callable[[Random, Cells], Cells]


def _one_of(column: str, *texts: str) -> Callable[[Random, Cells], Cells]:
    return lambda random, cells: {column: random.choice(texts)}


def _with_control(column: str) -> Fault:
    """A control character inside a text."""

    def make(random: Random, cells: Cells) -> Cells:
        characters = "\x01\x07\x08\x0e\x1b\x1f\x7f\x80\x9f"
        return {column: f"A{random.choice(characters)}b"}

    return Fault(f"{column}: control character", column, ("control-character", "control-character"), make)


def _bad_email(random: Random, cells: Cells) -> Cells:
    local, _, domain = cells["E-mail"].partition("@")
    forms = (
        *(f"{local}", f"{local}@", f"@{domain}", f"{local}@@{domain}", f"{local} @{domain}", f"{local}@exa mple.com"),
        *(f".{local}@{domain}", f"{local}.@{domain}", f"{local}..x@{domain}", f"{local}@.{domain}"),
        *(f"{local}@{domain}.", f"{local}@{domain},", f"{local}@example", f"{local}@example..com", f"{local}@-a.com"),
        *(f"{local}@example.c", f"{local}@example.123", f"{local}@exam_ple.com", f"{local}@example,com"),
        *(f"{local}@{domain}; other@{domain}", f"{local}@{domain} other@{domain}", f"Ada <{local}@{domain}>"),
        *(f"mailto:{local}@{domain}", f'"a b"@{domain}', f"{local}(at){domain}", f"{local}\x07@{domain}"),
        *(f"{'x' * 65}{local}@{domain}", f"{local}@{'a' * 64}.com", f"{local}@{'abcdefg.' * 40}com"),
        *(f"{local}@[127.0.0.1]", f"{local}\\@{domain}", f"<{local}@{domain}", f"{local}\n@{domain}"),
    )
    return {"E-mail": random.choice(forms)}


def _jobs(**changes: object) -> Callable[[Random, Cells], Cells]:
    """The job of the row, with some keys changed."""

    def make(random: Random, cells: Cells) -> Cells:
        jobs = json.loads(cells["Jobs"])
        jobs[-1] = {**jobs[-1], **changes}
        return {"Jobs": json.dumps(jobs)}

    return make


def _school(**changes: str) -> Callable[[Random, Cells], Cells]:
    return lambda random, cells: {f"{name} 1": text for name, text in changes.items()}


def _text_of(random: Random, length: int) -> str:
    return "".join(random.choices(string.ascii_letters + "ßé ", k=length)).strip().ljust(length, "x")


_MISSING = ("required-value-missing",)
_DATES = {
    "date-invalid": (
        "soon",
        "2026/09/01",
        "1 Sep 2026",
        "01-09-2026",
        "20260901",
        "01.09.26",
        "2026-9-1",
        "\u202e1.9.2026",
    ),
    "date-nonexistent": (
        *("31.02.2026", "2026-13-01", "29.02.2023", "00.01.2026", "2026-01-32"),
        *("01.01.0026", "0001-01-01", "9999-01-01"),
    ),
    "date-incomplete": ("2026", "2026-09"),
}
_NOT_WORDS = ("perhaps", "y/n", "2", "yess", "?")

FAULTS = (
    Fault("E-mail: missing", "E-mail", _MISSING, _one_of("E-mail", "", " ")),
    Fault("E-mail: invalid", "E-mail", ("email-invalid", "control-character"), _bad_email),
    *(Fault(f"{one}: missing", one, _MISSING, _one_of(one, "", "  ")) for one in ("First", "Last", "CV")),
    *(Fault(f"{one}: no letters", one, ("name-invalid",), _one_of(one, "123", "-", "?!")) for one in ("First", "Last")),
    *map(_with_control, ("First", "Last", "Headline", "About", "Address", "School 1", "Major 1")),
    Fault("CV: not an ID", "CV", ("document-id-invalid",), _one_of("CV", "my cv.pdf", "a\tb", "é1", "x" * 201)),
    Fault("Terms: neither yes nor no", "Terms", ("yes-no-invalid",), _one_of("Terms", *_NOT_WORDS)),
    Fault("Phone: required answer missing", "Phone", _MISSING, _one_of("Phone", "", " ")),
    Fault("Phone: invalid", "Phone", ("phone-invalid",), _one_of("Phone", "123", "+999123456789", "+44", "none", "?")),
    Fault("Phone: letters", "Phone", ("phone-invalid",), _one_of("Phone", "0555 CALLME1", "0555 000 O1 23")),
    Fault("Phone: extension", "Phone", ("phone-extension",), _one_of("Phone", "0555 000 01 23 ext. 4")),
    Fault("Phone: shortened", "Phone", ("number-shortened",), _one_of("Phone", "9.0555E+11", "9,06E+11")),
    Fault(
        "Headline: too long",
        "Headline",
        ("text-too-long",),
        lambda random, cells: {"Headline": _text_of(random, random.randint(_LIMIT + 1, 2 * _LIMIT))},
    ),
    Fault(
        "Salary: not an integer",
        "Salary",
        ("number-invalid",),
        _one_of(
            "Salary", "12.5", "12a", "1e5", "--5", "45,000", "$500", "４５k", "5 000 EUR", "0x1F", "1_000", "-", "∞"
        ),
    ),
    Fault(
        "Hours: not a decimal",
        "Hours",
        ("number-invalid",),
        _one_of("Hours", "37,5", "1.2.3", "5.", ".5", "1e2", "NaN", "inf", "4 0.5 h", "½", "٣x", "37.5%", "1_0.5"),
    ),
    *(
        Fault(f"{column}: {code}", column, (code,), _one_of(column, *texts))
        for column in ("Start", "From 1")
        for code, texts in _DATES.items()
    ),
    Fault("Permit: required answer missing", "Permit", _MISSING, _one_of("Permit", "", " ")),
    Fault("Permit: neither yes nor no", "Permit", ("yes-no-invalid",), _one_of("Permit", *_NOT_WORDS)),
    Fault("Level: not an option", "Level", ("not-an-option",), _one_of("Level", "Seniors", "Chief", "Junior; Lead")),
    Fault(
        "Skills: one is not an option",
        "Skills",
        ("not-an-option",),
        _one_of("Skills", "Python; Cobol", "Pyton", "Python, SQL", "C; C++"),
    ),
    Fault(
        "Portfolio: not a URL",
        "Portfolio",
        ("url-invalid", "control-character"),
        _one_of(
            "Portfolio",
            *("not a url", "ftp://example.com", "http://", "https://exa mple.com", "javascript:alert(1)", "none"),
            *("https://example.com:99999", "http://[::1", "https://example.com/a b", "mailto:a@example.com"),
            *("https://example.com:0", "https://example.com/\x07", "https:///path", "C:\\site\\index.html"),
        ),
    ),
    *(
        Fault(f"{one}: not a file ID", one, ("document-id-invalid",), _one_of(one, "me.jpg", "12-3", "١٢", "1.5", "-1"))
        for one in ("Photo", "Certificate")
    ),
    Fault("entry: degree", "Degree 1", ("not-an-option",), _one_of("Degree 1", "bachelor", "PhD", "Lisans")),
    Fault("entry: no school", "School 1", ("entry-name-missing",), _school(School="")),
    Fault("entry: ends before it starts", "From 1", ("entry-dates-reversed",), _school(To="01.01.1980")),
    Fault("entry: current, with an end", "To 1", ("entry-current-conflict",), _school(To="30.06.2020", Studying="yes")),
    Fault("entry: flag", "Studying 1", ("yes-no-invalid",), _one_of("Studying 1", *_NOT_WORDS)),
    Fault("entry: end date", "To 1", ("date-nonexistent",), _school(To="31.06.2020")),
    Fault(
        "JSON: not a list",
        "Jobs",
        ("list-invalid",),
        _one_of("Jobs", "[{", '[{"company": "A"}', '"text"', "clerk at Example", '["A", "B"]', '[{"company": "A"},,]'),
    ),
    Fault("JSON: a list inside", "Jobs", ("list-invalid",), _jobs(company=["A", "B"])),
    Fault("JSON: no company", "Jobs", ("entry-name-missing",), _jobs(company="", title="Clerk")),
    Fault("JSON: employment type", "Jobs", ("not-an-option",), _jobs(kind="full-time job")),
    Fault("JSON: date", "Jobs", ("date-nonexistent",), _jobs(**{"from": "2020-02-30"})),
    Fault("JSON: ends before it starts", "Jobs", ("entry-dates-reversed",), _jobs(to="1980-01-01")),
    Fault("JSON: lone surrogate", "Jobs", ("control-character",), _jobs(company="A\ud83d B")),
    Fault("JSON: control character", "Jobs", ("control-character",), _jobs(title="A\x07B")),
)

_NASTY = "\x01\x1b\x7f\x85\xa0\u200b\u2028\u202e\ufeff\ufffe٣４½ßİı👍e\u0301\"'\\;,|/@.:-+=#%<>{}[]() \t\n0aZ"


def _mutated(random: Random, cells: Cells) -> Cells:
    """The row with small changes in some cells, of which nobody knows whether they are valid."""
    changed = dict(cells)
    for column in random.sample(HEADER, random.randint(1, 3)):
        text = changed[column]
        at = random.randint(0, len(text))
        match random.randrange(5):
            case 0:
                text = text[:at] + random.choice(_NASTY) + text[at:]
            case 1:
                text = text[:at] + text[at + 1 :]
            case 2:
                text = text[:at] + text[at:][::-1]
            case 3:
                text = cells[random.choice(HEADER)]
            case 4:
                text = text[:at] + "".join(random.choices(_NASTY, k=3))
        changed[column] = text
    if changed["E-mail"] == cells["E-mail"] or "@" not in changed["E-mail"]:
        return changed
    return {**changed, "E-mail": changed["E-mail"].replace("@", f"{random.randrange(10**9)}@", 1)}  # no duplicates


# --- the file, its check, and the import --------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _Written:
    """The rows of the file by their number: the fault of each; None: a good row; "": a mutated one."""

    faults: dict[int, Fault | str | None]
    cells: dict[int, Cells]


@dataclass(slots=True)
class Found:
    """What became of the rows, and of the first of those that did not end as they must."""

    planted: Counter[str] = field(default_factory=Counter)
    found: Counter[str] = field(default_factory=Counter)
    held_back: int = 0
    good: int = 0
    mutated: int = 0
    sent: int = 0
    refused: int = 0
    examples: list[str] = field(default_factory=list)

    def note(self, what: str, outcome: Outcome, cells: Cells) -> None:
        """Keep an example; not too many of each."""
        if sum(what in example for example in self.examples) < _SHOWN:
            told = [f"{problem.column}: {problem.message} [{problem.code}]" for problem in outcome.problems]
            found = "; ".join(told) or "no problem"
            self.examples.append(f"{what}: row {outcome.row} is {outcome.kind.value}: {found[:200]}; {cells!a:.300}")


def _write(folder: Path, rows: int, random: Random) -> _Written:
    kinds: list[Fault | str | None] = [FAULTS[number % len(FAULTS)] for number in range(rows)]
    kinds += [None] * int(rows * _GOOD_SHARE) + [""] * int(rows * _MUTATED_SHARE)
    random.shuffle(kinds)
    written = _Written({}, {})
    with (folder / "planted.csv").open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file)
        writer.writerow(HEADER)
        for row, kind in enumerate(kinds, start=2):
            cells = good_row(random, row)
            if isinstance(kind, Fault):
                cells |= kind.make(random, cells)
            elif kind is not None:
                cells = _mutated(random, cells)
            writer.writerow(cells[name] for name in HEADER)
            written.faults[row], written.cells[row] = kind, cells
    (folder / "planted.yaml").write_text(MAPPING, encoding="utf-8")
    asked = {"job_posts": {"4f2c9a": {"questions": QUESTIONS}}}
    (folder / "questions.json").write_text(json.dumps(asked), encoding="utf-8")
    return written


def _is_found(outcome: Outcome, fault: Fault) -> bool:
    """Whether the row is held back for its fault, at the cell of the fault, and for nothing else."""
    return outcome.kind is OutcomeKind.INVALID and all(
        problem.code in fault.codes
        and isinstance(problem.place, CellPlace)
        and (problem.place.row, problem.column) == (outcome.row, fault.column)
        for problem in outcome.problems
    )


def plant(folder: Path, rows: int, seed: int = 18) -> Found:
    """Write the file into the folder, check it and send it; what was found."""
    written, found = _write(folder, rows, Random(seed)), Found()
    settings = Settings(out=folder / "results", concurrency=25, short_text_limit=_LIMIT)
    sending = Sending(sandbox_setup=SandboxSetup(folder / "questions.json"))
    order = Order(folder / "planted.csv", folder / "planted.yaml", settings, sending=sending)
    for outcome in _outcomes(check_file(order).folder):
        _count(outcome, written, found)
    sent = import_file(order)
    assert sent is not None
    for outcome in _outcomes(sent.folder):
        found.sent += outcome.attempts > 0
        if outcome.kind not in (OutcomeKind.CREATED, OutcomeKind.INVALID):
            found.refused += 1
            found.note("unexpected answer", outcome, written.cells[outcome.row])
    return found


def _outcomes(folder: Path) -> Iterator[Outcome]:
    with RunTable(folder) as table:
        yield from table.outcomes()


def _count(outcome: Outcome, written: _Written, found: Found) -> None:
    fault, cells = written.faults[outcome.row], written.cells[outcome.row]
    if isinstance(fault, Fault):
        found.planted[fault.name] += 1
        if _is_found(outcome, fault):
            found.found[fault.name] += 1
        else:
            found.note(fault.name, outcome, {fault.column: cells[fault.column]})
    elif fault is None:
        found.good += 1
        if outcome.kind is OutcomeKind.INVALID:
            found.held_back += 1
            found.note("good row held back", outcome, cells)
    else:
        found.mutated += 1


def measure_planted(results: Results, place: Place, *, rows: int, seed: int) -> list[str]:
    """Plant the faults, show the table, and return what did not end as it must."""
    with place.own_folder() as folder:
        found = plant(folder, rows, seed)
    show(HEAD)
    for name in dict.fromkeys(fault.name for fault in FAULTS):
        planted, hits = found.planted[name], found.found[name]
        show(f"{name:<44}{planted:>8,}{hits:>8,}{planted - hits:>8,}")
        results.add(PART, turn=0, kind=name, planted=planted, found=hits)
    planted, hits = found.planted.total(), found.found.total()
    show(f"{'total':<44}{planted:>8,}{hits:>8,}{planted - hits:>8,}")
    show(f"\n{found.good:,} good rows, {found.held_back:,} held back; {found.mutated:,} mutated rows")
    show(f"{found.sent:,} rows sent to the sandbox, {found.refused:,} not accepted")
    for example in found.examples:
        show(f"  {example}")
    broken = (
        (planted - hits, "planted faults were not found at their cell"),
        (found.held_back, "good rows were held back"),
        (found.refused, "rows that passed the check were not accepted"),
    )
    return [f"{count:,} {text}" for count, text in broken if count]
