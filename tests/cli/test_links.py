"""Hyperlink cells of a workbook: an answer that is a web address is the address behind the text."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import xlsxwriter

from tests.cli.conftest import HEADER, MAPPING, Served, candidate, read_csv
from tests.cli.test_corrections import correct

Serve = Callable[..., Served]
SHOWN = "https://example.com/in/ada"


def write_profiles(path: Path, links: list[tuple[str, str]]) -> None:
    """Write a workbook of candidates whose profiles are links: address, shown text."""
    with xlsxwriter.Workbook(path) as book:
        sheet = book.add_worksheet()
        sheet.write_row(0, 0, [*HEADER, "Profile"])
        for number, (link, text) in enumerate(links, 1):
            sheet.write_row(number, 0, candidate(number))
            sheet.write_url(number, len(HEADER), link, string=text)


def test_a_link_is_sent_where_the_answer_is_an_address(serve: Serve) -> None:
    """Other questions get the text of the cell; a text with another address than its link is refused."""
    served = serve()
    mapping = MAPPING + "  linkedin: Profile\n  address: Profile\n"
    (served.door.folder / "mapping.yaml").write_text(mapping, encoding="utf-8")
    links = [("https://example.com/a", "LinkedIn"), ("https://example.com/b.pdf", "CV.pdf"), (f"{SHOWN}/", SHOWN)]
    links += [("https://example.org/bob", SHOWN), ("mailto:ada@example.com", "LinkedIn")]
    write_profiles(served.door.folder / "people.xlsx", links)
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


def test_the_link_may_be_the_piece_that_is_picked(serve: Serve) -> None:
    """`pick:` finds the site in the link of a cell too; text and link with two addresses of it are refused."""
    served = serve()
    mapping = MAPPING + "  linkedin: {column: Profile, pick: example.com}\n"
    (served.door.folder / "mapping.yaml").write_text(mapping, encoding="utf-8")
    links = [("https://example.com/a", "Profile"), ("https://example.com/b/", "example.com/b")]
    links += [("https://example.org/x", "https://example.com/c"), ("https://example.com/d", "example.com/e")]
    write_profiles(served.door.folder / "people.xlsx", links)
    ran = served("run", "people.xlsx", "--mapping", "mapping.yaml", "--json")
    assert (ran.code, ran.counts) == (4, {"created": 3, "invalid": 1}), ran.err
    sent = [
        {answer["job_post_question"]["question_key"]: answer["answer"] for answer in body["answers"]}["linkedin"]
        for body in served.sandbox.memory.accepted()
    ]
    assert sent == ["https://example.com/a", "https://example.com/b", "https://example.com/c"]


def test_links_are_kept_in_a_fixed_report(serve: Serve) -> None:
    """A row that is fixed there is sent with the address of its link; an edited cell is read as it is written."""
    served = serve()
    folder = served.door.folder
    (folder / "mapping.yaml").write_text(MAPPING + "  linkedin: Profile\n", encoding="utf-8")
    texts = {1: "LinkedIn", 2: "LinkedIn", 3: SHOWN, 4: SHOWN}
    with xlsxwriter.Workbook(folder / "people.xlsx") as book:
        sheet = book.add_worksheet()
        sheet.write_row(0, 0, [*HEADER, "Profile"])
        for number, text in texts.items():
            sheet.write_row(number, 0, candidate(number, Permit="perhaps" if number < 3 else "yes"))
            sheet.write_url(number, len(HEADER), f"https://example.org/{number}", string=text)
    ran = served("run", "people.xlsx", "--mapping", "mapping.yaml", "--json")
    assert ran.counts == {"invalid": 4}, ran.err
    fixes = ({"Permit": "yes"}, {"Permit": "yes", "Profile": "https://example.com/new"}, {"Profile": f"{SHOWN}/2"})
    fixed = correct(served, ran.summary["run"], *fixes)
    assert fixed.counts == {"created": 3, "invalid": 1}, fixed.err
    sent = [
        {answer["job_post_question"]["question_key"]: answer["answer"] for answer in body["answers"]}["linkedin"]
        for body in served.sandbox.memory.accepted()
    ]
    assert sent == ["https://example.org/1", "https://example.com/new", f"{SHOWN}/2"]
    (again,) = read_csv(folder / "results" / fixed.summary["run"] / "invalid.csv")
    assert again["import_problem"].endswith(f"'{SHOWN}' has a link to another address, 'https://example.org/4'")


def test_the_cell_of_a_link_is_shown(serve: Serve) -> None:
    """Beside what was sent: the address of the link."""
    served = serve()
    mapping = MAPPING + "  linkedin: {column: [Profile, Other]}\n"
    (served.door.folder / "mapping.yaml").write_text(mapping, encoding="utf-8")
    with xlsxwriter.Workbook(served.door.folder / "people.xlsx") as book:
        sheet = book.add_worksheet()
        sheet.write_row(0, 0, [*HEADER, "Profile", "Other"])
        sheet.write_row(1, 0, [*candidate(1), "", "https://example.com/b"])
        sheet.write_url(1, len(HEADER), SHOWN, string="LinkedIn")
    served("run", "people.xlsx", "--mapping", "mapping.yaml")
    shown = served("show", "last", "--row", "2").out
    assert "  Profile: LinkedIn\n" in shown
    assert f"  linkedin: {SHOWN}\n" in shown
