"""README.md and docs/ list the commands, options, settings, exit codes, outcomes and files that the code has."""

from __future__ import annotations

import re
import shlex
import signal
from collections.abc import Iterator
from dataclasses import fields
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from importer.app.run_log import LOG_FILE
from importer.cli.app import COMMANDS, load_command
from importer.models import ID_COLUMN, IMPORT_COLUMNS, OutcomeKind, Stop
from importer.problems import ImporterError
from importer.report.outcomes import (
    NO_ACTION_SHEET_LIMIT,
    OUTCOMES,
    PAGE_FILE,
    SHEET_LIMIT,
    SUMMARY_FILE,
    WORKBOOK_FILE,
    csv_file,
)
from importer.report.summary import ProblemGroup, Summary
from importer.report.workbook import MOST_COMMENTS
from importer.runs.finalize import exit_code
from importer.runs.manifest import MANIFEST
from importer.runs.private_copies import ASKED
from importer.runs.table import TABLE
from importer.settings import Settings
from tests.docs.markdown import PAGES, README, anchors, code, links, table
from tests.docs.problems_page import areas
from tests.samples.sample import ROOT

RESULTS = ROOT / "docs" / "results.md"
SETTINGS = ROOT / "docs" / "settings.md"
SCHEDULING = ROOT / "docs" / "scheduling.md"
_FOR_USERS = (
    README,
    *(ROOT / "docs" / f"{name}.md" for name in ("first-import", "mapping", "results", "sandbox", "settings")),
)
_NOT_SETTINGS = {"IMPORTER_BENCH_CACHE", "IMPORTER_SANDBOX_TOKEN"}
_DEFAULTS_IN_WORDS = {"ledger": "`ledger.sqlite` in the results folder", "options_separator": "detected"}


def _page_name(page: Path) -> str:
    return page.name


# --- commands and their options -------------------------------------------------------------------


@cache
def _options() -> dict[str, frozenset[str]]:
    """Every command by its whole name, with its options."""
    found = {}
    for name in COMMANDS:
        command: Any = load_command(name)
        below = getattr(command, "commands", None)
        for whole, one in (
            {f"{name} {key}": value for key, value in below.items()}.items() if below else [(name, command)]
        ):
            found[whole] = frozenset(flag for parameter in one.params for flag in parameter.opts) | {"--help"}
    return found


EXAMPLES = {f"{each.place}: {each.example}" if each.place else each.example for area in areas() for each in area.codes}
"""Messages that docs/problems.md shows; what they say of the importer is not a command."""


def _command_lines(page: Path) -> Iterator[list[str]]:
    """The words after `importer` of each command line on the page."""
    for line in code(page):
        for command in [] if line in EXAMPLES else re.findall(r"(?:^|\s|/)importer ([a-z].*)", line):
            yield shlex.split(command.replace("[", " ").replace("]", " "), comments=True)


@pytest.mark.parametrize("page", PAGES, ids=_page_name)
def test_command_lines_can_be_typed(page: Path) -> None:
    """Each `importer ...` names a command that exists, with options that it has."""
    options = _options()
    for words in _command_lines(page):
        name = " ".join(words[:2]) if words[0] in ("documents", "inbox", "mapping") else words[0]
        assert name in options, words
        unknown = [word for word in words if re.match(r"--?[a-z]", word) and word not in options[name]]
        assert unknown == [], words


@pytest.mark.parametrize("page", _FOR_USERS, ids=_page_name)
def test_options_in_the_text_exist(page: Path) -> None:
    """An option that is named without its command is one of some command."""
    known = frozenset().union(*_options().values(), {"--version"})
    named = {span.split()[0] for span in code(page) if span.startswith("--")}
    assert named <= known


# --- settings -------------------------------------------------------------------------------------


def _default(name: str) -> str:
    """The default of a setting as the tables show it."""
    default = Settings.model_fields[name].default
    if name in _DEFAULTS_IN_WORDS:
        assert default is None
        return _DEFAULTS_IN_WORDS[name]
    if default is None:
        return "none"
    if isinstance(default, bool):
        return "yes" if default else "no"
    if isinstance(default, int | float):
        return f"{default:g}" if isinstance(default, float) else str(default)
    return f"`{','.join(default) if isinstance(default, tuple) else default}`"


def test_every_setting_is_listed_with_its_default() -> None:
    """docs/settings.md has each setting once, in alphabetical order, with the default of the code."""
    listed = {name: cells[0] for name, cells in table(SETTINGS, "setting", "default").items()}
    assert listed == {f"IMPORTER_{name.upper()}": _default(name) for name in Settings.model_fields}
    assert list(listed) == sorted(listed)


@pytest.mark.parametrize("page", [page for page in PAGES if page.name != "CHANGELOG.md"], ids=_page_name)
def test_settings_in_the_text_exist(page: Path) -> None:
    """Each IMPORTER_ name on a page is one of a setting."""
    named = set(re.findall(r"\bIMPORTER_[A-Z_]+\b", page.read_text("utf-8")))
    assert named - _NOT_SETTINGS <= {f"IMPORTER_{name.upper()}" for name in Settings.model_fields}


