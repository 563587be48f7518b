"""Hyperlink cells of a workbook: an answer that is a web address is the address behind the text."""

from __future__ import annotations

import json
from collections.abc import Callable

import xlsxwriter

from tests.cli.conftest import HEADER, MAPPING, Served, candidate, read_csv

Serve = Callable[..., Served]
SHOWN = "https://example.com/in/ada"


def test_a_link_is_sent_where_the_answer_is_an_address(serve: Serve) -> None:
    """Other questions get the text of the cell; a text with another address than its link is refused."""
    served = serve()
    mapping = MAPPING + "  linkedin: Profile\n  address: Profile\n"
    (served.door.folder / "mapping.yaml").write_text(mapping, encoding="utf-8")
    links = [("https://example.com/a", "LinkedIn"), ("https://example.com/b.pdf", "CV.pdf"), (f"{SHOWN}/", SHOWN)]
    links += [("https://example.org/bob", SHOWN), ("mailto:ada@example.com", "LinkedIn")]
    with xlsxwriter.Workbook(served.door.folder / "people.xlsx") as book:
        sheet = book.add_worksheet()
        sheet.write_row(0, 0, [*HEADER, "Profile"])
        for number, (link, text) in enumerate(links, 1):
            sheet.write_row(number, 0, candidate(number))
            sheet.write_url(number, len(HEADER), link, string=text)
    ran = served("run", "people.xlsx", "--mapping", "mapping.yaml", "--json")
    assert (ran.code, ran.counts) == (4, {"created": 3, "invalid": 2}), ran.err
    sent = [
        {answer["job_post_question"]["question_key"]: answer["answer"] for answer in body["answers"]}
        for body in served.sandbox.memory.accepted()
    ]
    assert [(answers["linkedin"], answers["address"]) for answers in sent] == [
        ("https://example.com/a", "LinkedIn"),
        ("https://example.com/b.pdf", "CV.pdf"),
        (SHOWN, SHOWN),
    ]
    differs, no_address = read_csv(served.door.folder / "results" / ran.summary["run"] / "invalid.csv")
    assert differs["import_problem"] == (
        f"Sheet1!H5, column \"Profile\": '{SHOWN}' has a link to another address, 'https://example.org/bob'"
    )
    assert no_address["import_problem"] == "Sheet1!H6, column \"Profile\": 'LinkedIn' is not a valid web address"


def test_the_cell_of_a_link_is_shown(serve: Serve) -> None:
    """Of several columns, what was sent is beside the cell that has the link."""
    served = serve()
    mapping = MAPPING + "  linkedin: {column: [Profile, Other]}\n"
    (served.door.folder / "mapping.yaml").write_text(mapping, encoding="utf-8")
    with xlsxwriter.Workbook(served.door.folder / "people.xlsx") as book:
        sheet = book.add_worksheet()
        sheet.write_row(0, 0, [*HEADER, "Profile", "Other"])
        sheet.write_row(1, 0, [*candidate(1), "", "https://example.com/b"])
        sheet.write_url(1, len(HEADER), SHOWN, string="LinkedIn")
    served("run", "people.xlsx", "--mapping", "mapping.yaml")
    shown = json.loads(served("show", "last", "--row", "2", "--json").out)["answers"]
    assert [line for line in shown if line["question"] == "linkedin"] == [
        {"cell": "H2", "column": "Profile", "text": "LinkedIn", "question": "linkedin", "sent": SHOWN, "note": ""}
    ]
