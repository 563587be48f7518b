"""The page report.html: what happened, what to fix and why, for people who open no workbook."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import Any, Final

from jinja2 import Environment, PackageLoader, StrictUndefined, Template

from importer.report.next_steps import next_steps
from importer.report.outcomes import csv_file
from importer.report.problem_codes import GeneralTexts
from importer.report.summary import Summary
from importer.report.text import headline, moment, run_details, title_of
from importer.text.normalize import visible

_FIRST_CAUSES: Final = 8  # of a section; a click shows the others, and paper has only these
_MOST_CAUSES: Final = 100  # the workbook has all


def page(summary: Summary, folder: Path, *, with_personal_data: bool) -> str:
    """The HTML of the page. folder: the results folder as it appears in commands.

    with_personal_data: show messages, which quote cells and responses; otherwise the general text of each code.
    """
    shown = summary if with_personal_data else GeneralTexts().summary(summary)
    return _template().render(
        title=title_of(summary),
        sentence=headline(summary),
        when=moment(summary.started_at),
        summary=shown,
        outcomes=[(csv_file(kind), summary.words(kind), count) for kind, count in summary.outcomes.items() if count],
        with_personal_data=with_personal_data,
        steps=next_steps(summary, folder),
        first=_FIRST_CAUSES,
        most=_MOST_CAUSES,
        details=run_details(summary),
    )


@cache
def _template() -> Template:
    loader = PackageLoader(__package__, ".")
    environment = Environment(loader=loader, autoescape=True, undefined=StrictUndefined, finalize=_shown)
    return environment.get_template("report.html.j2")


def _shown(value: Any) -> Any:
    """A text without control characters, which a cell or a response could contain."""
    return visible(value) if type(value) is str else value  # not of Markup, which is escaped already