# --- exit codes, outcomes, files ------------------------------------------------------------------


def _errors(error: type[ImporterError] = ImporterError) -> Iterator[type[ImporterError]]:
    yield error
    for below in error.__subclasses__():
        yield from _errors(below)


def test_every_exit_code_is_listed() -> None:
    """The table has the codes of all errors and of all ends of a run, and no other."""
    listed = {int(number) for key in table(SCHEDULING, "code", "meaning") for number in key.split(", ")}
    ends = {
        exit_code({}, None, None),
        exit_code({OutcomeKind.REJECTED: 1}, None, None),
        exit_code({}, Stop("code", "reason", "hint"), None),
        *(exit_code({}, None, number) for number in (signal.SIGINT, signal.SIGTERM)),
    }
    assert listed == {error.exit_code for error in _errors()} | ends


def test_every_outcome_is_listed() -> None:
    """The table has each outcome by its label, and says the same about whether an action is needed."""
    listed = table(README, "outcome", "meaning")
    needs_no_action = {words.label: words.next_step == "no action needed" for words in OUTCOMES.values()}
    assert {label: cells[1].startswith("no action needed") for label, cells in listed.items()} == needs_no_action


def test_every_file_of_the_results_folder_is_listed() -> None:
    """docs/results.md has each file of a run's folder."""
    listed = {name for key in table(RESULTS, "file", "contents") for name in key.split(", ")}
    kept = {"source.*", "mapping.yaml", "questions.json", ASKED, MANIFEST, TABLE}
    kept |= {LOG_FILE, "child-*"}
    assert listed == {*map(csv_file, OutcomeKind), PAGE_FILE, WORKBOOK_FILE, SUMMARY_FILE, *kept}


def test_the_always_written_files_come_first() -> None:
    """What the page says about the first three CSV files is so."""
    names = [name for name in table(RESULTS, "file", "contents") if name.endswith(".csv")]
    always = [csv_file(kind) for kind in OutcomeKind if OUTCOMES[kind].status]
    assert "The first three CSV files are always written" in RESULTS.read_text("utf-8")
    assert names[:3] == always


def test_the_added_columns_are_listed() -> None:
    """docs/results.md explains each import_ column."""
    assert tuple(table(RESULTS, "column", "contents")) == (*IMPORT_COLUMNS, ID_COLUMN)


def test_every_key_of_the_summary_is_listed() -> None:
    """docs/results.md has each key of summary.json, and of its groups of problems."""
    tables = RESULTS.read_text("utf-8").partition("## `summary.json`")[2]
    whole, _, group = tables.partition("Each group in `problems` has:")
    names = {"version", *(field.name for field in fields(Summary))}
    assert _first_cells(whole) == names
    assert _first_cells(group) == {field.name for field in fields(ProblemGroup)}


def _first_cells(text: str) -> set[str]:
    cells = re.findall(r"^\| (`[^|]+) \|", text, re.MULTILINE)
    return {name for cell in cells for name in re.findall(r"`([a-z_]+)`", cell)}


def test_the_limits_of_the_workbook_are_those_of_the_code() -> None:
    """Rows of a sheet and comments, as docs/results.md gives them."""
    text = RESULTS.read_text("utf-8")
    for limit in (SHEET_LIMIT, NO_ACTION_SHEET_LIMIT, MOST_COMMENTS):
        assert f"{limit:,}" in text


# --- links, files, make ---------------------------------------------------------------------------


@pytest.mark.parametrize("page", PAGES, ids=_page_name)
def test_links_lead_somewhere(page: Path) -> None:
    """Each link inside the project leads to a file, and to a heading of it."""
    broken = []
    for link in links(page):
        name, _, anchor = link.partition("#")
        target = (page.parent / name).resolve() if name else page
        if not target.exists() or (anchor and anchor not in anchors(target)):
            broken.append(link)
    assert broken == []


@pytest.mark.parametrize("page", PAGES, ids=_page_name)
def test_files_in_the_text_exist(page: Path) -> None:
    """A path of the project that a page names is there."""
    places = r"(?:importer|tests|benchmarks|mappings|sample_data|docs|\.ci)/[\w./-]+"
    named = {path for span in code(page) for path in re.findall(rf"(?<![\w./-]){places}", span)}
    written_by_hand = {"mappings/nightly.yaml"}
    assert sorted(path for path in named - written_by_hand if not (ROOT / path).exists()) == []


@pytest.mark.parametrize("page", PAGES, ids=_page_name)
def test_make_targets_exist(page: Path) -> None:
    """Each `make ...` names a target of the Makefile."""
    makefile = (ROOT / "Makefile").read_text("utf-8")
    targets = set(re.findall(r"^([a-z]+):", makefile, re.MULTILINE))
    named = {word for line in code(page) for word in re.findall(r"^make ([a-z]+)\b", line)}
    assert named <= targets
